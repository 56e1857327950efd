//! The headers of a request: those of the target and of parameters, cookies, and the content type.
//!
//! What always holds: no value adds a header or a cookie; no parameter sets a header of the connection or of the
//! credentials; there is at most one `Cookie` header.

use super::request::{reserved_name, unusable_document, values_in};
use super::style::{self, Pairs};
use crate::target::Args;
use crate::target::auth::ReservedNames;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::header;
use mcpaql_core::operation::{BodyForm, CREDENTIAL_HEADERS, HttpBinding, Operation, Param, ParamLocation};
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Sets the content type. The operation's own takes precedence over the target's, which is meant for JSON bodies.
pub(super) fn set_content_type(headers: &mut HeaderMap, binding: &HttpBinding) -> Result<(), OpError> {
    match &binding.content_type {
        Some(text) => {
            let value = HeaderValue::from_str(text)
                .map_err(|_| unusable_document().with_cause(format_args!("content type {text:?}")))?;
            headers.insert(CONTENT_TYPE, value);
        }
        None if binding.body != BodyForm::Json => drop(headers.remove(CONTENT_TYPE)),
        None => {}
    }
    Ok(())
}

/// Returns whether the headers already declare a form body, perhaps with a charset.
pub(super) fn is_form_type(headers: &HeaderMap, form: BodyForm) -> bool {
    let named = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    form == BodyForm::Form && named.starts_with("application/x-www-form-urlencoded")
}

pub(super) fn set_header(
    reserved: &ReservedNames,
    headers: &mut HeaderMap,
    param: &Param,
    value: &Value,
) -> Result<(), OpError> {
    let name = HeaderName::from_bytes(param.wire.as_bytes())
        .map_err(|_| unusable_document().with_cause(format_args!("header name {:?}", param.wire)))?;
    let Some(text) = style::header(value, param.style) else { return Ok(()) };
    if header::is_framing(name.as_str())
        || CREDENTIAL_HEADERS.contains(&name.as_str())
        || reserved.headers.contains(&name)
    {
        return Err(reserved_name("header", &param.name, &param.wire));
    }
    let value = header::is_value(&text).then(|| HeaderValue::from_bytes(text.as_bytes()).ok()).flatten();
    let mut value = value.ok_or_else(|| {
        OpError::new(
            Code::InvalidEncoding,
            format!(
                "Parameter '{}' is sent in a header; remove line breaks and control characters.",
                param.name
            ),
        )
        .with_detail("param_name", param.name.as_str())
    })?;
    value.set_sensitive(param.sensitive);
    headers.insert(name, value);
    Ok(())
}

/// Adds the cookies of parameters to those of the target, in one header.
pub(super) fn set_cookies(
    reserved: &ReservedNames,
    headers: &mut HeaderMap,
    operation: &Operation,
    args: &Args,
) -> Result<(), OpError> {
    let mut sensitive = false;
    let mut all = String::new();
    for (param, value) in values_in(operation, args, ParamLocation::Cookie) {
        let mut cookies = Pairs::cookies();
        cookies.append(&param.wire, value, param.style);
        let text = cookies.into_text();
        let names = text.split("; ").filter_map(|pair| Some(pair.split_once('=')?.0));
        // Some servers decode names and some do not, so both forms are compared.
        let taken = |name: &str| {
            let decoded = percent_decode_str(name).decode_utf8_lossy();
            reserved.cookies.iter().any(|cookie| cookie == name || *cookie == decoded)
        };
        if let Some(name) = names.into_iter().find(|name| taken(name)) {
            return Err(reserved_name("cookie", &param.name, name));
        }
        sensitive |= param.sensitive;
        join_cookies(&mut all, &text);
    }
    if all.is_empty() {
        return Ok(());
    }
    let mut cookies = String::new();
    if let Some(fixed) = headers.get(COOKIE).and_then(|value| value.to_str().ok()) {
        join_cookies(&mut cookies, fixed);
    }
    join_cookies(&mut cookies, &all);
    let mut value = HeaderValue::try_from(cookies).map_err(|_| unusable_document().with_cause("a cookie"))?;
    value.set_sensitive(sensitive);
    headers.insert(COOKIE, value);
    Ok(())
}

/// Appends cookies.
pub(super) fn join_cookies(cookies: &mut String, more: &str) {
    if !cookies.is_empty() && !more.is_empty() {
        cookies.push_str("; ");
    }
    cookies.push_str(more);
}

/// The defaults for requests in tests.
#[cfg(test)]
pub(super) mod defaults {
    use super::super::request::{OutgoingRequest, RequestDefaults, build};
    use super::*;
    use mcpaql_core::operation::Binding;
    use url::Url;

    pub(in super::super) fn base() -> Url {
        Url::parse("https://api.example:8443/v1").unwrap()
    }

