//! Converts a failed tool call to an `OpError` that an agent can act on.
//!
//! What always holds: the message is one line without secrets. It quotes the upstream only if the text reveals
//! nothing about the upstream's internals. The upstream's own text is in `details.upstream`, truncated and masked.

use crate::secret::Mask;
use crate::target::upstream_text::{MAX_SHOWN_BYTES, quotable, truncate, upstream_message};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::failure_codes::{advice, code_by_number, code_by_words};
use serde_json::{Map, Value, json};

/// Returns the error for a result with `isError`. `content` is the tool's text, or its JSON.
pub(super) fn tool_error(content: Value, mask: &Mask) -> OpError {
    failed("The tool failed", None, content, mask)
}

/// Returns the error for a failure that an upstream describes in `content`. Without a code, its words decide.
pub(in crate::target) fn failed(what: &str, code: Option<Code>, mut content: Value, mask: &Mask) -> OpError {
    mask.apply_value(&mut content);
    let lower = match &content {
        Value::String(text) => text.to_lowercase(),
        other => other.to_string().to_lowercase(),
    };
    let code = code.unwrap_or_else(|| code_by_words(&lower));
    error(what, code, upstream_words(&content), content.clone())
}

/// Returns the error for a call that was answered with a JSON-RPC error.
pub(super) fn refused(number: i64, message: &str, data: Option<Value>, mask: &Mask) -> OpError {
    let words = mask.apply(message).into_owned();
    let lower = words.to_lowercase();
    let is_unknown_tool =
        lower.contains("unknown tool") || (lower.contains("tool") && lower.contains("not found"));
    let code = match number {
        -32602 if is_unknown_tool => Code::NotFoundOperation,
        -32002 => Code::NotFoundResource,
        // The user must open a URL first; it is in the data.
        -32042 => Code::ConfirmationRequired,
        number if number < 0 => code_by_number(number, ""),
        _ => Code::Internal,
    };
    let mut content = json!({"code": number, "message": words});
    if let (Some(mut data), Some(fields)) = (data.filter(|data| !data.is_null()), content.as_object_mut()) {
        mask.apply_value(&mut data);
        fields.insert("data".into(), data);
    }
    error("The MCP server refused the call", code, Some(words), content)
}

/// Returns the error of an upstream that answers with MCP-AQL envelopes.
pub(super) fn envelope_error(error: &Map<String, Value>, mask: &Mask) -> Option<OpError> {
    let text = |key| error.get(key).and_then(Value::as_str);
    let (code, message) = (text("code")?, text("message")?);
    let words = mask.apply(message).into_owned();
    let known = Code::parse(code);
    let mut passed = match quotable(&words) {
        Some(_) if words.len() <= MAX_SHOWN_BYTES => OpError::new(known.unwrap_or(Code::Internal), words),
        _ => self::error("The tool failed", known.unwrap_or(Code::Internal), None, words.into()),
    };
    if let Some(Value::Object(details)) = error.get("details") {
        let mut details = Value::Object(details.clone());
        mask.apply_value(&mut details);
        if let (Value::Object(details), true) = (&details, details.to_string().len() <= MAX_SHOWN_BYTES) {
            passed.details.extend(details.clone());
        }
    }
    Some(if known.is_none() { passed.with_detail("upstream_code", code) } else { passed })
}

fn upstream_words(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        other => upstream_message(other).map(str::to_owned),
    }
}

fn error(what: &str, code: Code, words: Option<String>, content: Value) -> OpError {
    let quote = words.as_deref().and_then(|words| quotable(&reword_locations(words)));
    let advice = match code {
        Code::NotFoundOperation => "the server may have changed its tools, so tell the user",
        Code::ConfirmationRequired => "ask the user to do the step described in details.upstream",
        Code::PermissionDenied => "stay within the permissions of the server, or tell the user",
        code => advice(code),
    };
    let message = match quote {
        Some(quote) => format!("{what}: {quote}; {advice}."),
        None if content.is_null() || content == "" => format!("{what} without a message; {advice}."),
        None => format!("{what}, see details.upstream; {advice}."),
    };
    let failed = OpError::new(code, message);
    match content {
        Value::Null => failed,
        Value::String(text) if text.is_empty() => failed,
        content => failed.with_detail("upstream", capped(content)),
    }
}

/// Removes the prefix of the MCP library, and rewrites the location of a wrong value so that it does not look like a
/// stack frame: many validators write `expected number at limit`.
fn reword_locations(words: &str) -> String {
    let words = words.trim();
    let introduced = words.strip_prefix("MCP error ").and_then(|rest| rest.split_once(": "));
    let words = match introduced {
        Some((number, rest)) if number.parse::<i64>().is_ok() => rest,
        _ => words,
    };
    let mut pieces = words.split(" at ");
    let mut reworded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !(c.is_alphanumeric() || "_.[]$".contains(c))).unwrap_or(piece.len());
        let (location, rest) = piece.split_at(end);
        let is_field = !location.is_empty() && (rest.is_empty() || rest.starts_with([';', ',', '\n']));
        reworded.push_str(if is_field { " for " } else { " at " });
        reworded.push_str(piece);
    }
    reworded
}

