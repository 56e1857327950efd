//! An answer that is no success, or no answer → an `OpError` that an agent can act on.
//!
//! What always holds: the message is one line without secrets and without anything that looks like a stack frame; the
//! upstream's own words stand capped and masked in `details.upstream`.

use super::retry;
use crate::secret::Mask;
use mcpaql_core::error::{Code, OpError};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use std::time::SystemTime;

/// How much of an upstream's error is passed on.
const SHOWN_BYTES: usize = 4096;
/// How much of an upstream's error is read.
pub(super) const READ_BYTES: usize = 64 * 1024;
/// How much of an upstream's message becomes part of ours, in characters.
const MESSAGE_CHARS: usize = 240;

/// Words by which an upstream says that a value, not a type, was wrong. A guess that decides between two codes only.
const VALUE_WORDS: [&str; 10] = [
    "invalid value",
    "invalid_value",
    "must be one of",
    "is not one of",
    "not included in the list",
    "out of range",
    "must be greater",
    "must be less",
    "too long",
    "too short",
];

/// The head and the body, as far as it was read, of an answer that is no success.
pub(super) struct Refusal<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// The body goes on.
    pub(super) cut: bool,
}

impl Refusal<'_> {
    /// The error for the caller.
    pub(super) fn into_error(self, mask: &Mask) -> OpError {
        let body = self.shown_body(mask);
        let said = upstream_message(&body).map(clean);
        let code = code_of(self.status, &body);
        let number = self.status.as_u16();
        let said = match said.filter(|text| !text.is_empty()) {
            Some(text) => format!("The API answered {number}: {text}"),
            None => match self.status.canonical_reason() {
                Some(reason) => format!("The API answered {number} ({reason})"),
                None => format!("The API answered {number}"),
            },
        };
        let mut upstream = json!({ "status": number });
        if let (Some(fields), false) = (upstream.as_object_mut(), body.is_null()) {
            fields.insert("body".into(), body);
        }
        let mut error = OpError::new(code, format!("{said}; {}.", advice(code)));
        if let Some(wait) = retry::retry_after(self.headers, SystemTime::now()) {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            error = error.with("retry_after_seconds", seconds);
        }
        error.with("upstream", upstream)
    }

    /// Parsed where it is JSON that fits, else text; masked before it is cut, so that no half of a secret remains.
    fn shown_body(&self, mask: &Mask) -> Value {
        if !self.cut
            && let Ok(mut value) = serde_json::from_slice::<Value>(self.body)
        {
            mask.apply_value(&mut value);
            if value.to_string().len() <= SHOWN_BYTES {
                return value;
            }
        }
        let text = String::from_utf8_lossy(self.body);
        let mut text = mask.apply(text.trim()).into_owned();
        if self.cut {
            let whole = text.len().saturating_sub(mask.longest());
            truncate(&mut text, whole);
        }
        if text.is_empty() {
            return Value::Null;
        }
        if text.len() > SHOWN_BYTES {
            truncate(&mut text, SHOWN_BYTES - '…'.len_utf8());
            text.push('…');
        }
        let html =
            self.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
        Value::String(if html { strip_tags(&text) } else { text })
    }
}

fn truncate(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}

/// Error pages: what a browser would show is all an agent can use.
fn strip_tags(html: &str) -> String {
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

fn code_of(status: StatusCode, body: &Value) -> Code {
    match status.as_u16() {
        400 | 422 if says_value(body) => Code::InvalidValue,
        401 | 402 | 403 | 451 => Code::PermissionDenied,
        404 | 410 => Code::NotFoundResource,
        408 => Code::TransportTimeout,
        409 | 423 => Code::ConflictExists,
        412 | 428 => Code::ConflictVersion,
        413 | 414 | 431 => Code::PayloadTooLarge,
        429 => Code::RateLimitExceeded,
        // The method is the document's, so the agent cannot repair it.
        405 => Code::Internal,
        400..=499 => Code::InvalidType,
        _ => Code::Internal,
    }
}

fn says_value(body: &Value) -> bool {
    let text = body.to_string().to_lowercase();
    VALUE_WORDS.iter().any(|words| text.contains(words))
}

fn advice(code: Code) -> &'static str {
    match code {
        Code::InvalidValue => "correct the value and call again",
        Code::InvalidType => "correct the parameters and call again",
        Code::PermissionDenied => "tell the user that the credentials of this server do not allow it",
        Code::NotFoundResource => "check the identifiers, or list or search first",
        Code::ConflictExists => "read the present state before changing it",
        Code::ConflictVersion => "read it again and repeat the change with the new version",
        Code::PayloadTooLarge => "send less in one call",
        Code::RateLimitExceeded => "wait before calling again",
        _ => "try later or tell the user",
    }
}

