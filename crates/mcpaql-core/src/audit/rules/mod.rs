//! The rules, one file each, by what they are about.

mod annotations;
mod cost;
pub(super) mod descriptions;
mod names;
pub(super) mod schemas;
pub(super) mod titles;

use super::rule::Rule;

/// Every group, in the order of reports.
pub(super) static GROUPS: [&[&Rule]; 6] =
    [names::RULES, titles::RULES, annotations::RULES, descriptions::RULES, schemas::RULES, cost::RULES];
