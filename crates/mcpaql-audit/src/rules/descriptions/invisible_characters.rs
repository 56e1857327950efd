//! DESC-008.

use super::excerpt;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::text::credential::masked;
use crate::text::prefilter::Prefilter;
use crate::tool::ParsedTool;
use mcpaql_lexicon::unicode;

rule! {
    /// Text contains invisible characters.
    ///
    /// ## What it does
    ///
    /// Checks every text of a tool for zero-width and tag characters, bidirectional marks, terminal escapes and other control
    /// characters. Parts of emoji are allowed, and so are joiners between letters of scripts that need them, such as Persian and
    /// Hindi. Titles and description are reported one by one, all other texts of a tool together.
    ///
    /// ## Why it matters
    ///
    /// A model reads text that the person who approves the tool cannot see: tag characters spell whole sentences, and terminal
    /// escapes erase them from the screen (https://blog.trailofbits.com/2025/04/29/deceiving-users-with-ansi-terminal-codes-in-mcp/).
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
    ///
    /// ```json good
    /// {"name": "get_file", "description": "فایل\u200cها را می\u200cخواند.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-008" "invisible-text" Error Tool(check)
}

/// The texts that are reported one by one.
const TOOL_TEXTS: &[&str] = &["/title", "/annotations/title", "/description"];

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let odd = tool.tree.texts.iter().filter(|text| text.prefilter.has_special_characters());
    let odd = odd.filter_map(|text| {
        let found = first(text.text, text.prefilter)?;
        Some((tool.tree.pointer(text.at), message(tool, text.text, found)))
    });
    // A finding in one of the tool's own texts must not hide another; those in its schemas are one finding.
    let (own, others): (Vec<_>, Vec<_>) =
        odd.partition(|(pointer, _)| TOOL_TEXTS.contains(&pointer.as_str()));
    for (pointer, message) in own {
        findings.tool(tool, pointer, message).help("remove it");
    }
    let mut others = others.into_iter();
    if let Some((pointer, message)) = others.next() {
        let finding = findings.tool(tool, pointer, message).help("remove it");
        for (pointer, _) in others {
            finding.related(tool.place(pointer));
        }
    }
}

fn message(tool: &ParsedTool<'_>, text: &str, (position, c, what): (usize, char, &str)) -> String {
    // Mask before truncating: the end of a credential does not look like one.
    let near = masked(text.get(..position).unwrap_or_default());
    let near: String = near.chars().rev().take(24).collect();
    let near: String = near.chars().rev().filter(|c| !c.is_control()).collect();
    let code = u32::from(c);
    format!("A text of '{}' contains {what} (U+{code:04X}) after '{}'", tool.name, excerpt(&near))
}

fn first(text: &str, prefilter: Prefilter) -> Option<(usize, char, &'static str)> {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let found = prefilter.may_control().then(|| text.char_indices().find(|(_, c)| control(*c))).flatten();
    let what = |c| if c == '\u{1b}' { "a terminal escape" } else { "a control character" };
    let found = found.map(|(position, c)| (position, c, what(c)));
    found.or_else(|| {
        unicode::has_invisible(text).then_some(())?;
        unicode::hidden_characters(text)
            .find(|(position, c)| !(*position == 0 && *c == '\u{feff}'))
            .map(|(position, c)| (position, c, unicode::describe_invisible(c)))
    })
}

#[cfg(test)]
mod tests {
    use crate::convention::Standard;
    use crate::{ServerTools, audit};
    use serde_json::json;

    #[test]
    fn one_text_hides_no_other() {
        let odd = "Notes \u{1b}[8m hidden";
        let parameter = json!({"type": "string", "description": odd});
        let tool = json!({
            "name": "get_note", "title": odd, "description": odd,
            "inputSchema": {"type": "object", "properties": {"a": parameter, "b": parameter, "c": parameter}},
        });
        let server = ServerTools { tools: vec![tool], ..ServerTools::default() };
        let found = audit(&[server], &Standard::from_conventions(Vec::new()));
        let found: Vec<_> = found.iter().filter(|finding| finding.rule.code == "DESC-008").collect();
        let mut places: Vec<_> = found.iter().map(|finding| finding.place.pointer.as_str()).collect();
        places.sort_unstable();
        assert_eq!(places, ["/description", "/inputSchema/properties/a/description", "/title"]);
        assert_eq!(found.iter().map(|finding| finding.related.len()).max(), Some(2));
    }
}
