//! Facts about an operation: what it does, independent of any policy for hints.
//!
//! ```
//! use mcpaql_core::facts::{Facts, Reach, Repeat};
//!
//! let facts = Facts::read(Reach::Process);
//! assert_eq!(facts.repeat, Repeat::NoEffect);
//! ```
//!
//! Facts are stored; hints are derived from them ([`policy`](crate::policy)). Two systems that annotate the same
//! operation differently disagree about policy, never about facts.

use crate::operation::{Binding, Category, Danger};
pub use mcpaql_lexicon::{Effect, danger_of};

/// The effect of a second, identical call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// Succeeds and changes nothing more.
    NoEffect,
    /// Fails, but changes nothing more.
    FailsWithoutEffect,
    /// Has its effect again.
    Accumulates,
    /// Unknown.
    Unknown,
}

/// What protects the current state from a blind write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guard {
    /// Nothing.
    None,
    /// A required etag or version argument.
    Etag,
    /// Another condition on the current state.
    Precondition,
    /// A person's approval.
    Confirm,
}

/// How far a call reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// This process and its files.
    Process,
    /// One known backend.
    Backend,
    /// Anything outside.
    Open,
}

/// The known facts about an operation's effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The kind of effect.
    pub effect: Effect,
    /// The effect of a repeated call.
    pub repeat: Repeat,
    /// Overwrites existing data.
    pub overwrites: bool,
    /// Can be undone.
    pub reversible: bool,
    /// What protects the current state.
    pub guard: Guard,
    /// How far it reaches.
    pub reach: Reach,
}

impl Facts {
    /// Returns the facts of an operation that changes nothing.
    #[must_use]
    pub const fn read(reach: Reach) -> Facts {
        Facts {
            effect: Effect::Read,
            repeat: Repeat::NoEffect,
            overwrites: false,
            reversible: true,
            guard: Guard::None,
            reach,
        }
    }
}

/// Infers the facts of an operation from its declaration.
#[must_use]
pub fn infer(declared: &Declared<'_>) -> Facts {
    let effect = declared.effect.unwrap_or(match declared.binding {
        // The method is more specific than the category that the document lists it under.
        Binding::Http(http) if http.method == "DELETE" => Effect::Delete,
        _ => Effect::of(declared.category),
    });
    let repeat = match declared.idempotent {
        Some(true) if effect.category() == Category::Delete => Repeat::FailsWithoutEffect,
        Some(true) => Repeat::NoEffect,
        Some(false) => Repeat::Accumulates,
        None => default_repeat(effect, declared.binding, declared.guard),
    };
    Facts {
        effect,
        repeat,
        overwrites: matches!(effect, Effect::Update | Effect::Set | Effect::Move),
        reversible: declared.danger <= Danger::Reversible,
        guard: declared.guard,
        reach: declared.reach,
    }
}

/// The declaration of an operation, from which facts are inferred.
#[derive(Debug)]
pub struct Declared<'a> {
    /// Declared category.
    pub category: Category,
    /// Declared effect, if any.
    pub effect: Option<Effect>,
    /// Declared idempotence, if any.
    pub idempotent: Option<bool>,
    /// Declared or derived danger.
    pub danger: Danger,
    /// Whether an etag or version is required.
    pub guard: Guard,
    /// Derived from the target.
    pub reach: Reach,
    /// How the operation calls its target.
    pub binding: &'a Binding,
}

fn default_repeat(effect: Effect, binding: &Binding, guard: Guard) -> Repeat {
    match effect {
        Effect::Read | Effect::Compute => Repeat::NoEffect,
        Effect::Create | Effect::Append | Effect::Send => Repeat::Accumulates,
        Effect::Delete | Effect::SoftDelete | Effect::Unlink => Repeat::FailsWithoutEffect,
        Effect::Set => Repeat::NoEffect,
        Effect::Update | Effect::Move => match (guard, binding) {
            (Guard::Etag, _) => Repeat::FailsWithoutEffect,
            (_, Binding::Http(http)) if http.method == "PUT" => Repeat::NoEffect,
            (_, Binding::Store(_)) => Repeat::NoEffect,
            _ => Repeat::Unknown,
        },
        Effect::Execute | Effect::Session | Effect::Multiplexed => Repeat::Unknown,
    }
}
