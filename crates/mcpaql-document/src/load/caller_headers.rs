//! `caller_headers`: headers of a caller's request that are passed on to an MCP server.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::FRAMING_HEADERS;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};

/// Headers that speak of the message, the connection or the browser, not of who calls.
const NOT_PASSED_ON: &[&str] =
    &["accept", "cookie", "forwarded", "last-event-id", "origin", "referer", "set-cookie", "via"];
const NOT_PASSED_ON_PREFIXES: &[&str] = &["accept-", "content-", "mcp-", "proxy-", "sec-", "x-forwarded-"];

/// Reads the names. One that cannot be passed on is reported and left out.
pub(super) fn read(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let pointer = target.pointer_to("caller_headers");
    for (index, name) in reader.strings(target, "caller_headers").into_iter().enumerate() {
        let lower = name.to_ascii_lowercase();
        let problem = if !is_header_name(&name) {
            Some(format!("'{name}' is not the name of a header"))
        } else if is_message_header(&lower) {
            Some(format!("The header '{name}' is not passed on: it speaks of the request, not of who calls"))
        } else if names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            Some(format!("The header '{name}' is there twice"))
        } else {
            None
        };
        let here = match target.get("caller_headers") {
            Some(serde_json::Value::Array(_)) => child(&pointer, index),
            _ => pointer.clone(),
        };
        if let Some(message) = problem {
            reader.push(
                Diagnostic::error(Code::SchemaInvalidValue, here, message)
                    .expected("names of headers that carry a caller's own credentials, such as X-Api-Token")
                    .found(name),
            );
            continue;
        }
        if lower == "authorization" {
            reader.push(
                Diagnostic::warning(
                    Code::SchemaInvalidValue,
                    here,
                    "MCP forbids a server to pass on tokens that were issued for itself, so callers may only send \
                     `Authorization` with tokens that were issued for the server behind",
                )
                .suggest("use a header of its own, where the server behind takes one"),
            );
        }
        names.push(name);
    }
    names
}

/// A program has no headers.
pub(super) fn report_program(reader: &mut DocumentReader, pointer: &str) {
    reader.push(
        Diagnostic::error(
            Code::SchemaInvalidValue,
            pointer,
            "A program that is started with `command` takes no headers, so none of a caller's can be passed on",
        )
        .suggest("use `url`, or give the program its credentials with `env`"),
    );
}

fn is_message_header(lower: &str) -> bool {
    FRAMING_HEADERS.contains(&lower)
        || NOT_PASSED_ON.contains(&lower)
        || NOT_PASSED_ON_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
}

fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}
