//! Checks URLs: of targets, of operations with their own `base_url`, and of token endpoints.
//!
//! URLs may contain `${env:NAME}` and `${env:NAME:-default}`. Here the URL is checked with the defaults filled in. The value of
//! a variable is checked when the variable is read.

use super::secrets;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::host::{address_problem, is_loopback};
use mcpaql_core::reader::{DocumentObject, DocumentReader};
use mcpaql_core::template::{EnvPiece, EnvTemplate};
use url::Url;

/// Replaces a variable without a default in a sample.
const UNKNOWN: &str = "variable";

/// Reads `base_url` without trailing slashes.
pub(super) fn base_url(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    text: &str,
    allow_http: bool,
) -> Option<String> {
    let trimmed = text.trim_end_matches('/');
    check(reader, object, "base_url", trimmed, allow_http)?;
    if trimmed.len() != text.len() {
        reader.push(
            Diagnostic::warning(
                Code::SchemaInvalidValue,
                object.pointer_to("base_url"),
                "`base_url` ends with a slash",
            )
            .suggest(format!("write `{trimmed}`")),
        );
    }
    Some(trimmed.to_owned())
}

/// Reads the URL under `key`, which may have a query.
pub(super) fn url(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    text: &str,
    allow_http: bool,
) -> Option<String> {
    let without_query = text.split_once('?').map_or(text, |(before, _)| before);
    check(reader, object, key, without_query, allow_http)?;
    Some(text.to_owned())
}

/// Checks the URL under `key` and reports problems.
pub(super) fn check(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    text: &str,
    allow_http: bool,
) -> Option<()> {
    let pointer = object.pointer_to(key);
    let mut problem = |message: &str, suggestion: &str| {
        reader.push(
            Diagnostic::error(Code::SchemaInvalidValue, &pointer, format!("`{key}` {message}"))
                .expected("https://host/optional/path")
                .suggest(suggestion),
        );
        None
    };
    let Some(sample) = SampleAddress::of(text) else {
        return problem(
            "contains an invalid variable",
            "write `${env:NAME}`, or `${env:NAME:-default}` if the variable is optional",
        );
    };
    if let Some(reason) = address_problem(&sample.text) {
        return problem(reason, "write the URL as it is sent");
    }
    if sample.unknown {
        return Some(());
    }
    let Some((scheme, rest)) = sample.text.split_once("://") else {
        return problem("is not a URL", "start it with https://");
    };
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() || rest.contains(['?', '#', ' ', '{', '}']) {
        return problem(
            "must be a scheme, a host and an optional path",
            "remove query, fragment and placeholders",
        );
    }
    if authority.contains('@') {
        secrets::report_credential(
            reader,
            &pointer,
            "remove the user and password and use `auth: { type: basic, … }`",
        );
        return None;
    }
    // The value of a variable without a default is checked when the variable is read.
    if !sample.text.contains(UNKNOWN) && Url::parse(&sample.text).is_err() {
        return problem("is not a valid URL", "check the host and the port");
    }
    match scheme {
        "https" => Some(()),
        "http" if allow_http || is_loopback(authority) || authority.contains(UNKNOWN) => Some(()),
        "http" => problem(
            "uses http://, which is allowed only for this machine",
            "use https://, or write `allow_http: true` if you must",
        ),
        _ => problem(
            "must start with https:// (or http://, for this machine)",
            "write https:// before the host",
        ),
    }
}

/// A URL with its variables replaced by sample values.
struct SampleAddress {
    text: String,
    /// Whether the URL starts with a variable without a default, so that nothing is known about it.
    unknown: bool,
}

impl SampleAddress {
    /// Returns `None` if the text contains an invalid variable.
    fn of(text: &str) -> Option<SampleAddress> {
        let mut sample = SampleAddress { text: String::new(), unknown: false };
        for piece in EnvTemplate::parse(text)?.pieces() {
            match piece {
                EnvPiece::Text(text) => sample.text.push_str(text),
                EnvPiece::Variable { name, .. } if !is_variable(name) => return None,
                EnvPiece::Variable { fallback, .. } => {
                    sample.unknown |= sample.text.is_empty() && fallback.is_none();
                    sample.text.push_str(fallback.as_deref().unwrap_or(UNKNOWN));
                }
            }
        }
        Some(sample)
    }
}

/// Whether the text is a valid name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
