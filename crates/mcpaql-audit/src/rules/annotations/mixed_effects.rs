//! HINT-015.

use crate::convention::{RuleLevel, Standard};
use crate::inferred_effect::is_single;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// One tool both reads and writes.
    ///
    /// ## What it does
    ///
    /// Looks for tools of which one parameter (`action`, `operation`, `method`, `mode`) decides whether a call reads or writes, and for
    /// adapters that have only one tool for everything. It is advice unless a convention forbids it.
    ///
    /// ## Why it matters
    ///
    /// Hints are about a tool, not about a call: such a tool can only be announced by the worst that it can do, so that to list
    /// something needs the approval that its deletion does, and an approval for the one is one for the other. Anthropic's directory
    /// of connectors turns down tools that mix reads with writes.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/action with=claude-directory
    /// {"name": "manage_label", "inputSchema": {"type": "object", "properties": {"action": {"enum": ["list", "delete"]}}},
    ///  "annotations": {"destructiveHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=claude-directory
    /// {"name": "write_label", "inputSchema": {"type": "object", "properties": {"action": {"enum": ["create", "delete"]}}},
    ///  "annotations": {"destructiveHint": true}}
    /// ```
    "HINT-015" "mixed-effects" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let finding = if is_single(tool) && tool.declared.read_only != Some(true) {
        let message =
            format!("The tool '{}' is the only one of its adapter, and both reads and writes", tool.name);
        findings
            .tool(tool, "", message)
            .help("serve the adapter in semantic mode, with a tool for each endpoint")
    } else if let Some(switch) = &tool.switch {
        let message = format!(
            "The tool '{}' both reads and writes: its '{}' can be '{}' and '{}'",
            tool.name, switch.parameter, switch.reads, switch.acts
        );
        let parameter = switch.parameter.replace('~', "~0").replace('/', "~1");
        let pointer = format!("/inputSchema/properties/{parameter}");
        findings.tool(tool, pointer, message).help("make two tools of it, one that reads and one that writes")
    } else {
        return;
    };
    let demands = standard.requirements(|convention| convention.annotations.one_effect.then_some(()));
    let who: Vec<&str> = demands.map(|(who, ())| who).collect();
    finding.level = finding.level.min(if who.is_empty() { RuleLevel::Advice } else { RuleLevel::Warning });
    for who in who {
        finding.required_by(who);
    }
}
