//! Converts an error response of an API to an `OpError` that an agent can act on.
//!
//! What always holds: the message is one line without secrets. It quotes the API only if the text reveals nothing
//! about the API's internals. The API's own answer is in `details.upstream`, truncated and masked.

use super::retry;
use crate::secret::Mask;
use crate::target::upstream_text::{MAX_SHOWN_BYTES, quotable, truncate, upstream_message};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::failure_codes::{advice, code_by_number};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use std::time::SystemTime;

/// Maximum bytes of an upstream's error that are read.
pub(super) const MAX_READ_BYTES: usize = 64 * 1024;
/// An error response: status, headers, and the body as far as it was read.
pub(super) struct ErrorResponse<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// The body was truncated.
    pub(super) cut: bool,
}

impl ErrorResponse<'_> {
    /// Returns the error for the caller.
    pub(super) fn into_error(self, mask: &Mask) -> OpError {
        let body = self.shown_body(mask);
        let number = self.status.as_u16();
        let code = code_by_number(number.into(), &body.to_string().to_lowercase());
        let message = upstream_message(&body);
        let summary = match message.and_then(quotable) {
            Some(text) => format!("The API answered {number}: {text}"),
            None => {
                let reason = self.status.canonical_reason();
                let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
                let hint = if message.is_some() { ", see details.upstream" } else { "" };
                format!("The API answered {number}{reason}{hint}")
            }
        };
        let mut upstream = json!({ "status": number });
        if let (Some(fields), false) = (upstream.as_object_mut(), body.is_null()) {
            fields.insert("body".into(), body);
        }
        let mut error = OpError::new(code, format!("{summary}; {}.", advice(code)));
        match code {
            Code::PermissionDenied => {
                error = error.for_operator(summary, "check the credentials for this API")
            }
            Code::Internal => error = error.for_operator(summary, "try again later"),
            _ => {}
        }
        let now = SystemTime::now();
        if code == Code::RateLimitExceeded {
            error.details.extend(retry::rate_limit_details(self.headers, now));
        } else if let Some(wait) = retry::retry_after(self.headers, now) {
            error = error.with_detail("retry_after_seconds", retry::whole_seconds(wait));
        }
        error.with_detail("http_status", number).with_detail("upstream", upstream)
    }

    /// Returns the body as JSON if it is short JSON, otherwise as text. It is masked before it is truncated, so that
    /// no part of a secret remains.
    fn shown_body(&self, mask: &Mask) -> Value {
        if !self.cut
            && let Ok(mut value) = serde_json::from_slice::<Value>(self.body)
        {
            mask.apply_value(&mut value);
            if value.to_string().len() <= MAX_SHOWN_BYTES {
                return value;
            }
        }
        let text = String::from_utf8_lossy(self.body);
        let mut text = mask.apply(text.trim()).into_owned();
        if self.cut {
            let safe_length = mask.safe_length(&text);
            truncate(&mut text, safe_length);
        }
        if text.is_empty() {
            return Value::Null;
        }
        if text.len() > MAX_SHOWN_BYTES {
            truncate(&mut text, MAX_SHOWN_BYTES - '…'.len_utf8());
            text.push('…');
        }
        let html =
            self.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        Value::String(if html { strip_tags(&text) } else { text })
    }
}

/// Returns the text of an error page, without its tags.
pub(super) fn strip_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                text.push(' ');
            }
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, kind: &'static str, body: &[u8], cut: bool, mask: &Mask) -> OpError {
        let headers = [(CONTENT_TYPE, reqwest::header::HeaderValue::from_static(kind))]
            .into_iter()
            .collect::<HeaderMap>();
        let status = StatusCode::from_u16(status).unwrap();
        ErrorResponse { status, headers: &headers, body, cut }.into_error(mask)
    }

    fn plain(status: u16, body: &str) -> OpError {
        error(status, "application/json", body.as_bytes(), false, &Mask::default())
    }

    #[test]
    fn every_status_has_the_code_of_the_table() {
        for (status, code) in [
            (400, Code::InvalidType),
            (422, Code::InvalidType),
            (401, Code::PermissionDenied),
            (403, Code::PermissionDenied),
            (404, Code::NotFoundResource),
            (410, Code::NotFoundResource),
            (409, Code::ConflictExists),
            (412, Code::ConflictVersion),
            (429, Code::RateLimitExceeded),
            (413, Code::PayloadTooLarge),
            (408, Code::TransportTimeout),
            (405, Code::Internal),
            (418, Code::InvalidType),
            (500, Code::Internal),
            (503, Code::Internal),
            (599, Code::Internal),
            (302, Code::Internal),
        ] {
            assert_eq!(plain(status, "").code, code, "{status}");
        }
        let summary = plain(422, r#"{"error":"state must be one of open, closed"}"#);
        assert_eq!(summary.code, Code::InvalidValue);
    }

    #[test]
    fn the_upstream_s_own_words_become_the_message() {
        for (body, words) in [
            (r#"{"message":"Not Found","documentation_url":"x"}"#, "Not Found"),
            (r#"{"error":{"message":"No such customer"}}"#, "No such customer"),
            (r#"{"error":"invalid_grant","error_description":"Expired"}"#, "Expired"),
            (r#"{"detail":[{"loc":["q"],"msg":"field required"}]}"#, "field required"),
            (r#"{"title":"Gone fishing"}"#, "Gone fishing"),
            (r#"{"errors":["first","second"]}"#, "first"),
            ("plain words.", "plain words"),
        ] {
            let expected =
                format!("The API answered 404: {words}; check the identifiers, or list or search first.");
            assert_eq!(plain(404, body).message, expected);
        }
        assert_eq!(
            plain(500, "").message,
            "The API answered 500 (Internal Server Error); try later or tell the user."
        );
        assert_eq!(plain(500, "").details["upstream"], json!({"status": 500}));
    }

    #[test]
    fn a_message_that_reveals_internals_is_only_in_the_details() {
        let error = plain(400, r#"{"message":"Fatal error in /var/www/app.php line 3"}"#);
        assert_eq!(
            error.message,
            "The API answered 400 (Bad Request), see details.upstream; correct the parameters and call again."
        );
        assert_eq!(error.details["upstream"]["body"]["message"], "Fatal error in /var/www/app.php line 3");
    }

    #[test]
    fn bodies_are_capped_and_masked_before_they_are_cut() {
        let mut mask = Mask::default();
        mask.add("s3cret-token");
        let body = format!("{} s3cret-token", "x".repeat(MAX_SHOWN_BYTES - 6));
        let error_shown = |body: &str, cut| {
            let error = error(500, "text/plain", body.as_bytes(), cut, &mask);
            error.details["upstream"]["body"].as_str().unwrap().to_owned()
        };
        let shown = error_shown(&body, false);
        assert!(shown.len() <= MAX_SHOWN_BYTES && !shown.contains("s3c"), "{shown}");
        let shown = error_shown("s3cret-token and s3cret-tok", true);
        assert!(!shown.contains("s3c"), "part of a secret: {shown}");
        let large = json!({"message": "m", "rows": vec!["y"; 4000]}).to_string();
        assert!(plain(400, &large).details["upstream"]["body"].as_str().unwrap().len() <= MAX_SHOWN_BYTES);
    }

    #[test]
    fn an_error_page_is_shown_as_its_text() {
        let page =
            b"<html><head><title>502</title></head><body><h1>Bad Gateway</h1>\n<hr>nginx</body></html>";
        let error = error(502, "text/html; charset=utf-8", page, false, &Mask::default());
        assert_eq!(error.details["upstream"]["body"], "502 Bad Gateway nginx");
    }
}
