//! DESC-008.

use super::excerpt;
use crate::audit::credential::masked;
use crate::audit::finding::Findings;
use crate::audit::glance::Glance;
use crate::audit::rule::rule;
use crate::audit::unicode;
use crate::audit::view::Tool;
use crate::convention::Standard;

rule! {
    /// A text holds characters that a person does not see.
    ///
    /// ## What it does
    ///
    /// Looks in every text of a tool for zero-width and tag characters, marks that turn the direction of text around, terminal escapes and
    /// other control characters. What emoji are made of is left alone.
    ///
    /// ## Why it matters
    ///
    /// A model reads what the person who approves the tool cannot: tag characters spell whole sentences, and terminal escapes erase them from
    /// the screen (https://blog.trailofbits.com/2025/04/29/deceiving-users-with-ansi-terminal-codes-in-mcp/).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "add_numbers", "description": "Adds two num\u200bbers.", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/inputSchema/properties/a/description
    /// {"name": "add_numbers", "description": "Adds two numbers.", "inputSchema": {"type": "object", "properties": {"a": {"type": "number", "description": "The first \u001b[8mhidden\u001b[0m"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "add_numbers", "description": "Adds two numbers 👩‍🚀.\n\n- both are whole", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-008" "invisible-text" Error Tool(check)
}

fn check(tool: &Tool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for text in tool.tree.texts.iter().filter(|text| text.glance.is_odd()) {
        let Some((position, c, what)) = first(text.text, text.glance) else { continue };
        // Before it is cut, because the end of a credential does not look like one.
        let near = masked(text.text.get(..position).unwrap_or_default());
        let near: String = near.chars().rev().take(24).collect();
        let near: String = near.chars().rev().filter(|c| !c.is_control()).collect();
        let message = format!(
            "A text of '{}' holds {what} (U+{:04X}) behind '{}'",
            tool.name,
            u32::from(c),
            excerpt(&near)
        );
        findings.tool(tool, tool.tree.pointer(text.at), message).help("take it out");
        return;
    }
}

fn first(text: &str, glance: Glance) -> Option<(usize, char, &'static str)> {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let found = glance.may_control().then(|| text.char_indices().find(|(_, c)| control(*c))).flatten();
    let what = |c| if c == '\u{1b}' { "a terminal escape" } else { "a control character" };
    let found = found.map(|(position, c)| (position, c, what(c)));
    found.or_else(|| {
        unicode::has_invisible(text).then_some(())?;
        unicode::hidden(text)
            .find(|(position, c)| !(*position == 0 && *c == '\u{feff}'))
            .map(|(position, c)| (position, c, unicode::what(c)))
    })
}
