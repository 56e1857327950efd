//! Renders diagnostics as SARIF 2.1.0, the format of code scanning services.

use super::{LocatedDiagnostic, SourceReport, json::field_path, located, sentence};
use crate::source::lines::LineIndex;
use indexmap::IndexSet;
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::error::Code;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Returns a log with one run: a rule per code that occurs and a result per diagnostic.
#[must_use]
pub fn sarif(reports: &[SourceReport<'_>]) -> String {
    let mut codes = IndexSet::new();
    let mut results = Vec::new();
    for (source, diagnostics) in reports {
        let uri = uri(&source.name);
        for found in located(source, &LineIndex::new(&source.text), diagnostics) {
            let (rule, _) = codes.insert_full(found.diagnostic.code);
            results.push(result(&found, rule, &uri));
        }
    }
    log(codes.into_iter().map(rule).collect(), results)
}

/// Returns a log with one run of this program.
#[must_use]
pub fn log(rules: Vec<Value>, results: Vec<Value>) -> String {
    log_with_failures(rules, results, &[])
}

/// Like [`log`], with messages about inputs that could not be checked.
#[must_use]
pub fn log_with_failures(rules: Vec<Value>, results: Vec<Value>, failures: &[String]) -> String {
    let mut log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "mcpaql",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    if let (false, Some(run)) =
        (failures.is_empty(), log.pointer_mut("/runs/0").and_then(Value::as_object_mut))
    {
        let notification = |text: &String| json!({"level": "error", "message": {"text": text}});
        let notifications: Vec<Value> = failures.iter().map(notification).collect();
        // Not successful, so that services do not mark missing results as fixed.
        let invocation = json!({"executionSuccessful": false, "toolExecutionNotifications": notifications});
        run.insert("invocations".to_owned(), json!([invocation]));
    }
    format!("{log:#}\n")
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.as_str(),
        "shortDescription": {"text": code.meaning()},
        "help": {"text": code.advice()},
    })
}

fn result(found: &LocatedDiagnostic, rule: usize, uri: &str) -> Value {
    let diagnostic = &found.diagnostic;
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {
                "startLine": found.line,
                "startColumn": found.column,
                "endLine": found.end_line,
                "endColumn": found.end_column,
            },
        },
    });
    let path = field_path(&diagnostic.pointer);
    if let (false, Some(location)) = (path.is_empty(), location.as_object_mut()) {
        location.insert("logicalLocations".to_owned(), json!([{"fullyQualifiedName": path}]));
    }
    json!({
        "ruleId": diagnostic.code.as_str(),
        "ruleIndex": rule,
        "level": level,
        "message": {"text": sentence(diagnostic)},
        "locations": [location],
    })
}

/// Converts a file name to a URI reference: relative names stay relative, absolute names become `file:` URIs.
#[must_use]
pub fn uri(name: &str) -> String {
    let slashed = name.replace('\\', "/");
    let drive = matches!(slashed.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
    let mut uri = String::with_capacity(slashed.len());
    if drive {
        uri.push_str("file:///");
    } else if slashed.starts_with('/') {
        uri.push_str("file://");
    }
    for (index, byte) in slashed.bytes().enumerate() {
        let kept = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
        if kept || (drive && index == 1) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
