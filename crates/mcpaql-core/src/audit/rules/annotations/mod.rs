//! Rules about annotations.

mod closed_world_reach;
mod destructive_read;
mod harmless_delete;
mod idempotent_addition;
mod mistyped_hint;
mod mixed_effects;
mod no_safety_hint;
mod policy_mismatch;
mod read_only_and_destructive;
mod read_only_write;
mod server_without_hints;
mod stamped_hints;
mod two_worlds;
mod unannounced_read;
mod unknown_annotation;
mod unrepeatable_read;
mod unsaid_hints;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &unsaid_hints::RULE,
    &read_only_and_destructive::RULE,
    &no_safety_hint::RULE,
    &server_without_hints::RULE,
    &read_only_write::RULE,
    &destructive_read::RULE,
    &idempotent_addition::RULE,
    &unrepeatable_read::RULE,
    &unannounced_read::RULE,
    &harmless_delete::RULE,
    &closed_world_reach::RULE,
    &two_worlds::RULE,
    &mistyped_hint::RULE,
    &unknown_annotation::RULE,
    &mixed_effects::RULE,
    &policy_mismatch::RULE,
    &stamped_hints::RULE,
];
