//! Finds credentials in documents. They are reported, but never shown.

use mcpaql_core::diagnostic::{Diagnostic, field_path};
use mcpaql_core::error::Code;
use mcpaql_core::reader::{DocumentReader, child};
use regex::Regex;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Patterns of well-known tokens, and of a password in a URL.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|",
        r"sk-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|rk_live_[A-Za-z0-9]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|",
        r"AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+)",
        r"|(?i:bearer|basic)\s+[A-Za-z0-9+/_.=-]{16,}",
        r"|://[^/\s:@]+:[^/\s@]+@",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----",
    ))
    .ok()
});

/// A credential in a query: its name, and the value up to the next parameter.
static QUERY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)([?&](?:[a-z0-9_-]*(?:api[_-]?key|token|secret|password)|key)=)[^&#\s{}'"]+"#).ok()
});
/// Keys whose value is a path or a URL. In other texts a query may be an example.
const URL_KEYS: &[&str] = &["maps_to", "path", "base_url", "token_url"];

/// Keys under `auth` that would contain a credential, with the keys that name a variable instead.
const CREDENTIAL_KEYS: &[(&str, &str)] = &[
    ("token", "token_env"),
    ("access_token", "token_env"),
    ("key", "key_env"),
    ("api_key", "key_env"),
    ("password", "password_env"),
    ("username", "username_env"),
    ("secret", "key_env"),
    ("client_id", "client_id_env"),
    ("client_secret", "client_secret_env"),
    ("refresh_token", "refresh_token_env"),
];

/// The `_env` key that replaces a credential key of `auth`.
pub(super) fn env_key(key: &str) -> Option<&'static str> {
    CREDENTIAL_KEYS.iter().find(|(name, _)| *name == key).map(|(_, env_key)| *env_key)
}

/// Reports one credential.
pub(super) fn report_credential(reader: &mut DocumentReader, pointer: &str, suggestion: &str) {
    reader.push(
        Diagnostic::error(
            Code::SchemaEmbeddedCredential,
            pointer,
            format!("Field '{}' contains a credential", field_path(pointer)),
        )
        .expected("the name of an environment variable")
        .suggest(suggestion),
    );
}

/// Looks for tokens in all strings of the document.
pub(super) fn scan(reader: &mut DocumentReader, value: &Value) {
    search(reader, value, &mut Vec::new());
}

/// A step from a value to one of its members. A pointer is built only for a credential, because most documents have none.
enum CredentialPathStep<'a> {
    Index(usize),
    Key(&'a str),
}

fn search<'a>(reader: &mut DocumentReader, value: &'a Value, path: &mut Vec<CredentialPathStep<'a>>) {
    match value {
        Value::String(text) if looks_like_token(text) || holds_query_credential(text, path.last()) => {
            let pointer = path.iter().fold(String::new(), |pointer, step| match step {
                CredentialPathStep::Index(index) => child(&pointer, index),
                CredentialPathStep::Key(key) => child(&pointer, key),
            });
            report_credential(reader, &pointer, advice(path));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(CredentialPathStep::Index(index));
                search(reader, item, path);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                path.push(CredentialPathStep::Key(key));
                search(reader, item, path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Advice for the credential at `path`. Variables are replaced only in headers and `cwd` of the target.
fn advice(path: &[CredentialPathStep<'_>]) -> &'static str {
    let key = |back: usize| match path.iter().rev().nth(back) {
        Some(CredentialPathStep::Key(key)) => *key,
        _ => "",
    };
    let of_target = |key: &str| matches!(key, "target" | "target_api");
    if (key(1) == "headers" && of_target(key(2))) || (key(0) == "cwd" && of_target(key(1))) {
        "move it to an environment variable and write `${env:NAME}` here; then revoke it"
    } else {
        "put it in an environment variable, write the name of the variable under `auth`, and revoke the credential"
    }
}

fn holds_query_credential(text: &str, last: Option<&CredentialPathStep<'_>>) -> bool {
    matches!(last, Some(CredentialPathStep::Key(key)) if URL_KEYS.contains(key))
        && !text.contains("${env:")
        && QUERY.as_ref().is_some_and(|query| query.is_match(text))
}

/// Masks credentials in all texts of a diagnostic.
pub(crate) fn redact(diagnostic: &mut Diagnostic) {
    let (Some(token), Some(query)) = (TOKEN.as_ref(), QUERY.as_ref()) else { return };
    let texts = [&mut diagnostic.expected, &mut diagnostic.found, &mut diagnostic.suggestion];
    for text in texts.into_iter().flatten().chain([&mut diagnostic.message]) {
        if let Cow::Owned(masked) = token.replace_all(text, "•••") {
            *text = masked;
        }
        if let Cow::Owned(masked) = query.replace_all(text, "$1•••") {
            *text = masked;
        }
    }
}

/// Masks everything in the text that loading would report as a credential under `key`. For programs that write documents.
#[must_use]
pub fn without_credentials<'t>(key: &str, text: &'t str) -> Cow<'t, str> {
    let (Some(token), Some(query)) = (TOKEN.as_ref(), QUERY.as_ref()) else {
        return Cow::Owned(String::new());
    };
    if text.contains("${env:") {
        return Cow::Borrowed(text);
    }
    let text = token.replace_all(text, "•••");
    if !URL_KEYS.contains(&key) {
        return text;
    }
    // Braces, because loading accepts a placeholder.
    match query.replace_all(&text, "$1{secret}") {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => Cow::Owned(masked),
    }
}

/// Whether a header or variable with this name usually contains a credential.
#[must_use]
pub fn is_credential_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    ["authorization", "proxy-authorization", "cookie"].contains(&name.as_str())
        || ["api-key", "apikey", "auth-key", "access-key", "token", "secret", "password"]
            .iter()
            .any(|word| name.ends_with(word))
}

fn looks_like_token(text: &str) -> bool {
    !text.contains("${env:") && TOKEN.as_ref().is_some_and(|token| token.is_match(text))
}
