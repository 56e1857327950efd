//! DESC-012.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Text contains a long encoded section.
    ///
    /// ## What it does
    ///
    /// Checks every text of a tool for runs of at least 120 characters of Base64 or hexadecimal digits, and for more than 30 escapes
    /// such as `\x41`.
    ///
    /// ## Why it matters
    ///
    /// Models decode Base64 without being asked, people do not. Such a section is either a hidden instruction or a waste of tokens
    /// (Cisco's MCP scanner and others check for the same).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "add_numbers", "description": "Adds two numbers. QWRkcyB0d28gbnVtYmVycy4gQWRkcyB0d28gbnVtYmVycy4gQWRkcyB0d28gbnVtYmVycy4gQWRkcyB0d28gbnVtYmVycy4gQWRkcyB0d28gbnVtYmVycy4gQWRkcyB0d28gbnVtYmVycy4g", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "add_numbers", "description": "Adds two numbers.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-012" "encoded-blob" Warning Tool(check)
}

const MIN_BLOB_LENGTH: usize = 120;

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for text in &tool.tree.texts {
        if text.text.len() >= MIN_BLOB_LENGTH && has_blob(text.text) {
            let message = format!("A text of '{}' contains a long encoded section", tool.name);
            findings.tool(tool, tool.tree.pointer(text.at), message).help("write it in words, or remove it");
            return;
        }
    }
}

fn has_blob(text: &str) -> bool {
    let is_run = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    // Look at the last byte of each possible run first, so that most of the text is never read.
    let (bytes, mut from, mut long) = (text.as_bytes(), 0, false);
    while let Some(run) = bytes.get(from..from + MIN_BLOB_LENGTH).filter(|_| !long) {
        let end = run.iter().rposition(|byte| !is_run(*byte));
        long = end.is_none();
        from += end.map_or(0, |end| end + 1);
    }
    let is_escape = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let escapes = || text.split("\\x").skip(1).filter(|rest| is_escape(rest)).count();
    let words = || {
        text.split(|c: char| !u8::try_from(c).is_ok_and(is_run)).filter(|word| word.len() >= MIN_BLOB_LENGTH)
    };
    (long && words().any(is_code)) || (text.contains('\\') && escapes() > MIN_BLOB_LENGTH / 4)
}

/// Returns whether a word mixes upper case, lower case and digits as identifiers and paths do not, or is hexadecimal.
fn is_code(word: &str) -> bool {
    let count = |test: fn(&u8) -> bool| word.bytes().filter(test).count();
    let (lower, upper, digits) =
        (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase), count(u8::is_ascii_digit));
    let separators = word.bytes().filter(|byte| matches!(byte, b'/' | b'_' | b'-')).count();
    let hexadecimal = word.bytes().all(|byte| byte.is_ascii_hexdigit()) && digits > 0 && lower + upper > 0;
    hexadecimal
        || (lower > word.len() / 8 && upper > word.len() / 8 && digits > 2 && separators < word.len() / 12)
}
