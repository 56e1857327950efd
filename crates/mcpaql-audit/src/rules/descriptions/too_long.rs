//! DESC-003.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Description is longer than clients accept.
    ///
    /// ## What it does
    ///
    /// Checks for descriptions longer than a convention allows, or longer than 2048 characters if no convention sets a limit.
    /// Without such a convention, the finding is advice.
    ///
    /// ## Why it matters
    ///
    /// Claude Code truncates every description at 2048 characters, and the model never sees the rest
    /// (https://github.com/anthropics/claude-code/issues/41593). Some deployments of OpenAI's models reject the whole request
    /// if a description has more than 1024 characters (https://github.com/modelcontextprotocol/servers/issues/799).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "create_issue", "description": "Opens an issue in a repository. (×100)", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "description": "Opens an issue in a repository.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-003" "description-too-long" Warning..Advice Tool(check)
}

/// The limit if no convention sets one.
const DEFAULT_MAX_LENGTH: usize = 2048;

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(text) = tool.description else { return };
    let mut length = None;
    let mut length = || *length.get_or_insert_with(|| text.chars().count());
    let demands: Vec<(&str, usize)> =
        standard.requirements(|convention| convention.descriptions.max_length).collect();
    let broken: Vec<&(&str, usize)> =
        demands.iter().filter(|(_, most)| text.len() > *most && length() > *most).collect();
    let least = broken.iter().map(|(_, most)| *most).min();
    let Some(most) =
        least.or_else(|| (demands.is_empty() && length() > DEFAULT_MAX_LENGTH).then_some(DEFAULT_MAX_LENGTH))
    else {
        return;
    };
    let message =
        format!("The description of '{}' has {} characters; at most {most} are allowed", tool.name, length());
    let finding = findings.tool(tool, "/description", message);
    finding.help(
        "put the most important information first; move the rest into parameter descriptions or a help tool",
    );
    if least.is_none() {
        finding.message = format!("The description of '{}' has {} characters", tool.name, length());
        finding.downgrade_to_advice();
    }
    for (who, _) in broken {
        finding.required_by(*who);
    }
}

#[cfg(test)]
mod tests {
    use crate::convention::{Convention, DescriptionRequirements, Standard};
    use crate::{ServerTools, audit};
    use serde_json::json;

    #[test]
    fn a_team_s_limit_counts_however_small_it_is() {
        let found = |length: usize| {
            let tool = json!({"name": "get_note", "description": "x".repeat(length)});
            let server = ServerTools { tools: vec![tool], ..ServerTools::default() };
            let descriptions =
                DescriptionRequirements { max_length: Some(10), ..DescriptionRequirements::default() };
            let ours = Convention { name: "ours".into(), descriptions, ..Convention::default() };
            let found = audit(&[server], &Standard::from_conventions(vec![ours]));
            found.iter().any(|finding| finding.rule.code == "DESC-003")
        };
        assert_eq!([10, 11, 50, 120].map(found), [false, true, true, true]);
    }
}
