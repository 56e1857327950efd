//! Rules about names.

mod brand;
mod duplicate;
mod homoglyph;
mod illegal_characters;
mod invisible;
mod missing;
mod missing_prefix;
mod mixed_styles;
mod near_collision;
mod no_verb;
mod not_snake_case;
mod other_product;
mod pattern;
mod rejected_characters;
mod shared_name;
mod shared_spelling;
mod similar_spelling;
pub(super) mod spelling;
#[cfg(test)]
mod tests;
mod too_long;
mod too_long_for_client;
mod verb_form;
pub(super) mod verb_position;
mod word_count;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &illegal_characters::RULE,
    &missing::RULE,
    &too_long::RULE,
    &rejected_characters::RULE,
    &too_long_for_client::RULE,
    &not_snake_case::RULE,
    &word_count::RULE,
    &missing_prefix::RULE,
    &pattern::RULE,
    &no_verb::RULE,
    &verb_position::RULE,
    &brand::RULE,
    &duplicate::RULE,
    &similar_spelling::RULE,
    &near_collision::RULE,
    &shared_name::RULE,
    &shared_spelling::RULE,
    &homoglyph::RULE,
    &invisible::RULE,
    &mixed_styles::RULE,
    &verb_form::RULE,
    &other_product::RULE,
];
