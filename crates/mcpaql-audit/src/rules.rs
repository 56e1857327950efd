//! All rules, one file each, in one directory per group.

mod annotations;
mod cost;
mod descriptions;
mod names;
mod schemas;
mod titles;

use crate::rule::Rule;

/// The rules of each group, in the order of reports.
pub(super) static GROUPS: [&[&Rule]; 6] =
    [names::RULES, titles::RULES, annotations::RULES, descriptions::RULES, schemas::RULES, cost::RULES];

/// Returns all rules, by group and code.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.iter()).copied()
}

/// Returns the rule with this code, ignoring case.
#[must_use]
pub fn find_rule(code: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| rule.code.eq_ignore_ascii_case(code))
}
