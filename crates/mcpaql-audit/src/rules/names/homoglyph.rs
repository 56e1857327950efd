//! NAME-018.

use super::spelling::{Spellings, clipped_name};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::unicode;
use std::collections::HashMap;

rule! {
    /// Name contains letters of another script that look like ASCII.
    ///
    /// ## What it does
    ///
    /// Checks for Cyrillic, Greek, full-width and other letters that look like ASCII. Reports a name that mixes them with
    /// ASCII letters, or that consists only of them.
    ///
    /// ## Why it matters
    ///
    /// `dеlete_file` with a Cyrillic е and `delete_file` are two different tools, but the person who approves a call cannot
    /// see the difference. Attackers disguise one tool as another this way. MCP allows only ASCII.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "dеlete_file", "inputSchema": {"type": "object"}}
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
    /// Writes the name in ASCII and snake_case, if no other tool has that name.
    "NAME-018" "homoglyph" Error Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut spellings = None;
    let mut by_name: Option<HashMap<&str, &ParsedTool<'_>>> = None;
    for tool in server.tools.iter().filter(|tool| !tool.name.is_ascii()) {
        let Some(c) = lookalike(tool.name) else { continue };
        let ascii: String = tool.name.chars().map(|c| unicode::homoglyph(c).unwrap_or(c)).collect();
        let by_name =
            by_name.get_or_insert_with(|| server.tools.iter().map(|tool| (tool.name, tool)).collect());
        let twin = by_name.get(ascii.as_str());
        let code = u32::from(c);
        let message = match twin {
            Some(_) => {
                format!(
                    "The name '{}' looks like that of another tool, but contains U+{code:04X}",
                    clipped_name(tool.name)
                )
            }
            None => {
                format!(
                    "The name '{}' contains U+{code:04X}, which looks like ASCII",
                    clipped_name(tool.name)
                )
            }
        };
        let finding = findings.tool(tool, "/name", message);
        finding.fix = spellings.get_or_insert_with(|| Spellings::of(server)).fix(tool.name);
        if let Some(twin) = twin {
            finding.related(twin.place("/name"));
        }
    }
}

/// Returns the first look-alike letter, if a person would take the name for ASCII.
fn lookalike(name: &str) -> Option<char> {
    let found = name.chars().find(|c| unicode::homoglyph(*c).is_some())?;
    let mixed = name.chars().any(|c| c.is_ascii_alphabetic());
    let disguised =
        || name.chars().all(|c| c.is_ascii() || unicode::is_invisible(c) || unicode::homoglyph(c).is_some());
    (mixed || disguised()).then_some(found)
}
