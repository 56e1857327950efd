//! NAME-016.

use super::spelling::{clipped_name, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ToolPlace};
use std::collections::HashMap;

rule! {
    /// Two servers have a tool with the same name.
    ///
    /// ## What it does
    ///
    /// Checks for names that two of the audited servers have in common.
    ///
    /// ## Why it matters
    ///
    /// Some clients put the server's name before each tool name, others do not. If a name occurs twice, OpenAI's Agents SDK
    /// [refuses to run](https://github.com/openai/openai-agents-python/pull/2788). In Claude Desktop, issues [went to the
    /// wrong
    /// tracker](https://dev.to/kenimo49/i-wired-8-mcp-servers-into-one-claude-agent-3-pairs-quietly-fought-over-the-same-tool-name-46ff)
    /// for days. A malicious server can replace a tool of another server by using its name.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/servers/gitlab/0/name
    /// {"servers": {"github": [{"name": "create_issue"}], "gitlab": [{"name": "create_issue"}]}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"servers": {"github": [{"name": "github_create_issue"}], "gitlab": [{"name": "gitlab_create_issue"}]}}
    /// ```
    "NAME-016" "shared-name" Warning Servers(check)
}

fn check(servers: &[ParsedServer<'_>], _: &Standard, findings: &mut Findings<'_>) {
    if servers.len() < 2 {
        return;
    }
    let mut first: HashMap<&str, (&ParsedServer<'_>, ToolPlace)> = HashMap::new();
    for server in servers {
        for tool in named_tools(server) {
            match first.get(tool.name) {
                None => {
                    first.insert(tool.name, (server, tool.place("/name")));
                }
                Some((other, place)) if other.index != server.index => {
                    let message = format!(
                        "The name '{}' is also used by the server '{}'",
                        clipped_name(tool.name),
                        clipped_name(&other.server.name)
                    );
                    let finding = findings.tool(tool, "/name", message);
                    finding.help("start the name with the product").related(place.clone());
                }
                Some(_) => {}
            }
        }
    }
}
