//! Addresses: of the target, of an operation that lives elsewhere, and of a service that issues tokens.
//!
//! They may hold `${env:NAME}` and `${env:NAME:-default}`. What a variable will hold is checked when it is read; here the
//! rest is, with the defaults in their places.

use super::secrets;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::host::is_loopback;
use mcpaql_core::reader::{DocumentObject, DocumentReader};

/// What stands for a variable without a default.
const UNKNOWN: &str = "variable";

/// Reads `base_url`, which has no slash behind it.
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
                "base_url ends with a slash",
            )
            .suggest(format!("write `{trimmed}`")),
        );
    }
    Some(trimmed.to_owned())
}

/// Reads a whole address, which may have a query, from behind `key`.
pub(super) fn url(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    text: &str,
    allow_http: bool,
) -> Option<String> {
    let place = text.split_once('?').map_or(text, |(place, _)| place);
    check(reader, object, key, place, allow_http)?;
    Some(text.to_owned())
}

/// Reports what is wrong with the address behind `key`.
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
            Diagnostic::error(Code::SchemaInvalidValue, &pointer, format!("{key} {message}"))
                .expected("https://host/optional/path")
                .suggest(suggestion),
        );
        None
    };
    let Some(sample) = SampleAddress::of(text) else {
        return problem(
            "holds a variable that is not written as one",
            "write `${env:NAME}`, or `${env:NAME:-default}` where it need not be set",
        );
    };
    if sample.unknown {
        return Some(());
    }
    let Some((scheme, rest)) = sample.text.split_once("://") else {
        return problem("is not a URL", "begin with https://");
    };
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() || rest.contains(['?', '#', ' ', '{', '}']) {
        return problem(
            "must be a scheme, a host and an optional path",
            "leave out query, fragment and placeholders",
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
    match scheme {
        "https" => Some(()),
        "http" if allow_http || is_loopback(authority) || authority.contains(UNKNOWN) => Some(()),
        "http" => problem(
            "uses plain http://, which is only for this machine",
            "use https://, or say `allow_http: true` if you must",
        ),
        _ => problem("must be https:// (http:// for this machine)", "begin with https://"),
    }
}

/// An address with its variables filled in.
struct SampleAddress {
    text: String,
    /// The address begins with a variable, so nothing is known about it.
    unknown: bool,
}

impl SampleAddress {
    /// `None` where something looks like a variable and is none.
    fn of(text: &str) -> Option<SampleAddress> {
        let mut sample = SampleAddress { text: String::new(), unknown: false };
        let mut rest = text;
        while let Some((before, reference)) = rest.split_once("${") {
            let (inside, after) = reference.strip_prefix("env:")?.split_once('}')?;
            let (name, default) = inside.split_once(":-").unwrap_or((inside, UNKNOWN));
            if !is_variable(name) {
                return None;
            }
            sample.text.push_str(before);
            sample.unknown |= sample.text.is_empty() && name.len() == inside.len();
            sample.text.push_str(default);
            rest = after;
        }
        sample.text.push_str(rest);
        Some(sample)
    }
}

/// Whether an environment variable can have that name.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
