//! NAME-014.

use super::spelling::{clipped_name, letters_and_digits, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

rule! {
    /// Two names of one server differ only in case or separators.
    ///
    /// ## What it does
    ///
    /// Checks for names of one server that are equal if case, `_`, `-` and `.` are ignored.
    ///
    /// ## Why it matters
    ///
    /// Models confuse such names, and so do clients. VS Code replaces `.` with `_`. Codex and others replace every character
    /// that a model API rejects with `_`. Both can turn two names into one.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/1/name
    /// {"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}, {"name": "getNote", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}, {"name": "get_notebook", "inputSchema": {"type": "object"}}]}
    /// ```
    "NAME-014" "similar-spelling" Warning Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut first: HashMap<String, &ParsedTool<'_>> = HashMap::with_capacity(server.tools.len());
    for tool in named_tools(server) {
        match first.entry(letters_and_digits(tool.name)) {
            Entry::Vacant(slot) => {
                slot.insert(tool);
            }
            Entry::Occupied(slot) if slot.get().name != tool.name => {
                let other = slot.get();
                let message = format!(
                    "The name '{}' differs from '{}' only in case or separators",
                    clipped_name(tool.name),
                    clipped_name(other.name)
                );
                findings.tool(tool, "/name", message).related(other.place("/name"));
            }
            Entry::Occupied(_) => {}
        }
    }
}
