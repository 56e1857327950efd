//! NAME-001.

use super::spelling::{Spellings, character_label, clipped_name};
use crate::convention::{Characters, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use crate::unicode::{homoglyph, is_invisible};

rule! {
    /// A name holds a character that MCP does not allow.
    ///
    /// ## What it does
    ///
    /// Looks for characters in a tool's name other than ASCII letters, digits, `_`, `-` and `.`. Those that nobody sees and those
    /// that look like ASCII letters have rules of their own.
    ///
    /// ## Why it matters
    ///
    /// MCP allows no others ([Tools, "Tool Names"](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names)), and
    /// clients pass names on to model APIs that refuse the whole request when one of its tools has such a name: one bad tool takes
    /// all others along.
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
    /// The name in snake case, where no other tool has it.
    "NAME-001" "illegal-characters" Error Server(check)
}

fn check(surface: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let is_bad = |c: &char| !Characters::Mcp.allow(*c) && !is_invisible(*c) && homoglyph(*c).is_none();
    let mut spellings = None;
    for tool in &surface.tools {
        let Some(bad) = tool.name.chars().find(is_bad) else { continue };
        let message = format!(
            "The name '{}' holds {}, which MCP does not allow",
            clipped_name(tool.name),
            character_label(bad)
        );
        let finding = findings.tool(tool, "/name", message).help("use letters, digits, '_' and '-'");
        finding.fix = spellings.get_or_insert_with(|| Spellings::of(surface)).fix(tool.name);
    }
}
