//! Rules about names.

mod illegal_characters;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[&illegal_characters::RULE];
