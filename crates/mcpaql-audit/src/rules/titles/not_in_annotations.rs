//! TITLE-006.

use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::rules::names::spelling::{clipped_name, required_by_all, unmet_requirements};
use crate::tool::ParsedTool;

rule! {
    /// Title is missing in `annotations`, where a convention requires it.
    ///
    /// ## What it does
    ///
    /// Checks for tools that have a `title` but no `annotations.title`, if a convention requires it (`titles.in_annotations`).
    ///
    /// ## Why it matters
    ///
    /// `title` is newer than `annotations.title`, and some clients and directories read only the older one. [Anthropic's
    /// checklist](https://github.com/anthropics/claude-plugins-official/blob/main/plugins/mcp-server-dev/skills/build-mcp-app/references/directory-checklist.md)
    /// requires it.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/title with=claude-directory
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=claude-directory
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}, "annotations": {"title": "Create issue"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes the title in both places.
    "TITLE-006" "not-in-annotations" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(title) = tool.title.filter(|title| !title.trim().is_empty()) else { return };
    if tool.annotation_title.is_some_and(|title| !title.trim().is_empty()) {
        return;
    }
    let who =
        unmet_requirements(standard, |convention| convention.titles.in_annotations.then_some(()), |()| false);
    if who.is_empty() {
        return;
    }
    let message = format!(
        "The tool '{}' has the title '{}', but not in `annotations.title`",
        clipped_name(tool.name),
        clipped_name(title)
    );
    let finding = findings.tool(tool, "/annotations/title", message);
    required_by_all(finding.fix(Fix::Title(title.to_owned())), &who);
}
