//! Finds the spans of credentials in a text: only the credential itself, so that the text around it can stay.
//!
//! In these texts, each reference to a variable is replaced by one [`REFERENCE_MARK`]. What always holds: spans do not overlap and are
//! in order.

use super::{has_token, is_path, is_plain_value, is_secret_name, is_secret_value, looks_random};
use std::ops::Range;

/// Placeholder for a reference; command lines, headers and URLs cannot contain it.
pub(crate) const REFERENCE_MARK: char = '\0';
const QUOTES: [char; 2] = ['"', '\''];
/// Flags before `user:password`.
const USER_FLAGS: &[&str] = &["-u", "-U", "--user", "--userpwd", "--proxy-user"];
/// One-letter flags that often take a password, key or token.
const SHORT_SECRET_FLAGS: &[&str] = &["-a", "-k", "-K", "-p", "-P", "-s", "-t", "-T", "-w"];
/// Maximum length of a part of a plain word such as `mcp-server-git`. A longer part may be a secret.
const MAX_PLAIN_PART: usize = 12;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecretSpan {
    /// The name of the credential in the text; empty if it has none.
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
}

/// Returns the credentials in a word of a command line, judged by the word before it and by itself.
pub(crate) fn secrets_in_argument(before: Option<&str>, text: &str) -> Vec<SecretSpan> {
    if let Some(secret) = before.and_then(|flag| secret_after_flag(flag, text)) {
        return vec![secret];
    }
    // In `-e NAME=value` and `--name=value`, the value extends to the end of the word.
    let names_variable = matches!(before, Some("-e" | "--env"));
    if let Some((name, value)) = text.split_once('=')
        && (names_variable || name.starts_with("--"))
        && !name.contains(char::is_whitespace)
        && !value.is_empty()
        && !value.starts_with(['{', '['])
        && is_secret_name(name.trim_start_matches('-'), value)
    {
        let name = name.trim_start_matches('-').to_owned();
        return vec![SecretSpan { name, range: text.len() - value.len()..text.len() }];
    }
    if let Some(value) = text.strip_prefix("-p")
        && value.len() >= 6
        && value.contains(|c: char| c.is_ascii_digit())
        && looks_like_secret(value)
    {
        return vec![SecretSpan { name: "p".into(), range: 2..text.len() }];
    }
    secrets_in_text(text)
}

/// Returns the credentials in a text.
pub(crate) fn secrets_in_text(text: &str) -> Vec<SecretSpan> {
    let urls = url_ranges(text);
    let mut found = Vec::new();
    for (at, sign) in text.char_indices().filter(|(_, c)| matches!(c, '=' | ':')) {
        let in_url = urls.iter().any(|url| url.contains(&at));
        if !(sign == ':' && in_url) {
            add(&mut found, assignment(text, at, sign));
        }
    }
    let words = words(text, |c| c.is_whitespace());
    for pair in words.windows(2) {
        if let [(_, flag), (at, value)] = pair {
            let value_at = at + (value.len() - value.trim_start_matches(QUOTES).len());
            let value = value.trim_matches(QUOTES);
            let secret = secret_after_flag(flag.trim_matches(QUOTES), value);
            add(&mut found, secret.map(|secret| shifted(secret, value_at)));
        }
    }
    for url in &urls {
        let part = text.get(url.clone()).unwrap_or_default();
        secrets_in_url(part).into_iter().for_each(|secret| add(&mut found, Some(shifted(secret, url.start))));
    }
    let ends = |c: char| {
        c.is_whitespace() || QUOTES.contains(&c) || [',', ';', '{', '}', REFERENCE_MARK].contains(&c)
    };
    for (at, word) in self::words(text, ends) {
        let value = word
            .trim_end_matches('=')
            .rsplit_once('=')
            .map_or(word, |(name, _)| word.get(name.len() + 1..).unwrap_or(word));
        if !word.contains("://") && (has_token(value) || (!is_path(value) && looks_random(value))) {
            let start = at + word.len() - value.len();
            add(&mut found, Some(SecretSpan { name: String::new(), range: start..start + value.len() }));
        }
    }
    found.sort_by_key(|secret| secret.range.start);
    found
}

/// Returns the credential in the word after a flag.
fn secret_after_flag(flag: &str, value: &str) -> Option<SecretSpan> {
    if !flag.starts_with('-') || flag.contains('=') || value.starts_with('-') || value.is_empty() {
        return None;
    }
    let name = flag.trim_start_matches('-').to_owned();
    if USER_FLAGS.contains(&flag) {
        let (_, password) = value.split_once(':').filter(|(_, password)| !is_plain_value(password))?;
        let range = value.len() - password.len()..value.len();
        return Some(SecretSpan { name: "password".into(), range });
    }
    let secret =
        is_secret_name(&name, value) || (SHORT_SECRET_FLAGS.contains(&flag) && looks_like_secret(value));
    secret.then_some(SecretSpan { name, range: 0..value.len() })
}

