//! COST-003.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// Server has more tools than a client supports.
    ///
    /// ## What it does
    ///
    /// Compares the number of tools with the limits of client conventions.
    ///
    /// ## Why it matters
    ///
    /// Visual Studio Code cannot make a request with more than 128 tools
    /// (https://code.visualstudio.com/docs/copilot/chat/chat-tools). Windsurf supports 100 tools across all servers
    /// (https://docs.windsurf.com/windsurf/cascade/mcp) and ignores the rest.
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

fn check(server: &ParsedServer<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let count = server.tools.len();
    let broken: Vec<(&str, usize)> =
        standard.requirements(|convention| convention.max_tools).filter(|(_, most)| count > *most).collect();
    if broken.is_empty() {
        return;
    }
    let limits: Vec<String> = broken.iter().map(|(who, most)| format!("{who} allows {most}")).collect();
    let message = format!("The server '{}' has {count} tools, but {}", server.server.name, limits.join(", "));
    let finding = findings.server(server, message);
    finding.help("group them, serve them through an adapter, or let users choose the tools they need");
    for (who, _) in broken {
        finding.required_by(who);
    }
}
