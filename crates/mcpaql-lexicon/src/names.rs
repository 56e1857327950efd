//! Splits names of operations into parts, and finds their verbs.
//!
//! ```
//! use mcpaql_lexicon::names::{name_verbs, parts};
//!
//! let verbs = name_verbs(&parts("listPullRequests"));
//! assert_eq!(verbs.lead.unwrap().verb.word, "list");
//! ```
//!
//! What always holds: the spelling of a name does not matter. `list_issues`, `listIssues` and `list-issues` give the same words.

use crate::effect::{Category, Effect};
use crate::number::singular;
use crate::sentence::{PREPOSITIONS, opening_words};
use crate::verbs::{self, Verb, VerbTrait, Weight, risk};
use crate::word_set::WordSet;
use crate::words::words;
use std::borrow::Cow;

/// Splits an identifier into parts, and each part into words: `issues/list-for-repo`, `users.list` and `Accounts_List`
/// have two parts.
///
/// An underscore or a hyphen separates parts only if the identifier is otherwise in camel case.
#[must_use]
pub fn parts(name: &str) -> Vec<Vec<String>> {
    split_parts(name).map(words).filter(|part| !part.is_empty()).collect()
}

/// Splits an identifier into parts. Some may have no words.
pub fn split_parts(name: &str) -> impl Iterator<Item = &str> {
    let hard = |ch: char| matches!(ch, '/' | '.' | ':' | '#' | ' ' | '\\');
    name.split(hard).flat_map(|part| {
        let camel = part.chars().any(char::is_uppercase) && part.chars().any(char::is_lowercase);
        part.split(move |ch| camel && matches!(ch, '_' | '-'))
    })
}

/// The verbs of a name.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameVerbs {
    /// The main verb.
    pub lead: Option<NameVerb>,
    /// The riskiest verb that is joined to it by `and` or `or`, or that ends the name.
    pub second: Option<NameVerb>,
    /// The two verbs are one action: `find_and_replace`.
    pub compound: bool,
}

impl NameVerbs {
    /// Returns the effect of the verbs: the riskier effect of two joined verbs, and [`Effect::Set`] for
    /// `create_or_update`.
    #[must_use]
    pub fn effect(&self) -> Option<(Effect, String)> {
        let lead = self.lead?.verb;
        let second = self.second.filter(|_| self.compound).map(|found| found.verb);
        let Some(second) = second else { return Some((lead.effect, format!("'{}'", lead.word))) };
        let text = format!("'{}' and '{}'", lead.word, second.word);
        let categories = [lead.effect.category(), second.effect.category()];
        if categories.contains(&Category::Create) && categories.contains(&Category::Update) {
            return Some((Effect::Set, text));
        }
        let riskier = if risk(second.effect) > risk(lead.effect) { second } else { lead };
        Some((riskier.effect, text))
    }
}

/// A verb and its position.
#[derive(Debug, Clone, Copy)]
pub struct NameVerb {
    /// The verb.
    pub verb: &'static Verb,
    /// Index of the part of the name.
    pub part: usize,
    /// Index of the word in the part.
    pub word: usize,
}

/// Finds the verbs of a name. The main verb starts the last part that starts with a verb; otherwise it is a clear verb
/// anywhere; otherwise it is in a place where a noun is unlikely.
#[must_use]
pub fn name_verbs<W: AsRef<str>>(parts: &[Vec<W>]) -> NameVerbs {
    let Some(lead) = lead(parts) else { return NameVerbs::default() };
    let mut found = NameVerbs { lead: Some(lead), second: None, compound: false };
    let Some(part) = parts.get(lead.part) else { return found };
    let joined = part.iter().enumerate().skip(lead.word + 1).find_map(|(index, word)| {
        let is_conjunction = matches!(word.as_ref(), "and" | "or" | "then");
        let next = part.get(index + 1).and_then(|next| verbs::verb(next.as_ref()));
        next.filter(|_| is_conjunction).map(|verb| NameVerb { verb, part: lead.part, word: index + 1 })
    });
    if let Some(joined) = joined {
        found.second = Some(joined);
        found.compound = true;
        return found;
    }
    let last = part.len().saturating_sub(1);
    found.second = part
        .get(last)
        .filter(|_| last > lead.word)
        .and_then(|word| verbs::verb(word.as_ref()))
        .filter(|verb| verb.weight == Weight::Strong)
        .map(|verb| NameVerb { verb, part: lead.part, word: last });
    found
}

fn lead<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<NameVerb> {
    leading(parts).or_else(|| anywhere(parts))
}

/// Returns the first verb of the last part that starts with a verb.
fn leading<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<NameVerb> {
    parts.iter().enumerate().rev().find_map(|(index, part)| {
        let found = first_verb(part, index)?;
        if found.verb.weight != Weight::Weak {
            return Some(found);
        }
        let last = part.len().checked_sub(1)?;
        let verb = part
            .get(last)
            .and_then(|word| verbs::verb(word.as_ref()))
            .filter(|verb| verb.has(VerbTrait::NeverNoun));
        match verb {
            Some(verb) => Some(NameVerb { verb, part: index, word: last }),
            None => (part.len() > found.word + 1).then_some(found),
        }
    })
}

