//! Rules about annotations.

mod read_only_and_destructive;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[&read_only_and_destructive::RULE];
