//! NAME-005.

use super::spelling::clipped;
use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::{Level, Names, Standard, template};

/// What is longer is the matter of NAME-003.
const MCP: usize = 128;

rule! {
    /// A name is too long for a client, with what the client puts before it.
    ///
    /// ## What it does
    ///
    /// Adds what each of the chosen clients adds to a name, the server's name included, and compares the length with what the client, the model's API
    /// behind it or the directory takes. Says by how much it is over for each, and how long the server's name may be so that all still fit.
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
    let Some(most) = over.iter().map(|over| over.by).max() else { return };
    let named: Vec<String> = over.iter().map(|over| format!("{} by {}", over.who, over.by)).collect();
    let behind = match (over.iter().any(|over| over.is_behind), tool.server.chars().count()) {
        (false, _) | (_, 0) => String::new(),
        (true, server) => format!(", behind a server's of {server},"),
    };
    let message = format!(
        "The name '{}' of {length} characters{behind} is too long for {}",
        clipped(tool.name),
        named.join(", ")
    );
    let room = over.iter().map(|over| over.room).min().unwrap_or(0);
    let finding = findings.tool(tool, "/name", message);
    finding.help(match room {
        0 => format!("shorten it by {most} characters"),
        _ => format!("shorten it by {most} characters, or call the server by a name of at most {room}"),
    });
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
        // No character takes less than a byte.
        if tool.name.len() + tool.server.len() + pattern.len() <= longest {
            return None;
        }
        let length = |server: &str| match &names.shown_as {
            Some(pattern) => template::shown(pattern, server, tool.name).chars().count(),
            None => tool.name.chars().count(),
        };
        let by = length(tool.server).checked_sub(longest).filter(|by| *by > 0)?;
        Some(Over {
            who,
            by,
            room: longest.saturating_sub(length("")),
            is_behind: names.shown_as.is_some(),
            cuts: names.cuts,
        })
    }
}
