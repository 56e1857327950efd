//! The audit: what is wrong with the tools that a server shows, whoever made it, and what they cost.
//!
//! A [`Server`] is what was heard or written, as raw JSON; a rule looks at a view of it and says what it finds. Rules stand in
//! `rules/`, one file each, and the doc comment of a rule is its documentation: `mcpaql explain` and the reference page show it,
//! and its examples are its tests. What always holds: no rule needs a tool to be well-formed, none calls anything, and the same
//! tools held against the same standard give the same findings in the same order.

mod baseline;
mod caution;
mod compare;
pub mod convention;
mod credential;
mod deed;
mod expect;
mod finding;
mod glance;
mod harmless;
pub mod load;
mod parameters;
pub mod probe;
pub mod render;
mod report;
mod rule;
mod rules;
mod score;
pub mod settings;
mod share;
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
pub use rules::{all_rules, rule};
pub use score::{Score, scores};
pub use share::{Seen, Share, shares};
pub use view::{Known, Server, Surface, Tool};

use crate::convention::{Level, Standard};
use finding::Findings;
use rule::Check;
use share::Ranked;
use std::borrow::Cow;

/// Servers as rules see them.
#[must_use]
pub fn surfaces(servers: &[Server]) -> Vec<Surface<'_>> {
    servers.iter().enumerate().map(|(index, server)| Surface::of(server, index)).collect()
}

/// What the rules find: by server, then by tool in the order of the list, then by rule; what is about a server as a whole comes
/// before its tools.
#[must_use]
pub fn audit(servers: &[Server], standard: &Standard) -> Vec<Finding> {
    let seen = shares(servers, standard, 1).into_iter().map(Share::see).collect();
    conclude(servers, standard, seen).1
}

/// The same of servers whose shares were all seen, in their order; with the servers as rules saw them.
#[must_use]
pub fn conclude<'a>(
    servers: &'a [Server],
    standard: &Standard,
    seen: Vec<Seen<'a>>,
) -> (Vec<Surface<'a>>, Vec<Finding>) {
    let (surfaces, mut found) = share::together(servers, seen);
    let rules = share::leveled(standard);
    found.extend(of_servers(&surfaces, &rules, standard));
    for (position, finding) in &mut found {
        // Whatever a rule made of a single case, somebody may have said how bad it is.
        if let Some((rule, level)) = rules.get(*position).filter(|(rule, _)| standard.decides(rule.code)) {
            debug_assert_eq!(rule.code, finding.rule.code);
            finding.level = *level;
        }
    }
    found.sort_by_key(|(position, finding)| (finding.place.server, finding.place.tool, *position));
    let mut findings: Vec<Finding> = found.into_iter().map(|(_, finding)| finding).collect();
    // What is no tool at all is said once.
    let is_entry = |place: &Place| {
        let surface = surfaces.get(place.server);
        let tool = place.tool.and_then(|tool| surface?.tools.get(tool));
        tool.is_some_and(|tool| !tool.value.is_object())
    };
    findings.retain(|finding| finding.rule.code == "NAME-002" || !is_entry(&finding.place));
    findings.iter_mut().for_each(mask);
    expect::keep_honest(&surfaces, &mut findings);
    (surfaces, findings)
}

/// Takes credentials out of what a finding quotes.
fn mask(finding: &mut Finding) {
    let Finding { message, help, .. } = finding;
    for text in help.iter_mut().chain([message]) {
        if let Cow::Owned(masked) = credential::masked_words(text) {
            *text = masked;
        }
    }
}

/// What rules find that look at more than one tool.
fn of_servers(surfaces: &[Surface<'_>], rules: &[(&'static Rule, Level)], standard: &Standard) -> Ranked {
    let mut ranked = Vec::new();
    for (position, (rule, level)) in rules.iter().enumerate() {
        let mut found = Vec::new();
        let mut out = Findings::new(rule, *level, &mut found);
        match rule.check {
            Check::Tool(_) => {}
            Check::Server(check) => surfaces.iter().for_each(|surface| check(surface, standard, &mut out)),
            Check::Servers(check) => check(surfaces, standard, &mut out),
        }
        ranked.extend(found.into_iter().map(|finding| (position, finding)));
    }
    ranked
}
