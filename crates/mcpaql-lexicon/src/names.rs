//! Names of operations: their parts, and the verb that says what is done.

use crate::effect::{Category, Effect};
use crate::verbs::{self, Verb, VerbTrait, Weight, risk};
use crate::words::words;

/// The words of an identifier, one list per part: `issues/list-for-repo`, `users.list`, `Accounts_List` have two.
///
/// An underscore or a hyphen divides parts only where the identifier is otherwise in camel case.
#[must_use]
pub fn parts(name: &str) -> Vec<Vec<String>> {
    split_parts(name).map(words).filter(|part| !part.is_empty()).collect()
}

/// The parts of an identifier as they stand there; some may hold no word.
pub fn split_parts(name: &str) -> impl Iterator<Item = &str> {
    let hard = |ch: char| matches!(ch, '/' | '.' | ':' | '#' | ' ' | '\\');
    name.split(hard).flat_map(|part| {
        let camel = part.chars().any(char::is_uppercase) && part.chars().any(char::is_lowercase);
        part.split(move |ch| camel && matches!(ch, '_' | '-'))
    })
}

/// What the words of a name say.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameVerbs {
    /// The verb that leads the name, and the part and the word where it stands.
    pub lead: Option<NameVerb>,
    /// The riskiest verb that is tied to it by `and` or `or`, or ends the name.
    pub second: Option<NameVerb>,
    /// The two are one verb: `find_and_replace`.
    pub compound: bool,
}

impl NameVerbs {
    /// The effect of the verb; of two that are tied together the riskier one's, and of `create_or_update` a set.
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

/// A verb and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct NameVerb {
    /// Which.
    pub verb: &'static Verb,
    /// The part of the name.
    pub part: usize,
    /// The word of the part.
    pub word: usize,
}

/// Finds the verb of a name: it leads the last part that begins with one, else stands anywhere as a clear verb, else
/// stands where a noun is unlikely.
#[must_use]
pub fn name_verbs<W: AsRef<str>>(parts: &[Vec<W>]) -> NameVerbs {
    let Some(lead) = lead(parts) else { return NameVerbs::default() };
    let mut reading = NameVerbs { lead: Some(lead), second: None, compound: false };
    let Some(part) = parts.get(lead.part) else { return reading };
    let tied = part.iter().enumerate().skip(lead.word + 1).find_map(|(index, word)| {
        let tie = matches!(word.as_ref(), "and" | "or" | "then");
        let next = part.get(index + 1).and_then(|next| verbs::verb(next.as_ref()));
        next.filter(|_| tie).map(|verb| NameVerb { verb, part: lead.part, word: index + 1 })
    });
    if let Some(tied) = tied {
        reading.second = Some(tied);
        reading.compound = true;
        return reading;
    }
    let last = part.len().saturating_sub(1);
    reading.second = part
        .get(last)
        .filter(|_| last > lead.word)
        .and_then(|word| verbs::verb(word.as_ref()))
        .filter(|verb| verb.weight == Weight::Strong)
        .map(|verb| NameVerb { verb, part: lead.part, word: last });
    reading
}

fn lead<W: AsRef<str>>(parts: &[Vec<W>]) -> Option<NameVerb> {
    leading(parts).or_else(|| anywhere(parts))
}

/// The verb that the last part to begin with one begins with.
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

/// A verb in the middle: a clear one, one glued to its object, else whatever can be a verb, the acting ones first.
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

/// The verb a part begins with, behind words that only modify it.
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
