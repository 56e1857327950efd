//! Rules about input schemas.

mod no_object;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[&no_object::RULE];
