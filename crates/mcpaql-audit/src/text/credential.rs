//! Finds credentials in the texts of tools, and masks them in all output of an audit.
//!
//! Only unambiguous credentials are reported. Masking is broader: it also covers truncated and doubtful ones.

use crate::text::prefilter::{Prefilter, WordGroup};
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Complete keys of well-known formats.
static KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}|glpat-[A-Za-z0-9_-]{20}|sk-ant-[A-Za-z0-9_-]{40,}|",
        r"sk-proj-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{48}|[sr]k_live_[A-Za-z0-9]{20,}|xox[abeprs]-[0-9]{6,}-[A-Za-z0-9-]{10,}|",
        r"AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{34}|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|",
        r"eyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\\nr]+[A-Za-z0-9+/]{40,}",
    ))
    .ok()
});
/// Passwords in a database address (group 2, with the user in group 1) or after a name such as `password:` (group 3).
static PASSWORD_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u)(?i:\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|clickhouse|s?ftp|ssh|smtps?|ldaps?)://",
        r"([!-9;-?A-~]{1,64}):([!-.0-?A-~]{6,128})@[a-z0-9\[])",
        r#"|(?i:(?:^|[\x00-@\[-`{-~])(?:password|passwd|pwd|api[_-]?key|secret[_-]?key|access[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token)["'`]?(?: ?= ?|: ?)["'`]?)([!#%&*+\-./0-9=?@A-Z^_a-z~]{8,128})"#,
    ))
    .ok()
});
/// Text that is masked: every known prefix of a key with enough characters after it, and private keys.
static MASK_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u:gh[pousr]_[A-Za-z0-9]{12,}|github_pat_[A-Za-z0-9_]{12,}|glpat-[A-Za-z0-9_-]{12,}|sk-[A-Za-z0-9]{20,}|sk-(?:ant|proj)-[A-Za-z0-9_-]{12,}|",
        r"[sr]k_live_[A-Za-z0-9]{12,}|xox[abeprs]-[0-9]{4,}[A-Za-z0-9-]{8,}|AKIA[0-9A-Z]{12,}|AIza[0-9A-Za-z_-]{20,}|npm_[A-Za-z0-9]{20,}|hf_[A-Za-z]{20,}|",
        r"SG\.[A-Za-z0-9_-]{16,}[A-Za-z0-9._-]*|eyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9._-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/\s\\]*)",
    ))
    .ok()
});
/// The user and password of an address. Quoting characters of output formats end it.
static URL_CREDENTIALS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(://[^/\s:@"'<>&\\,]+:)[^/\s@"'<>&\\,{}$•]+@"#).ok());

/// Minimum length of a key.
const MIN_KEY_LENGTH: usize = 20;
const MASK: &str = "•••";

/// Prefixes of keys, the characters allowed after the prefix besides letters and digits, and the minimum number of these characters.
const KEY_SHAPES: &[(&str, &[u8], usize)] = &[
    ("gh", b"_", 14),
    ("github_pat_", b"_", 12),
    ("glpat-", b"_-", 12),
    ("sk-", b"", 20),
    ("sk-ant-", b"_-", 12),
    ("sk-proj-", b"_-", 12),
    ("k_live_", b"", 12),
    ("xox", b"-", 14),
    ("AKIA", b"", 12),
    ("AIza", b"_-", 20),
    ("npm_", b"", 20),
    ("hf_", b"", 20),
    ("SG.", b"_-", 16),
    ("eyJ", b"_-", 16),
    ("PRIVATE KEY-----", b"", 0),
];

/// Returns whether the text may contain a key: a prefix with enough characters after it.
fn may_have_key(text: &str, prefilter: Prefilter) -> bool {
    let is_long = |rest: &[u8], also: &[u8], least: usize| {
        let end =
            rest.iter().take(least).position(|byte| !byte.is_ascii_alphanumeric() && !also.contains(byte));
        end.is_none() && rest.len() >= least
    };
    prefilter.holds(WordGroup::KEY)
        && KEY_SHAPES.iter().any(|(begin, also, least)| {
            let behind = |at: usize| text.as_bytes().get(at + begin.len()..).unwrap_or_default();
            text.match_indices(begin).any(|(at, _)| is_long(behind(at), also, *least))
        })
}

/// Endings of the names of passwords, keys and tokens.
const NAME_ENDINGS: &[&str] = &["password", "passwd", "pwd", "key", "secret", "token"];

/// Maximum length of a password.
const MAX_PASSWORD_LENGTH: usize = 128;

/// Returns whether the text after `:` or `=` starts with a long word of letters and digits.
fn looks_generated(text: &str) -> bool {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let text = text.strip_prefix(['"', '\'', '`']).unwrap_or(text);
    let end = text
        .bytes()
        .take(MAX_PASSWORD_LENGTH)
        .position(|byte| !byte.is_ascii_graphic() || b"\"'`".contains(&byte));
    let word = text.as_bytes().get(..end.unwrap_or(MAX_PASSWORD_LENGTH.min(text.len()))).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    word.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// Returns whether an address in the text may contain a user and a password.
fn may_have_user(text: &str, prefilter: Prefilter) -> bool {
    let has_user = |word: &str| {
        let behind = word.split_once("://").and_then(|(_, address)| address.split_once(':'));
        behind.is_some_and(|(_, behind)| behind.contains('@'))
    };
    prefilter.holds(WordGroup::ADDRESS) && text.contains('@') && text.split_whitespace().any(has_user)
}

/// Returns whether the text may contain a password: in an address, or after its name and `:` or `=`.
fn may_have_password(text: &str, prefilter: Prefilter) -> bool {
    let is_named = |sign: usize| {
        let before = text.as_bytes().get(..sign).unwrap_or_default();
        let before = before.strip_suffix(b" ").unwrap_or(before);
        let before = match before {
            [name @ .., b'"' | b'\'' | b'`'] => name,
            name => name,
        };
        let is_name = |name: &&str| {
            let end = before.len().checked_sub(name.len()).and_then(|from| before.get(from..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
        };
        NAME_ENDINGS.iter().any(is_name) && text.get(sign + 1..).is_some_and(looks_generated)
    };
    may_have_user(text, prefilter)
        || (prefilter.holds(WordGroup::PASSWORD)
            && text.match_indices([':', '=']).any(|(sign, _)| is_named(sign)))
}

/// Returns whether a text contains a credential that is clearly not an example.
pub(crate) fn has_credential(text: &str, prefilter: Prefilter) -> bool {
    if text.len() < MIN_KEY_LENGTH {
        return false;
    }
    let keys = || {
        let keys = KEYS.as_ref();
        keys.is_some_and(|keys| keys.find_iter(text).any(|key| !is_placeholder(key.as_str())))
    };
    let passwords = || {
        let passwords = PASSWORD_PATTERN.as_ref();
        passwords
            .is_some_and(|passwords| passwords.captures_iter(text).any(|found| password(&found).is_some()))
    };
    (may_have_key(text, prefilter) && keys()) || (may_have_password(text, prefilter) && passwords())
}

/// Returns the password of a match, unless it is an example.
fn password<'t>(found: &Captures<'t>) -> Option<regex::Match<'t>> {
    let password = found.get(2).or_else(|| found.get(3))?;
    let text = password.as_str();
    let lower = text.to_ascii_lowercase();
    let is_user = found.get(1).is_some_and(|user| lower.starts_with(&user.as_str().to_ascii_lowercase()));
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    let is_generated = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_code = text.contains(['<', '{', '[', '(', '$', '*', '%']);
    // After a name, values with these characters are paths, hosts or query strings, not keys.
    let is_plain =
        found.get(1).is_none() && (text.contains(['/', '.', '?', '&']) || text.ends_with(['=', ':']));
    (is_generated && !is_user && !is_code && !is_plain && !is_placeholder(text)).then_some(password)
}

/// Returns whether a key is an example: it repeats a character, or contains a word such as `example` or a counting sequence.
fn is_placeholder(key: &str) -> bool {
    const WORDS: &[&str] = &[
        "example",
        "your",
        "xxx",
        "placeholder",
        "dummy",
        "redacted",
        "password",
        "changeme",
        "secret123",
        "abc123",
        "1234567",
    ];
    let lower = key.to_ascii_lowercase();
    let mut run = (0, 0);
    for byte in key.bytes() {
        run = if byte == run.0 { (byte, run.1 + 1) } else { (byte, 1) };
        if run.1 >= 6 {
            return true;
        }
    }
    let is_known_key = key.len() >= MIN_KEY_LENGTH && KEYS.as_ref().is_some_and(|keys| keys.is_match(key));
    let words = if is_known_key { WORDS.get(..6).unwrap_or_default() } else { WORDS };
    words.iter().any(|word| lower.contains(word))
}

/// Masks everything that looks like a credential in the text of a report, in any format.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    mask_prefiltered(text, Prefilter::of(text))
}

fn mask_prefiltered(text: &str, prefilter: Prefilter) -> Cow<'_, str> {
    let text = match may_have_key(text, prefilter) {
        false => Cow::Borrowed(text),
        true => MASK_PATTERN.as_ref().map_or(Cow::Borrowed(""), |keys| keys.replace_all(text, MASK)),
    };
    if !may_have_user(&text, prefilter) {
        return text;
    }
    let Some(addresses) = URL_CREDENTIALS.as_ref() else { return Cow::Borrowed("") };
    mask_more(text, |text| addresses.replace_all(text, "${1}•••@"))
}