/// Returns a verb in the middle: a clear one, one glued to its object, otherwise any possible verb, changing ones
/// first.
fn anywhere<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<NameVerb> {
    let all = || {
        parts.iter().enumerate().rev().flat_map(|(part, words)| {
            words.iter().enumerate().map(move |(word, text)| (part, word, text.as_ref()))
        })
    };
    let find = |accept: fn(&Verb) -> bool| {
        all().find_map(|(part, word, text)| {
            verbs::verb(text).filter(|verb| accept(verb)).map(|verb| NameVerb { verb, part, word })
        })
    };
    let last = parts.len().checked_sub(1).and_then(|part| {
        let word = parts.get(part)?.len().checked_sub(1)?;
        let verb = verbs::verb(parts.get(part)?.get(word)?.as_ref())
            .filter(|verb| verb.has(VerbTrait::NeverNoun))?;
        Some(NameVerb { verb, part, word })
    });
    last.or_else(|| find(|verb| verb.weight == Weight::Strong))
        .or_else(|| {
            all().find_map(|(part, word, text)| verbs::glued(text).map(|verb| NameVerb { verb, part, word }))
        })
        .or_else(|| find(|verb| verb.weight == Weight::Doubtful))
        .or_else(|| find(|verb| verbs::risk(verb.effect) > 0))
        .or_else(|| find(|_| true))
}

/// Returns the verbs of a name whose path ends in a verb. If a noun-like word starts the name, and name and path end with the
/// same clear verb, that is the main verb: `transferRepaymentList` of `/transfer/repayment/list`.
#[must_use]
pub fn name_verbs_with_path<W: AsRef<str>>(parts: &[Vec<W>], path_verb: Option<&'static Verb>) -> NameVerbs {
    let found = name_verbs(parts);
    let at_end = || {
        let part = parts.len().checked_sub(1)?;
        let word = parts.get(part)?.len().checked_sub(1)?;
        let verb = path_verb.filter(|verb| verb.weight == Weight::Strong)?;
        let is_same = parts.get(part)?.get(word)?.as_ref() == verb.word;
        is_same.then_some(NameVerb { verb, part, word })
    };
    match found.lead.filter(|lead| lead.verb.has(VerbTrait::Thing)).and_then(|_| at_end()) {
        Some(lead) => NameVerbs { lead: Some(lead), second: None, compound: false },
        None => found,
    }
}

/// Returns the verb at the start of a part, after words that only modify it.
fn first_verb<W: AsRef<str>>(part: &[W], index: usize) -> Option<NameVerb> {
    let modifiers = part.iter().take_while(|word| verbs::is_modifier(word.as_ref())).count();
    let at = |word: usize| {
        part.get(word).and_then(|text| verbs::verb(text.as_ref())).map(|verb| NameVerb {
            verb,
            part: index,
            word,
        })
    };
    (0..=modifiers).rev().find_map(at)
}

/// Words that follow a verb, but no noun: "Scrap a vehicle".
static DETERMINERS: WordSet = WordSet::of(
    "a all an another any each either every existing its multiple my one our several some the their these this two \
     your",
);

/// Words before a determiner that are no verbs.
static CONJUNCTIONS: WordSet = WordSet::of(
    "after also and because before both but given if not once only or since then unless until when where whether while \
     without",
);

/// Returns the base form of a word that is a verb in English, known to the table or not: `scraps` is not known.
#[must_use]
pub fn action_base(word: &str) -> Option<Cow<'_, str>> {
    if verbs::is_verb(word) {
        return Some(Cow::Borrowed(word));
    }
    let y = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let plain = [word.strip_suffix("es"), word.strip_suffix('s')]
        .into_iter()
        .flatten()
        .find(|stem| verbs::is_verb(stem));
    y.filter(|base| verbs::is_verb(base)).map(Cow::Owned).or(plain.map(Cow::Borrowed))
}

/// Returns the verb that starts a text, in its base form. A word that may be a noun is a verb if a determiner follows:
/// "Scraps a vehicle".
#[must_use]
pub fn opening_action(text: &str) -> Option<String> {
    let mut words = opening_words(text).peekable();
    let mut first = words.next()?;
    // "Manually fire an event"
    if first.len() > 5 && first.ends_with("ly") && !verbs::is_verb(&first) {
        first = words.next()?;
    }
    // "Bulk update users"
    if verbs::is_modifier(&first) && words.peek().is_some_and(|next| verbs::inflected(next).is_some()) {
        first = words.next()?;
    }
    let next = words.next();
    let is_before_object = next.is_some_and(|next| DETERMINERS.contains(&next));
    if let Some(verb) = verbs::inflected(&first) {
        // "Schedule overview" is a noun, "Schedule a visit" and "Schedules visits" are not.
        let is_noun = verb.has(VerbTrait::Thing) && *first == *verb.word && !is_before_object;
        return (!is_noun).then(|| verb.word.to_owned());
    }
    if let Some(base) = action_base(&first) {
        return Some(base.into_owned());
    }
    let is_other = CONJUNCTIONS.contains(&first) || PREPOSITIONS.contains(&first);
    let is_word = first.len() > 2 && first.bytes().all(|byte| byte.is_ascii_lowercase()) && !is_other;
    (is_word && is_before_object).then(|| singular(&first).into_owned())
}

