//! HINT-101.

use crate::convention::Standard;
use crate::inferred_effect::changed_when_probed;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Read-only tool changed the server's data when it was called.
    ///
    /// ## What it does
    ///
    /// Compares the snapshots before and after two calls of a tool with `readOnlyHint: true`. Needs the result of a probe
    /// (`mcpaql audit --probe --snapshot COMMAND`), and reports nothing without one. In the examples, `(observed)` stands for
    /// the result of the probe.
    ///
    /// ## Why it matters
    ///
    /// Clients run read-only tools without asking, and several at a time. Here the hint was tested and is wrong: MCP's `readOnlyHint`
    /// means that the tool does not modify its environment.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "get_note", "annotations": {"readOnlyHint": true}, "(observed)": {"changed": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_note", "annotations": {"readOnlyHint": true}, "(observed)": {"changed": false}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets `readOnlyHint: false`. Other fixes never make such a tool look safer.
    "HINT-101" "changes-state" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if changed_when_probed(tool) && tool.declared.read_only == Some(true) {
        let message =
            format!("The tool '{}' is marked read-only, but calling it changed the state", tool.name);
        let help = "set `readOnlyHint: false`, or change the tool so that it only reads";
        let hints = HintOverrides { read_only: Some(false), ..HintOverrides::default() };
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help).fix(Fix::Hints(hints));
    }
}
