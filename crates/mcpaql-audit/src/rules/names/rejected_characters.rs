//! NAME-004.

use super::spelling::{Spellings, character_label, clipped_name, required_by_all};
use crate::convention::{Characters, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// Name contains a character that MCP allows but a client or model API rejects.
    ///
    /// ## What it does
    ///
    /// Checks for characters that MCP allows and the selected clients do not. In practice this is almost always `.`.
    ///
    /// ## Why it matters
    ///
    /// OpenAI, Anthropic and Amazon Bedrock accept only letters, digits, `_` and `-`. Claude Desktop hides every tool of a connector
    /// because of [one name with a dot](https://github.com/evoila/meho/issues/2745), and Copilot CLI
    /// [fails on every prompt](https://github.com/github/copilot-cli/issues/1879). Other clients replace the character with `_`,
    /// which can make two names equal.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "issues.create", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "issues_create", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes the name in snake_case, if no other tool has that name.
    "NAME-004" "rejected-characters" Error Server(check)
}

fn check(server: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let demands = standard.requirements(|convention| {
        convention.names.characters.filter(|characters| *characters == Characters::Api)
    });
    let who: Vec<&str> = demands.map(|(who, _)| who).collect();
    if who.is_empty() {
        return;
    }
    let is_bad = |c: &char| Characters::Mcp.allow(*c) && !Characters::Api.allow(*c);
    let mut spellings = None;
    for tool in &server.tools {
        let Some(bad) = tool.name.chars().find(is_bad) else { continue };
        let message = format!(
            "The name '{}' contains {}, which some clients reject",
            clipped_name(tool.name),
            character_label(bad)
        );
        let finding = findings.tool(tool, "/name", message);
        finding.help("use '_' instead");
        finding.fix = spellings.get_or_insert_with(|| Spellings::of(server)).fix(tool.name);
        required_by_all(finding, &who);
    }
}
