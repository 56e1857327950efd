//! An operation and its arguments → one request, without credentials.
//!
//! What always holds: the URL has the origin and the path prefix of the base and as many segments as the template;
//! a placeholder is never sent unfilled; the body holds nothing that the caller or the document did not say; no
//! parameter sets a header that belongs to the connection or to the credentials.

use super::style;
use crate::target::Args;
use bytes::Bytes;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{
    BodyForm, CREDENTIAL_HEADERS, FRAMING_HEADERS, HttpBinding, Operation, Param, Place, Segment,
};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

/// What literals of a template may not hold as they are; `%` stays, since authors write `%2F` themselves.
const LITERAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A request before credentials are added.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

/// What every request of a target starts from.
#[derive(Debug)]
pub(super) struct Base {
    /// Without query, fragment and user information.
    pub(super) url: Url,
    /// The target's headers that hold no secret.
    pub(super) headers: HeaderMap,
    /// Headers that only the server sets: the one of the credentials, and those that hold secrets.
    pub(super) reserved: Vec<HeaderName>,
    /// The query parameter that only the server sets.
    pub(super) key: Option<String>,
}

/// Whether a header belongs to the connection.
pub(super) fn is_framing(name: &HeaderName) -> bool {
    FRAMING_HEADERS.contains(&name.as_str())
}

/// Builds the request of a call.
pub(super) fn build(
    base: &Base,
    operation: &Operation,
    binding: &HttpBinding,
    args: &Args,
) -> Result<Outgoing, OpError> {
    let method = Method::from_bytes(binding.method.as_bytes())
        .map_err(|_| unusable_document().because(format_args!("method {:?}", binding.method)))?;
    let url = url(base, operation, binding, args)?;
    let mut headers = base.headers.clone();
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json, text/*;q=0.8, */*;q=0.5"));
    for (param, value) in given(operation, args, Place::Header) {
        set_header(base, &mut headers, param, value)?;
    }
    let body = body(operation, binding, &method, args);
    match (&body, binding.body) {
        (None, _) => drop(headers.remove(CONTENT_TYPE)),
        (Some(_), BodyForm::Json | BodyForm::Multipart | BodyForm::Text | BodyForm::Binary) => {
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        (Some(_), BodyForm::Form) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        }
    }
    Ok(Outgoing { method, url, headers, body })
}

/// The template's path as the document writes it, for logs.
pub(super) fn template(binding: &HttpBinding) -> String {
    let piece = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Param(name) => format!("{{{name}}}"),
    };
    binding.path.iter().map(piece).collect()
}

fn given<'a>(
    operation: &'a Operation,
    args: &'a Args,
    place: Place,
) -> impl Iterator<Item = (&'a Param, &'a Value)> {
    operation
        .params
        .iter()
        .filter(move |param| param.place == place)
        .filter_map(|param| Some((param, args.get(&param.name)?)))
}

fn unusable_document() -> OpError {
    OpError::new(
        Code::Internal,
        "This operation cannot be sent as its document describes it; tell the operator to check the document.",
    )
}

fn url(base: &Base, operation: &Operation, binding: &HttpBinding, args: &Args) -> Result<Url, OpError> {
    let (path, mut query) = fill(operation, binding, args)?;
    let prefix = base.url.path().trim_end_matches('/');
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let full = format!("{prefix}{slash}{path}");
    let mut url = base.url.clone();
    url.set_path(&full);
    // Setting a path normalises it. Whatever it would change is a way out of the template, so nothing may change.
    if url.path() != full && !(full.is_empty() && url.path() == "/") {
        return Err(unusable_document().because("the path does not survive normalisation"));
    }
    for (param, value) in given(operation, args, Place::Query) {
        style::append_query(&mut query, &param.wire, value, param.style);
    }
    url.set_query((!query.is_empty()).then_some(&query));
    if let Some(key) = &base.key
        && url.query_pairs().any(|(name, _)| name == key.as_str())
    {
        return Err(OpError::new(
            Code::InvalidValue,
            format!("Leave out the query parameter '{key}': it is set by the server alone."),
        )
        .with("param_name", key.as_str()));
    }
    if url.origin() != base.url.origin() {
        return Err(unusable_document().because("the request leaves the origin of the base URL"));
    }
    let length = url.as_str().len();
    if length > MAX_URL_BYTES {
        return Err(OpError::new(
            Code::PayloadTooLarge,
            format!("The address of the request would have {length} bytes, more than the {MAX_URL_BYTES} that can be sent. Use shorter values."),
        )
        .with("limit", "max_url_size")
        .with("actual", length)
        .with("maximum", MAX_URL_BYTES));
    }
    Ok(url)
}

