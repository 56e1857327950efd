//! Scores: the quality of a server's tools as numbers that can be compared between audits.

use crate::convention::RuleLevel;
use crate::rule::{Finding, RuleGroup};
use crate::tool::ParsedServer;
use std::collections::HashMap;

/// Size of the context window that costs are compared with, in tokens.
pub const CONTEXT_WINDOW: usize = 200_000;

/// The score of one group of rules for one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// The group.
    pub group: RuleGroup,
    /// From 0 to 100. 100 means no findings, and for cost also next to no tokens.
    pub points: u8,
    /// Number of findings.
    pub findings: usize,
}

/// Returns the scores of a server.
///
/// - Each tool counts by its worst finding in the group: an error takes all of its share, a warning half, advice a tenth.
/// - A finding about the server as a whole limits the score of the group: to 50 for an error, 75 for a warning, 95 for advice.
/// - The score for cost is at most the percentage of a window of [`CONTEXT_WINDOW`] tokens that the tools leave free.
#[must_use]
pub fn scores(parsed: &ParsedServer<'_>, findings: &[Finding]) -> [Score; 6] {
    RuleGroup::ALL.map(|group| {
        let of = |finding: &&Finding| finding.place.server == parsed.index && finding.rule.group() == group;
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
            most = most.min(100_usize.saturating_sub(parsed.tokens() * 100 / CONTEXT_WINDOW));
        }
        let lost: usize = worst.values().map(|level| penalty_tenths(*level)).sum();
        let lost = (lost * 10).checked_div(parsed.tools.len()).unwrap_or(0).min(100);
        Score { group, points: u8::try_from(most.min(100 - lost)).unwrap_or(0), findings: count }
    })
}

/// Returns the maximum score of a group with a finding about the server as a whole.
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
    fn a_server_that_fills_the_window_scores_zero_for_cost() {
        assert_eq!(cost(3, 1, &[]), 100);
        let some = cost(60, 150, &[]);
        assert!((50..90).contains(&some), "{some}");
        assert_eq!(cost(300, 400, &[]), 0);
    }

    #[test]
    fn a_finding_about_the_server_limits_the_score() {
        for (level, most) in [(RuleLevel::Error, 50), (RuleLevel::Warning, 75), (RuleLevel::Advice, 95)] {
            assert_eq!(cost(300, 1, &[("COST-003", level)]), most, "{level:?}");
        }
    }
}
