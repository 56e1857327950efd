//! Decides which values of a configuration are credentials.
//!
//! A value that is wrongly taken for a credential only costs one more environment variable; a missed credential ends up in a file that
//! people share. So in doubt, a value is a credential.

pub(crate) mod spans;

use mcpaql_core::suggest::snake_case;
use mcpaql_document::load::{is_credential_name, without_credentials};

/// Words in a name that suggest a credential.
const CREDENTIAL_WORDS: &[&str] = &[
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "dsn",
    "jwt",
    "key",
    "keys",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "pin",
    "pwd",
    "secret",
    "secrets",
    "session",
    "token",
    "tokens",
];
/// Last words of names that describe a credential but do not hold it, as in `TOKEN_URL`.
const METADATA_SUFFIXES: &[&str] = &[
    "dir", "endpoint", "env", "file", "folder", "host", "id", "limit", "mode", "name", "path", "port",
    "region", "scheme", "type", "url", "user", "username", "version",
];
/// Minimum length of a random run of letters and digits. Shorter runs are words, versions and dates.
const MIN_RANDOM_LENGTH: usize = 16;
/// Minimum length of a random run of upper and lower case letters. Shorter runs are names.
const MIN_MIXED_CASE_LENGTH: usize = 24;

/// Whether the value of a variable, header or flag with this name is a credential, which must not be copied.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    is_secret_name(name, value) || is_secret_value(value)
}

/// Whether a name suggests a credential and the value does not contradict it.
pub(crate) fn is_secret_name(name: &str, value: &str) -> bool {
    is_credential_name(name) || (names_credential(name) && !is_plain_value(value))
}

/// Whether a value is or contains a credential, judged by the value alone.
pub(crate) fn is_secret_value(value: &str) -> bool {
    has_token(value) || !spans::secrets_in_text(value).is_empty()
}

/// Whether a text contains a token of a well-known format.
pub(crate) fn has_token(text: &str) -> bool {
    matches!(without_credentials("", text), std::borrow::Cow::Owned(_))
}

fn names_credential(name: &str) -> bool {
    let name = snake_case(name);
    let words: Vec<&str> = name.split('_').collect();
    words.iter().any(|word| CREDENTIAL_WORDS.contains(word))
        && !words.last().is_some_and(|last| METADATA_SUFFIXES.contains(last))
}

/// Whether a value is a switch, a short number or a path.
pub(crate) fn is_plain_value(value: &str) -> bool {
    let word = value.to_ascii_lowercase();
    value.is_empty()
        || ["true", "false", "yes", "no", "on", "off", "none", "auto"].contains(&word.as_str())
        || (value.len() < 8 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        || is_path(value)
}

pub(crate) fn is_path(value: &str) -> bool {
    let mut chars = value.chars();
    value.starts_with(['/', '~', '.'])
        || (chars.next().is_some_and(|drive| drive.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && matches!(chars.next(), Some('\\' | '/')))
}

/// Whether a text contains a run of letters and digits that looks random.
pub(crate) fn looks_random(text: &str) -> bool {
    let is_run = |c: char| c.is_ascii_alphanumeric() || c == '+';
    // Checksums and commit hashes of packages are public.
    let text = text.split_once("sha256:").map_or(text, |(before, _)| before);
    let text = text.rsplit_once('@').filter(|(_, last)| is_commit(last)).map_or(text, |(before, _)| before);
    is_uuid(text) || text.split(|c| !is_run(c)).any(is_random_run)
}

fn is_random_run(run: &str) -> bool {
    let has = |test: fn(&u8) -> bool| run.bytes().any(|byte| test(&byte));
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    (run.len() >= MIN_RANDOM_LENGTH && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
        || (run.len() >= MIN_MIXED_CASE_LENGTH && mixed)
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_recognized_by_name_or_by_format() {
        for (name, value) in [
            ("GITHUB_TOKEN", "x"),
            ("Authorization", "Basic x"),
            ("DB_PASS", "hunter2"),
            ("GITHUB_PAT", "hunter2"),
            ("LINEAR_KEY", "hunter2"),
            ("ANYTHING", "ghp_0123456789abcdefghij"),
            ("DATABASE", "postgres://me:hunter2@db/x"),
            ("ANYTHING", "3f2a9c0d7b1e4f5a"),
            ("ANYTHING", "AbCdEfGhIjKlMnOpQrStUvWx"),
            ("WEBHOOK", "https://hooks.example.com/services/T0/B0/abcdefghijkl0123456789"),
            ("SERVER", "https://example.com/mcp?key=hunter2&x=1"),
            ("TENANT", "0b1c2d3e-0000-4000-8000-123456789abc"),
            ("CONNECTION", "Server=db;User=sa;Password=hunter2"),
            ("HEADERS", r#"{"apiKey": "hunter2"}"#),
            ("HEADERS", r#"{"Authorization": "Bearer abcdefghijklmnop"}"#),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn harmless_values_are_kept() {
        for (name, value) in [
            ("LOG_LEVEL", "debug"),
            ("MODEL", "claude-3-5-sonnet-20241022"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
            ("SSH_KEY_PATH", "~/.ssh/id_ed25519"),
            ("USE_AUTH", "true"),
            ("MAX_TOKENS", "4096"),
            ("BASE_URL", "https://api.example.com/v1"),
            ("ROOT", "/nix/store/3f2a9c0d7b1e4f5a8c6d7e8f9a0b1c2d-x"),
            ("IMAGE", "ghcr.io/a/b@sha256:3f2a9c0d7b1e4f5a8c6d7e8f9a0b1c2d3f2a9c0d7b1e4f5a8c6d7e8f9a0b1c2d"),
            ("PACKAGE", "@modelcontextprotocol/server-filesystem@2025.1.14"),
            ("FROM", "git+ssh@3f2a9c0d7b1e4f5a8c6d7e8f9a0b1c2d3f2a9c0d"),
            ("EMPTY", ""),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("PATH", "/usr/bin:/opt/key:/bin"),
            ("WHEN", "12:30"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }
}
