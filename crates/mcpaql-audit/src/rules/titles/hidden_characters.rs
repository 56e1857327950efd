//! TITLE-009.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedTool;
use mcpaql_lexicon::unicode;

rule! {
    /// Title contains invisible or control characters.
    ///
    /// ## What it does
    ///
    /// Checks `title` and `annotations.title` for control characters, line breaks and invisible characters. Parts of emoji, and
    /// joiners between letters of scripts that need them, are allowed.
    ///
    /// ## Why it matters
    ///
    /// A person reads the title before approving a call. With a bidirectional mark, a line break or a terminal escape
    /// sequence, that person sees another title than the one in a log or a review.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "delete_note", "title": "Show note\u202e", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "delete_note", "title": "Delete note", "inputSchema": {"type": "object"}}
    /// ```
    "TITLE-009" "invisible-characters-in-title" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for (title, pointer) in [(tool.title, "/title"), (tool.annotation_title, "/annotations/title")] {
        let Some(title) = title else { continue };
        let control = title.chars().find(|c| c.is_control());
        let Some(c) = control.or_else(|| unicode::hidden_characters(title).next().map(|(_, c)| c)) else {
            continue;
        };
        let what = if c.is_control() { "a control character" } else { unicode::describe_invisible(c) };
        let message = format!("The title '{}' contains U+{:04X}, {what}", clipped_name(title), u32::from(c));
        findings.tool(tool, pointer, message).help("remove it");
    }
}
