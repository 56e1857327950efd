//! DESC-014.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use mcpaql_core::suggest::NameMatcher;
use std::cell::LazyCell;
use std::collections::HashSet;

rule! {
    /// Description refers to a tool that the server does not have.
    ///
    /// ## What it does
    ///
    /// Checks descriptions for tool names in quotes or backticks (next to the word "tool" or after "call") that do not exist on
    /// the server.
    ///
    /// ## Why it matters
    ///
    /// The model calls the tool, the call fails, and a turn is lost. Most such references are left over from a rename.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/0/description
    /// {"tools": [{"name": "get_issue", "description": "One issue. Find its number with the `find_issues` tool.", "inputSchema": {"type": "object"}}, {"name": "search_issues", "description": "Finds issues.", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "get_issue", "description": "One issue. Find its number with the `search_issues` tool.", "inputSchema": {"type": "object"}}, {"name": "search_issues", "description": "Finds issues.", "inputSchema": {"type": "object"}}]}
    /// ```
    "DESC-014" "unknown-tool" Warning Server(check)
}

fn check(parsed: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let names = LazyCell::new(|| parsed.tools.iter().map(|tool| tool.name).collect::<HashSet<&str>>());
    // In the order of the list, so that the suggestion is always the same.
    let near = LazyCell::new(|| NameMatcher::new(parsed.tools.iter().map(|tool| tool.name)));
    for tool in &parsed.tools {
        let Some(text) = tool.description.filter(|text| may_mention(text)) else { continue };
        let is_parameter =
            |name: &str| tool.schema.and_then(|schema| schema.get("properties")?.get(name)).is_some();
        let mut named = mentioned(text).filter(|name| !names.contains(name) && !is_parameter(name));
        let Some(name) = named.next() else { continue };
        let message =
            format!("The description of '{}' refers to '{name}', but the server has no such tool", tool.name);
        let finding = findings.tool(tool, "/description", message);
        if let Some(near) = near.find_misspelled(name) {
            finding.help(format!("did you mean `{near}`?"));
        }
    }
}

/// Returns whether the text has quotes and one of the words next to them; most texts do not.
fn may_mention(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'`' | b'\'' | b'"'))
        && ["tool", "call ", "Call ", "calling "].iter().any(|word| text.contains(word))
}

/// Returns names of several words in quotes or backticks, directly before or after "tool", or after "call".
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let quote = |byte: u8| matches!(byte, b'`' | b'\'' | b'"');
    let mut last = None;
    text.bytes().enumerate().filter(move |(_, byte)| quote(*byte)).filter_map(move |(close, _)| {
        let open: usize = last.replace(close)?;
        let (before, name, behind) = (text.get(..open)?, text.get(open + 1..close)?, text.get(close + 1..)?);
        let is_name = name.len() < 65
            && name.contains(['_', '-'])
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let is_mentioned = behind.starts_with(" tool")
            || ["tool ", "tools ", " call ", "Call ", "calling "].iter().any(|end| before.ends_with(end));
        (is_name && is_mentioned).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use crate::convention::Standard;
    use crate::{ServerTools, audit};
    use serde_json::json;

    fn help(names: &[&str], mentioned: &str) -> Option<String> {
        let tool = |name: &&str| json!({"name": name, "description": format!("See the `{mentioned}` tool."), "inputSchema": {"type": "object"}});
        let server = ServerTools { tools: names.iter().map(tool).collect(), ..ServerTools::default() };
        let findings = audit(&[server], &Standard::default());
        findings.into_iter().find(|finding| finding.rule.code == "DESC-014").expect("DESC-014").help
    }

    #[test]
    fn the_first_of_the_nearest_is_proposed_and_nothing_that_is_only_related() {
        let both = ["list_issue_types", "get_issues", "issues_get"];
        for _ in 0..8 {
            assert_eq!(help(&both, "get_issue").as_deref(), Some("did you mean `get_issues`?"));
        }
        assert_eq!(help(&["issue_read", "issue_write"], "update_issue"), None);
    }
}
