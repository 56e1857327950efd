//! NAME-005.

use super::spelling::clipped_name;
use crate::convention::{NameRequirements, RuleLevel, Standard, template};
use crate::rule::{Finding, Findings, rule};
use crate::tool::ParsedTool;
use std::cmp::Reverse;

/// What is longer is the matter of NAME-003.
const MAX_MCP_NAME: usize = 128;
/// Servers are called so long: `github`, `my-notebooks`.
const TYPICAL_SERVER_NAME: usize = 12;
/// Few servers have a longer name.
const LONG_SERVER: &str = "a-server-of-20-chars";

rule! {
    /// A name is too long for a client, with what the client puts before it.
    ///
    /// ## What it does
    ///
    /// Adds what each of the chosen clients adds to a name, the server's name included, and compares the length with what the client, the model's API
    /// behind it or the directory takes. Says by how much it is over, for which of them most and how that one shows it, and how long the
    /// server's name may be so that all still fit. Of a saved list nobody knows what the client calls its server: unless `--name` says it,
    /// nothing is counted for that name; a tool that leaves less than 12 characters for it is a warning, one that leaves less than 20 is
    /// advice, and one that leaves none is an error.
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

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let length = tool.name.chars().count();
    if length > MAX_MCP_NAME {
        return;
    }
    let over: Vec<NameOverflow<'_>> = standard
        .requirements(|convention| Some(&convention.names))
        .filter_map(|(who, names)| NameOverflow::of(who, names, tool))
        .collect();
    let tightest =
        |over: &&NameOverflow<'_>| (if tool.server_is_guessed { over.room } else { 0 }, Reverse(over.excess));
    let Some(worst) = over.iter().min_by_key(tightest) else { return };
    let least = over.iter().map(|over| over.excess).min().unwrap_or(worst.excess);
    let room = over.iter().map(|over| over.room).min().unwrap_or(0);
    let name = format!("The name '{}' of {length} characters", clipped_name(tool.name));
    let finding = if tool.server_is_guessed {
        report_unknown_server(tool, &name, (worst, room), findings)
    } else {
        let behind = match (over.iter().any(|over| over.has_server_prefix), tool.server.chars().count()) {
            (false, _) | (_, 0) => String::new(),
            (true, server) => {
                format!(", behind the server's name '{}' of {server},", clipped_name(tool.server))
            }
        };
        let most = worst.excess;
        let by = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let message = format!("{name}{behind} is too long by {by}: {}", worst.explain());
        findings.tool(tool, "/name", message).help(match room {
            // No name would be short enough.
            _ if most >= length && room > 0 => format!("call the server by a name of at most {room}"),
            _ if most >= length => "shorten it, and call the server by a shorter name".to_owned(),
            0 => format!("shorten it by {most} characters"),
            _ => format!("shorten it by {most} characters, or call the server by a name of at most {room}"),
        })
    };
    if over.iter().all(|over| over.cuts) {
        finding.level = finding.level.min(RuleLevel::Warning);
    }
    for over in over {
        finding.required_by(over.who);
    }
}

/// Nobody knows what the client calls the server, so that nothing is counted for it.
fn report_unknown_server<'f>(
    tool: &ParsedTool<'_>,
    name: &str,
    (worst, room): (&NameOverflow<'_>, usize),
    findings: &'f mut Findings<'_>,
) -> &'f mut Finding {
    const NAME_SERVER_HELP: &str = "say with --name what the client calls the server";
    let sum = worst.explain();
    match (room, worst.excess) {
        (0, by) if by > 0 && !worst.has_server_prefix => {
            let finding = findings.tool(tool, "/name", format!("{name} is too long by {by}: {sum}"));
            finding.help(format!("shorten it by {by} characters"))
        }
        (0, by) => {
            let message = match by {
                0 => format!("{name} leaves no room for the server's name: {sum}"),
                by => format!("{name} is too long by {by} and the length of the server's name: {sum}"),
            };
            let enough = by + TYPICAL_SERVER_NAME;
            let help = format!(
                "shorten it by {enough} characters, which leaves {TYPICAL_SERVER_NAME} for the server's name; {NAME_SERVER_HELP}"
            );
            findings.tool(tool, "/name", message).help(help)
        }
        (room, _) => {
            let message = format!("{name} fits only behind a server's name of at most {room}: {sum}");
            let finding =
                findings.tool(tool, "/name", message).help(format!("shorten it; {NAME_SERVER_HELP}"));
            finding.level = finding.level.min(if room < TYPICAL_SERVER_NAME {
                RuleLevel::Warning
            } else {
                RuleLevel::Advice
            });
            finding
        }
    }
}

/// Somebody for whom a name is too long.
struct NameOverflow<'s> {
    who: &'s str,
    /// So many characters, with the server's name where it is known.
    excess: usize,
    /// Longest name of a server for which it would fit; 0 where none would, or the server does not matter.
    room: usize,
    /// How the client shows it, where it shows more than the name.
    shown_as: Option<&'s str>,
    longest: usize,
    /// The server's name stands before it.
    has_server_prefix: bool,
    cuts: bool,
}

impl<'s> NameOverflow<'s> {
    fn of(who: &'s str, names: &'s NameRequirements, tool: &ParsedTool<'_>) -> Option<NameOverflow<'s>> {
        let longest = names.max_length.filter(|longest| *longest < MAX_MCP_NAME)?;
        let pattern = names.shown_as.as_deref().unwrap_or_default();
        let hole = if pattern.contains("{tool}") { "{tool}".len() } else { 0 };
        let frame = pattern.len() - hole;
        let length = |server: &str| match &names.shown_as {
            Some(pattern) => template::client_name(pattern, server, tool.name).chars().count(),
            None => tool.name.chars().count(),
        };
        let over = |server: &str| {
            // No character takes less than a byte.
            let is_short = tool.name.len() + server.len() + frame <= longest;
            if is_short { 0 } else { length(server).saturating_sub(longest) }
        };
        let by = match tool.server_is_guessed {
            true => over(LONG_SERVER),
            false => over(tool.server),
        };
        (by > 0).then(|| NameOverflow {
            who,
            excess: if tool.server_is_guessed { over("") } else { by },
            room: longest.saturating_sub(length("")),
            shown_as: names.shown_as.as_deref(),
            longest,
            has_server_prefix: names.shown_as.is_some(),
            cuts: names.cuts,
        })
    }

    /// What is counted: "claude-code shows it as mcp__<server>__<tool> and takes 64".
    fn explain(&self) -> String {
        let NameOverflow { who, longest, .. } = self;
        match self.shown_as {
            Some(pattern) => {
                let shown = pattern.replace('{', "<").replace('}', ">");
                format!("{who} shows it as {shown} and takes {longest}")
            }
            None => format!("{who} takes {longest}"),
        }
    }
}
