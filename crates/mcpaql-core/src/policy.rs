//! Policy: a pure table from facts to MCP's hints.
//!
//! All four hints are always written out. A family of operations carries the hints of its riskiest member, and an override
//! is applied from the least to the most specific layer: adapter, endpoint, operation. No override of a wider layer turns a
//! write into a read-only tool: only the operation itself may say that it reads.

use crate::facts::{Effect, Facts, Guard, Reach, Repeat};
use crate::operation::Category;

/// MCP's four behavioural hints, all explicit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy or overwrite.
    pub destructive: bool,
    /// A repeat has no further effect, in the policy's meaning of the word.
    pub idempotent: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
}

impl Hints {
    /// The hints of a tool that can do what either can.
    #[must_use]
    pub const fn riskier(self, other: Hints) -> Hints {
        Hints {
            read_only: self.read_only && other.read_only,
            destructive: self.destructive || other.destructive,
            idempotent: self.idempotent && other.idempotent,
            open_world: self.open_world || other.open_world,
        }
    }
}

/// What an author says about hints; `None` leaves the policy's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HintOverrides {
    /// Overrides `readOnlyHint`.
    pub read_only: Option<bool>,
    /// Overrides `destructiveHint`.
    pub destructive: Option<bool>,
    /// Overrides `idempotentHint`.
    pub idempotent: Option<bool>,
    /// Overrides `openWorldHint`.
    pub open_world: Option<bool>,
}

impl HintOverrides {
    /// This layer over a less specific one.
    #[must_use]
    pub fn over(self, wider: HintOverrides) -> HintOverrides {
        HintOverrides {
            read_only: self.read_only.or(wider.read_only),
            destructive: self.destructive.or(wider.destructive),
            idempotent: self.idempotent.or(wider.idempotent),
            open_world: self.open_world.or(wider.open_world),
        }
    }

    /// The same without `readOnlyHint: true`: what a layer wider than an operation may say about a write.
    #[must_use]
    pub fn without_read_only(self) -> HintOverrides {
        HintOverrides { read_only: self.read_only.filter(|value| !value), ..self }
    }

    /// Applies the layer. What says it only reads does not destroy and may be repeated, unless it says otherwise.
    #[must_use]
    pub fn apply(self, hints: Hints) -> Hints {
        let hints = match self.read_only {
            Some(true) => Hints { destructive: false, idempotent: true, ..hints },
            _ => hints,
        };
        Hints {
            read_only: self.read_only.unwrap_or(hints.read_only),
            destructive: self.destructive.unwrap_or(hints.destructive),
            idempotent: self.idempotent.unwrap_or(hints.idempotent),
            open_world: self.open_world.unwrap_or(hints.open_world),
        }
    }
}

/// What "idempotent" means to a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotence {
    /// MCP's text: no further effect on the environment. An update guarded by an etag counts.
    Effect,
    /// Same inputs, same end state and result: a guarded update does not count, a delete does.
    Outcome,
    /// A repeat succeeds cleanly: a delete does not count.
    Retry,
}

/// A table from facts to hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The name documents and flags use.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// Categories whose operations are announced as destructive.
    destructive: &'static [Category],
    /// Whether a destroying effect is destructive whatever its category.
    destructive_by_effect: bool,
    /// Which meaning of the word, or `None` where only reads count.
    idempotence: Option<Idempotence>,
    /// Whether executions may ever be idempotent.
    idempotent_execute: bool,
}

use Category::{Delete, Execute, Update};

/// The policy of adapters that choose none.
pub static DEFAULT: Policy = Policy {
    name: "mcpaql",
    about: "The default: updates, deletes and executions are destructive; idempotent means the same outcome.",
    destructive: &[Update, Delete, Execute],
    destructive_by_effect: false,
    idempotence: Some(Idempotence::Outcome),
    idempotent_execute: false,
};

/// The policies of this version besides the default.
static OTHERS: [Policy; 3] = [
    Policy {
        name: "mcpaql-issue",
        about: "The table of the naming proposal: only deletes and executions are destructive.",
        destructive: &[Delete, Execute],
        destructive_by_effect: false,
        idempotence: Some(Idempotence::Outcome),
        idempotent_execute: false,
    },
    Policy {
        name: "mcpaql-spec",
        about: "The table of the integration chapter: updates are destructive too, only reads are idempotent.",
        destructive: &[Update, Delete, Execute],
        destructive_by_effect: false,
        idempotence: None,
        idempotent_execute: false,
    },
    Policy {
        name: "mcp",
        about: "What MCP itself says: destructive is what may overwrite or remove, idempotent is no further effect.",
        destructive: &[Delete],
        destructive_by_effect: true,
        idempotence: Some(Idempotence::Effect),
        idempotent_execute: true,
    },
];

/// Every policy of this version, the default first.
pub fn policies() -> impl Iterator<Item = &'static Policy> {
    std::iter::once(&DEFAULT).chain(&OTHERS)
}

impl Policy {
    /// The policy of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Policy> {
        policies().find(|policy| policy.name == name)
    }

    /// The hints of one operation.
    #[must_use]
    pub fn hints(&self, category: Category, facts: &Facts) -> Hints {
        let read_only = category == Category::Read;
        let destroys = matches!(facts.effect, Effect::SoftDelete | Effect::Delete | Effect::Unlink);
        let runs = matches!(facts.effect, Effect::Execute | Effect::Session | Effect::Multiplexed);
        let by_effect = self.destructive_by_effect && (facts.overwrites || runs);
        let by_table = self.destructive.contains(&category);
        Hints {
            read_only,
            // What is known to destroy is announced as destructive wherever it was filed.
            destructive: !read_only && (by_table || by_effect || destroys || !facts.reversible),
            idempotent: read_only || self.idempotent(category, facts),
            open_world: facts.reach != Reach::Process,
        }
    }

    fn idempotent(&self, category: Category, facts: &Facts) -> bool {
        if category == Execute && !self.idempotent_execute {
            return false;
        }
        match (self.idempotence, facts.repeat) {
            (None, _) | (_, Repeat::Accumulates | Repeat::Unknown) => false,
            (Some(_), Repeat::NoEffect) => true,
            (Some(Idempotence::Effect), Repeat::FailsWithoutEffect) => true,
            (Some(Idempotence::Outcome), Repeat::FailsWithoutEffect) => facts.guard != Guard::Etag,
            (Some(Idempotence::Retry), Repeat::FailsWithoutEffect) => false,
        }
    }
}
