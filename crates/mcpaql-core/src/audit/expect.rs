//! What a tool says of itself, what clients make of it, and what a policy would have it say: side by side.

use super::view::Tool;
use crate::convention::Hint;
use crate::policy::{HintOverrides, Policy};

/// One hint of one tool, three times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facing {
    /// Which.
    pub hint: Hint,
    /// What the tool writes out.
    pub declared: Option<bool>,
    /// What a client takes it for, MCP's defaults included.
    pub effective: bool,
    /// What the policy would have it say; `None` where nobody can know, or the policy leaves it unsaid.
    pub expected: Option<bool>,
}

/// The hints of a tool, each as declared, as effective and as expected.
#[must_use]
pub fn facing(tool: &Tool<'_>, policy: &Policy) -> [Facing; 4] {
    let expected = expected(tool, policy);
    Hint::ALL.map(|hint| {
        let declared = said(tool.declared, hint);
        let effective = declared.unwrap_or(hint.default_value());
        Facing { hint, declared, effective, expected: said(expected, hint) }
    })
}

/// One of four.
pub(super) const fn said(hints: HintOverrides, hint: Hint) -> Option<bool> {
    match hint {
        Hint::ReadOnly => hints.read_only,
        Hint::Destructive => hints.destructive,
        Hint::Idempotent => hints.idempotent,
        Hint::OpenWorld => hints.open_world,
    }
}

/// What the policy would have a tool say.
pub(super) fn expected(tool: &Tool<'_>, policy: &Policy) -> HintOverrides {
    let Some(known) = tool.known else { return HintOverrides::default() };
    policy.announces(known.category, &known.facts)
}
