//! HINT-014.

use super::mistyped_hint::single_hint;
use crate::convention::Standard;
use crate::inferred_effect::certainly_writes;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::Hint;
use mcpaql_core::suggest::is_misspelling;
use serde_json::{Map, Value};

rule! {
    /// Annotation is misspelled or not defined by MCP.
    ///
    /// ## What it does
    ///
    /// Checks for misspelled hints (`readonlyHint`, `readOnly`, `destructive`), and for hints next to `annotations` instead of inside
    /// it. Other keys that MCP does not define are advice, unless they look like an extension (`x-…`, `vendor/…`).
    ///
    /// ## Why it matters
    ///
    /// Clients do not report unknown keys. They ignore the key and
    /// [assume the default](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations), which is the opposite
    /// of what was meant.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readonlyHint
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readonlyHint": true}}
    /// ```
    ///
    /// ```json bad at=/destructiveHint
    /// {"name": "add_label", "inputSchema": {"type": "object"}, "destructiveHint": false}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "title": "Get issue"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes the hint with the correct spelling, if its value is true or false.
    "HINT-014" "unknown-annotation" Warning..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let annotations = tool.value.get("annotations").and_then(Value::as_object);
    let mut foreign = Vec::new();
    for (key, value) in annotations.into_iter().flatten() {
        if key == "title" || Hint::parse(key).is_some() {
            continue;
        }
        match intended_hint(key) {
            Some(hint) => misspelled(tool, (key, value), hint, findings),
            None if is_extension(key) => {}
            None => foreign.push(key.as_str()),
        }
    }
    if let Some(first) = foreign.first() {
        let message = match foreign.len() {
            1 => format!("MCP does not define the annotation '{}'", short(first)),
            count => {
                format!("MCP does not define the annotation '{}' and {} others", short(first), count - 1)
            }
        };
        let pointer = format!("/annotations/{}", escaped(first));
        findings
            .tool(tool, pointer, message)
            .help("move it to `_meta`, which is open for extensions")
            .downgrade_to_advice();
    }
    let beside = tool.value.as_object().into_iter().flat_map(Map::iter);
    for (key, value) in beside {
        if let Some(hint) = Hint::parse(key) {
            let message = format!("The {} of '{}' is outside `annotations`", hint.key(), tool.name);
            let finding = findings.tool(tool, format!("/{key}"), message);
            finding.help("move it into `annotations`");
            propose(tool, hint, value, finding);
        }
    }
}

fn misspelled(tool: &ParsedTool<'_>, (key, value): (&str, &Value), hint: Hint, findings: &mut Findings<'_>) {
    let message = format!("The annotation '{}' of '{}' is unknown to clients", short(key), tool.name);
    let finding = findings.tool(tool, format!("/annotations/{}", escaped(key)), message);
    finding.help(format!("write `{}`", hint.key()));
    propose(tool, hint, value, finding);
}

fn propose(tool: &ParsedTool<'_>, hint: Hint, value: &Value, finding: &mut crate::Finding) {
    let value = value.as_bool().filter(|_| tool.declared.get(hint).is_none());
    // Never confirm a read-only hint that the name contradicts.
    if let Some(value) = value.filter(|value| !(hint == Hint::ReadOnly && *value && certainly_writes(tool))) {
        finding.fix(Fix::Hints(single_hint(hint, value)));
    }
}

/// Returns the hint that a misspelled key stands for.
fn intended_hint(key: &str) -> Option<Hint> {
    if key.len() > 40 {
        return None;
    }
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let stem = plain.strip_suffix("hint").unwrap_or(&plain);
    let stem = stem.strip_prefix("is").unwrap_or(stem);
    Hint::ALL.into_iter().find(|hint| {
        let right = hint.key().to_ascii_lowercase();
        right.strip_suffix("hint") == Some(stem) || is_misspelling(key, hint.key())
    })
}

fn is_extension(key: &str) -> bool {
    key.starts_with("x-") || key.starts_with('_') || key.contains('/') || key.contains('.')
}

fn short(key: &str) -> String {
    key.chars().take(60).collect()
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
