//! NAME-001.

use super::spelling::{Spellings, character_label, clipped_name};
use crate::convention::{Characters, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use mcpaql_lexicon::unicode::{homoglyph, is_invisible};

rule! {
    /// Name contains a character that MCP does not allow.
    ///
    /// ## What it does
    ///
    /// Checks tool names for characters other than ASCII letters, digits, `_`, `-` and `.`. Letters that only look like ASCII
    /// (NAME-018) and invisible characters (NAME-019) have their own rules.
    ///
    /// ## Why it matters
    ///
    /// MCP allows no other characters
    /// ([Tools, "Tool Names"](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names)). Clients pass names
    /// on to model APIs, and these reject the whole request if one tool has such a name. One bad tool disables all others.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "create issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes the name in snake_case, if no other tool has that name.
    "NAME-001" "illegal-characters" Error Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let is_bad = |c: &char| !Characters::Mcp.allow(*c) && !is_invisible(*c) && homoglyph(*c).is_none();
    let mut spellings = None;
    for tool in &server.tools {
        let Some(bad) = tool.name.chars().find(is_bad) else { continue };
        let message = format!(
            "The name '{}' contains {}, which MCP does not allow",
            clipped_name(tool.name),
            character_label(bad)
        );
        let finding = findings.tool(tool, "/name", message).help("use letters, digits, '_' and '-'");
        finding.fix = spellings.get_or_insert_with(|| Spellings::of(server)).fix(tool.name);
    }
}
