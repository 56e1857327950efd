//! NAME-011.

use super::spelling::{clipped_name, named_tools};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_core::facts::Effect;
use mcpaql_lexicon::verbs::{self, Verb, VerbTrait, Weight, is_verb};

/// Fewer names are no custom.
const MIN_NAMES: usize = 6;
/// So many in ten are one.
const MIN_SHARE_TENTHS: usize = 8;

rule! {
    /// A verb stands elsewhere than in the other names of the server.
    ///
    /// ## What it does
    ///
    /// Where at least half of a server's names have a clear verb at either end, and four in five of these before the object (`get_issue`)
    /// or behind it (`issue_get`), looks for names that do it the other way round.
    ///
    /// ## Why it matters
    ///
    /// A model that has read `list_issues` and `get_issue` calls `read_issue`, and not `issue_read`; and people do not find the tool in a
    /// list that is sorted by name.
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
    "NAME-011" "verb-place" Advice Server(check)
}

fn check(surface: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let shared = shared_words(surface);
    let placed: Vec<(&ParsedTool<'_>, VerbPlacement)> = named_tools(surface)
        .filter_map(|tool| Some((tool, VerbPlacement::of(&tool.words, shared)?)))
        .collect();
    if placed.len() < MIN_NAMES || placed.len() * 2 < named_tools(surface).count() {
        return;
    }
    let before = placed.iter().filter(|(_, place)| place.before).count();
    let custom = if before * 10 >= placed.len() * MIN_SHARE_TENTHS {
        true
    } else if (placed.len() - before) * 10 >= placed.len() * MIN_SHARE_TENTHS {
        false
    } else {
        return;
    };
    let count = if custom { before } else { placed.len() - before };
    for (tool, place) in placed.iter().filter(|(_, place)| place.before != custom) {
        let here = if custom { "behind" } else { "before" };
        let message = format!(
            "The name '{}' has its verb {here} its object, unlike {count} others of the server",
            clipped_name(tool.name)
        );
        let mut words = tool.words.clone();
        let verb = words.remove(place.index);
        words.insert(if custom { shared } else { words.len() }, verb);
        let finding = findings.tool(tool, "/name", message);
        if let Some(joint) = ["_", "-"].into_iter().find(|joint| tool.words.join(joint) == tool.name) {
            finding.help(format!("such as {}", words.join(joint)));
        }
    }
}

/// How many words all names of a server begin with.
pub(in crate::rules) fn shared_words(surface: &ParsedServer<'_>) -> usize {
    let mut names = named_tools(surface).map(|tool| &tool.words);
    let Some(first) = names.next() else { return 0 };
    let mut shared = if surface.tools.len() > 1 { first.len().saturating_sub(1) } else { 0 };
    for words in names {
        let same = first.iter().zip(words).take_while(|(a, b)| a == b).count();
        shared = shared.min(same).min(words.len().saturating_sub(1));
    }
    shared
}

/// Where the verb of a name stands.
pub(in crate::rules) struct VerbPlacement {
    index: usize,
    /// Before its object.
    pub(in crate::rules) before: bool,
}

impl VerbPlacement {
    /// Of names with one clear verb, at either end of what is not shared by all.
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
                if (verb.has(VerbTrait::NeverNoun) || !is_verb(first))
                    && !is_noun(verb)
                    && !own.iter().any(|word| is_link(word)) =>
            {
                Some(VerbPlacement { index: words.len() - 1, before: false })
            }
            _ => None,
        }
    }
}

/// Verbs that end a name as nouns, or that have no object: `health_check`, `admin_login`.
fn is_noun(verb: &Verb) -> bool {
    const NOUNS: &[&str] = &["check", "query", "view", "preview", "count", "move", "ping", "upload", "clone"];
    verb.effect == Effect::Session || NOUNS.contains(&verb.word)
}

/// Words behind which a verb is part of something else.
fn is_link(word: &str) -> bool {
    matches!(word, "and" | "or" | "to" | "for" | "by" | "with" | "from" | "in" | "on" | "of")
}