/// Returns the verb that starts a text, if it cannot be a noun or an adjective there: "Change a setting" and "Changes
/// settings", not "Draft invoices".
#[must_use]
pub fn clear_opening_verb(text: &str) -> Option<&'static Verb> {
    let mut words = opening_words(text);
    let first = words.next()?;
    let verb = verbs::inflected(&first)?;
    let is_clear = verb.weight == Weight::Strong
        || *first != *verb.word
        || words.next().is_some_and(|next| DETERMINERS.contains(&next));
    is_clear.then_some(verb)
}

/// Returns whether a text uses the word as the noun after its explicit verb: "Update the alert policy" is about an alert
/// policy, and `alert` is no verb there.
#[must_use]
pub fn is_object_of_explicit_verb(word: &str, text: &str) -> bool {
    let mut words = opening_words(text);
    let verb = words.next().and_then(|first| verbs::inflected(&first));
    let is_explicit = verb.is_some_and(|verb| verb.has(VerbTrait::NeverNoun) && !verb.reads());
    is_explicit
        && words
            .find(|word| !DETERMINERS.contains(word) && word != "new")
            .is_some_and(|object| object == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart_however_they_are_spelled() {
        for (name, expected) in [
            ("issues/list-for-repo", "issues|list for repo"),
            ("actions/re-run-workflow", "actions|rerun workflow"),
            ("Accounts_List", "accounts|list"),
            ("PetController_findAll", "pet controller|find all"),
            ("chat_postMessage", "chat|post message"),
            ("users.list", "users|list"),
            ("list_pets", "list pets"),
            ("listOAuthApps", "list oauth apps"),
            ("ipam_ip-addresses_delete", "ipam ip addresses delete"),
            ("", ""),
            ("///", ""),
        ] {
            let found: Vec<String> = parts(name).iter().map(|part| part.join(" ")).collect();
            assert_eq!(found.join("|"), expected, "{name}");
        }
    }

    #[test]
    fn a_text_starts_with_a_verb_known_or_not() {
        for (text, expected) in [
            ("Scrap a vehicle", Some("scrap")),
            ("Scraps the vehicle", Some("scrap")),
            ("Skip User's Playback To Next Track", Some("skip")),
            ("This endpoint deletes a user", Some("delete")),
            ("Mileage of some vehicles", None),
            ("Schedule overview", None),
            ("Schedule a visit", Some("schedule")),
            ("From a collection", None),
            ("When a user signs in", None),
            ("Bulk update users", Some("update")),
            ("Vehicle types", None),
            ("", None),
        ] {
            assert_eq!(opening_action(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_verb_that_ends_name_and_path_wins_over_a_noun_like_word() {
        let name = parts("transferRepaymentList");
        let found = |path: Option<&str>| {
            let verbs = name_verbs_with_path(&name, path.and_then(verbs::verb));
            verbs.lead.map(|found| found.verb.word)
        };
        assert_eq!((found(Some("list")), found(None)), (Some("list"), Some("transfer")));
    }

    #[test]
    fn a_noun_after_an_explicit_verb_is_no_verb() {
        for (word, text, expected) in [
            ("alert", "Update the alert policy", true),
            ("check", "Delete a check", true),
            ("link", "Create issue link", false),
            ("alert", "Alert the policy", false),
            ("alert", "", false),
        ] {
            assert_eq!(is_object_of_explicit_verb(word, text), expected, "{text}");
        }
    }

    #[test]
    fn the_verb_is_found_where_it_stands() {
        for (name, expected) in [
            ("issues/list-for-repo", "list"),
            ("search_index_delete", "search"),
            ("SearchService_Update", "update"),
            ("mark_all_notifications_read", "mark"),
            ("batchGetUsers", "get"),
            ("users.list", "list"),
            ("ipam_ip-addresses_delete", "delete"),
            ("admin_users_session_reset", "reset"),
            ("repos/merge", "merge"),
            ("deleteuser", "delete"),
        ] {
            let found = name_verbs(&parts(name)).lead.map(|found| found.verb.word);
            assert_eq!(found, Some(expected), "{name}");
        }
        assert!(name_verbs(&parts("document_manifest")).lead.is_none());
        let compound = name_verbs(&parts("find_and_replace"));
        assert!(compound.compound);
        assert_eq!(compound.second.map(|found| found.verb.word), Some("replace"));
    }
}
