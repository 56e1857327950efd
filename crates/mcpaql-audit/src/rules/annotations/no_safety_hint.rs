//! HINT-003.

use crate::convention::Standard;
use crate::hints::missing_hints;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Tool sets neither `readOnlyHint` nor `destructiveHint`, and a directory requires one of them.
    ///
    /// ## What it does
    ///
    /// Checks for tools that set neither `readOnlyHint` nor `destructiveHint`, if a convention requires one of them.
    ///
    /// ## Why it matters
    ///
    /// Connector directories list a tool only if its hints show whether it reads or may do harm. Missing annotations are
    /// [among the most common reasons for a rejection](https://sunpeak.ai/blogs/testing-mcp-tool-annotations).
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
    ///
    /// ## Fix
    ///
    /// Sets the two hints if they are certain. A value that looks safer than MCP's default is set only if it follows from the adapter
    /// document of the tool.
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
    let message = format!("The tool '{}' sets neither readOnlyHint nor destructiveHint", tool.name);
    let finding = findings.tool(tool, "/annotations", message);
    finding.help("set `readOnlyHint: true` if it only reads, and `destructiveHint` otherwise");
    let fix = missing_hints(tool, &standard.policy);
    if fix.read_only.is_some() || fix.destructive.is_some() {
        finding.fix(Fix::Hints(HintOverrides { idempotent: None, open_world: None, ..fix }));
    }
    for who in who {
        finding.required_by(who);
    }
}
