//! HINT-005.

use crate::convention::Standard;
use crate::inferred_effect::contradicts_read_only;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// A tool says that it only reads, but it acts.
    ///
    /// ## What it does
    ///
    /// Looks for tools with `readOnlyHint: true` whose name, description or switch says that they change something: `delete_issue`,
    /// `send_mail`, `mark_all_notifications_read`, or an `action` that can be `delete`. It is an error where the name says so in a
    /// word that has no other meaning, a warning where it starts or stops something, and advice where only the description says so.
    ///
    /// ## Why it matters
    ///
    /// Clients run read-only tools without asking: Claude Code's plan mode
    /// [goes by exactly this hint](https://github.com/derive-to/derive/pull/582). A write that passes for a read is the one mistake
    /// in annotations that does harm.
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
    /// `readOnlyHint: false`, which at worst asks for an approval too many.
    "HINT-005" "read-only-write" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // Both hints at once are another rule's.
    if tool.declared.read_only != Some(true) || tool.declared.destructive == Some(true) {
        return;
    }
    let Some((what, level)) = contradicts_read_only(tool) else { return };
    let message = format!("The tool '{}' says that it only reads, but {what}", tool.name);
    let finding = findings.tool(tool, "/annotations/readOnlyHint", message);
    finding.help("clients run it unasked; say `readOnlyHint: false`");
    finding.fix(Fix::Hints(HintOverrides { read_only: Some(false), ..HintOverrides::default() }));
    finding.level = finding.level.min(level);
}
