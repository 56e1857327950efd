//! TITLE-001.

use super::wording::TitleSuggestions;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::{clipped_name, required_by_all, unmet_requirements};
use crate::tool::ParsedServer;
use std::cell::LazyCell;

rule! {
    /// A tool has no title.
    ///
    /// ## What it does
    ///
    /// Looks for tools with neither `title` nor `annotations.title`, or with blank ones.
    ///
    /// ## Why it matters
    ///
    /// Clients show the title to people who are to approve a call; without one they show the name, which is made for models.
    /// The directory of Claude's connectors [demands it](https://claude.com/docs/connectors/building/review-criteria). Where nobody who
    /// demands it was chosen, it is advice.
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
    /// A title made of the name, where no other tool has it.
    "TITLE-001" "missing-title" Warning Server(check)
}

fn check(surface: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let wordings = LazyCell::new(|| TitleSuggestions::new(surface));
    let who = unmet_requirements(standard, |convention| convention.titles.required.then_some(()), |()| false);
    for tool in &surface.tools {
        if tool.shown_title().is_some_and(|title| !title.trim().is_empty()) {
            continue;
        }
        let finding =
            findings.tool(tool, "/title", format!("The tool '{}' has no title", clipped_name(tool.name)));
        finding.fix = wordings.fix(tool);
        if who.is_empty() {
            finding.downgrade_to_advice();
        }
        required_by_all(finding, &who);
    }
}
