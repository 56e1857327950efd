//! The rules, one file each, by what they are about.

mod annotations;
mod cost;
mod descriptions;
mod names;
mod schemas;
mod titles;

use crate::rule::Rule;

/// Every group, in the order of reports.
pub(super) static GROUPS: [&[&Rule]; 6] =
    [names::RULES, titles::RULES, annotations::RULES, descriptions::RULES, schemas::RULES, cost::RULES];
/// Every rule, in the order of their codes within each group.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.iter()).copied()
}

/// The rule of that code.
#[must_use]
pub fn find_rule(code: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
