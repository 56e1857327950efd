//! HINT-010.

use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::facts::Effect;
use mcpaql_core::policy::HintOverrides;
use mcpaql_lexicon::classify::Confidence;

rule! {
    /// A tool says that it does no harm, but it deletes.
    ///
    /// ## What it does
    ///
    /// Looks for `destructiveHint: false` on tools whose name says that they delete or remove something. To disable, archive or
    /// unassign something is not held against a tool.
    ///
    /// ## Why it matters
    ///
    /// [MCP's meaning of the hint](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) is "only additive
    /// updates". Clients warn before destructive tools and let the others pass with a lesser question, or none.
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
    /// `destructiveHint: true`.
    "HINT-010" "harmless-delete" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // Where it claims to read, that claim is what is wrong.
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
    let message = format!(
        "The tool '{}' says that it destroys nothing, but its name says that it removes something",
        tool.name
    );
    let finding = findings.tool(tool, "/annotations/destructiveHint", message);
    finding.help("only what adds and never removes is not destructive; say `destructiveHint: true`");
    finding.fix(Fix::Hints(HintOverrides { destructive: Some(true), ..HintOverrides::default() }));
}
