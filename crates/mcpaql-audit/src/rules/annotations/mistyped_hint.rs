//! HINT-013.

use crate::convention::Standard;
use crate::inferred_effect::certainly_writes;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::{Hint, HintOverrides};
use serde_json::Value;

rule! {
    /// Hint is not a boolean, or `annotations` is not an object.
    ///
    /// ## What it does
    ///
    /// Checks for `annotations` that is not an object, and for hints other than `true` and `false` (`"true"`, `1`, `null`). TITLE-010
    /// checks the title.
    ///
    /// ## Why it matters
    ///
    /// Clients built with MCP's SDKs validate the whole list against
    /// [MCP's schema](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations), and reject all tools because
    /// of one. Other clients ignore the hint, and a tool that was meant to be read-only counts as destructive.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "true"}}
    /// ```
    ///
    /// ```json bad at=/annotations
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": ["readOnlyHint"]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes `true` or `false` if the hint is the string `"true"` or `"false"`.
    "HINT-013" "mistyped-hint" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let Some(annotations) = tool.value.get("annotations") else { return };
    let Some(map) = annotations.as_object() else {
        let message =
            format!("The annotations of '{}' are {} instead of an object", tool.name, kind(annotations));
        findings.tool(tool, "/annotations", message).help("write an object, or remove `annotations`");
        return;
    };
    for hint in Hint::ALL {
        let Some(value) = map.get(hint.key()).filter(|value| !value.is_boolean()) else { continue };
        let message =
            format!("The {} of '{}' is {} instead of true or false", hint.key(), tool.name, kind(value));
        let finding = findings.tool(tool, format!("/annotations/{}", hint.key()), message);
        finding.help(if value.is_null() {
            "remove it, or write true or false"
        } else {
            "write true or false, without quotes"
        });
        let meant = match value.as_str() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
        // Never confirm a read-only hint that the name contradicts.
        let credible = meant.filter(|meant| !(hint == Hint::ReadOnly && *meant && certainly_writes(tool)));
        if let Some(meant) = credible {
            finding.fix(Fix::Hints(single_hint(hint, meant)));
        }
    }
}

/// Returns overrides with a single hint.
pub(super) fn single_hint(hint: Hint, value: bool) -> HintOverrides {
    let mut hints = HintOverrides::default();
    match hint {
        Hint::ReadOnly => hints.read_only = Some(value),
        Hint::Destructive => hints.destructive = Some(value),
        Hint::Idempotent => hints.idempotent = Some(value),
        Hint::OpenWorld => hints.open_world = Some(value),
    }
    hints
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
