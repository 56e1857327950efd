//! Compares two policies: the hints of tools that change from one policy to the other.

use crate::convention::Hint;
use crate::hints::expected;
use crate::tool::{ParsedServer, ServerTools};
use mcpaql_core::policy::Policy;

/// A hint of a tool that differs between two policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintChange {
    /// Index of the server.
    pub server: usize,
    /// Index of the tool in its list.
    pub position: usize,
    /// The tool's name.
    pub tool: String,
    /// The hint.
    pub hint: Hint,
    /// The value under the old policy; `None` if the policy leaves it out or the effect of the tool is unknown.
    pub from: Option<bool>,
    /// The value under the new policy; `None` for the same reasons.
    pub to: Option<bool>,
}

/// Returns the changes for every tool, in the order of the lists.
#[must_use]
pub fn compare(servers: &[ServerTools], from: &Policy, to: &Policy) -> Vec<HintChange> {
    let mut changes = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let parsed = ParsedServer::of(server, index);
        for (position, tool) in parsed.tools.iter().enumerate() {
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
    fn a_change_of_policy_lists_the_hints_that_change() {
        assert_eq!(
            changes("mcpaql", "mcp"),
            ["update_note idempotentHint false true", "delete_note idempotentHint false true"]
        );
        assert_eq!(changes("mcpaql", "mcpaql-issue"), ["update_note destructiveHint true false"]);
    }

    #[test]
    fn hints_that_hold_for_all_tools_also_hold_for_unknown_ones() {
        let closed = changes("mcp", "lightdash");
        assert!(closed.contains(&"nc_manifest openWorldHint - false".to_owned()), "{closed:?}");
        assert!(closed.contains(&"delete_note destructiveHint true -".to_owned()), "{closed:?}");
    }

    #[test]
    fn the_same_policy_changes_nothing() {
        assert!(changes("mcpaql", "mcpaql").is_empty());
    }
}
