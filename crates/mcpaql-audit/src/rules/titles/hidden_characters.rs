//! TITLE-009.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedTool;
use crate::unicode;

rule! {
    /// A title holds characters that nobody sees, or that change how it is shown.
    ///
    /// ## What it does
    ///
    /// Looks for control characters, line breaks and invisible characters in `title` and `annotations.title`. What an emoji is made of
    /// does not count, nor do joiners between letters of scripts that need them.
    ///
    /// ## Why it matters
    ///
    /// The title is what a person sees before approving a call. A mark that turns the direction of text, a line break or an escape
    /// sequence of the terminal makes it say something else there than in a log or a review.
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
    "TITLE-009" "hidden-characters" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for (title, pointer) in [(tool.title, "/title"), (tool.annotation_title, "/annotations/title")] {
        let Some(title) = title else { continue };
        let control = title.chars().find(|c| c.is_control());
        let Some(c) = control.or_else(|| unicode::hidden_characters(title).next().map(|(_, c)| c)) else {
            continue;
        };
        let what = if c.is_control() { "a control character" } else { unicode::describe_invisible(c) };
        let message = format!("The title '{}' holds U+{:04X}, {what}", clipped_name(title), u32::from(c));
        findings.tool(tool, pointer, message).help("leave it out");
    }
}
