//! Facts about an operation: what it does, free of any policy about how to announce it.
//!
//! Facts are stored; hints are derived from them (`policy`). Two systems that annotate the same operation
//! differently disagree about policy, never about facts.

use crate::operation::{Binding, Category, Danger};
pub use mcpaql_lexicon::{Effect, danger_of};

/// What a second, identical call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// Succeeds and changes nothing more.
    NoEffect,
    /// Fails, but changes nothing more.
    FailsWithoutEffect,
    /// Has its effect again.
    Accumulates,
    /// Nobody said.
    Unknown,
}

/// What protects the present state from a blind write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Guard {
    /// Nothing.
    None,
    /// A required etag or version argument.
    Etag,
    /// Another condition on the present state.
    Precondition,
    /// A human's agreement.
    Confirm,
}

/// How far a call reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// This process and its files.
    Process,
    /// One known backend.
    Backend,
    /// Whatever is out there.
    Open,
}

/// What is known about an operation's effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The kind of effect.
    pub effect: Effect,
    /// What a repeat does.
    pub repeat: Repeat,
    /// Overwrites what was there.
    pub overwrites: bool,
    /// Can be undone.
    pub reversible: bool,
    /// What protects the present state.
    pub guard: Guard,
    /// How far it reaches.
    pub reach: Reach,
}

/// Derives the facts of an operation from what its document declares.
#[must_use]
pub fn infer(declared: &Declared<'_>) -> Facts {
    let effect = declared.effect.unwrap_or(match declared.binding {
        // The method says more than the list that the operation stands in.
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

/// What a document says about an operation, before facts are drawn from it.
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
    /// How the operation reaches its target.
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
