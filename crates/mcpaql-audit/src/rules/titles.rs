//! Rules about titles.

mod conflicting;
mod contradicts_name;
mod hidden_characters;
mod like_identifier;
mod missing;
mod not_in_annotations;
mod not_text;
mod not_unique;
mod pattern;
mod too_long;
mod wording;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &missing::RULE,
    &like_identifier::RULE,
    &not_unique::RULE,
    &contradicts_name::RULE,
    &conflicting::RULE,
    &not_in_annotations::RULE,
    &pattern::RULE,
    &too_long::RULE,
    &hidden_characters::RULE,
    &not_text::RULE,
];