/// Longest address that is sent; servers and proxies refuse far shorter ones, the client's own library somewhat longer ones.
const MAX_URL_BYTES: usize = 32 * 1024;

/// The filled path, and the query that the template itself holds.
fn fill(operation: &Operation, binding: &HttpBinding, args: &Args) -> Result<(String, String), OpError> {
    let mut path = String::new();
    let mut query: Option<String> = None;
    for segment in &binding.path {
        match segment {
            Segment::Literal(text) => match (&mut query, text.split_once('?')) {
                (None, Some((before, after))) => {
                    path.extend(utf8_percent_encode(before, LITERAL));
                    query = Some(utf8_percent_encode(after, LITERAL).collect());
                }
                (None, None) => path.extend(utf8_percent_encode(text, LITERAL)),
                (Some(query), _) => query.extend(utf8_percent_encode(text, LITERAL)),
            },
            Segment::Param(name) => {
                let value = path_value(operation, name, args)?;
                query.as_mut().unwrap_or(&mut path).push_str(&value);
            }
        }
    }
    // A literal and a value together may still spell a dot segment: `.{x}` with `.`.
    if path.split('/').any(is_dot_segment) {
        return Err(OpError::new(
            Code::InvalidValue,
            "The path parameters would spell '.' or '..', which is no identifier; send the real identifiers.",
        ));
    }
    Ok((path, query.unwrap_or_default()))
}

fn is_dot_segment(segment: &str) -> bool {
    let decoded: Vec<u8> = percent_decode_str(segment).collect();
    decoded == b"." || decoded == b".."
}

fn path_value(operation: &Operation, name: &str, args: &Args) -> Result<String, OpError> {
    let explode = operation.param(name).is_some_and(|param| param.style.explode);
    let filled = args.get(name).and_then(|value| style::simple(value, explode, style::encode));
    match filled.as_deref() {
        None => Err(OpError::new(
            Code::MissingParam,
            format!("Missing required parameter '{name}'; it is part of the path of this operation."),
        )
        .with("param_name", name)),
        Some("" | "." | "..") => Err(OpError::new(
            Code::InvalidValue,
            format!("Parameter '{name}' is part of a path and cannot be empty, '.' or '..'; send a real identifier."),
        )
        .with("param_name", name)),
        Some(text) => Ok(text.to_owned()),
    }
}

fn set_header(base: &Base, headers: &mut HeaderMap, param: &Param, value: &Value) -> Result<(), OpError> {
    let name = HeaderName::from_bytes(param.wire.as_bytes())
        .map_err(|_| unusable_document().because(format_args!("header name {:?}", param.wire)))?;
    let Some(text) = style::simple(value, param.style.explode, str::to_owned) else { return Ok(()) };
    if is_framing(&name) || CREDENTIAL_HEADERS.contains(&name.as_str()) || base.reserved.contains(&name) {
        return Err(OpError::new(
            Code::InvalidValue,
            format!(
                "Leave out parameter '{}': the header '{}' is set by the server alone.",
                param.name, param.wire
            ),
        )
        .with("param_name", param.name.as_str()));
    }
    let sendable = !text.chars().any(|c| c.is_control() && c != '\t');
    let value = sendable.then(|| HeaderValue::from_bytes(text.as_bytes()).ok()).flatten();
    let mut value = value.ok_or_else(|| {
        OpError::new(
            Code::InvalidEncoding,
            format!(
                "Parameter '{}' travels in a header; send it without line breaks and control characters.",
                param.name
            ),
        )
        .with("param_name", param.name.as_str())
    })?;
    value.set_sensitive(param.sensitive);
    headers.insert(name, value);
    Ok(())
}

