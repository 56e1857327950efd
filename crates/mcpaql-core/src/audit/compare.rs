//! What moving from one policy to another changes about the tools of servers.

use super::expect::expected;
use super::view::{Server, Surface};
use crate::convention::Hint;
use crate::policy::Policy;

/// One hint of one tool that two policies announce differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
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
pub fn compare(servers: &[Server], from: &Policy, to: &Policy) -> Vec<Change> {
    let mut changes = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let surface = Surface::of(server, index);
        for (position, tool) in surface.tools.iter().enumerate() {
            let (old, new) = (expected(tool, from), expected(tool, to));
            changes.extend(Hint::ALL.into_iter().filter_map(|hint| {
                let (from, to) = (old.get(hint), new.get(hint));
                let tool = tool.name.to_owned();
                (from != to).then_some(Change { server: index, position, tool, hint, from, to })
            }));
        }
    }
    changes
}
