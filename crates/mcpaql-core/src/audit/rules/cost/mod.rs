//! Rules about what tools cost.

mod heavy_tool;

use crate::audit::rule::Rule;

pub(super) static RULES: &[&Rule] = &[&heavy_tool::RULE];