/// What the upstream itself says, from the places where APIs put it.
fn upstream_message(body: &Value) -> Option<&str> {
    match body {
        // A page of text is no message.
        Value::String(text) => (text.chars().count() <= MESSAGE_CHARS).then_some(text.as_str()),
        Value::Object(fields) => {
            let keys =
                ["message", "error_description", "error", "detail", "title", "msg", "errors", "reason"];
            keys.into_iter().filter_map(|key| fields.get(key)).find_map(upstream_message)
        }
        Value::Array(items) => items.first().and_then(upstream_message),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// One line, capped, without a final full stop and without "at <word>", which reads like a stack frame.
fn clean(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut words =
        line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match words.peek().copied() {
            Some(next) if is_at(word) => match next {
                "least" => kept.extend(words.next().map(|_| "no less than")),
                "most" => kept.extend(words.next().map(|_| "no more than")),
                next if is_at(next) => {}
                _ => kept.push("in"),
            },
            _ => kept.push(word),
        }
    }
    let cleaned = kept.join(" ");
    let cleaned = cleaned.trim_end_matches(['.', '!', ';', ',', ':']);
    match cleaned.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", cleaned.get(..end).unwrap_or_default()),
        None => cleaned.to_owned(),
    }
}

fn is_at(word: &str) -> bool {
    word.trim_start_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("at")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, kind: &'static str, body: &[u8], cut: bool, mask: &Mask) -> OpError {
        let headers = [(CONTENT_TYPE, reqwest::header::HeaderValue::from_static(kind))]
            .into_iter()
            .collect::<HeaderMap>();
        let status = StatusCode::from_u16(status).unwrap();
        Refusal { status, headers: &headers, body, cut }.into_error(mask)
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
        let said = plain(422, r#"{"error":"state must be one of open, closed"}"#);
        assert_eq!(said.code, Code::InvalidValue);
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
    fn messages_are_one_short_line_that_no_leak_check_flags() {
        assert_eq!(clean("must be at least 3\n  at Object.run (x.js:1)"), "must be no less than 3");
        assert_eq!(clean("Failed AT com.example.Main at at line 3."), "Failed in com.example.Main in line 3");
        assert_eq!(clean("at most 5 (at once) at"), "no more than 5 in once) at");
        assert_eq!(clean("\u{1}a\u{7f}b\tc"), "a b c");
        assert!(clean(&"é".repeat(10_000)).chars().count() <= MESSAGE_CHARS + 1);
    }

    #[test]
    fn bodies_are_capped_and_masked_before_they_are_cut() {
        let mut mask = Mask::default();
        mask.add("s3cret-token");
        let body = format!("{} s3cret-token", "x".repeat(SHOWN_BYTES - 6));
        let error_shown = |body: &str, cut| {
            let error = error(500, "text/plain", body.as_bytes(), cut, &mask);
            error.details["upstream"]["body"].as_str().unwrap().to_owned()
        };
        let shown = error_shown(&body, false);
        assert!(shown.len() <= SHOWN_BYTES && !shown.contains("s3c"), "{shown}");
        let shown = error_shown("s3cret-token and s3cret-tok", true);
        assert!(!shown.contains("s3c"), "half a secret: {shown}");
        let large = json!({"message": "m", "rows": vec!["y"; 4000]}).to_string();
        assert!(plain(400, &large).details["upstream"]["body"].as_str().unwrap().len() <= SHOWN_BYTES);
    }

    #[test]
    fn an_error_page_is_shown_as_its_text() {
        let page =
            b"<html><head><title>502</title></head><body><h1>Bad Gateway</h1>\n<hr>nginx</body></html>";
        let error = error(502, "text/html; charset=utf-8", page, false, &Mask::default());
        assert_eq!(error.details["upstream"]["body"], "502 Bad Gateway nginx");
    }
}
