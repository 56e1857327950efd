//! Policies: tables from facts to MCP's hints, as data.
//!
//! ```
//! use mcpaql_core::facts::{Facts, Reach};
//! use mcpaql_core::operation::Category;
//! use mcpaql_core::policy::Policy;
//!
//! let policy = Policy::named("mcp").unwrap();
//! let hints = policy.hints(Category::Read, &Facts::read(Reach::Process));
//! assert!(hints.read_only && !hints.destructive);
//! ```
//!
//! The built-in policies are the files in `builtin/`, in the same format as the policies of a team. A policy decides
//! the values of all four hints, and which of them a tool states explicitly. For the others, MCP's defaults apply,
//! which are the most cautious values. An endpoint family has the hints of its riskiest operation. Overrides are
//! applied from the least to the most specific layer: adapter, endpoint, operation.
//!
//! What always holds: an override of an adapter or endpoint never makes a write read-only. Only the operation itself
//! can state that.

mod load;

pub use crate::hints::{Hint, HintOverrides, HintSet, Hints};
pub use load::{DEFAULT_POLICY, default, find, names, policies, read_all, unknown_policy};

use crate::facts::{Effect, Facts, Guard, Reach, Repeat};
use crate::operation::Category;

/// What a policy calls idempotent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotence {
    /// As in the MCP specification: no further effect on the environment. An update guarded by an etag is idempotent.
    Effect,
    /// Same inputs, same end state and result. A guarded update is not idempotent, a delete is.
    Outcome,
    /// A repeated call succeeds. A delete is not idempotent.
    Retry,
    /// Only reads are idempotent.
    Reads,
}

impl Idempotence {
    const ALL: [Idempotence; 4] =
        [Idempotence::Effect, Idempotence::Outcome, Idempotence::Retry, Idempotence::Reads];

    /// Returns the word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Idempotence::Effect => "effect",
            Idempotence::Outcome => "outcome",
            Idempotence::Retry => "retry",
            Idempotence::Reads => "reads",
        }
    }

    fn parse(text: &str) -> Option<Idempotence> {
        Idempotence::ALL.into_iter().find(|meaning| meaning.as_str() == text)
    }
}

/// What a policy calls an open world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenWorld {
    /// Calls that leave the machine.
    Reach,
    /// Everything.
    Always,
    /// Nothing.
    Never,
}

impl OpenWorld {
    const ALL: [OpenWorld; 3] = [OpenWorld::Reach, OpenWorld::Always, OpenWorld::Never];

    /// Returns the word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OpenWorld::Reach => "reach",
            OpenWorld::Always => "always",
            OpenWorld::Never => "never",
        }
    }

    fn parse(text: &str) -> Option<OpenWorld> {
        OpenWorld::ALL.into_iter().find(|world| world.as_str() == text)
    }
}

/// A table from facts to hints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The name documents and flags use.
    pub name: String,
    /// Description in one sentence.
    pub about: String,
    /// Where it is specified.
    pub source: Option<String>,
    /// Categories whose operations are destructive.
    pub destructive_categories: Vec<Category>,
    /// Effects that are destructive in any category.
    pub destructive_effects: Vec<Effect>,
    /// What it calls idempotent.
    pub idempotent: Idempotence,
    /// Categories that are never idempotent.
    pub never_idempotent: Vec<Category>,
    /// What it calls an open world.
    pub open_world: OpenWorld,
    /// The hints that tools state explicitly, in the order of [`Category::ALL`].
    pub written_hints: [HintSet; 5],
    /// Whether tools also have their title in `annotations`.
    pub title_in_annotations: bool,
}

impl Default for Policy {
    /// Returns the default policy. Its values also apply to keys that a policy leaves out.
    fn default() -> Policy {
        Policy {
            name: DEFAULT_POLICY.to_owned(),
            about: String::new(),
            source: None,
            destructive_categories: vec![Category::Update, Category::Delete, Category::Execute],
            destructive_effects: Vec::new(),
            idempotent: Idempotence::Outcome,
            never_idempotent: vec![Category::Execute],
            open_world: OpenWorld::Reach,
            written_hints: [HintSet::ALL; 5],
            title_in_annotations: true,
        }
    }
}

impl Policy {
    /// Returns the built-in policy with this name. It is read on first use.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Policy> {
        load::builtin(name)
    }

    /// Returns the hints of an operation.
    #[must_use]
    pub fn hints(&self, category: Category, facts: &Facts) -> Hints {
        let read_only = category == Category::Read;
        let destroys = matches!(facts.effect, Effect::SoftDelete | Effect::Delete | Effect::Unlink);
        let by_table = self.destructive_categories.contains(&category)
            || self.destructive_effects.contains(&facts.effect);
        Hints {
            read_only,
            // A known deletion is destructive in any category except read.
            destructive: !read_only && (by_table || destroys || !facts.reversible),
            idempotent: read_only || self.idempotent(category, facts),
            open_world: match self.open_world {
                OpenWorld::Reach => facts.reach != Reach::Process,
                OpenWorld::Always => true,
                OpenWorld::Never => false,
            },
        }
    }

    /// Returns the hints that a tool with a single operation states.
    #[must_use]
    pub fn tool_hints(&self, category: Category, facts: &Facts) -> HintOverrides {
        self.hints(category, facts).select(self.written_hints(category))
    }

    /// Returns the hints that tools of a category state explicitly.
    #[must_use]
    pub fn written_hints(&self, category: Category) -> HintSet {
        let position = Category::ALL.iter().position(|other| *other == category);
        position.and_then(|position| self.written_hints.get(position)).copied().unwrap_or(HintSet::ALL)
    }

    fn idempotent(&self, category: Category, facts: &Facts) -> bool {
        if self.never_idempotent.contains(&category) {
            return false;
        }
        match (self.idempotent, facts.repeat) {
            (Idempotence::Reads, _) | (_, Repeat::Accumulates | Repeat::Unknown) => false,
            (_, Repeat::NoEffect) => true,
            (Idempotence::Effect, Repeat::FailsWithoutEffect) => true,
            (Idempotence::Outcome, Repeat::FailsWithoutEffect) => facts.guard != Guard::Etag,
            (Idempotence::Retry, Repeat::FailsWithoutEffect) => false,
        }
    }
}

#[cfg(test)]
mod tests;