fn body(operation: &Operation, binding: &HttpBinding, method: &Method, args: &Args) -> Option<Bytes> {
    if let Some(name) = &binding.body_param {
        return whole_body(binding.body, args.get(name)?);
    }
    let mut declared = operation.params.iter().filter(|param| param.place == Place::Body).peekable();
    declared.peek()?;
    let fields: Vec<_> = given(operation, args, Place::Body).collect();
    // A method that expects a body gets an empty one; any other gets none.
    if fields.is_empty() && ![Method::POST, Method::PUT, Method::PATCH].contains(method) {
        return None;
    }
    match binding.body {
        BodyForm::Json | BodyForm::Multipart | BodyForm::Text | BodyForm::Binary => {
            let object: Map<_, _> =
                fields.into_iter().map(|(param, value)| (param.wire.clone(), value.clone())).collect();
            Some(Value::Object(object).to_string().into())
        }
        BodyForm::Form => {
            let mut form = String::new();
            for (param, value) in fields {
                style::append_form(&mut form, &param.wire, value, param.style);
            }
            Some(form.into())
        }
    }
}

fn whole_body(form: BodyForm, value: &Value) -> Option<Bytes> {
    match (form, value) {
        (BodyForm::Json | BodyForm::Multipart | BodyForm::Text | BodyForm::Binary, value) => {
            Some(value.to_string().into())
        }
        (BodyForm::Form, Value::Object(fields)) => {
            let mut body = String::new();
            let style = mcpaql_core::operation::Style::default_for(Place::Body);
            fields.iter().for_each(|(name, field)| style::append_form(&mut body, name, field, style));
            Some(body.into())
        }
        (BodyForm::Form, value) => style::scalar(value).map(Bytes::from),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{http, operation, param};
    use super::*;
    use mcpaql_core::operation::Binding;
    use proptest::prelude::*;
    use serde_json::json;

    fn base() -> Base {
        Base {
            url: Url::parse("https://api.example:8443/v1").unwrap(),
            headers: HeaderMap::new(),
            reserved: vec![HeaderName::from_static("x-key")],
            key: Some("api_key".into()),
        }
    }

    fn built(operation: &Operation, args: &Value) -> Result<Outgoing, OpError> {
        let Binding::Http(binding) = &operation.binding else { panic!("samples are HTTP operations") };
        build(&base(), operation, binding, args.as_object().unwrap())
    }

    #[test]
    fn an_address_that_cannot_be_sent_is_the_callers_to_shorten() {
        let operation = operation("GET", "/search", vec![param("q", Place::Query)]);
        let error = built(&operation, &json!({"q": "x".repeat(MAX_URL_BYTES)})).err().unwrap();
        assert_eq!((error.code, &error.details["limit"]), (Code::PayloadTooLarge, &json!("max_url_size")));
    }

    fn path_of(value: &Value) -> Result<String, Code> {
        let operation = operation("GET", "/repos/{owner}/issues", vec![param("owner", Place::Path)]);
        built(&operation, &json!({"owner": value}))
            .map(|outgoing| outgoing.url.path().to_owned())
            .map_err(|e| e.code)
    }

    #[test]
    fn path_values_stay_in_their_segment() {
        for (value, segment) in [
            (json!("octo"), "octo"),
            (json!("../admin"), "..%2Fadmin"),
            (json!("..\\admin"), "..%5Cadmin"),
            (json!("%2f"), "%252f"),
            (json!("%2e%2e"), "%252e%252e"),
            (json!("a/b?c#d"), "a%2Fb%3Fc%23d"),
            (json!("a\r\n\t\u{0}b"), "a%0D%0A%09%00b"),
            (json!(";x=1@host:80"), "%3Bx%3D1%40host%3A80"),
            (json!("..."), "..."),
            (json!("grün 💡"), "gr%C3%BCn%20%F0%9F%92%A1"),
            (json!(42), "42"),
            (json!(true), "true"),
            (json!(["a", "b/c"]), "a,b%2Fc"),
        ] {
            assert_eq!(path_of(&value), Ok(format!("/v1/repos/{segment}/issues")), "{value}");
        }
    }

    #[test]
    fn values_that_are_no_segment_are_refused() {
        for value in [json!(""), json!("."), json!(".."), json!([""])] {
            assert_eq!(path_of(&value), Err(Code::InvalidValue), "{value}");
        }
        for value in [json!(null), json!([])] {
            assert_eq!(path_of(&value), Err(Code::MissingParam), "{value}");
        }
        let dotted = operation("GET", "/x/.{name}", vec![param("name", Place::Path)]);
        assert_eq!(built(&dotted, &json!({"name": "a."})).unwrap().url.path(), "/v1/x/.a.");
        assert_eq!(built(&dotted, &json!({"name": "."})).unwrap_err().code, Code::InvalidValue);
        assert_eq!(built(&dotted, &json!({})).unwrap_err().code, Code::MissingParam);
    }

    #[test]
    fn a_template_may_be_empty_relative_or_hold_a_query() {
        for (template, expected) in [
            ("", "https://api.example:8443/v1"),
            ("/", "https://api.example:8443/v1/"),
            ("me", "https://api.example:8443/v1/me"),
            ("//evil.example/x", "https://api.example:8443/v1//evil.example/x"),
            ("/a b%2Fc#d", "https://api.example:8443/v1/a%20b%2Fc%23d"),
            ("/search?type=user&q={q}", "https://api.example:8443/v1/search?type=user&q=a%26b&page=2"),
        ] {
            let params = vec![param("q", Place::Path), param("page", Place::Query)];
            let page = if template.contains('?') { json!(2) } else { json!(null) };
            let outgoing =
                built(&operation("GET", template, params), &json!({"q": "a&b", "page": page})).unwrap();
            assert_eq!(outgoing.url.as_str(), expected, "{template}");
        }
        assert_eq!(
            built(&operation("GET", "/a/../b", vec![]), &json!({})).unwrap_err().code,
            Code::InvalidValue
        );
    }

    proptest! {
        #[test]
        fn no_value_leaves_the_template(owner in any::<String>(), repo in "[./%\\\\?#a-z0-9\u{0}-\u{20}]{0,8}", query in any::<String>()) {
            let params = vec![param("owner", Place::Path), param("repo", Place::Path), param("q", Place::Query)];
            let operation = operation("GET", "/repos/{owner}/x-{repo}.json/tail", params);
            match built(&operation, &json!({"owner": owner, "repo": repo, "q": query})) {
                Ok(Outgoing { url, .. }) => {
                    prop_assert_eq!(url.origin(), base().url.origin());
                    let again = Url::parse(url.as_str()).unwrap();
                    prop_assert_eq!(&again, &url, "what is sent survives any further parsing");
                    let segments: Vec<_> = url.path_segments().unwrap().collect();
                    prop_assert_eq!(segments.len(), 5);
                    prop_assert_eq!((segments[0], segments[1], segments[4]), ("v1", "repos", "tail"));
                    let decoded = percent_decode_str(segments[2]).decode_utf8().unwrap().into_owned();
                    prop_assert_eq!(decoded, owner);
                    let pairs: Vec<_> = url.query_pairs().into_owned().collect();
                    prop_assert_eq!(pairs, vec![("q".to_owned(), query)]);
                    prop_assert_eq!(url.fragment(), None);
                }
                Err(error) => prop_assert!(["", ".", ".."].contains(&owner.as_str()) || repo.is_empty() || repo == "." || repo == "..", "{}", error),
            }
        }
    }

    #[test]
    fn headers_are_simple_and_cannot_be_split() {
        let mut list = param("list", Place::Header);
        list.wire = "X-List".into();
        let list = operation("GET", "/", vec![list]);
        let sent =
            |value: Value| built(&list, &json!({"list": value})).map(|o| o.headers.get("x-list").cloned());
        assert_eq!(sent(json!(["a b", 2])).unwrap().unwrap(), "a b,2");
        assert_eq!(sent(json!(null)).unwrap(), None);
        for value in ["a\r\nX-Evil: 1", "a\nb", "\u{0}", "\u{7f}", "\u{85}"] {
            assert_eq!(sent(json!(value)).unwrap_err().code, Code::InvalidEncoding, "{value:?}");
        }
    }

    #[test]
    fn parameters_cannot_set_what_belongs_to_the_server() {
        for name in
            ["Authorization", "Host", "Content-Length", "transfer-encoding", "Proxy-Authorization", "X-Key"]
        {
            let operation = operation("GET", "/", vec![param(name, Place::Header)]);
            let error = built(&operation, &json!({name: "x"})).unwrap_err();
            assert_eq!(error.code, Code::InvalidValue, "{name}");
            assert!(built(&operation, &json!({})).is_ok());
        }
        let exploded = operation("GET", "/", vec![param("filter", Place::Query)]);
        let error = built(&exploded, &json!({"filter": {"api_key": "mine"}})).unwrap_err();
        assert_eq!(error.code, Code::InvalidValue);
    }

    fn body_of(operation: &Operation, args: Value) -> Option<String> {
        let body = built(operation, &args).unwrap().body?;
        Some(String::from_utf8(body.to_vec()).unwrap())
    }

    #[test]
    fn a_json_body_holds_what_was_given_and_nothing_else() {
        let mut title = param("title", Place::Body);
        title.wire = "Title".into();
        let params = || vec![title.clone(), param("body", Place::Body), param("page", Place::Query)];
        let post = operation("POST", "/", params());
        assert_eq!(body_of(&post, json!({"title": "x", "page": 1})).unwrap(), r#"{"Title":"x"}"#);
        assert_eq!(
            body_of(&post, json!({"body": "text", "title": null})).unwrap(),
            r#"{"Title":null,"body":"text"}"#
        );
        assert_eq!(body_of(&post, json!({})).unwrap(), "{}");
        assert_eq!(body_of(&operation("DELETE", "/", params()), json!({})), None);
        assert_eq!(body_of(&operation("GET", "/", params()), json!({})), None);
        assert_eq!(body_of(&operation("POST", "/", vec![]), json!({})), None);
    }

    #[test]
    fn one_parameter_can_be_the_whole_body() {
        let mut put = operation("PUT", "/", vec![param("items", Place::Body)]);
        http(&mut put).body_param = Some("items".into());
        assert_eq!(body_of(&put, json!({"items": [1, {"a": null}]})).unwrap(), r#"[1,{"a":null}]"#);
        assert_eq!(body_of(&put, json!({"items": null})).unwrap(), "null");
        assert_eq!(body_of(&put, json!({})), None);
        http(&mut put).body = BodyForm::Form;
        assert_eq!(body_of(&put, json!({"items": {"a": 1, "b": ["x", "y"]}})).unwrap(), "a=1&b=x&b=y");
    }

    #[test]
    fn a_form_body_is_labelled_and_encoded() {
        let mut post = operation("POST", "/", vec![param("a", Place::Body), param("b", Place::Body)]);
        http(&mut post).body = BodyForm::Form;
        let outgoing = built(&post, &json!({"a": "x&y=z", "b": null})).unwrap();
        assert_eq!(outgoing.body.unwrap(), "a=x%26y%3Dz");
        assert_eq!(outgoing.headers[CONTENT_TYPE], "application/x-www-form-urlencoded");
        assert_eq!(template(http(&mut post)), "/");
    }
}
