//! Reads `caller_headers`: headers of a caller's request that are forwarded to an MCP server.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::header;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};

/// Headers about the message, the connection or the browser, not about the caller.
const NOT_FORWARDED: &[&str] =
    &["accept", "cookie", "forwarded", "last-event-id", "origin", "referer", "set-cookie", "via"];
const NOT_FORWARDED_PREFIXES: &[&str] = &["accept-", "content-", "mcp-", "proxy-", "sec-", "x-forwarded-"];

/// Reads the names. Headers that cannot be forwarded are reported and left out.
pub(super) fn read(reader: &mut DocumentReader, target: &DocumentObject<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let pointer = target.pointer_to("caller_headers");
    for (index, name) in reader.strings(target, "caller_headers").into_iter().enumerate() {
        let lower = name.to_ascii_lowercase();
        let problem = if !header::is_name(&name) {
            Some(format!("'{name}' is not a valid header name"))
        } else if is_message_header(&lower) {
            Some(format!(
                "The header '{name}' is never forwarded: it is about the request, not about the caller"
            ))
        } else if names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            Some(format!("The header '{name}' is listed twice"))
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
                    "MCP does not allow a server to forward a token that was issued for that server. Callers may send \
                     `Authorization` only with tokens that were issued for the upstream server",
                )
                .suggest("use another header, if the upstream server accepts one"),
            );
        }
        names.push(name);
    }
    names
}

/// Reports `caller_headers` of a program, which has no headers.
pub(super) fn report_program(reader: &mut DocumentReader, pointer: &str) {
    reader.push(
        Diagnostic::error(
            Code::SchemaInvalidValue,
            pointer,
            "An MCP server that is started with `command` has no headers, so `caller_headers` cannot be forwarded",
        )
        .suggest("use `url`, or give the program its credentials with `env`"),
    );
}

fn is_message_header(lower: &str) -> bool {
    header::is_framing(lower)
        || NOT_FORWARDED.contains(&lower)
        || NOT_FORWARDED_PREFIXES.iter().any(|prefix| lower.starts_with(prefix))
}
