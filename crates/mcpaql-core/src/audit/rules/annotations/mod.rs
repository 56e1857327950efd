//! Rules about annotations.

mod answers_differ;
mod changes_state;
mod read_only_and_destructive;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &read_only_and_destructive::RULE,
    // What only a probe can see.
    &changes_state::RULE,
    &answers_differ::RULE,
];
