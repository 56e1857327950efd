//! NAME-011.

use super::spelling::{clipped_name, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_core::facts::Effect;
use mcpaql_lexicon::verbs::{self, Verb, VerbTrait, Weight, is_verb};

/// Minimum number of names with a clear verb; fewer show no convention.
const MIN_NAMES: usize = 6;
/// Minimum share of names with the verb in the same position, in tenths.
const MIN_SHARE_TENTHS: usize = 8;

rule! {
    /// Verb is in a different position than in the other names of the server.
    ///
    /// ## What it does
    ///
    /// Applies to servers in which at least six names, and at least half of all names, start or end with a clear verb. If four
    /// in five of these verbs are on one side of the object (`get_issue`, or `issue_get`), names with the verb on the other
    /// side are reported.
    ///
    /// ## Why it matters
    ///
    /// A model that has read `list_issues` and `get_issue` calls `read_issue`, not `issue_read`. People do not find the tool in a
    /// list sorted by name either.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools/6/name
    /// {"tools": [
    ///   {"name": "list_issues"}, {"name": "get_issue"}, {"name": "create_issue"}, {"name": "close_issue"},
    ///   {"name": "list_labels"}, {"name": "get_label"}, {"name": "label_delete"}
    /// ]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [
    ///   {"name": "list_issues"}, {"name": "get_issue"}, {"name": "create_issue"}, {"name": "close_issue"},
    ///   {"name": "list_labels"}, {"name": "get_label"}, {"name": "delete_label"}
    /// ]}
    /// ```
    "NAME-011" "verb-position" Advice Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let shared = shared_words(server);
    let placed: Vec<(&ParsedTool<'_>, VerbPlacement)> = named_tools(server)
        .filter_map(|tool| Some((tool, VerbPlacement::of(&tool.words, shared)?)))
        .collect();
    if placed.len() < MIN_NAMES || placed.len() * 2 < named_tools(server).count() {
        return;
    }
    let before = placed.iter().filter(|(_, place)| place.before).count();
    let verb_first = if before * 10 >= placed.len() * MIN_SHARE_TENTHS {
        true
    } else if (placed.len() - before) * 10 >= placed.len() * MIN_SHARE_TENTHS {
        false
    } else {
        return;
    };
    let count = if verb_first { before } else { placed.len() - before };
    for (tool, place) in placed.iter().filter(|(_, place)| place.before != verb_first) {
        let here = if verb_first { "after" } else { "before" };
        let message = format!(
            "The name '{}' has its verb {here} its object, unlike {count} other names of the server",
            clipped_name(tool.name)
        );
        let mut words = tool.words.clone();
        let verb = words.remove(place.index);
        words.insert(if verb_first { shared } else { words.len() }, verb);
        let finding = findings.tool(tool, "/name", message);
        if let Some(joint) = ["_", "-"].into_iter().find(|joint| tool.words.join(joint) == tool.name) {
            finding.help(format!("rename it to {}", words.join(joint)));
        }
    }
}

/// Returns the number of words that all names of a server start with.
pub(in crate::rules) fn shared_words(server: &ParsedServer<'_>) -> usize {
    let mut names = named_tools(server).map(|tool| &tool.words);
    let Some(first) = names.next() else { return 0 };
    let mut shared = if server.tools.len() > 1 { first.len().saturating_sub(1) } else { 0 };
    for words in names {
        let same = first.iter().zip(words).take_while(|(a, b)| a == b).count();
        shared = shared.min(same).min(words.len().saturating_sub(1));
    }
    shared
}

/// The position of the verb in a name.
pub(in crate::rules) struct VerbPlacement {
    index: usize,
    /// Whether the verb comes before its object.
    pub(in crate::rules) before: bool,
}

impl VerbPlacement {
    /// Returns the position of the verb, if the name has one clear verb at either end of its words that not all names share.
    pub(in crate::rules) fn of(words: &[String], shared: usize) -> Option<VerbPlacement> {
        let clear = |word: &String| verbs::verb(word).filter(|verb| verb.weight == Weight::Strong);
        let own = words.get(shared..)?;
        let (first, last) = (own.first()?, own.last()?);
        if own.len() < 2 {
            return None;
        }
        match (clear(first), clear(last)) {
            (Some(_), None) => Some(VerbPlacement { index: shared, before: true }),
            (None, Some(verb))
                if (verb.has(VerbTrait::NeverNoun) || !is_verb(first) || is_weak(first))
                    && !is_noun(verb)
                    && !own.iter().any(|word| is_link(word)) =>
            {
                Some(VerbPlacement { index: words.len() - 1, before: false })
            }
            _ => None,
        }
    }
}

/// Returns whether a word is as often a noun as a verb: `reply_send`.
fn is_weak(word: &str) -> bool {
    verbs::verb(word).is_some_and(|verb| verb.weight == Weight::Weak)
}

/// Returns whether a verb is a noun at the end of a name, or has no object: `health_check`, `admin_login`.
fn is_noun(verb: &Verb) -> bool {
    const NOUNS: &[&str] = &["check", "query", "view", "preview", "count", "move", "ping", "upload", "clone"];
    verb.effect == Effect::Session || NOUNS.contains(&verb.word)
}

/// Returns whether a verb after this word belongs to a phrase: `ready_to_merge`.
fn is_link(word: &str) -> bool {
    matches!(word, "and" | "or" | "to" | "for" | "by" | "with" | "from" | "in" | "on" | "of")
}
