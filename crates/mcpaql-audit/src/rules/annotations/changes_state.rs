//! HINT-101.

use crate::convention::Standard;
use crate::inferred_effect::changed_when_probed;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// A tool that says it only reads changed something when it was called.
    ///
    /// ## What it does
    ///
    /// Looks at what a probe saw (`mcpaql audit --probe --snapshot COMMAND`): the snapshot before and after two calls of a tool with
    /// `readOnlyHint: true`. Without a probe it is silent. In the examples, `(observed)` stands for what was seen.
    ///
    /// ## Why it matters
    ///
    /// Clients run tools that say they only read without asking, and several at a time. Here the claim was put to the test and is
    /// wrong: MCP's `readOnlyHint` says that the tool does not modify its environment.
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
    /// `readOnlyHint: false`. No other correction makes a tool look harmless that was caught.
    "HINT-101" "changes-state" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if changed_when_probed(tool) && tool.declared.read_only == Some(true) {
        let message =
            format!("The tool '{}' says that it only reads, but calling it changed the state", tool.name);
        let help = "write `readOnlyHint: false`, or make it read only";
        let hints = HintOverrides { read_only: Some(false), ..HintOverrides::default() };
        findings.tool(tool, "/annotations/readOnlyHint", message).help(help).fix(Fix::Hints(hints));
    }
}
