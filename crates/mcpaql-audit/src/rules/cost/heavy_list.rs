//! COST-002.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// Tools of the server use a large part of the context window.
    ///
    /// ## What it does
    ///
    /// Adds up the estimated cost of all tools of a server. More than 20 000 tokens, a tenth of a context window of 200 000
    /// tokens, is advice. More than 64 000 tokens, half of a context window of 128 000 tokens, is a warning.
    ///
    /// ## Why it matters
    ///
    /// Claude Code stops loading tools at the start of a conversation if they take more than a tenth of the context window:
    /// tool search, mode `auto` (https://code.claude.com/docs/en/mcp). Other clients load them all. The more tools a model
    /// sees, the more often it chooses the wrong one.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools
    /// {"tools": [{"×": 200, "name": "create_thing_{n}", "description": "Opens a thing in a repository, with everything that belongs to it. (×12)", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "create_issue", "description": "Opens an issue in a repository.", "inputSchema": {"type": "object"}}]}
    /// ```
    "COST-002" "heavy-list" Warning..Advice Server(check)
}

/// A tenth of a window of 200 000.
const ADVICE_TOKENS: usize = 20_000;
/// Half of a window of 128 000.
const WARNING_TOKENS: usize = 64_000;

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let tokens = server.tokens();
    if tokens <= ADVICE_TOKENS {
        return;
    }
    let share = |window: usize| (tokens * 100 + window / 2) / window;
    let message = format!(
        "The {} tools of '{}' cost about {tokens} tokens: {} % of a context window of 128 000 tokens, {} % of one of 200 000",
        server.tools.len(),
        server.server.name,
        share(128_000),
        share(200_000)
    );
    let finding = findings.server(server, message);
    let heaviest = server.tools.iter().max_by_key(|tool| tool.tokens);
    let heaviest = heaviest
        .map_or(String::new(), |tool| format!("; start with '{}' (about {} tokens)", tool.name, tool.tokens));
    finding.help(format!("serve it through an adapter, remove tools, or shorten them{heaviest}"));
    if tokens <= WARNING_TOKENS {
        finding.downgrade_to_advice();
    }
}
