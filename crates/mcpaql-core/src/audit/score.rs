//! How good a server's tools are, in numbers that can be compared from one audit to the next.

use super::finding::Finding;
use super::rule::Group;
use super::view::Server;
use crate::convention::Level;
use std::collections::HashMap;

/// The score of one group of rules for one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// What the rules are about.
    pub group: Group,
    /// From 0 to 100, which is a server without a finding.
    pub points: u8,
    /// How many findings.
    pub findings: usize,
}

/// The scores of a server. Each tool counts by its worst finding in the group: an error takes all of its share, a warning half,
/// advice a tenth; what is about the server as a whole counts like one more tool.
#[must_use]
pub fn scores(server: &Server, index: usize, findings: &[Finding]) -> [Score; 6] {
    Group::ALL.map(|group| {
        let of = |finding: &&Finding| finding.place.server == index && finding.rule.group() == group;
        let mut worst: HashMap<Option<usize>, Level> = HashMap::new();
        let mut count = 0;
        for finding in findings.iter().filter(of) {
            count += 1;
            let level = worst.entry(finding.place.tool).or_insert(finding.level);
            *level = (*level).max(finding.level);
        }
        let shares = server.tools.len() + usize::from(worst.contains_key(&None));
        let lost: usize = worst.values().map(|level| tenths(*level)).sum();
        let points = 100 - (lost * 10).checked_div(shares).unwrap_or(0).min(100);
        Score { group, points: u8::try_from(points).unwrap_or(0), findings: count }
    })
}

const fn tenths(level: Level) -> usize {
    match level {
        Level::Error => 10,
        Level::Warning => 5,
        Level::Advice => 1,
    }
}
