//! TITLE-003.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::{ParsedServer, ParsedTool};
use std::collections::HashMap;

rule! {
    /// Two tools of one server have the same title.
    ///
    /// ## What it does
    ///
    /// Compares the titles of a server's tools, ignoring case.
    ///
    /// ## Why it matters
    ///
    /// Clients show titles where people choose tools and approve calls. Two tools with the same title cannot be told apart there.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/1/title
    /// {"tools": [{"name": "get_note", "title": "Get Note"}, {"name": "get_note_by_path", "title": "Get Note"}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "get_note", "title": "Get Note"}, {"name": "get_note_by_path", "title": "Get Note by Path"}]}
    /// ```
    "TITLE-003" "duplicate-title" Warning Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut first: HashMap<String, &ParsedTool<'_>> = HashMap::with_capacity(server.tools.len());
    for tool in &server.tools {
        let Some(title) = tool.shown_title().map(str::trim).filter(|title| !title.is_empty()) else {
            continue;
        };
        match first.get(&title.to_lowercase()) {
            None => {
                first.insert(title.to_lowercase(), tool);
            }
            // NAME-013 reports tools that are listed twice.
            Some(other) if other.name != tool.name => {
                let pointer = tool.shown_title_pointer();
                let message = format!(
                    "The title '{}' is also the title of '{}'",
                    clipped_name(title),
                    clipped_name(other.name)
                );
                let finding = findings.tool(tool, pointer, message).help("say how the tools differ");
                finding.related(other.place("/title"));
            }
            Some(_) => {}
        }
    }
}
