//! COST-004.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, TextKind};
use mcpaql_core::tokens;
use std::collections::HashMap;

rule! {
    /// Many tools contain the same long text.
    ///
    /// ## What it does
    ///
    /// Checks for lines of at least 120 characters, in descriptions of tools and of parameters, that at least four tools share.
    /// Reported if the repetitions together cost more than 1000 tokens.
    ///
    /// ## Why it matters
    ///
    /// A model needs to read it only once. Text that applies to all tools belongs in the server's `instructions`, which clients show
    /// next to the tools (MCP, `initialize`).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools
    /// {"tools": [{"×": 60, "name": "create_thing_{n}", "description": "Opens thing {n}.\nThe region is the code of one of the provider's regions, such as eu-central-1; where it is left out, the region of the account is used, and where that has none, the first one that has room.", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"×": 60, "name": "create_thing_{n}", "description": "Opens thing {n}.", "inputSchema": {"type": "object"}}]}
    /// ```
    "COST-004" "repeated-text" Advice Server(check)
}

const MIN_TEXT_LENGTH: usize = 120;
const MIN_REPETITIONS: usize = 4;
const MIN_WASTED_TOKENS: usize = 1000;

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // By line: the number of tools that contain it, the last such tool, and the first.
    let mut lines: HashMap<&str, (usize, usize, usize)> = HashMap::new();
    for (index, tool) in server.tools.iter().enumerate() {
        for text in tool
            .tree
            .texts
            .iter()
            .filter(|text| text.kind == TextKind::Prose && text.text.len() >= MIN_TEXT_LENGTH)
        {
            for line in text.text.lines().map(str::trim).filter(|line| line.len() >= MIN_TEXT_LENGTH) {
                let (count, last, _) = lines.entry(line).or_insert((0, usize::MAX, index));
                if *last != index {
                    (*count, *last) = (*count + 1, index);
                }
            }
        }
    }
    let shared = lines.into_iter().filter(|(_, (count, ..))| *count >= MIN_REPETITIONS);
    let mut shared: Vec<(usize, usize, &str, usize)> = shared
        .map(|(line, (count, _, first))| (tokens::estimate(line) * (count - 1), count, line, first))
        .collect();
    let total: usize = shared.iter().map(|(cost, ..)| cost).sum();
    if total <= MIN_WASTED_TOKENS {
        return;
    }
    shared.sort_by(|one, other| other.0.cmp(&one.0).then(one.2.cmp(other.2)));
    let Some((_, count, line, first)) = shared.first() else { return };
    let begin: String = line.chars().take(60).collect();
    let message = format!(
        "Tools of '{}' repeat text that costs about {total} tokens; {count} of them contain '{begin}…'",
        server.server.name
    );
    let finding = findings.server(server, message);
    finding.help("move it to the server's instructions");
    if let Some(tool) = server.tools.get(*first) {
        finding.related(tool.place(""));
    }
}
