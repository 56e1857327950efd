//! Texts of upstreams in answers: error messages that are safe to quote.

use mcpaql_core::error::looks_internal;
use serde_json::Value;

/// Maximum bytes of an upstream's error in the details.
pub(crate) const MAX_SHOWN_BYTES: usize = 4096;
/// Maximum characters of an upstream's message that our message quotes.
const MAX_QUOTED_CHARS: usize = 240;

/// Phrases at the beginning of stack traces.
const TRACE_WORDS: [&str; 5] = ["traceback", "stack trace", "stacktrace", "panicked", "exception in thread"];

const SOURCE_EXTENSIONS: [&str; 14] =
    ["php", "py", "rb", "js", "mjs", "ts", "java", "kt", "go", "rs", "cs", "c", "cpp", "pl"];

pub(crate) fn truncate(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}

/// Finds the message in an error body, in the fields that APIs use for it.
pub(crate) fn upstream_message(body: &Value) -> Option<&str> {
    match body {
        // A long text is not a message.
        Value::String(text) => (text.chars().count() <= MAX_QUOTED_CHARS).then_some(text.as_str()),
        Value::Object(fields) => {
            let keys =
                ["message", "error_description", "error", "detail", "title", "msg", "errors", "reason"];
            keys.into_iter().filter_map(|key| fields.get(key)).find_map(upstream_message)
        }
        Value::Array(items) => items.first().and_then(upstream_message),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// Returns the first line, shortened and without a final full stop; `None` if the text reveals internals of the
/// upstream.
pub(crate) fn quotable(text: &str) -> Option<String> {
    if reveals_internals(text) {
        return None;
    }
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let words = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(['.', '!', ';', ',', ':']);
    if looks_internal(line) {
        return None;
    }
    match line.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => Some(format!("{}…", line.get(..end).unwrap_or_default())),
        None => (!line.is_empty()).then(|| line.to_owned()),
    }
}

/// Returns whether a text contains a file path or looks like a stack trace.
fn reveals_internals(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words =
        lower.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    looks_internal(text)
        || TRACE_WORDS.iter().any(|trace| lower.contains(trace))
        || words.any(|word| {
            let word =
                word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '/' | '\\' | '~'));
            word.split(['(', '=', '"', '\'', '`', '[', '<', ',']).any(is_file_path)
        })
}

/// Returns whether a word is an absolute path of at least two parts, a Windows path, or a source file with a folder
/// or a line number.
fn is_file_path(word: &str) -> bool {
    let path = word.strip_prefix("file://").unwrap_or(word);
    if path.contains("://") {
        return false;
    }
    let rooted = path.strip_prefix('~').unwrap_or(path).strip_prefix('/');
    let drive = path.get(1..3).is_some_and(|mark| mark == ":\\");
    let (file, line) = path.split_once(':').unwrap_or((path, ""));
    let source = file.rsplit_once('.').is_some_and(|(name, kind)| {
        let has_location = name.contains(['/', '\\']) || line.starts_with(|c: char| c.is_ascii_digit());
        has_location && SOURCE_EXTENSIONS.contains(&kind)
    });
    rooted.is_some_and(|rest| rest.trim_end_matches('/').contains('/'))
        || drive
        || path.starts_with("\\\\")
        || source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_one_short_line_and_otherwise_unchanged() {
        assert_eq!(quotable("\u{1}a\u{7f}b\tc").unwrap(), "a b c");
        assert!(quotable(&"é".repeat(10_000)).unwrap().chars().count() <= MAX_QUOTED_CHARS + 1);
        assert_eq!(quotable("..."), None);
        for text in [
            "See https://docs.example.com/a/b.php for more",
            "Field 'a/b' and/or 'c' is wrong (line 3)",
            "Unknown route /users",
            "Use application/json; not text/plain",
            "format: what",
        ] {
            assert_eq!(quotable(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_text_that_reveals_internals_is_not_quoted() {
        for text in [
            "Fatal error in /var/www/app.php line 3",
            "cannot open \"/etc/app/config\"",
            "failed (path=/srv/app/x)",
            "no such file: C:\\inetpub\\x.aspx",
            "read \\\\share\\x",
            "error in src/handlers/user.rb",
            "boom app.js:12:3",
            "~/app/x is missing",
            "file:///opt/x/y",
            "Traceback (most recent call last):",
            "Failed AT com.example.Main",
            "wrong (at Object.run)",
            "Wrong value\n    at Object.run (x.js:1)",
            "thread 'main' panicked",
            "We know that the name is taken",
        ] {
            assert_eq!(quotable(text), None, "{text}");
        }
    }
}
