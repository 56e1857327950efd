//! NAME-019.

use super::spelling::{Spellings, clipped_name};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use mcpaql_lexicon::unicode;

rule! {
    /// Name contains invisible characters.
    ///
    /// ## What it does
    ///
    /// Checks names for zero-width characters, bidirectional marks, tag characters, variation selectors and fillers.
    ///
    /// ## Why it matters
    ///
    /// Two different tools look the same to the person who approves a call. MCP allows only ASCII.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "delete\u200b_file", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "delete_file", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Writes the name in snake_case without these characters, if no other tool has that name.
    "NAME-019" "invisible-characters" Error Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut spellings = None;
    for tool in server.tools.iter().filter(|tool| !tool.name.is_ascii()) {
        let Some(c) = tool.name.chars().find(|c| unicode::is_invisible(*c)) else { continue };
        let code = u32::from(c);
        let message = format!(
            "The name '{}' contains U+{code:04X}, {}",
            clipped_name(tool.name),
            unicode::describe_invisible(c)
        );
        let finding = findings.tool(tool, "/name", message);
        finding.fix = spellings.get_or_insert_with(|| Spellings::of(server)).fix(tool.name);
    }
}