/// Whether a value is neither a number, port, path, package nor plain word.
fn looks_like_secret(value: &str) -> bool {
    let is_plain = |part: &str| {
        (part.len() <= MAX_PLAIN_PART && part.bytes().all(|byte| byte.is_ascii_lowercase()))
            || (part.len() < 8 && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_package = value.starts_with('@') && value.contains('/');
    let has_form = value.contains("://") || value.contains('=') || value.contains(char::is_whitespace);
    !is_plain_value(value)
        && !is_package
        && !has_form
        && !value.split(['-', '_', '.', ':', '@', '/']).all(is_plain)
}

/// Returns the credential that is assigned to a name, as in `TOKEN=x`, `Authorization: x` and `{"password": "x"}`.
fn assignment(text: &str, at: usize, sign: char) -> Option<SecretSpan> {
    let before = text.get(..at)?.trim_end_matches(['"', '\'', ' ', '\\']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let rest = before.trim_end_matches(is_part);
    let name = before.get(rest.len()..)?.trim_start_matches('-');
    let behind = text.get(at + 1..)?;
    let value = behind.trim_start_matches([' ', '"', '\'', '\\']);
    if name.len() < 2 || value.is_empty() || value.starts_with("//") {
        return None;
    }
    let opened = behind.get(..behind.len() - value.len())?;
    let length = if opened.contains(QUOTES) {
        quoted(value, opened)
    } else if value.starts_with(['{', '[']) {
        nested(value)
    } else if sign == ':' && rest.ends_with(QUOTES) && before.len() == at {
        quoted(value, rest.get(rest.len() - 1..)?)
    } else if sign == ':' && (rest.is_empty() || rest.ends_with('=')) {
        // The value of a header extends to the end of the word.
        value.len()
    } else {
        unquoted(value, rest)
    };
    let value = value.get(..length)?;
    let start = text.len() - behind.len() + opened.len();
    (!value.is_empty() && is_secret_name(name, value))
        .then(|| SecretSpan { name: name.to_owned(), range: start..start + length })
}

/// Returns the length up to the closing quote; `opened` ends with the opening quote, which may be escaped.
fn quoted(value: &str, opened: &str) -> usize {
    let quote = opened.chars().next_back().unwrap_or('"');
    if opened.contains('\\') {
        return value.find(&format!("\\{quote}")).unwrap_or(value.len());
    }
    let mut escaped = false;
    let end = value.char_indices().find(|(_, c)| {
        let closes = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        closes
    });
    end.map_or(value.len(), |(at, _)| at)
}

/// Returns the length up to and including the bracket that closes the first one.
fn nested(value: &str) -> usize {
    let mut depth = 0_usize;
    let end = value.char_indices().find(|(_, c)| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.map_or(value.len(), |(at, _)| at + 1)
}

/// Returns the length up to a character that ends the value. A character that may be part of a password does not end it.
fn unquoted(value: &str, before: &str) -> usize {
    let in_connection = before.ends_with(';');
    let ends = |(at, c): &(usize, char)| {
        let rest = value.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            '"' | '\'' => true,
            ';' => rest.trim().is_empty() || rest.starts_with(' ') || begins_pair(rest),
            '&' | ',' => rest.trim_start().is_empty() || begins_pair(rest),
            '}' => before.contains('{'),
            ']' => before.contains('['),
            '#' => before.contains("://"),
            c => c.is_whitespace() && !in_connection,
        }
    };
    let end = value.char_indices().find(ends).map_or(value.len(), |(at, _)| at);
    // `Bearer x` is one value.
    match value.split_once(' ') {
        Some((scheme, rest)) if scheme.len() == end && is_scheme(scheme) => {
            scheme.len() + 1 + unquoted(rest, before)
        }
        _ => end,
    }
}

fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "token"].contains(&word.to_ascii_lowercase().as_str())
}

fn begins_pair(rest: &str) -> bool {
    let rest = rest.trim_start();
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_ .\"'".contains(c));
    behind.len() < rest.len() && behind.starts_with(['=', ':'])
}

/// Returns the ranges of the URLs in a text.
fn url_ranges(text: &str) -> Vec<Range<usize>> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | REFERENCE_MARK);
    let found = text.match_indices("://").map(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let behind = text.get(at..).unwrap_or_default();
        let end = behind.find(|c: char| c.is_whitespace() || "\"'<>|`\\".contains(c)).unwrap_or(behind.len());
        before.trim_end_matches(is_scheme).len()..at + end
    });
    found.collect()
}

