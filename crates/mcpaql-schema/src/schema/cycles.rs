//! Finds and cuts reference cycles: types that refer only to themselves.

use super::compile::escape;
use super::{Rules, SchemaId, SchemaNode, SchemaProblem, SchemaSet, shorten};
use crate::error::Code;
use std::collections::HashSet;

impl Rules {
    /// Returns the schemas that apply to the same value.
    fn same_value_schemas(&self) -> impl Iterator<Item = SchemaId> {
        self.reference
            .into_iter()
            .chain(self.all_of.iter().copied())
            .chain(self.choices.iter().flatten().copied())
            .chain(self.not)
    }
}

/// Reports types that refer only to themselves. Following them would never end, so they allow every value afterwards.
/// The search is not recursive, because a chain of types may be as long as the document.
pub(super) fn break_cycles(schemas: &mut SchemaSet, problems: &mut Vec<SchemaProblem>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let edges: Vec<Vec<SchemaId>> = schemas
        .nodes
        .iter()
        .map(|node| node.rules.as_ref().map(|rules| rules.same_value_schemas().collect()).unwrap_or_default())
        .collect();
    let mut marks = vec![Mark::New; edges.len()];
    let mut cut: HashSet<SchemaId> = HashSet::new();
    for start in schemas.names.values().copied() {
        let mut stack = vec![(start, 0)];
        while let Some((id, next)) = stack.pop() {
            let index = id.0 as usize;
            let (Some(mark), Some(targets)) = (marks.get_mut(index), edges.get(index)) else { continue };
            if next == 0 && *mark != Mark::New {
                continue;
            }
            *mark = Mark::Open;
            let Some(&target) = targets.get(next) else {
                *mark = Mark::Done;
                continue;
            };
            stack.push((id, next + 1));
            match marks.get(target.0 as usize) {
                Some(Mark::Open) => {
                    cut.insert(target);
                }
                Some(Mark::New) => stack.push((target, 0)),
                _ => {}
            }
        }
    }
    for (name, id) in &schemas.names {
        if cut.contains(id) {
            let text = format!("type '{}' refers only to itself", shorten(name, 64));
            let pointer = format!("/types/{}", escape(name));
            problems.push(SchemaProblem::error(Code::SchemaUnresolvedRef, pointer, text));
        }
    }
    for id in cut {
        if let Some(node) = schemas.nodes.get_mut(id.0 as usize) {
            *node = SchemaNode::ANY;
        }
    }
}
