//! TITLE-001.

use super::wording::TitleSuggestions;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::{clipped_name, required_by_all, unmet_requirements};
use crate::tool::ParsedServer;
use std::cell::LazyCell;

rule! {
    /// Tool has no title.
    ///
    /// ## What it does
    ///
    /// Checks for tools without `title` and `annotations.title`, or with a blank title. An empty `title` counts as missing, as in
    /// clients: they show `annotations.title` instead.
    ///
    /// ## Why it matters
    ///
    /// Clients show the title to the person who approves a call. Without a title they show the name, which is written for models.
    /// Claude's connector directory [requires a title](https://claude.com/docs/connectors/building/review-criteria). If no selected
    /// convention requires titles, the finding is advice.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes a title derived from the name, if no other tool has that title.
    "TITLE-001" "missing-title" Warning..Advice Server(check)
}

fn check(server: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let suggestions = LazyCell::new(|| TitleSuggestions::new(server));
    let who = unmet_requirements(standard, |convention| convention.titles.required.then_some(()), |()| false);
    for tool in &server.tools {
        if tool.shown_title().is_some_and(|title| !title.trim().is_empty()) {
            continue;
        }
        let name = clipped_name(tool.name);
        let message = match tool.title.or(tool.annotation_title) {
            Some(_) => format!("The title of the tool '{name}' is empty"),
            None => format!("The tool '{name}' has no title"),
        };
        let finding = findings.tool(tool, "/title", message);
        finding.fix = suggestions.fix(tool);
        if who.is_empty() {
            finding.downgrade_to_advice();
        }
        required_by_all(finding, &who);
    }
}
