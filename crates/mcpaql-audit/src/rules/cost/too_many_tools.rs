//! COST-003.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// A server has more tools than a client takes.
    ///
    /// ## What it does
    ///
    /// Compares the number of tools with what conventions of clients allow.
    ///
    /// ## Why it matters
    ///
    /// Visual Studio Code cannot make a request with more than 128 tools (https://code.visualstudio.com/docs/copilot/chat/chat-tools), and Windsurf
    /// sees 100 of all servers together (https://docs.windsurf.com/windsurf/cascade/mcp): the rest is as if it were not there.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools
    /// {"tools": [{"×": 130, "name": "create_thing_{n}", "description": "Opens a thing.", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"×": 20, "name": "create_thing_{n}", "description": "Opens a thing.", "inputSchema": {"type": "object"}}]}
    /// ```
    "COST-003" "too-many-tools" Error Server(check)
}

fn check(surface: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let count = surface.tools.len();
    let broken: Vec<(&str, usize)> =
        standard.requirements(|convention| convention.max_tools).filter(|(_, most)| count > *most).collect();
    if broken.is_empty() {
        return;
    }
    let takes: Vec<String> = broken.iter().map(|(who, most)| format!("{who} takes {most}")).collect();
    let message = format!("The server '{}' has {count} tools, and {}", surface.server.name, takes.join(", "));
    let finding = findings.server(surface, message);
    finding.help("group them, serve them through an adapter, or let users choose which they want");
    for (who, _) in broken {
        finding.required_by(who);
    }
}