/// Returns a short value unchanged, and of a long one the beginning of its text. It is already masked, so cutting
/// leaves no part of a secret.
fn capped(content: Value) -> Value {
    let mut text = match content {
        Value::String(text) => text,
        other => {
            let text = other.to_string();
            if text.len() <= MAX_SHOWN_BYTES {
                return other;
            }
            text
        }
    };
    if text.len() > MAX_SHOWN_BYTES {
        truncate(&mut text, MAX_SHOWN_BYTES - '…'.len_utf8());
        text.push('…');
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> Mask {
        let mut mask = Mask::default();
        mask.add("s3cret-token");
        mask
    }

    #[test]
    fn the_code_is_guessed_from_the_words_and_the_words_are_kept() {
        for (text, code) in [
            ("Invalid arguments for tool x: expected string", Code::InvalidValue),
            ("Error: Issue 7 not found", Code::NotFoundResource),
            ("API rate limit exceeded for user", Code::RateLimitExceeded),
            ("Access denied - outside allowed directories", Code::PermissionDenied),
            ("Entity already exists", Code::ConflictExists),
            ("Navigation timed out", Code::TransportTimeout),
            ("Unknown tool: nope", Code::NotFoundOperation),
            ("boom", Code::Internal),
        ] {
            let error = tool_error(text.into(), &Mask::default());
            assert_eq!(error.code, code, "{text}");
            assert!(error.message.starts_with(&format!("The tool failed: {text}; ")), "{}", error.message);
            assert_eq!(error.details["upstream"], text);
        }
    }

    #[test]
    fn the_location_of_a_wrong_value_is_in_the_message() {
        let content = "MCP error -32602: Invalid arguments: expected number, received undefined at a.b[0]; too long at c";
        let error = tool_error(content.into(), &Mask::default());
        let words = "Invalid arguments: expected number, received undefined for a.b[0]; too long for c";
        assert!(error.message.starts_with(&format!("The tool failed: {words}; ")), "{}", error.message);
        assert_eq!(error.details["upstream"], content);
        assert_eq!(reword_locations("MCP error is odd: x"), "MCP error is odd: x");
        assert_eq!(reword_locations("a at run (x.js:1) at  at"), "a at run (x.js:1) at  at");
    }

    #[test]
    fn internals_and_secrets_are_not_in_the_message() {
        let error = tool_error("ENOENT: open '/var/lib/x' with s3cret-token".into(), &mask());
        assert_eq!(error.code, Code::NotFoundResource);
        assert!(error.message.starts_with("The tool failed, see details.upstream; "), "{}", error.message);
        assert_eq!(error.details["upstream"], "ENOENT: open '/var/lib/x' with [redacted]");
        let error = tool_error("crash\n    at Object.run (x.js:1)".into(), &mask());
        assert!(!error.message.contains(" at "), "{}", error.message);
        let error = tool_error(json!({"message": "no", "k": "s3cret-token"}), &mask());
        assert!(error.message.starts_with("The tool failed: no;"), "{}", error.message);
        assert_eq!(error.details["upstream"]["k"], "[redacted]");
        let long = tool_error("x".repeat(100_000).into(), &mask());
        assert!(long.details["upstream"].as_str().unwrap().len() <= MAX_SHOWN_BYTES);
        assert!(tool_error("".into(), &mask()).details.is_empty());
    }

    #[test]
    fn json_rpc_errors_have_their_own_codes() {
        for (number, message, code) in [
            (-32602, "Unknown tool: x", Code::NotFoundOperation),
            (-32602, "Tool x not found", Code::NotFoundOperation),
            (-32602, "a must be a number", Code::InvalidValue),
            (-32601, "Method not found", Code::NotFoundOperation),
            (-32002, "Resource not found", Code::NotFoundResource),
            (-32042, "Open the address", Code::ConfirmationRequired),
            (-32603, "broken", Code::Internal),
        ] {
            let error = refused(number, message, Some(json!({"why": "s3cret-token"})), &mask());
            assert_eq!(error.code, code, "{number} {message}");
            assert_eq!(error.details["upstream"]["code"], number);
            assert_eq!(error.details["upstream"]["data"]["why"], "[redacted]");
        }
    }

    #[test]
    fn the_error_of_an_envelope_is_passed_on_unchanged() {
        let error =
            json!({"code": "CONFLICT_VERSION_MISMATCH", "message": "Read it again.", "details": {"a": 1}});
        let passed = envelope_error(error.as_object().unwrap(), &mask()).unwrap();
        assert_eq!((passed.code, passed.message.as_str()), (Code::ConflictVersion, "Read it again."));
        assert_eq!(passed.details["a"], 1);
        let error = json!({"code": "ODD", "message": "m"});
        let passed = envelope_error(error.as_object().unwrap(), &mask()).unwrap();
        assert_eq!((passed.code, &passed.details["upstream_code"]), (Code::Internal, &json!("ODD")));
        assert!(envelope_error(&Map::new(), &mask()).is_none());
    }
}
