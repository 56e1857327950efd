//! `--list`: lists the rules, conventions and policies.

use mcpaql_audit::convention::Convention;
use mcpaql_audit::{RuleGroup, all_rules};
use mcpaql_core::policy::{Policy, policies};
use std::fmt::Write as _;

/// Lists the rules, conventions and policies, each with a short description.
pub(super) fn list(conventions: &[Convention], own: &[Policy]) -> String {
    let mut text = String::from("Rules (`mcpaql explain CODE` shows details)\n");
    for group in RuleGroup::ALL {
        for rule in all_rules().filter(|rule| rule.group() == group) {
            let _ = writeln!(text, "  {:11} {:14} {}", rule.code, rule.level_label(), rule.summary());
        }
    }
    text.push_str("\nConventions (--convention)\n");
    let width = conventions.iter().map(|convention| convention.name.len()).max().unwrap_or(0);
    for convention in conventions {
        let kind = convention.kind.as_str();
        let _ = writeln!(text, "  {:width$}  {kind:9}  {}", convention.name, convention.about.trim());
    }
    text.push_str("\nPolicies (--policy)\n");
    let all: Vec<&Policy> = own.iter().chain(policies().map(|policy| -> &Policy { policy })).collect();
    let width = all.iter().map(|policy| policy.name.len()).max().unwrap_or(0);
    for policy in all {
        let _ = writeln!(text, "  {:width$}  {}", policy.name, policy.about.trim());
    }
    text
}