/// Returns the password of a URL, and the keys in its path and query.
fn secrets_in_url(text: &str) -> Vec<SecretSpan> {
    let Some((scheme, rest)) = text.split_once("://") else { return Vec::new() };
    let host_at = scheme.len() + 3;
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, tail) = rest.split_at_checked(host_end).unwrap_or((rest, ""));
    let mut found = Vec::new();
    let mut push = |name: &str, start: usize, length: usize| {
        found.push(SecretSpan { name: name.to_owned(), range: start..start + length });
    };
    if let Some((who, _)) = host.rsplit_once('@') {
        match who.split_once(':') {
            Some((user, password)) => push("password", host_at + user.len() + 1, password.len()),
            None if is_secret_value(who) => push("user", host_at, who.len()),
            None => {}
        }
    }
    for (at, part) in words(tail, |c| matches!(c, '/' | '?' | '&' | '#')) {
        let at = host_at + host_end + at;
        match part.split_once('=') {
            Some((name, value)) if is_secret_name(name, value) || looks_random(value) || has_token(value) => {
                push(name, at + name.len() + 1, value.len());
            }
            None if looks_random(part) || has_token(part) => push("url_key", at, part.len()),
            _ => {}
        }
    }
    found
}

/// Returns the words of a text with their positions; `ends` says which characters separate words.
fn words(text: &str, ends: impl Fn(char) -> bool) -> Vec<(usize, &str)> {
    let mut at = 0;
    let mut found = Vec::new();
    for word in text.split_inclusive(&ends) {
        let bare = word.trim_end_matches(&ends);
        if !bare.is_empty() {
            found.push((at, bare));
        }
        at += word.len();
    }
    found
}

fn shifted(secret: SecretSpan, by: usize) -> SecretSpan {
    SecretSpan { name: secret.name, range: secret.range.start + by..secret.range.end + by }
}

fn add(found: &mut Vec<SecretSpan>, secret: Option<SecretSpan>) {
    let Some(secret) = secret.filter(|secret| !secret.range.is_empty()) else { return };
    let overlaps =
        |known: &SecretSpan| known.range.start < secret.range.end && secret.range.start < known.range.end;
    if !found.iter().any(overlaps) {
        found.push(secret);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(before: Option<&str>, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in secrets_in_argument(before, text).into_iter().rev() {
            out.replace_range(secret.range, "•");
        }
        out
    }

    #[test]
    fn the_text_around_a_credential_stays() {
        for (text, expected) in [
            (r#"{"apiKey":"hunter2"}"#, r#"{"apiKey":"•"}"#),
            (r#"{\"apiKey\":\"hunter2\",\"a\":1}"#, r#"{\"apiKey\":\"•\",\"a\":1}"#),
            (r#"{"token":"a\"hunter2","x":1}"#, r#"{"token":"•","x":1}"#),
            (r#"{"tokens":["hunter2"],"x":1}"#, r#"{"tokens":•,"x":1}"#),
            ("Server=h;User Id=sa;Password=hunter2;", "Server=h;User Id=sa;Password=•;"),
            ("Server=h;Password=my hunter2;Timeout=3", "Server=h;Password=•;Timeout=3"),
            ("AccountKey=hunter2==;Suffix=x", "AccountKey=•;Suffix=x"),
            ("TOKEN=hunter2 exec srv --password hunter2 --x", "TOKEN=• exec srv --password • --x"),
            ("TOKEN='hunter2 2' exec srv -p 80", "TOKEN='•' exec srv -p 80"),
            ("curl -H 'Authorization: Bearer hunter2' -u me:hunter2", "curl -H 'Authorization: •' -u me:•"),
            ("x --db postgres://me:hunter2@db/x --y", "x --db postgres://me:•@db/x --y"),
            ("--password=a;hunter2,b", "--password=•"),
            ("https://\0/mcp?key=hunter2&x=1", "https://\0/mcp?key=•&x=1"),
            ("\0/mcp?key=hunter2&x=1", "\0/mcp?key=•&x=1"),
            ("-phunter2", "-p•"),
            ("-p8080", "-p8080"),
            ("--timeout=30", "--timeout=30"),
        ] {
            assert_eq!(hidden(None, text), expected);
        }
    }

    #[test]
    fn a_flag_tells_whether_the_next_word_is_a_credential() {
        for (flag, value, expected) in [
            ("-u", "bob:hunter2", "bob:•"),
            ("-u", "1000:1000", "1000:1000"),
            ("-u", "bob", "bob"),
            ("-p", "hunter2", "•"),
            ("-k", "Hunter", "•"),
            ("-t", "hunter2abc", "•"),
            ("-p", "8080:80", "8080:80"),
            ("-p", "127.0.0.1:8080:80", "127.0.0.1:8080:80"),
            ("-p", "@scope/server2", "@scope/server2"),
            ("-p", "mcp-server-git@1.2.3", "mcp-server-git@1.2.3"),
            ("-t", "stdio", "stdio"),
            ("-k", "./key.pem", "./key.pem"),
            ("-e", "PASSWORD=a;hunter2", "PASSWORD=•"),
            ("--api-key", "\0", "•"),
        ] {
            assert_eq!(hidden(Some(flag), value), expected, "{flag}");
        }
    }
}
