//! Rules about the cost of tools, in tokens.

mod heavy_list;
mod heavy_tool;
mod repeated_text;
mod too_many_tools;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] =
    &[&heavy_tool::RULE, &heavy_list::RULE, &too_many_tools::RULE, &repeated_text::RULE];
