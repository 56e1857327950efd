//! HINT-003.

use crate::convention::Standard;
use crate::hints::missing_hints;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// A directory wants to know whether a tool is safe, and the tool does not say.
    ///
    /// ## What it does
    ///
    /// Where a convention demands it, looks for tools that write out neither `readOnlyHint` nor `destructiveHint`.
    ///
    /// ## Why it matters
    ///
    /// Directories of connectors list only tools that say whether they read or may do harm; missing annotations are
    /// [among the commonest reasons for a rejection](https://sunpeak.ai/blogs/testing-mcp-tool-annotations).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations with=claude-directory
    /// {"name": "delete_issue", "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=claude-directory
    /// {"name": "delete_issue", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}}
    /// ```
    ///
    /// ```json good
    /// {"name": "delete_issue", "inputSchema": {"type": "object"}}
    /// ```
    "HINT-003" "no-safety-hint" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if tool.declared.read_only.is_some() || tool.declared.destructive.is_some() {
        return;
    }
    let demands = standard.requirements(|convention| convention.annotations.safety.then_some(()));
    let who: Vec<&str> = demands.map(|(who, ())| who).collect();
    if who.is_empty() {
        return;
    }
    let message =
        format!("The tool '{}' says neither whether it only reads nor whether it destroys", tool.name);
    let finding = findings.tool(tool, "/annotations", message);
    finding.help("write `readOnlyHint: true` where it only reads, and `destructiveHint` otherwise");
    let fix = missing_hints(tool, &standard.policy);
    if fix.read_only.is_some() || fix.destructive.is_some() {
        finding.fix(Fix::Hints(HintOverrides { idempotent: None, open_world: None, ..fix }));
    }
    for who in who {
        finding.required_by(who);
    }
}