/// Masks everything that looks like a credential in the message of a finding, including passwords after their name.
pub(crate) fn mask_finding(text: &str) -> Cow<'_, str> {
    let prefilter = Prefilter::of(text);
    let masked = mask_prefiltered(text, prefilter);
    if !may_have_password(&masked, prefilter) {
        return masked;
    }
    let Some(passwords) = PASSWORD_PATTERN.as_ref() else { return Cow::Borrowed("") };
    mask_more(masked, |text| {
        passwords.replace_all(text, |found: &Captures<'_>| {
            let whole = found.get(0).map_or("", |whole| whole.as_str());
            match password(found) {
                Some(password) => whole.replace(password.as_str(), MASK),
                None => whole.to_owned(),
            }
        })
    })
}

fn mask_more<'t>(text: Cow<'t, str>, mask: impl for<'a> Fn(&'a str) -> Cow<'a, str>) -> Cow<'t, str> {
    match mask(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(masked) => Cow::Owned(masked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_passwords_are_found() {
        for text in [
            "Use ghp_9876543210zyxwvutsrqZYXWVUTSRQ987654 for it",
            "Connects to postgres://admin:hunter2pass@db.internal:5432/main",
            "such as mysql://root:s3cr3tRoot@10.0.0.7/app",
            "Log in with user bob, password: hunter2horse",
            "password=hunter2secret99, then go on",
            "Call it with api_key=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ] {
            assert!(has_credential(text, Prefilter::of(text)), "{text}");
            assert_ne!(mask_finding(text), text, "{text}");
        }
    }

    #[test]
    fn every_known_key_is_masked_however_short_it_was_cut() {
        for key in [
            "ghp_0a1b2c3d4e5f",
            "ghr_0a1b2c3d4e5f",
            "github_pat_0a1b_c3d4e5f",
            "glpat-0a1b-c3d4_5f",
            "sk-0a1b2c3d4e5f6a7b8c9d",
            "sk-ant-0a1b-c3d4_5f",
            "sk-proj-0a1b-c3d4_5f",
            "sk_live_0a1b2c3d4e5f",
            "rk_live_0a1b2c3d4e5f",
            "xoxb-12345678-abc",
            "AKIA0123456789AB",
            "AIza0a1b2c3d4e5f6a7b8-_d",
            "npm_0a1b2c3d4e5f6a7b8c9d",
            "hf_abcdefghijklmnopqrst",
            "SG.0a1b2c3d4e5f6a-_",
            "eyJ0a1b2c3d4e5f6a-_.eyJ0a1b2c3d",
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\\nMIIE",
        ] {
            assert_eq!(masked(&format!("(task {key}!")), "(task •••!", "{key}");
        }
    }

    #[test]
    fn placeholders_are_not_reported() {
        for text in [
            "postgres://user:pass@localhost:5432/db",
            "postgresql://postgres:postgres1@localhost/db or postgresql://user:password1@host",
            "postgres://postgres1:postgres1@localhost/db",
            "mysql://root:<password>@host and mysql://${USER}:${PASS1234}@host/db",
            "password: <your password>, password: xxxxxxxx1, api_key=your-api-key-2",
            "password: at least 8 characters; passwd=${PASSWORD_1}; api_key: string",
            "api_key=YOUR_API_KEY_123 and the header access_token: {token12345}",
            "The path of password: /etc/secrets/password1.txt",
            "https://example.com:8443/path?a=b@c and mailto:bob@example.com",
        ] {
            assert!(!has_credential(text, Prefilter::of(text)), "{text}");
        }
    }

    #[test]
    fn truncated_credentials_are_masked_and_the_text_around_them_is_kept() {
        assert_eq!(masked("'ghp_9876543210zyxwv…'"), "'•••…'");
        assert_eq!(
            masked(r#"{"u":"https://a.example","x":"b@c"}"#),
            r#"{"u":"https://a.example","x":"b@c"}"#
        );
        assert_eq!(masked("https://bob:hunter2@example.com"), "https://bob:•••@example.com");
        assert_eq!(mask_finding("password=hunter2secret99, then"), "password=•••, then");
        for plain in ["risk-assessment of a task-list", "sk-and-more", "get_github_pat", "localhost:80"] {
            assert_eq!(mask_finding(plain), plain);
        }
    }
}
