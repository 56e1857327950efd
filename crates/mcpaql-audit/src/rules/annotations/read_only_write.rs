//! HINT-005.

use crate::convention::Standard;
use crate::inferred_effect::contradicts_read_only;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Tool is marked read-only but changes something.
    ///
    /// ## What it does
    ///
    /// Checks for tools with `readOnlyHint: true` whose name, description or parameters suggest a write: `delete_issue`,
    /// `send_mail`, `mark_all_notifications_read`, or an `action` that can be `delete`. The finding is an error if the verb in
    /// the name always means a write, or if the adapter document declares one. It is a warning if name and description together
    /// suggest a write, or if a parameter can choose one. Otherwise it is advice.
    ///
    /// ## Why it matters
    ///
    /// Clients run read-only tools without asking: Claude Code's plan mode [relies on exactly this
    /// hint](https://github.com/derive-to/derive/pull/582). This is the most dangerous mistake in annotations: the write runs
    /// without approval.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "mark_all_notifications_read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "browser_storage", "description": "Saves cookies to a file.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "mark_all_notifications_read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}}
    /// ```
    ///
    /// ```json good
    /// {"name": "list_deleted_issues", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets `readOnlyHint: false`. At worst, the user has to approve a call that only reads.
    "HINT-005" "read-only-write" Error..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // HINT-002 reports tools with both hints.
    if tool.declared.read_only != Some(true) || tool.declared.destructive == Some(true) {
        return;
    }
    let Some((what, level)) = contradicts_read_only(tool) else { return };
    let message = format!("The tool '{}' has `readOnlyHint: true`, but {what}", tool.name);
    let finding = findings.tool(tool, "/annotations/readOnlyHint", message);
    finding.help("set `readOnlyHint: false`; clients run read-only tools without asking");
    finding.fix(Fix::Hints(HintOverrides { read_only: Some(false), ..HintOverrides::default() }));
    finding.level = finding.level.min(level);
}
