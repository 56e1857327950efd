//! The error codes of failures that an upstream describes: by its status, by the number of a JSON-RPC error, or by its
//! words.
//!
//! What always holds: `mcpaql serve` and generated projects use the same tables. Words are a guess, and they only select
//! the code.

use crate::error::Code;

/// Codes of numbers: HTTP statuses, and errors of JSON-RPC. Any other status from 400 to 499 means that the parameters are
/// wrong, and any other number is an internal error.
pub const CODES_BY_NUMBER: [(i64, Code); 18] = [
    (401, Code::PermissionDenied),
    (402, Code::PermissionDenied),
    (403, Code::PermissionDenied),
    (404, Code::NotFoundResource),
    // The method comes from the document, so the agent cannot fix it.
    (405, Code::Internal),
    (408, Code::TransportTimeout),
    (409, Code::ConflictExists),
    (410, Code::NotFoundResource),
    (412, Code::ConflictVersion),
    (413, Code::PayloadTooLarge),
    (414, Code::PayloadTooLarge),
    (423, Code::ConflictExists),
    (428, Code::ConflictVersion),
    (429, Code::RateLimitExceeded),
    (431, Code::PayloadTooLarge),
    (451, Code::PermissionDenied),
    (-32601, Code::NotFoundOperation),
    (-32602, Code::InvalidValue),
];

/// Phrases in the body of a 400 or a 422 that indicate a wrong value, not a wrong type.
pub const VALUE_WORDS: [&str; 10] = [
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

/// Phrases that indicate a code, in the order in which they are searched.
pub const CODE_WORDS: [(Code, &[&str]); 7] = [
    (Code::NotFoundOperation, &["unknown tool", "tool not found", "no such tool"]),
    (Code::RateLimitExceeded, &["rate limit", "too many requests", "quota exceeded"]),
    (
        Code::PermissionDenied,
        &[
            "permission denied",
            "access denied",
            "unauthorized",
            "not authorized",
            "forbidden",
            "eacces",
            "authentication",
            "not allowed",
        ],
    ),
    (Code::ConflictExists, &["already exists", "eexist", "conflict"]),
    (Code::NotFoundResource, &["not found", "no such", "does not exist", "doesn't exist", "enoent"]),
    (Code::TransportTimeout, &["timed out", "timeout exceeded", "timeout after", "timeout of"]),
    (
        Code::InvalidValue,
        &[
            "invalid",
            "validation",
            "required",
            "missing",
            "must be",
            "must not",
            "expected",
            "unexpected",
            "not a valid",
            "out of range",
            "too long",
            "too short",
            "unsupported",
            "unknown",
        ],
    ),
];

/// Returns the code of an HTTP status or of a JSON-RPC error. `text` is the body of the failure in lower case.
#[must_use]
pub fn code_by_number(number: i64, text: &str) -> Code {
    if matches!(number, 400 | 422) && VALUE_WORDS.iter().any(|words| text.contains(words)) {
        return Code::InvalidValue;
    }
    let known = CODES_BY_NUMBER.iter().find(|(known, _)| *known == number);
    known
        .map_or(if (400..500).contains(&number) { Code::InvalidType } else { Code::Internal }, |(_, code)| {
            *code
        })
}

/// Returns the code for the words of a failure, in lower case.
#[must_use]
pub fn code_by_words(text: &str) -> Code {
    let found = CODE_WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word)));
    found.map_or(Code::Internal, |(code, _)| *code)
}

/// Returns what the agent can do about a failure of an upstream.
#[must_use]
pub const fn advice(code: Code) -> &'static str {
    match code {
        Code::InvalidValue => "correct the value and call again",
        Code::InvalidType => "correct the parameters and call again",
        Code::PermissionDenied => "the credentials of this server do not allow it; tell the user",
        Code::NotFoundResource => "check the identifiers, or list or search first",
        Code::ConflictExists => "read the current state before changing it",
        Code::ConflictVersion => "read it again and retry the change with the new version",
        Code::PayloadTooLarge => "send less in one call",
        Code::RateLimitExceeded => "wait before calling again",
        _ => "try later or tell the user",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_selects_the_code() {
        for (number, code) in [
            (400, Code::InvalidType),
            (418, Code::InvalidType),
            (404, Code::NotFoundResource),
            (500, Code::Internal),
            (302, Code::Internal),
            (-32601, Code::NotFoundOperation),
            (-32602, Code::InvalidValue),
            (-32603, Code::Internal),
        ] {
            assert_eq!(
                code_by_number(number, "must be one of"),
                if number == 400 { Code::InvalidValue } else { code }
            );
            assert_eq!(code_by_number(number, ""), code, "{number}");
        }
    }

    #[test]
    fn the_first_phrase_selects_the_code() {
        assert_eq!(code_by_words("user not found: invalid id"), Code::NotFoundResource);
        assert_eq!(code_by_words("boom"), Code::Internal);
    }
}
