//! What moving from one policy to another changes about the tools of servers.

use crate::convention::Hint;
use crate::hints::expected;
use crate::tool::{ParsedServer, ServerTools};
use mcpaql_core::policy::Policy;

/// One hint of one tool that two policies announce differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintChange {
    /// Index of the server.
    pub server: usize,
    /// Index of the tool in its list.
    pub position: usize,
    /// The tool's name.
    pub tool: String,
    /// Which hint.
    pub hint: Hint,
    /// What it says under the old policy; `None` where that leaves it unsaid, or what the tool does is not known well enough.
    pub from: Option<bool>,
    /// What it says under the new one.
    pub to: Option<bool>,
}

/// What changes for every tool, in the order of the lists.
#[must_use]
pub fn compare(servers: &[ServerTools], from: &Policy, to: &Policy) -> Vec<HintChange> {
    let mut changes = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let surface = ParsedServer::of(server, index);
        for (position, tool) in surface.tools.iter().enumerate() {
            let (old, new) = (expected(tool, from), expected(tool, to));
            changes.extend(Hint::ALL.into_iter().filter_map(|hint| {
                let (from, to) = (old.get(hint), new.get(hint));
                let tool = tool.name.to_owned();
                (from != to).then_some(HintChange { server: index, position, tool, hint, from, to })
            }));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changes(from: &str, to: &str) -> Vec<String> {
        let tools = ["create_note", "update_note", "delete_note", "nc_manifest"];
        let tools = tools.map(|name| {
            let schema = json!({"type": "object", "required": ["etag"]});
            json!({"name": name, "inputSchema": schema})
        });
        let server = ServerTools { tools: tools.into(), ..ServerTools::default() };
        let (from, to) = (Policy::named(from).unwrap(), Policy::named(to).unwrap());
        let changes = compare(&[server], from, to);
        let word = |hint: Option<bool>| hint.map_or("-".to_owned(), |hint| hint.to_string());
        let line = |change: HintChange| {
            format!("{} {} {} {}", change.tool, change.hint.key(), word(change.from), word(change.to))
        };
        changes.into_iter().map(line).collect()
    }

    #[test]
    fn a_change_of_policy_lists_what_tools_would_say_otherwise() {
        assert_eq!(
            changes("mcpaql", "mcp"),
            ["update_note idempotentHint false true", "delete_note idempotentHint false true"]
        );
        assert_eq!(changes("mcpaql", "mcpaql-issue"), ["update_note destructiveHint true false"]);
    }

    #[test]
    fn what_a_policy_says_of_everything_is_said_of_the_unknown_too() {
        let closed = changes("mcp", "lightdash");
        assert!(closed.contains(&"nc_manifest openWorldHint - false".to_owned()), "{closed:?}");
        assert!(closed.contains(&"delete_note destructiveHint true -".to_owned()), "{closed:?}");
    }

    #[test]
    fn the_same_policy_changes_nothing() {
        assert!(changes("mcpaql", "mcpaql").is_empty());
    }
}
