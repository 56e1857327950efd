//! TITLE-008.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::{clipped_name, required_by_all, unmet_requirements};
use crate::tool::ParsedTool;

/// Of two thousand titles of real servers, a handful are longer.
const DEFAULT_MAX_LENGTH: usize = 80;

rule! {
    /// A title is too long to be read at a glance.
    ///
    /// ## What it does
    ///
    /// Looks for titles of more than 80 characters, or of more than a convention allows (`titles.max_length`). Without a convention it is
    /// advice.
    ///
    /// ## Why it matters
    ///
    /// Clients show the title on a button or in one line of a list, and cut what does not fit: what makes the tool different often stands
    /// last. Whole sentences belong into the description.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "get_workflow", "title": "Get the details of any resource of the automation system: workflows, runs, jobs or artifacts", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_workflow", "title": "Get workflow, run, job or artifact", "inputSchema": {"type": "object"}}
    /// ```
    "TITLE-008" "title-too-long" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(title) = tool.shown_title() else { return };
    let length = title.chars().count();
    let who = unmet_requirements(standard, |convention| convention.titles.max_length, |most| length <= *most);
    if who.is_empty() && length <= DEFAULT_MAX_LENGTH {
        return;
    }
    let pointer = if tool.title.is_some() { "/title" } else { "/annotations/title" };
    let message = format!("The title '{}' has {length} characters", clipped_name(title));
    let finding = findings.tool(tool, pointer, message).help("say the rest in the description");
    if who.is_empty() {
        finding.downgrade_to_advice();
    }
    required_by_all(finding, &who);
}
