//! NAME-004.

use super::spelling::{Spellings, character_label, clipped_name, required_by_all};
use crate::convention::{Characters, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// A name holds a character that MCP allows and a client or a model's API refuses.
    ///
    /// ## What it does
    ///
    /// Looks for characters that MCP allows and the chosen clients do not: a `.` in almost all cases.
    ///
    /// ## Why it matters
    ///
    /// OpenAI, Anthropic and Amazon Bedrock take letters, digits, `_` and `-` only. Claude Desktop withholds every tool of a connector
    /// for [one name with a dot](https://github.com/evoila/meho/issues/2745), and Copilot's command line
    /// [fails on every prompt](https://github.com/github/copilot-cli/issues/1879). Other clients write `_` instead, and two names
    /// may become one.
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
    /// The name in snake case, where no other tool has it.
    "NAME-004" "refused-characters" Error Server(check)
}

fn check(surface: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let demands = standard.requirements(|convention| {
        convention.names.characters.filter(|characters| *characters == Characters::Api)
    });
    let who: Vec<&str> = demands.map(|(who, _)| who).collect();
    if who.is_empty() {
        return;
    }
    let is_bad = |c: &char| Characters::Mcp.allow(*c) && !Characters::Api.allow(*c);
    let mut spellings = None;
    for tool in &surface.tools {
        let Some(bad) = tool.name.chars().find(is_bad) else { continue };
        let message = format!(
            "The name '{}' holds {}, which not everybody takes",
            clipped_name(tool.name),
            character_label(bad)
        );
        let finding = findings.tool(tool, "/name", message);
        finding.help("use '_' instead");
        finding.fix = spellings.get_or_insert_with(|| Spellings::of(surface)).fix(tool.name);
        required_by_all(finding, &who);
    }
}
