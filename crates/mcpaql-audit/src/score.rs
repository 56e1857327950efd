//! How good a server's tools are, in numbers that can be compared from one audit to the next.

use crate::convention::RuleLevel;
use crate::rule::{Finding, RuleGroup};
use crate::tool::ParsedServer;
use std::collections::HashMap;

/// Tokens of the context window that costs are held against.
pub const CONTEXT_WINDOW: usize = 200_000;

/// The score of one group of rules for one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// What the rules are about.
    pub group: RuleGroup,
    /// From 0 to 100: nothing is found, and of cost that there is next to none.
    pub points: u8,
    /// How many findings.
    pub findings: usize,
}

/// The scores of a server. Each tool counts by its worst finding in the group: an error takes all of its share, a warning half,
/// advice a tenth. What is about the server as a whole does not drown among its tools: with an error the group has at most 50, with
/// a warning 75, with advice 95. Cost has at most the percentage of a window of [`WINDOW`] tokens that the tools leave.
#[must_use]
pub fn scores(surface: &ParsedServer<'_>, findings: &[Finding]) -> [Score; 6] {
    RuleGroup::ALL.map(|group| {
        let of = |finding: &&Finding| finding.place.server == surface.index && finding.rule.group() == group;
        let mut worst: HashMap<usize, RuleLevel> = HashMap::new();
        let (mut count, mut most) = (0, 100);
        for finding in findings.iter().filter(of) {
            count += 1;
            match finding.place.tool {
                Some(tool) => {
                    let level = worst.entry(tool).or_insert(finding.level);
                    *level = (*level).max(finding.level);
                }
                None => most = most.min(max_points(finding.level)),
            }
        }
        if group == RuleGroup::Cost {
            most = most.min(100_usize.saturating_sub(surface.tokens() * 100 / CONTEXT_WINDOW));
        }
        let lost: usize = worst.values().map(|level| penalty_tenths(*level)).sum();
        let lost = (lost * 10).checked_div(surface.tools.len()).unwrap_or(0).min(100);
        Score { group, points: u8::try_from(most.min(100 - lost)).unwrap_or(0), findings: count }
    })
}

/// The most points of a group with a finding about the server as a whole.
const fn max_points(level: RuleLevel) -> usize {
    match level {
        RuleLevel::Error => 50,
        RuleLevel::Warning => 75,
        RuleLevel::Advice => 95,
    }
}

const fn penalty_tenths(level: RuleLevel) -> usize {
    match level {
        RuleLevel::Error => 10,
        RuleLevel::Warning => 5,
        RuleLevel::Advice => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convention::Standard;
    use crate::{ServerTools, audit, parse_servers};
    use serde_json::{Value, json};

    fn cost(tools: usize, words: usize, rules: &[(&str, RuleLevel)]) -> u8 {
        let description = "Opens an issue in a project. ".repeat(words);
        let tool =
            |n| json!({"name": format!("open_issue_{n}"), "description": format!("{n} {description}")});
        let tools: Vec<Value> = (0..tools).map(tool).collect();
        let servers = [ServerTools { name: "tracker".to_owned(), tools, ..ServerTools::default() }];
        let rules = rules.iter().map(|(code, level)| ((*code).to_owned(), Some(*level))).collect();
        let standard = Standard { rules, ..Standard::default() };
        let findings = audit(&servers, &standard);
        let scores = scores(&parse_servers(&servers)[0], &findings);
        scores.into_iter().find(|score| score.group == RuleGroup::Cost).unwrap().points
    }

    #[test]
    fn a_server_that_fills_a_window_has_no_points_left_for_it() {
        assert_eq!(cost(3, 1, &[]), 100);
        let some = cost(60, 150, &[]);
        assert!((50..90).contains(&some), "{some}");
        assert_eq!(cost(300, 400, &[]), 0);
    }

    #[test]
    fn what_is_about_the_whole_server_does_not_drown_among_its_tools() {
        for (level, most) in [(RuleLevel::Error, 50), (RuleLevel::Warning, 75), (RuleLevel::Advice, 95)] {
            assert_eq!(cost(300, 1, &[("COST-003", level)]), most, "{level:?}");
        }
    }
}
