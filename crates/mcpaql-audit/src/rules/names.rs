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
mod pattern;
mod refused_characters;
mod same_but_for_spelling;
mod shared_name;
mod shared_spelling;
pub(super) mod spelling;
#[cfg(test)]
mod tests;
mod too_long;
mod too_long_for_client;
pub(super) mod verb_placement;
mod word_count;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &illegal_characters::RULE,
    &missing::RULE,
    &too_long::RULE,
    &refused_characters::RULE,
    &too_long_for_client::RULE,
    &not_snake_case::RULE,
    &word_count::RULE,
    &missing_prefix::RULE,
    &pattern::RULE,
    &no_verb::RULE,
    &verb_placement::RULE,
    &brand::RULE,
    &duplicate::RULE,
    &same_but_for_spelling::RULE,
    &near_collision::RULE,
    &shared_name::RULE,
    &shared_spelling::RULE,
    &homoglyph::RULE,
    &invisible::RULE,
    &mixed_styles::RULE,
];