    pub(in super::super) fn built<'a>(
        operation: &'a Operation,
        args: &'a Value,
    ) -> Result<OutgoingRequest<'a>, OpError> {
        let Binding::Http(binding) = &operation.binding else { panic!("not an HTTP operation") };
        let reserved = ReservedNames {
            headers: vec![HeaderName::from_static("x-key")],
            query: vec!["api_key".into()],
            cookies: vec!["session".into()],
        };
        let headers = [(COOKIE, HeaderValue::from_static("fixed=1"))].into_iter().collect();
        let defaults = RequestDefaults {
            base: &base(),
            headers: &headers,
            reserved: &reserved,
            boundary: || "B".into(),
        };
        build(&defaults, operation, binding, args.as_object().unwrap())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{http, operation, param};
    use super::defaults::built;
    use super::*;
    use serde_json::json;

    #[test]
    fn headers_are_simple_and_cannot_be_split() {
        let mut list = param("list", ParamLocation::Header);
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
            let operation = operation("GET", "/", vec![param(name, ParamLocation::Header)]);
            let error = built(&operation, &json!({name: "x"})).unwrap_err();
            assert_eq!(error.code, Code::InvalidValue, "{name}");
            assert!(built(&operation, &json!({})).is_ok());
        }
        let exploded = operation("GET", "/", vec![param("filter", ParamLocation::Query)]);
        let error = built(&exploded, &json!({"filter": {"api_key": "mine"}})).unwrap_err();
        assert_eq!(error.code, Code::InvalidValue);
    }

    #[test]
    fn cookies_share_one_header_and_never_take_the_credential_s_name() {
        let mut theme = param("theme", ParamLocation::Cookie);
        theme.wire = "Theme".into();
        let operation = operation("GET", "/", vec![theme, param("filter", ParamLocation::Cookie)]);
        let sent =
            |args: Value| built(&operation, &args).map(|o| o.headers[COOKIE].to_str().unwrap().to_owned());
        assert_eq!(sent(json!({})).unwrap(), "fixed=1");
        assert_eq!(sent(json!({"theme": "a; session=1"})).unwrap(), "fixed=1; Theme=a%3B%20session%3D1");
        assert_eq!(
            sent(json!({"theme": "x\r\n\0", "filter": {"a": 1, "b": [2]}})).unwrap(),
            "fixed=1; Theme=x%0D%0A%00; a=1; b=%5B2%5D"
        );
        assert_eq!(sent(json!({"filter": {"session": "mine"}})).unwrap_err().code, Code::InvalidValue);
        let harmless = sent(json!({"filter": {"sess%69on": "x"}})).unwrap();
        assert_eq!(harmless, "fixed=1; sess%2569on=x");
    }

    #[test]
    fn the_operation_s_media_type_takes_precedence_over_the_target_s() {
        let mut post = operation(
            "POST",
            "/",
            vec![param("a", ParamLocation::Body), param("Content-Type", ParamLocation::Header)],
        );
        let kind = |operation: &Operation, args: Value| {
            built(operation, &args)
                .unwrap()
                .headers
                .get("content-type")
                .map(|v| v.to_str().unwrap().to_owned())
        };
        for (form, usual, own) in [
            (BodyForm::Json, "application/json", "application/vnd.api+json"),
            (
                BodyForm::Form,
                "application/x-www-form-urlencoded",
                "application/x-www-form-urlencoded; charset=utf-8",
            ),
            (BodyForm::Text, "text/plain; charset=utf-8", "text/csv"),
            (BodyForm::Binary, "application/octet-stream", "image/png"),
        ] {
            http(&mut post).body = form;
            http(&mut post).content_type = None;
            assert_eq!(kind(&post, json!({"a": "aGk="})).as_deref(), Some(usual));
            http(&mut post).content_type = Some(own.into());
            assert_eq!(kind(&post, json!({"a": "aGk="})).as_deref(), Some(own));
            let chosen = kind(&post, json!({"a": "aGk=", "Content-Type": "image/gif"}));
            assert_eq!(chosen.as_deref(), Some(if form == BodyForm::Form { usual } else { "image/gif" }));
        }
        http(&mut post).body = BodyForm::Multipart;
        for (own, sent) in [
            (None, "multipart/form-data; boundary=B"),
            (Some("multipart/mixed"), "multipart/mixed; boundary=B"),
        ] {
            http(&mut post).content_type = own.map(Into::into);
            assert_eq!(kind(&post, json!({"a": "x", "Content-Type": "image/gif"})).as_deref(), Some(sent));
        }
        http(&mut post).content_type = Some("a\r\nb".into());
        assert_eq!(built(&post, &json!({"a": "x"})).unwrap_err().code, Code::Internal);
    }
}
