//! HINT-010.

use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::facts::Effect;
use mcpaql_core::policy::HintOverrides;
use mcpaql_lexicon::classify::Confidence;

rule! {
    /// Tool is marked non-destructive but deletes something.
    ///
    /// ## What it does
    ///
    /// Checks for `destructiveHint: false` on tools whose name or adapter document says that they delete or remove something.
    /// Tools that disable, archive or unassign something are not reported.
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
    let by_name = &tool.by_name;
    let named = by_name.effect == Effect::Delete
        && by_name.confidence == Confidence::High
        && by_name.review.is_none();
    let known = tool.known.map(|known| known.facts.effect == Effect::Delete);
    if !known.unwrap_or(named) {
        return;
    }
    let evidence = if known.is_some() { "its adapter document declares" } else { "its name suggests" };
    let message = format!("The tool '{}' has `destructiveHint: false`, but {evidence} a deletion", tool.name);
    let finding = findings.tool(tool, "/annotations/destructiveHint", message);
    finding.help("set `destructiveHint: true`; only tools that add and never remove are non-destructive");
    finding.fix(Fix::Hints(HintOverrides { destructive: Some(true), ..HintOverrides::default() }));
}
