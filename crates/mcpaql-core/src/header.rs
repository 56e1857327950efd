//! Validates headers. Checking a document, importing a description and opening a target use the same rules.

use crate::template::EnvTemplate;

/// Headers that belong to the connection. The HTTP library sets them.
const FRAMING_HEADERS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Returns whether this is a valid header name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token_byte)
}

/// Returns whether this header belongs to the connection, so that neither a document nor a caller can set it.
#[must_use]
pub fn is_framing(name: &str) -> bool {
    FRAMING_HEADERS.iter().any(|framing| framing.eq_ignore_ascii_case(name))
}

/// Returns whether a header can contain this text.
#[must_use]
pub fn is_value(text: &str) -> bool {
    !text.chars().any(|letter| letter.is_control() && letter != '\t')
}

/// Returns whether this is a media type, with or without parameters.
#[must_use]
pub fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    let kind = text.split(';').next().unwrap_or_default().trim_end();
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && kind.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype))
}

/// Returns why a target cannot send this header, as the rest of a sentence that starts with its name.
#[must_use]
pub fn problem(name: &str, value: &str) -> Option<&'static str> {
    if !is_name(name) {
        Some("is not a header name; correct it")
    } else if is_framing(name) {
        Some("is set by the connection itself; remove it from the target")
    } else if EnvTemplate::parse(value).is_none() {
        Some("contains an unclosed ${env:NAME}")
    } else if !is_value(value) {
        Some("contains invalid characters; correct its value")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_has_two_parts() {
        for text in ["application/json", "application/vnd.api+json; charset=utf-8"] {
            assert!(is_media_type(text), "{text}");
        }
        for text in ["", "json", "application/", "application/x y", "a/b/c", "text/plain; a=\n"] {
            assert!(!is_media_type(text), "{text}");
        }
    }

    #[test]
    fn headers_that_cannot_be_sent_have_a_reason() {
        for (name, value, word) in [
            ("X Y", "1", "header name"),
            ("", "1", "header name"),
            ("Host", "a", "connection"),
            ("X-A", "${env:A", "unclosed"),
            ("X-A", "${A}", "unclosed"),
            ("X-A", "a\nb", "characters"),
        ] {
            assert!(problem(name, value).is_some_and(|reason| reason.contains(word)), "{name}: {value}");
        }
        for value in ["", "a\tb", "gr\u{fc}n", "${env:A:-x} ${env:B}"] {
            assert_eq!(problem("X-A", value), None, "{value}");
        }
    }
}
