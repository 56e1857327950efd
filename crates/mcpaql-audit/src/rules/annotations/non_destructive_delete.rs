//! HINT-010.

use crate::convention::Standard;
use crate::inferred_effect::evidence_of_deletion;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Tool is marked non-destructive but deletes something.
    ///
    /// ## What it does
    ///
    /// Checks for `destructiveHint: false` on tools that delete, remove or overwrite something according to their name, the start of
    /// their description, the values of an `action` parameter or their adapter document, and on tools whose description says that
    /// they cannot be undone. Tools that disable, archive or unassign something are not reported.
    ///
    /// ## Why it matters
    ///
    /// [MCP defines `destructiveHint: false`](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) as
    /// "only additive updates". Clients warn before destructive tools. Other tools run with a weaker warning or with none.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/destructiveHint
    /// {"name": "remove_firewall_rules", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false}}
    /// ```
    ///
    /// ```json bad at=/annotations/destructiveHint
    /// {"name": "label_write", "inputSchema": {"type": "object", "properties": {"action": {"enum": ["create", "delete"]}}},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "remove_firewall_rules", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": true}}
    /// ```
    ///
    /// ```json good
    /// {"name": "disable_backups", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": false}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets `destructiveHint: true`.
    "HINT-010" "non-destructive-delete" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // HINT-005 reports tools that are marked read-only.
    if tool.declared.destructive != Some(false) || tool.declared.read_only == Some(true) {
        return;
    }
    let Some(evidence) = evidence_of_deletion(tool) else { return };
    let message = format!("The tool '{}' has `destructiveHint: false`, but {evidence}", tool.name);
    let finding = findings.tool(tool, "/annotations/destructiveHint", message);
    finding.help("set `destructiveHint: true`; only tools that add and never remove are non-destructive");
    finding.fix(Fix::Hints(HintOverrides { destructive: Some(true), ..HintOverrides::default() }));
}
