//! HINT-017.

use crate::convention::Standard;
use crate::inferred_effect::{certainly_reads, certainly_writes};
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

/// Minimum number of tools; fewer may be alike by chance.
const MIN_TOOLS: usize = 4;

rule! {
    /// All tools have the same hints, although some read and others write.
    ///
    /// ## What it does
    ///
    /// Checks for servers with four or more tools that all set the same hints, although some certainly read and others certainly
    /// change something.
    ///
    /// ## Why it matters
    ///
    /// Hints that are the same for all tools carry no information: `get_architecture` is [as destructive as
    /// `delete_project`](https://github.com/DeusData/codebase-memory-mcp/issues/2118), or worse, a deletion looks as safe as a
    /// search.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools
    /// {"tools": [
    ///   {"name": "list_notes", "description": "Lists notes.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}},
    ///   {"name": "get_note", "description": "Gets a note.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}},
    ///   {"name": "create_note", "description": "Creates a note.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}},
    ///   {"name": "delete_note", "description": "Deletes a note.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}}
    /// ]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [
    ///   {"name": "list_notes", "description": "Lists notes.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
    ///   {"name": "get_note", "description": "Gets a note.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
    ///   {"name": "create_note", "description": "Creates a note.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}},
    ///   {"name": "delete_note", "description": "Deletes a note.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}}
    /// ]}
    /// ```
    "HINT-017" "identical-hints" Warning Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let tools = &server.tools;
    let Some(first) = tools.first().filter(|_| tools.len() >= MIN_TOOLS) else { return };
    let has_hints = first.declared.read_only.is_some() || first.declared.destructive.is_some();
    if !has_hints || tools.iter().any(|tool| tool.declared != first.declared) {
        return;
    }
    let (reads, acts) =
        (tools.iter().find(|tool| certainly_reads(tool)), tools.iter().find(|tool| certainly_writes(tool)));
    if let (Some(reads), Some(acts)) = (reads, acts) {
        let message = format!(
            "All {} tools have the same hints, although '{}' reads and '{}' does not",
            tools.len(),
            reads.name,
            acts.name
        );
        let finding = findings.server(server, message);
        finding.related(reads.place("/annotations")).related(acts.place("/annotations"));
        finding.help("set the hints of each tool by what it does");
    }
}
