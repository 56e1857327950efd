//! Converts a program's output to an answer, or to the text of an error.

use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Output;
use mcpaql_core::response::{Answer, Warning};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum characters of a line of standard error in a message.
const MAX_LINE_CHARS: usize = 300;

/// Reads standard output as the operation declares.
///
/// Empty output is null for JSON. Text loses one final line end, and lines lose their ends.
pub(super) fn answer(output: Output, stdout: Vec<u8>) -> Result<Answer, OpError> {
    match output {
        Output::Json => {
            let text = String::from_utf8(stdout).map_err(|_| not_utf8())?;
            if text.trim().is_empty() {
                return Ok(Answer::new(Value::Null));
            }
            RawValue::from_string(text).map(Answer::new).map_err(|error| not_json(error.line(), &error))
        }
        Output::JsonLines => json_lines(&String::from_utf8(stdout).map_err(|_| not_utf8())?),
        Output::Lines => {
            let (text, warnings) = lossy(stdout);
            let lines: Vec<Value> = text.lines().map(Value::from).collect();
            Ok(Answer::new(Value::Array(lines)).with_warnings(warnings))
        }
        Output::Text => {
            let (mut text, warnings) = lossy(stdout);
            if text.ends_with('\n') {
                text.pop();
                if text.ends_with('\r') {
                    text.pop();
                }
            }
            Ok(Answer::new(Value::String(text)).with_warnings(warnings))
        }
    }
}

fn json_lines(text: &str) -> Result<Answer, OpError> {
    let mut array = String::with_capacity(text.len() + 2);
    array.push('[');
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: &RawValue = serde_json::from_str(line).map_err(|error| not_json(index + 1, &error))?;
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(value.get());
    }
    array.push(']');
    RawValue::from_string(array).map(Answer::new).map_err(|error| not_json(error.line(), &error))
}

fn lossy(bytes: Vec<u8>) -> (String, Vec<Warning>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, Vec::new()),
        Err(error) => {
            let message = "The program's output is not UTF-8; invalid bytes are shown as \u{fffd}.";
            let warning = Warning::new("OUTPUT_NOT_UTF8", message);
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), vec![warning])
        }
    }
}

fn not_utf8() -> OpError {
    OpError::new(
        Code::Internal,
        "The program's output is not UTF-8, although JSON was expected; tell the user.",
    )
}

fn not_json(line: usize, error: &serde_json::Error) -> OpError {
    let message = format!("The program's output is not valid JSON (line {line}); tell the user.");
    // The parser's message quotes nothing of the output.
    OpError::new(Code::Internal, message).with_cause(error)
}

/// The end of standard error for messages: without escape sequences, control characters and the values in `hidden`.
pub(super) fn clean(stderr: &[u8], tail: usize, hidden: &[(String, &str)]) -> String {
    let mut text = String::new();
    let lossy = String::from_utf8_lossy(stderr);
    let mut chars = lossy.chars();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' | '\t' => text.push(char),
            char if char.is_control() => {}
            char => text.push(char),
        }
    }
    // Mask before cutting, so that no part of a secret remains.
    for (value, mask) in hidden {
        text = text.replace(value.as_str(), mask);
    }
    let text = text.trim();
    let mut start = text.len().saturating_sub(tail);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().trim_start_matches('\u{fffd}').trim().to_owned()
}

fn skip_escape(chars: &mut std::str::Chars<'_>) {
    if chars.next() == Some('[') {
        // A control sequence ends with its first character from `@` to `~`.
        chars.find(|char| ('@'..='~').contains(char));
    }
}

/// Returns the last line of standard error, which usually names the problem; `None` if it looks like a stack frame or
/// shows a path.
pub(super) fn last_line(stderr: &str) -> Option<String> {
    let line = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let leaks = |word: &str| {
        word.eq_ignore_ascii_case("at")
            || word.contains(":\\")
            || word.trim_start_matches(['\'', '"', '`', '(']).starts_with('/')
    };
    let shown = !line.split_whitespace().any(leaks);
    shown.then(|| line.chars().take(MAX_LINE_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(output: Output, bytes: &[u8]) -> Result<Value, OpError> {
        answer(output, bytes.to_vec()).map(|answer| answer.data.into_value())
    }

    #[test]
    fn each_output_type_is_read() {
        let rows: &[(Output, &[u8], Value)] = &[
            (Output::Json, b" {\"a\": 1.0}\n", json!({"a": 1.0})),
            (Output::Json, b"", Value::Null),
            (Output::Json, b" \n", Value::Null),
            (Output::JsonLines, b"{\"a\":1}\n\n2\r\n\"x\"", json!([{"a": 1}, 2, "x"])),
            (Output::JsonLines, b"", json!([])),
            (Output::Lines, b"a\r\n\nb\n", json!(["a", "", "b"])),
            (Output::Lines, b"", json!([])),
            (Output::Text, b"a\nb\n\n", json!("a\nb\n")),
            (Output::Text, b"a\r\n", json!("a")),
            (Output::Text, b"", json!("")),
        ];
        for (output, bytes, expected) in rows {
            assert_eq!(&read(*output, bytes).unwrap(), expected, "{output:?} {bytes:?}");
        }
    }

    #[test]
    fn invalid_json_is_an_internal_error() {
        for (output, bytes) in [
            (Output::Json, b"secret words".as_slice()),
            (Output::Json, b"1 2"),
            (Output::Json, b"\"\xff\""),
            (Output::JsonLines, b"1\nsecret\n"),
            (Output::JsonLines, b"1]\n"),
        ] {
            let error = read(output, bytes).unwrap_err();
            assert_eq!(error.code, Code::Internal);
            let shown = format!("{} {:?}", error.message, error.cause);
            assert!(!shown.contains("secret") && !error.message.contains(" at "), "{shown}");
        }
        assert!(read(Output::JsonLines, b"1\nx").unwrap_err().message.contains("line 2"));
    }

    #[test]
    fn text_that_is_not_utf8_is_shown_with_a_warning() {
        for output in [Output::Text, Output::Lines] {
            let answer = answer(output, b"a\xffb".to_vec()).unwrap();
            assert_eq!(answer.warnings[0].code, "OUTPUT_NOT_UTF8");
            assert!(answer.data.into_value().to_string().contains("a\u{fffd}b"));
        }
    }

    #[test]
    fn standard_error_is_cleaned_masked_and_then_cut() {
        let hidden = [("hunter2".to_owned(), "***")];
        let shown = clean(b"\x1b[1;31mfatal\x1b[0m: \x07hunter2 is\r\nwrong\n", 100, &hidden);
        assert_eq!(shown, "fatal: *** is\nwrong");
        assert_eq!(clean("hunter2".as_bytes(), 3, &hidden), "***", "no part of a secret remains");
        assert_eq!(clean("aéé".as_bytes(), 3, &[]), "é");
        assert_eq!(clean(b"\xa9tail", 100, &[]), "tail");
    }

    #[test]
    fn the_last_line_is_shown_unless_it_looks_like_a_leak() {
        assert_eq!(last_line("first\nfatal: no such ref\n\n").as_deref(), Some("fatal: no such ref"));
        assert_eq!(last_line("no branch origin/main").as_deref(), Some("no branch origin/main"));
        for line in ["", "\n", "Error at line 3", "cannot open '/etc/shadow'", "C:\\x"] {
            assert_eq!(last_line(line), None, "{line:?}");
        }
        assert_eq!(last_line(&"x".repeat(999)).map(|line| line.len()), Some(MAX_LINE_CHARS));
    }
}
