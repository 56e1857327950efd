//! Entries of `mcpaql.yaml`, one after the other.

use super::operation::Lines;
use super::target::mcp_members;
use super::yaml::{self, Node};
use mcpaql_core::config::{AdapterEntry, Origin};

/// The `adapters` of a configuration. Of settings and `auth` nothing is written.
pub(super) fn write(entries: &[AdapterEntry]) -> String {
    let mut out = String::from("adapters:\n");
    for entry in entries {
        let mut lines = Lines::default();
        lines.put_some("name", entry.name.as_deref());
        match &entry.origin {
            Origin::Document(path) => lines.put("document", path.as_str()),
            Origin::Builtin(name) => lines.put("builtin", name.as_str()),
            Origin::Openapi(source) => lines.put("openapi", source.as_str()),
            Origin::Mcp(target) => lines.put("mcp", Node::Tall(mcp_members(target))),
        }
        lines.put_texts("include", &entry.include);
        lines.put_texts("exclude", &entry.exclude);
        lines.put_some("overrides", entry.overrides.as_deref());
        let mut node = Node::Tall(lines.0);
        super::mask("", &mut node);
        yaml::item(&mut out, &node, 2);
    }
    out
}
