//! Rules about titles.

mod missing;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[&missing::RULE];
