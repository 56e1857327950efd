//! HINT-015.

use crate::convention::{RuleLevel, Standard};
use crate::inferred_effect::is_single;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool both reads and writes.
    ///
    /// ## What it does
    ///
    /// Checks for tools with one parameter (`action`, `operation`, `method`, `mode`) that decides whether a call reads or writes,
    /// and for adapters with a single tool for everything. The finding is a warning if a convention forbids such tools, and
    /// advice otherwise.
    ///
    /// ## Why it matters
    ///
    /// Hints describe a tool, not a call. The hints of such a tool must describe its most dangerous action: listing needs the
    /// same approval as deleting, and a user who approves listing for the whole session also approves deleting. Anthropic's
    /// connector directory rejects tools that mix reads and writes.
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
    "HINT-015" "mixed-effects" Warning..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let finding = if is_single(tool) && tool.declared.read_only != Some(true) {
        let message =
            format!("The tool '{}' is the only tool of its adapter, and both reads and writes", tool.name);
        findings
            .tool(tool, "", message)
            .help("serve the adapter in semantic mode, with one tool per endpoint")
    } else if let Some(switch) = &tool.switch {
        let message = format!(
            "The tool '{}' both reads and writes: '{}' can be '{}' or '{}'",
            tool.name, switch.parameter, switch.reads, switch.acts
        );
        let parameter = switch.parameter.replace('~', "~0").replace('/', "~1");
        let pointer = format!("/inputSchema/properties/{parameter}");
        findings.tool(tool, pointer, message).help("split it into a tool that reads and a tool that writes")
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
