//! NAME-005.

use super::spelling::clipped;
use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::{Level, Names, Standard, template};

/// What is longer is the matter of NAME-003.
const MCP: usize = 128;
/// Servers are called so long: `github`, `my-notebooks`.
const USUAL: usize = 12;
/// Few servers have a longer name.
const LONG_SERVER: &str = "a-server-of-20-chars";

rule! {
    /// A name is too long for a client, with what the client puts before it.
    ///
    /// ## What it does
    ///
    /// Adds what each of the chosen clients adds to a name, the server's name included, and compares the length with what the client, the model's API
    /// behind it or the directory takes. Says by how much it is over, and how long the server's name may be so that all still fit. Of a saved
    /// list nobody knows what the client calls its server: unless `--name` says it, a tool that leaves less than 12 characters for that name
    /// is a warning, and one that leaves less than 20 is advice.
    ///
    /// ## Why it matters
    ///
    /// Claude Code shows `mcp__<server>__<tool>` to the model, and one tool above 64 characters
    /// [breaks the session](https://github.com/anthropics/claude-code/issues/19882). Cursor
    /// [leaves the tool out](https://github.com/ComposioHQ/composio/issues/2788) where the two names together reach 60. VS Code, Codex and
    /// Gemini CLI cut the name: what the model sees ends in the middle of a word, and two tools may become one. Where they all only cut, it
    /// is a warning.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/0/name
    /// {"tools": [{"name": "add_comment_to_the_pending_review_of_a_pull_request", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [{"name": "add_review_comment", "inputSchema": {"type": "object"}}]}
    /// ```
    "NAME-005" "too-long-for-client" Error Tool(check)
}

fn check(tool: &Tool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let length = tool.name.chars().count();
    if length > MCP {
        return;
    }
    let over: Vec<Over<'_>> = standard
        .demands(|convention| Some(&convention.names))
        .filter_map(|(who, names)| Over::of(who, names, tool))
        .collect();
    let (Some(most), Some(least)) =
        (over.iter().map(|over| over.by).max(), over.iter().map(|over| over.by).min())
    else {
        return;
    };
    let room = over.iter().map(|over| over.room).min().unwrap_or(0);
    let name = clipped(tool.name);
    let finding = if tool.server_is_guessed && room > 0 {
        let message = format!(
            "The name '{name}' of {length} characters fits only behind a server's name of at most {room}"
        );
        let finding = findings.tool(tool, "/name", message);
        finding.help("shorten it; say with --name what the client calls the server");
        finding.level = finding.level.min(if room < USUAL { Level::Warning } else { Level::Advice });
        finding
    } else {
        let behind = match (over.iter().any(|over| over.is_behind), tool.server.chars().count()) {
            _ if tool.server_is_guessed => String::new(),
            (false, _) | (_, 0) => String::new(),
            (true, server) => format!(", behind a server's of {server},"),
        };
        let by = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let message = format!("The name '{name}' of {length} characters{behind} is too long by {by}");
        let finding = findings.tool(tool, "/name", message);
        finding.help(match room {
            0 => format!("shorten it by {most} characters"),
            _ => format!("shorten it by {most} characters, or call the server by a name of at most {room}"),
        });
        finding
    };
    if over.iter().all(|over| over.cuts) {
        finding.level = finding.level.min(Level::Warning);
    }
    for over in over {
        finding.by(over.who);
    }
}

/// Somebody for whom a name is too long.
struct Over<'s> {
    who: &'s str,
    /// So many characters.
    by: usize,
    /// Longest name of a server for which it would fit; 0 where none would, or the server does not matter.
    room: usize,
    /// The server's name stands before it.
    is_behind: bool,
    cuts: bool,
}

impl<'s> Over<'s> {
    fn of(who: &'s str, names: &'s Names, tool: &Tool<'_>) -> Option<Over<'s>> {
        let longest = names.max_length.filter(|longest| *longest < MCP)?;
        let pattern = names.shown_as.as_deref().unwrap_or_default();
        let hole = if pattern.contains("{tool}") { "{tool}".len() } else { 0 };
        let frame = pattern.len() - hole;
        let length = |server: &str| match &names.shown_as {
            Some(pattern) => template::shown(pattern, server, tool.name).chars().count(),
            None => tool.name.chars().count(),
        };
        let over = |server: &str| {
            // No character takes less than a byte.
            let is_short = tool.name.len() + server.len() + frame <= longest;
            let by = if is_short { 0 } else { length(server).saturating_sub(longest) };
            (by > 0).then_some(by)
        };
        // Where it is too long by itself, so much must go whatever the server is called.
        let by = match tool.server_is_guessed {
            true => over("").or_else(|| over(LONG_SERVER)),
            false => over(tool.server),
        };
        Some(Over {
            who,
            by: by?,
            room: longest.saturating_sub(length("")),
            is_behind: names.shown_as.is_some(),
            cuts: names.cuts,
        })
    }
}
