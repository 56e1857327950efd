//! COST-002.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;

rule! {
    /// Tools of the server take up a large part of the context window.
    ///
    /// ## What it does
    ///
    /// Adds up the estimated cost of all tools of a server. More than 20 000 tokens, a tenth of a window of 200 000, is advice. More
    /// than 64 000 tokens, half of a window of 128 000, is a warning.
    ///
    /// ## Why it matters
    ///
    /// Claude Code stops loading tools at the start of a conversation if they take more than a tenth of the window (tool search, mode
    /// `auto`, https://code.claude.com/docs/en/mcp). Other clients load them all, and models choose worse the more tools there are.
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
    "COST-002" "heavy-list" Warning Server(check)
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
        "The {} tools of '{}' cost about {tokens} tokens: {} % of a window of 128 000, {} % of 200 000",
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
