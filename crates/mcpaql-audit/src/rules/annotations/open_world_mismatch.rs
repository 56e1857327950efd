//! HINT-012.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::verbs;
use std::collections::HashMap;

rule! {
    /// Two tools for the same objects disagree on `openWorldHint`.
    ///
    /// ## What it does
    ///
    /// Compares tools of one server whose names differ only in the verb, such as `get_note` and `list_notes`, if both read or
    /// both write. Reports them if one sets `openWorldHint: true` and the other `openWorldHint: false`. The endpoints of an
    /// adapter are not compared.
    ///
    /// ## Why it matters
    ///
    /// Both tools work on the same data. A client that trusts results of the closed-world tool then trusts data that came in
    /// through the other tool.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/1/annotations/openWorldHint
    /// {"tools": [
    ///   {"name": "get_note", "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": true}},
    ///   {"name": "list_notes", "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": false}}
    /// ]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [
    ///   {"name": "get_note", "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": true}},
    ///   {"name": "list_notes", "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": true}}
    /// ]}
    /// ```
    "HINT-012" "open-world-mismatch" Advice Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut first: HashMap<(bool, Vec<String>), &ParsedTool<'_>> = HashMap::new();
    // The endpoints of an adapter serve different operations, whatever their names.
    let says = |tool: &&ParsedTool<'_>| tool.declared.open_world.is_some() && !tool.is_adapter;
    for tool in server.tools.iter().filter(says) {
        let Some(things) = object_words(tool) else { continue };
        let other = *first.entry((tool.by_name.category == Category::Read, things)).or_insert(tool);
        if other.declared.open_world == tool.declared.open_world {
            continue;
        }
        let word = |open: Option<bool>| if open == Some(true) { "open" } else { "closed" };
        let message = format!(
            "The tool '{}' is marked {}-world, but '{}' is marked {}-world, although both work on the same objects",
            tool.name,
            word(tool.declared.open_world),
            other.name,
            word(other.declared.open_world)
        );
        let place = other.place("/annotations/openWorldHint");
        findings
            .tool(tool, "/annotations/openWorldHint", message)
            .related(place)
            .help("set the same value for both");
    }
}

/// Returns the words of a name without its verb, each in the singular.
fn object_words(tool: &ParsedTool<'_>) -> Option<Vec<String>> {
    let verb = tool.words.iter().position(|word| verbs::verb(word).is_some())?;
    let others = tool.words.iter().enumerate().filter(|(position, _)| *position != verb);
    let things: Vec<String> = others.map(|(_, word)| mcpaql_lexicon::singular(word).into_owned()).collect();
    (!things.is_empty()).then_some(things)
}
