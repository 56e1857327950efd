//! Builds one request from an operation and its arguments, without credentials.
//!
//! What always holds:
//! - The URL has the origin and the path prefix of the base URL. It has as many segments as the template, or more if
//!   a parameter's style is `segments`, but never one that leads upwards.
//! - A placeholder is never sent unfilled.
//! - No parameter sets a header, query parameter or cookie of the connection or of the credentials.

use super::body::{self, RequestBody};
use super::headers::{is_form_type, set_content_type, set_cookies, set_header};
use super::style::{self, Pairs};
use crate::target::Args;
use crate::target::auth::ReservedNames;
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::host::is_dot_segment;
use mcpaql_core::operation::{
    BodyForm, HttpBinding, Operation, Param, ParamLocation, ParamStyle, Segment, StyleForm,
};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use reqwest::Method;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RANGE};
use serde_json::Value;
use url::Url;

/// Characters to encode in literals of a template. `%` is not encoded, because authors write `%2F` themselves.
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
pub(super) struct OutgoingRequest<'a> {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Including the cookies of parameters.
    pub(super) headers: HeaderMap,
    pub(super) body: Option<RequestBody<'a>>,
}

/// The defaults for the request of a call.
#[derive(Debug)]
pub(super) struct RequestDefaults<'a> {
    /// Without query, fragment and user information.
    pub(super) base: &'a Url,
    /// The target's headers without secrets.
    pub(super) headers: &'a HeaderMap,
    /// The names that only the server sets.
    pub(super) reserved: &'a ReservedNames,
    /// Creates the boundary of a multipart body.
    pub(super) boundary: fn() -> String,
}

/// Builds the request of a call.
pub(super) fn build<'a>(
    defaults: &RequestDefaults<'_>,
    operation: &'a Operation,
    binding: &HttpBinding,
    args: &'a Args,
) -> Result<OutgoingRequest<'a>, OpError> {
    let method = Method::from_bytes(binding.method.as_bytes())
        .map_err(|_| unusable_document().with_cause(format_args!("method {:?}", binding.method)))?;
    let url = url(defaults, operation, binding, args)?;
    let mut headers = defaults.headers.clone();
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json, text/*;q=0.8, */*;q=0.5"));
    set_content_type(&mut headers, binding)?;
    for (param, value) in values_in(operation, args, ParamLocation::Header) {
        set_header(defaults.reserved, &mut headers, param, value)?;
    }
    set_cookies(defaults.reserved, &mut headers, operation, args)?;
    let body = body::build(operation, binding, &method, args, defaults.boundary)?.map(|typed| {
        match binding.body {
            // The media type of these two decides how the server reads them.
            BodyForm::Form | BodyForm::Multipart if !is_form_type(&headers, binding.body) => {
                headers.insert(CONTENT_TYPE, typed.content_type);
            }
            _ => drop(headers.entry(CONTENT_TYPE).or_insert(typed.content_type)),
        }
        typed.body
    });
    if body.is_none() {
        headers.remove(CONTENT_TYPE);
    }
    // A part of a compressed file cannot be decompressed.
    if !headers.contains_key(RANGE) {
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
    }
    Ok(OutgoingRequest { method, url, headers, body })
}

/// The template's path as in the document, for logs.
pub(super) fn template(binding: &HttpBinding) -> String {
    let piece = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Param(name) => format!("{{{name}}}"),
    };
    binding.path.iter().map(piece).collect()
}

pub(super) fn values_in<'a>(
    operation: &'a Operation,
    args: &'a Args,
    location: ParamLocation,
) -> impl Iterator<Item = (&'a Param, &'a Value)> {
    operation
        .params
        .iter()
        .filter(move |param| param.location == location)
        .filter_map(|param| Some((param, args.get(&param.name)?)))
}

pub(super) fn unusable_document() -> OpError {
    OpError::new(
        Code::Internal,
        "The request for this operation cannot be built; tell the operator to check the document.",
    )
}

