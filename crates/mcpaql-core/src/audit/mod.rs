//! The audit: what is wrong with the tools that a server shows, whoever made it, and what they cost.
//!
//! A [`Server`] is what was heard or written, as raw JSON; a rule looks at a view of it and says what it finds. Rules stand in
//! `rules/`, one file each, and the doc comment of a rule is its documentation: `mcpaql explain` and the reference page show it,
//! and its examples are its tests. What always holds: no rule needs a tool to be well-formed, none calls anything, and the same
//! tools held against the same standard give the same findings in the same order.

mod baseline;
mod compare;
mod credential;
mod deed;
mod expect;
mod finding;
mod parameters;
pub mod probe;
pub mod render;
mod report;
mod rule;
mod rules;
mod score;
mod tree;
mod unicode;
mod view;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use baseline::{Baseline, Fingerprint};
pub use compare::{Change, compare};
pub use expect::{Facing, facing};
pub use finding::{Finding, Fix, Place};
pub use report::{Audited, Failed, Found, Origin, Report, Spot, WINDOW};
pub use rule::{Example, Group, Rule};
pub use score::{Score, scores};
pub use view::{Known, Server, Surface, Tool};

use crate::convention::Standard;
use finding::Findings;
use rule::Check;
use std::borrow::Cow;

/// Every rule, in the order of their codes within each group.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    rules::GROUPS.iter().flat_map(|group| group.iter()).copied()
}

/// The rule of that code.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| rule.code.eq_ignore_ascii_case(code))
}

/// Servers as rules see them.
#[must_use]
pub fn surfaces(servers: &[Server]) -> Vec<Surface<'_>> {
    servers.iter().enumerate().map(|(index, server)| Surface::of(server, index)).collect()
}

/// What the rules find: by server, then by tool in the order of the list, then by rule; what is about a server as a whole comes
/// before its tools.
#[must_use]
pub fn audit(servers: &[Server], standard: &Standard) -> Vec<Finding> {
    let surfaces = surfaces(servers);
    let mut findings = Vec::new();
    for rule in all_rules() {
        let Some(level) = standard.level(rule.code, rule.level) else { continue };
        let mut out = Findings::new(rule, level, &mut findings);
        match rule.check {
            Check::Tool(check) => {
                surfaces.iter().flat_map(|surface| &surface.tools).for_each(|tool| {
                    check(tool, standard, &mut out);
                });
            }
            Check::Server(check) => surfaces.iter().for_each(|surface| check(surface, standard, &mut out)),
            Check::Servers(check) => check(&surfaces, standard, &mut out),
        }
    }
    // What is no tool at all is said once.
    let is_entry = |place: &Place| {
        let surface = surfaces.get(place.server);
        let tool = place.tool.and_then(|tool| surface?.tools.get(tool));
        tool.is_some_and(|tool| !tool.value.is_object())
    };
    findings.retain(|finding| finding.rule.code == "NAME-002" || !is_entry(&finding.place));
    for finding in &mut findings {
        let Finding { message, help, .. } = finding;
        for text in help.iter_mut().chain([message]) {
            if let Cow::Owned(masked) = credential::masked_words(text) {
                *text = masked;
            }
        }
    }
    // Stable, so that the rules keep their order.
    findings.sort_by_key(|finding: &Finding| (finding.place.server, finding.place.tool));
    findings
}
