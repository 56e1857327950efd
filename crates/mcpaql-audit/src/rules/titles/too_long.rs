//! TITLE-008.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::{clipped_name, required_by_all, unmet_requirements};
use crate::tool::ParsedTool;

/// Only a handful of two thousand titles of real servers are longer.
const DEFAULT_MAX_LENGTH: usize = 80;

rule! {
    /// Title is too long.
    ///
    /// ## What it does
    ///
    /// Checks for titles that are longer than 80 characters, or longer than a convention allows (`titles.max_length`). If no
    /// convention sets a lower limit, the finding is advice.
    ///
    /// ## Why it matters
    ///
    /// Clients show the title on a button or in one line of a list and cut off what does not fit, often the part that distinguishes
    /// the tool. Whole sentences belong in the description.
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
    "TITLE-008" "title-too-long" Warning..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(title) = tool.shown_title() else { return };
    let length = title.chars().count();
    let who = unmet_requirements(standard, |convention| convention.titles.max_length, |most| length <= *most);
    if who.is_empty() && length <= DEFAULT_MAX_LENGTH {
        return;
    }
    let pointer = tool.shown_title_pointer();
    let message = format!("The title '{}' has {length} characters", clipped_name(title));
    let finding = findings.tool(tool, pointer, message).help("move details into the description");
    if who.is_empty() {
        finding.downgrade_to_advice();
    }
    required_by_all(finding, &who);
}