fn url(
    defaults: &RequestDefaults<'_>,
    operation: &Operation,
    binding: &HttpBinding,
    args: &Args,
) -> Result<Url, OpError> {
    let (path, query) = fill(operation, binding, args)?;
    let mut query = Pairs::query(query);
    let prefix = defaults.base.path().trim_end_matches('/');
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let full = format!("{prefix}{slash}{path}");
    let mut url = defaults.base.clone();
    url.set_path(&full);
    // Setting a path normalises it. A change would mean that a value left the template, so nothing may change.
    if url.path() != full && !(full.is_empty() && url.path() == "/") {
        return Err(unusable_document().with_cause("the path is changed by normalisation"));
    }
    for (param, value) in values_in(operation, args, ParamLocation::Query) {
        query.append(&param.wire, value, param.style);
    }
    let query = query.into_text();
    url.set_query((!query.is_empty()).then_some(&query));
    let keys = &defaults.reserved.query;
    if let Some(key) = keys.iter().find(|key| url.query_pairs().any(|(name, _)| name == key.as_str())) {
        return Err(reserved_name("query parameter", key, key));
    }
    if url.origin() != defaults.base.origin() {
        return Err(unusable_document().with_cause("the request leaves the origin of the base URL"));
    }
    let length = url.as_str().len();
    if length > MAX_URL_BYTES {
        return Err(OpError::too_large(
            format!(
                "The address of the request would have {length} bytes, more than the maximum of {MAX_URL_BYTES}. Use shorter values."
            ),
            LimitType::RequestSize,
            Some(length),
            MAX_URL_BYTES,
        ));
    }
    Ok(url)
}

/// The error for a name of the credentials or of the connection.
pub(super) fn reserved_name(what: &str, param: &str, wire: &str) -> OpError {
    OpError::new(
        Code::InvalidValue,
        format!("Omit parameter '{param}': only the server sets the {what} '{wire}'."),
    )
    .with_detail("param_name", param)
}

/// Maximum length of a URL. Servers and proxies refuse much shorter ones; the HTTP library refuses somewhat longer
/// ones.
const MAX_URL_BYTES: usize = 32 * 1024;

/// Returns the filled path, and the query in the template itself.
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
    // A literal and a value together may still form a dot segment: `.{x}` with `.`.
    if path.split('/').any(is_dot_segment) {
        return Err(OpError::new(
            Code::InvalidValue,
            "The path parameters form '.' or '..', which is not an identifier; send real identifiers.",
        ));
    }
    Ok((path, query.unwrap_or_default()))
}

fn path_value(operation: &Operation, name: &str, args: &Args) -> Result<String, OpError> {
    let param = operation.param(name);
    let style = param.map_or_else(|| ParamStyle::default_for(ParamLocation::Path), |param| param.style);
    let wire = param.map_or(name, |param| param.wire.as_str());
    let text = args.get(name).and_then(|value| style::path(wire, value, style));
    if let (Some(text), StyleForm::Segments) = (&text, style.form) {
        return inner_path(name, text);
    }
    match text {
        None => Err(OpError::new(
            Code::MissingParam,
            format!("Missing required parameter '{name}'; it is part of the path of this operation."),
        )
        .with_detail("param_name", name)),
        Some(text) if matches!(text.as_str(), "" | "." | "..") => Err(OpError::new(
            Code::InvalidValue,
            format!("Parameter '{name}' is part of a path and cannot be empty, '.' or '..'; send a real identifier."),
        )
        .with_detail("param_name", name)),
        Some(text) => Ok(text),
    }
}

