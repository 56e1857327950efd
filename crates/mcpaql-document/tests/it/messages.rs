//! The messages that the source contains for models: errors of targets, of the gateway and of executions.
//!
//! What a caller or an upstream adds to a message is tested where it is added. `response::error_json` replaces a message
//! that still looks internal.

use mcpaql_core::error::looks_internal;
use regex::Regex;
use std::path::Path;

/// The start of a statement that writes a message.
const STARTS: &str = r"OpError::(new|too_large)\(|let (message|summary)\b[^=;]*=|Code::[A-Z]\w+ => \S|const [A-Z_]+_FAILED: &str";

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
            found.push((path.display().to_string(), product));
        }
    }
}

#[test]
fn no_message_in_the_source_looks_internal() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in ["mcpaql-core", "mcpaql-runtime"] {
        sources(&crates.join(name).join("src"), &mut files);
    }
    let start = Regex::new(STARTS).unwrap();
    let literal = Regex::new(r#""((?:[^"\\]|\\.|\\\n)*)""#).unwrap();
    let line_end = Regex::new(r"\\\n\s*").unwrap();
    let (mut count, mut internal) = (0, Vec::new());
    for (file, text) in &files {
        for found in start.find_iter(text) {
            let rest = text.split_at(found.start()).1;
            let statement = rest.split(";\n").next().unwrap_or(rest);
            for message in literal.captures_iter(statement) {
                let message = line_end.replace_all(&message[1], "");
                count += 1;
                if looks_internal(&message) {
                    internal.push(format!("{file}: {message}"));
                }
            }
        }
    }
    assert!(internal.is_empty(), "{}", internal.join("\n"));
    assert!(count > 150, "only {count} messages were found");
}
