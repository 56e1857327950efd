//! Policy: a table from facts to MCP's hints, as data.
//!
//! Those of this version are the files in `builtin/`, written the way a team writes its own. A policy decides about all four hints,
//! and which of them a tool writes out: what is left unsaid is what MCP takes for granted, which is the worst of it. A family of
//! operations carries the hints of its riskiest member, and an override is applied from the least to the most specific
//! layer: adapter, endpoint, operation. No override of a wider layer turns a write into a read-only tool: only the operation
//! itself may say that it reads.

mod load;

pub use crate::hints::{Hint, HintOverrides, HintSet, Hints};
pub use load::{DEFAULT_POLICY, default, find, names, policies, read_all, unknown_policy};

use crate::facts::{Effect, Facts, Guard, Reach, Repeat};
use crate::operation::Category;

/// What "idempotent" means to a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotence {
    /// MCP's text: no further effect on the environment. An update guarded by an etag counts.
    Effect,
    /// Same inputs, same end state and result: a guarded update does not count, a delete does.
    Outcome,
    /// A repeat succeeds cleanly: a delete does not count.
    Retry,
    /// Only what reads counts.
    Reads,
}

impl Idempotence {
    const ALL: [Idempotence; 4] =
        [Idempotence::Effect, Idempotence::Outcome, Idempotence::Retry, Idempotence::Reads];

    /// The word in files.
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

/// What counts as an open world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenWorld {
    /// What leaves the machine.
    Reach,
    /// Everything.
    Always,
    /// Nothing.
    Never,
}

impl OpenWorld {
    const ALL: [OpenWorld; 3] = [OpenWorld::Reach, OpenWorld::Always, OpenWorld::Never];

    /// The word in files.
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
    /// What it is, in one sentence.
    pub about: String,
    /// Where it is written down.
    pub source: Option<String>,
    /// Categories whose operations are destructive.
    pub destructive_categories: Vec<Category>,
    /// Effects that are destructive whatever the category.
    pub destructive_effects: Vec<Effect>,
    /// What "idempotent" means.
    pub idempotent: Idempotence,
    /// Categories that are never idempotent.
    pub never_idempotent: Vec<Category>,
    /// What counts as an open world.
    pub open_world: OpenWorld,
    /// The hints that tools write out, in the order of [`Category::ALL`].
    pub written_hints: [HintSet; 5],
    /// Whether the title stands in the annotations, too.
    pub title_in_annotations: bool,
}

impl Default for Policy {
    /// What a policy says that says nothing: the default policy.
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
    /// The policy of this version that has that name. It is read when it is first asked for.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Policy> {
        load::builtin(name)
    }

    /// The hints of one operation.
    #[must_use]
    pub fn hints(&self, category: Category, facts: &Facts) -> Hints {
        let read_only = category == Category::Read;
        let destroys = matches!(facts.effect, Effect::SoftDelete | Effect::Delete | Effect::Unlink);
        let by_table = self.destructive_categories.contains(&category)
            || self.destructive_effects.contains(&facts.effect);
        Hints {
            read_only,
            // What is known to destroy is announced as destructive wherever it was filed.
            destructive: !read_only && (by_table || destroys || !facts.reversible),
            idempotent: read_only || self.idempotent(category, facts),
            open_world: match self.open_world {
                OpenWorld::Reach => facts.reach != Reach::Process,
                OpenWorld::Always => true,
                OpenWorld::Never => false,
            },
        }
    }

    /// What a tool that is one operation says of itself; `None` is left unsaid.
    #[must_use]
    pub fn tool_hints(&self, category: Category, facts: &Facts) -> HintOverrides {
        self.hints(category, facts).select(self.written_hints(category))
    }

    /// The hints that tools of a category write out.
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
