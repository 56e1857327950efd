//! Rules about titles.

mod hidden_characters;
mod missing;
mod not_human;
mod not_in_annotations;
mod not_text;
mod not_unique;
mod other_verb;
mod pattern;
mod too_long;
mod two_titles;
mod wording;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &missing::RULE,
    &not_human::RULE,
    &not_unique::RULE,
    &other_verb::RULE,
    &two_titles::RULE,
    &not_in_annotations::RULE,
    &pattern::RULE,
    &too_long::RULE,
    &hidden_characters::RULE,
    &not_text::RULE,
];
