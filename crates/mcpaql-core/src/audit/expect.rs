//! What a tool says of itself, what clients make of it, and what a policy would have it say: side by side.
//!
//! A policy needs facts, and of a foreign tool only some are known. Whatever the tool may be is asked about, and only what holds
//! for all of it is expected.

use super::deed::{deeds, effect, surely_acts};
use super::view::Tool;
use crate::convention::Hint;
use crate::facts::Effect;
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
        let declared = tool.declared.get(hint);
        let effective = declared.unwrap_or(hint.default_value());
        Facing { hint, declared, effective, expected: expected.get(hint) }
    })
}

/// What the policy would have a tool say, as far as that is known.
pub(super) fn expected(tool: &Tool<'_>, policy: &Policy) -> HintOverrides {
    let mut all = deeds(tool).into_iter().map(|deed| policy.announces(deed.category, &deed.facts));
    let first = all.next().unwrap_or_default();
    all.fold(first, |agreed, other| HintOverrides {
        read_only: agreed.read_only.filter(|_| agreed.read_only == other.read_only),
        destructive: agreed.destructive.filter(|_| agreed.destructive == other.destructive),
        idempotent: agreed.idempotent.filter(|_| agreed.idempotent == other.idempotent),
        open_world: agreed.open_world.filter(|_| agreed.open_world == other.open_world),
    })
}

/// The hints that can be written for a tool that leaves them unsaid, without asking anybody: never that it only reads unless it
/// says so itself, and of two readings the riskier.
pub(super) fn safe(tool: &Tool<'_>, policy: &Policy) -> HintOverrides {
    let expected = expected(tool, policy);
    let unsaid = |hint: Hint, value: Option<bool>| value.filter(|_| tool.declared.get(hint).is_none());
    let known_read = tool.known.is_some() && expected.read_only == Some(true);
    let says_it_reads = tool.declared.read_only == Some(true)
        && tool.declared.destructive != Some(true)
        && effect(tool).is_some_and(|effect| matches!(effect, Effect::Read | Effect::Compute));
    let hints = if known_read || says_it_reads {
        HintOverrides { destructive: Some(false), idempotent: Some(true), ..expected }
    } else if expected.read_only == Some(false) || surely_acts(tool) {
        HintOverrides {
            read_only: Some(false),
            destructive: expected.destructive.or(Some(true)),
            idempotent: expected.idempotent.or(Some(false)),
            ..expected
        }
    } else {
        HintOverrides { open_world: expected.open_world, ..HintOverrides::default() }
    };
    HintOverrides {
        read_only: unsaid(Hint::ReadOnly, hints.read_only),
        destructive: unsaid(Hint::Destructive, hints.destructive),
        idempotent: unsaid(Hint::Idempotent, hints.idempotent),
        open_world: unsaid(Hint::OpenWorld, hints.open_world),
    }
}
