//! NAME-005.

use super::spelling::clipped_name;
use crate::convention::{NameRequirements, RuleLevel, Standard, template};
use crate::rule::{Finding, Findings, rule};
use crate::tool::ParsedTool;
use std::cmp::Reverse;

/// NAME-003 reports longer names.
const MAX_MCP_NAME: usize = 128;
/// Length of a typical server name, such as `github` or `my-notebooks`.
const TYPICAL_SERVER_NAME: usize = 12;
/// Stands for a long server name; few servers have a longer one.
const LONG_SERVER: &str = "a-server-of-20-chars";

rule! {
    /// Name is too long for a client, including the prefix that the client adds.
    ///
    /// ## What it does
    ///
    /// Adds the prefix of each selected client to the name, including the server's name if the client uses it. Compares the
    /// length with the limit of the client, its model API or the directory. The message says by how many characters the name
    /// is too long, and names the client whose limit it exceeds most. The `help:` line says how long the server's name may be,
    /// so that the tool fits all clients.
    ///
    /// For a saved list, the server's name in the client is unknown unless `--name` sets it. In that case, the level depends
    /// on how many characters are left for the server's name: 0 is an error, 1 to 11 a warning, 12 to 19 advice.
    ///
    /// ## Why it matters
    ///
    /// Claude Code shows `mcp__<server>__<tool>` to the model, and one tool above 64 characters
    /// [breaks the session](https://github.com/anthropics/claude-code/issues/19882). Cursor
    /// [drops the tool](https://github.com/ComposioHQ/composio/issues/2788) if the two names together reach 60 characters. VS Code,
    /// Codex and Gemini CLI truncate the name: the model sees a name that ends in the middle of a word, and two tools can end up with
    /// the same name. If all affected clients only truncate, the finding is a warning.
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
    "NAME-005" "too-long-for-client" Error..Advice Tool(check)
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
    let name = format!("The name '{}' ({length} characters)", clipped_name(tool.name));
    let finding = if tool.server_is_guessed {
        report_unknown_server(tool, &name, (worst, room), findings)
    } else {
        let behind = match (over.iter().any(|over| over.has_server_prefix), tool.server.chars().count()) {
            (false, _) | (_, 0) => String::new(),
            (true, server) => {
                format!(" with the server name '{}' ({server} characters)", clipped_name(tool.server))
            }
        };
        let most = worst.excess;
        let by = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let message = format!("{name}{behind} is too long by {by}: {}", worst.explain());
        findings.tool(tool, "/name", message).help(match room {
            // No tool name is short enough for this server name.
            _ if most >= length && room > 0 => format!("rename the server to at most {room} characters"),
            _ if most >= length => "shorten both the tool name and the server name".to_owned(),
            0 => format!("shorten it by {most} characters"),
            _ => {
                format!("shorten it by {most} characters, or rename the server to at most {room} characters")
            }
        })
    };
    if over.iter().all(|over| over.cuts) {
        finding.level = finding.level.min(RuleLevel::Warning);
    }
    for over in over {
        finding.required_by(over.who);
    }
}

/// Reports a name of a server whose name in the client is unknown, and therefore not counted.
fn report_unknown_server<'f>(
    tool: &ParsedTool<'_>,
    name: &str,
    (worst, room): (&NameOverflow<'_>, usize),
    findings: &'f mut Findings<'_>,
) -> &'f mut Finding {
    const NAME_SERVER_HELP: &str = "set the client's name for the server with --name";
    let sum = worst.explain();
    match (room, worst.excess) {
        (0, by) if by > 0 && !worst.has_server_prefix => {
            let finding = findings.tool(tool, "/name", format!("{name} is too long by {by}: {sum}"));
            finding.help(format!("shorten it by {by} characters"))
        }
        (0, by) => {
            let message = match by {
                0 => format!("{name} leaves no room for the server name: {sum}"),
                by => format!("{name} is too long by {by} plus the length of the server name: {sum}"),
            };
            let enough = by + TYPICAL_SERVER_NAME;
            let help = format!(
                "shorten it by {enough} characters to leave {TYPICAL_SERVER_NAME} for the server name; {NAME_SERVER_HELP}"
            );
            findings.tool(tool, "/name", message).help(help)
        }
        (room, _) => {
            let message = format!("{name} fits only if the server name has at most {room}: {sum}");
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

/// A convention whose length limit a name exceeds.
struct NameOverflow<'s> {
    who: &'s str,
    /// Number of characters above the limit, including the server's name if it is known.
    excess: usize,
    /// Maximum length of the server's name so that the tool name fits; 0 if no server name fits or the client does not use it.
    room: usize,
    /// How the client shows the name, if it adds anything to it.
    shown_as: Option<&'s str>,
    longest: usize,
    /// Whether the client puts the server's name before the tool name.
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
            // Cheap test first: a name never has more characters than bytes.
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

    /// Explains the limit: "claude-code shows it as mcp__<server>__<tool> and allows 64 characters".
    fn explain(&self) -> String {
        let NameOverflow { who, longest, .. } = self;
        match self.shown_as {
            Some(pattern) => {
                let shown = pattern.replace('{', "<").replace('}', ">");
                format!("{who} shows it as {shown} and allows {longest} characters")
            }
            None => format!("{who} allows {longest} characters"),
        }
    }
}
