//! NAME-013.

use super::spelling::{clipped_name, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use std::collections::HashMap;

rule! {
    /// Two tools of one server have the same name.
    ///
    /// ## What it does
    ///
    /// Checks for names that a server lists more than once.
    ///
    /// ## Why it matters
    ///
    /// MCP asks for unique names within a server. Only one of the two tools can be called, and model APIs reject a request with
    /// duplicate names: `tools: Tool names must be unique`.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/1/name
    /// {"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}, {"name": "get_note", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "get_note", "inputSchema": {"type": "object"}}, {"name": "get_notebook", "inputSchema": {"type": "object"}}]}
    /// ```
    "NAME-013" "duplicate-name" Error Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut first = HashMap::with_capacity(server.tools.len());
    for tool in named_tools(server) {
        match first.get(tool.name) {
            None => {
                first.insert(tool.name, tool.place("/name"));
            }
            Some(place) => {
                let message = format!("Another tool is already named '{}'", clipped_name(tool.name));
                findings.tool(tool, "/name", message).related(place.clone());
            }
        }
    }
}