/// Returns a path for a `segments` placeholder. `/` is the folder itself; an empty text is an error.
fn inner_path(name: &str, text: &str) -> Result<String, OpError> {
    let inner = text.strip_prefix('/').unwrap_or(text);
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    if text == "/" || inner.split('/').all(|segment| !matches!(segment, "" | "." | "..")) {
        return Ok(inner.to_owned());
    }
    Err(OpError::new(
        Code::InvalidValue,
        format!("Parameter '{name}' is a path and must not contain empty parts, '.' or '..'; send it as 'folder/file'."),
    )
    .with_detail("param_name", name))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{operation, param};
    use super::super::headers::defaults::{base, built};
    use super::*;
    use percent_encoding::percent_decode_str;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_url_that_is_too_long_is_an_error_of_the_caller() {
        let operation = operation("GET", "/search", vec![param("q", ParamLocation::Query)]);
        let error = built(&operation, &json!({"q": "x".repeat(MAX_URL_BYTES)})).err().unwrap();
        assert_eq!(
            (error.code, &error.details["limit_type"]),
            (Code::PayloadTooLarge, &json!("request_size"))
        );
    }

    fn path_of(value: &Value) -> Result<String, Code> {
        let operation = operation("GET", "/repos/{owner}/issues", vec![param("owner", ParamLocation::Path)]);
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
    fn values_that_are_not_a_segment_are_refused() {
        for value in [json!(""), json!("."), json!(".."), json!([""])] {
            assert_eq!(path_of(&value), Err(Code::InvalidValue), "{value}");
        }
        for value in [json!(null), json!([])] {
            assert_eq!(path_of(&value), Err(Code::MissingParam), "{value}");
        }
        let dotted = operation("GET", "/x/.{name}", vec![param("name", ParamLocation::Path)]);
        assert_eq!(built(&dotted, &json!({"name": "a."})).unwrap().url.path(), "/v1/x/.a.");
        assert_eq!(built(&dotted, &json!({"name": "."})).unwrap_err().code, Code::InvalidValue);
        assert_eq!(built(&dotted, &json!({})).unwrap_err().code, Code::MissingParam);
    }

    #[test]
    fn a_template_may_be_empty_relative_or_contain_a_query() {
        for (template, expected) in [
            ("", "https://api.example:8443/v1"),
            ("/", "https://api.example:8443/v1/"),
            ("me", "https://api.example:8443/v1/me"),
            ("//evil.example/x", "https://api.example:8443/v1//evil.example/x"),
            ("/a b%2Fc#d", "https://api.example:8443/v1/a%20b%2Fc%23d"),
            ("/search?type=user&q={q}", "https://api.example:8443/v1/search?type=user&q=a%26b&page=2"),
        ] {
            let params = vec![param("q", ParamLocation::Path), param("page", ParamLocation::Query)];
            let page = if template.contains('?') { json!(2) } else { json!(null) };
            let (operation, args) = (operation("GET", template, params), json!({"q": "a&b", "page": page}));
            let outgoing = built(&operation, &args).unwrap();
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
            let params = vec![param("owner", ParamLocation::Path), param("repo", ParamLocation::Path), param("q", ParamLocation::Query)];
            let operation = operation("GET", "/repos/{owner}/x-{repo}.json/tail", params);
            match built(&operation, &json!({"owner": owner, "repo": repo, "q": query})) {
                Ok(OutgoingRequest { url, .. }) => {
                    prop_assert_eq!(url.origin(), base().origin());
                    let again = Url::parse(url.as_str()).unwrap();
                    prop_assert_eq!(&again, &url, "parsing the URL again does not change it");
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
    fn a_path_inside_the_path_only_leads_downwards() {
        use mcpaql_core::operation::StyleForm::Segments;
        let path = |value: Value| {
            let mut inner = param("path", ParamLocation::Path);
            inner.style = ParamStyle { form: Segments, explode: false, reserved: false };
            let operation = operation("PROPFIND", "/files/ada/{path}", vec![inner]);
            built(&operation, &json!({"path": value}))
                .map(|outgoing| outgoing.url.path().to_owned())
                .map_err(|error| error.code)
        };
        for (value, expected) in [
            (json!("a.txt"), "a.txt"),
            (json!("/Holiday photos/sea?.jpg"), "Holiday%20photos/sea%3F.jpg"),
            (json!("Notes/"), "Notes"),
            (json!("a/%2e%2e/b"), "a/%252e%252e/b"),
            (json!("a\\..\\b"), "a%5C..%5Cb"),
            (json!(["a/b", "c"]), "a%2Fb/c"),
            (json!("/"), ""),
        ] {
            assert_eq!(path(value.clone()), Ok(format!("/v1/files/ada/{expected}")), "{value}");
        }
        for value in ["", "..", "/..", "a/../../b", "./a", "a//b", "//", "//evil.example", "a/."] {
            assert_eq!(path(json!(value)), Err(Code::InvalidValue), "{value}");
        }
        assert_eq!(path(json!(null)), Err(Code::MissingParam));
    }

    #[test]
    fn label_and_matrix_stay_in_their_segment() {
        use mcpaql_core::operation::StyleForm::{Json, Label, Matrix};
        let path = |form, explode, value: Value| {
            let mut id = param("id", ParamLocation::Path);
            id.style = ParamStyle { form, explode, reserved: false };
            let operation = operation("GET", "/things/{id}/x", vec![id]);
            built(&operation, &json!({"id": value}))
                .map(|outgoing| outgoing.url.path().to_owned())
                .map_err(|e| e.code)
        };
        assert_eq!(path(Label, true, json!(["a/b", "c"])), Ok("/v1/things/.a%2Fb.c/x".into()));
        assert_eq!(path(Matrix, true, json!({"a": "../b;c"})), Ok("/v1/things/;a=..%2Fb%3Bc/x".into()));
        assert_eq!(path(Json, false, json!({"a": "/"})), Ok("/v1/things/%7B%22a%22%3A%22%2F%22%7D/x".into()));
        assert_eq!(path(Matrix, false, json!("")), Ok("/v1/things/;id/x".into()));
        for value in ["", "."] {
            assert_eq!(path(Label, false, json!(value)), Err(Code::InvalidValue), "{value:?} is only dots");
        }
        assert_eq!(path(Label, true, json!([])), Err(Code::MissingParam));
    }
}
