//! Names operations by their ids, if an id gives a better name than method and path.

use super::path::{Literal, LiteralCache, PathWords, singular_word};
use super::{NameInput, NameWord};
use mcpaql_lexicon::classify::path::is_version;
use mcpaql_lexicon::classify::strip_method;
use mcpaql_lexicon::names::{NameVerb, name_verbs, split_parts};
use mcpaql_lexicon::verbs::{self, VerbTrait, Weight, risk};
use mcpaql_lexicon::{PREPOSITIONS, WordSet, is_plural, plural, singular};

/// Words that generators add to ids.
static NOISE: WordSet = WordSet::of("api controller controllers endpoint method operation rest svc");
/// Words before a noun that add no information.
static ARTICLES: WordSet = WordSet::of("a an one single the");
static IDENTIFIERS: WordSet = WordSet::of("guid id ids key pk sid uuid");
/// Verbs that need the owner of their object to be clear.
static GENERIC_VERBS: WordSet =
    WordSet::of("add check count create delete find get list post remove search set update");
static COLLECTION_VERBS: WordSet = WordSet::of("count find list query search");

/// Returns the names from an id, the shortest first; none if method and path give a better name.
pub(super) fn names<'a>(
    input: &NameInput<'a>,
    method: &str,
    path: &PathWords,
    cache: &mut LiteralCache<'a>,
) -> Vec<Vec<NameWord>> {
    let Some(id) = input.operation_id.map(str::trim).filter(|id| !id.is_empty()) else { return Vec::new() };
    let id = without_path(id, input.path, method);
    let id = strip_method(without_checksum(id), Some(method));
    let mut parts: Vec<Vec<NameWord>> =
        split_parts(id).map(|part| Literal::of(part, cache).words.to_vec()).collect();
    clean(&mut parts);
    if parts.iter().flatten().any(|word| is_code(word)) || repeats_path(&parts, input, method, path) {
        return Vec::new();
    }
    let verbs = name_verbs(&parts);
    let phrase = match verbs.lead.filter(|found| is_real_verb(found, &parts, method)) {
        // Many parts after the verb are a path.
        Some(found) if parts.len() - found.part > 3 => return Vec::new(),
        Some(found) => IdPhrase::of(&parts, found, verbs.second.filter(|_| verbs.compound)),
        // `PostUserBadge`: the method is the verb, and the id splits the nouns better than the path.
        None if starts_with_method(input.operation_id.unwrap_or_default(), method) && parts.len() == 1 => {
            let verb = super::path::verb(input, method, path);
            IdPhrase { modifiers: Vec::new(), verb: verb.into(), groups: Vec::new(), tail: parts.concat() }
        }
        None => return Vec::new(),
    };
    phrase.names(method, path)
}

/// Removes path and method, which one framework appends: `read_pets_v1_pets__get` → `read_pets`.
fn without_path<'i>(id: &'i str, path: &str, method: &str) -> &'i str {
    if !id.to_ascii_lowercase().ends_with(&method.to_ascii_lowercase()) {
        return id;
    }
    let flat: String = path.chars().map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' }).collect();
    let suffix = format!("{flat}_{}", method.to_ascii_lowercase());
    match id.strip_suffix(suffix.as_str()) {
        Some(rest) if rest.len() > 2 => rest,
        _ => id,
    }
}

/// Removes the checksum that some generators append to overloads: `users.getReport-a0ff` → `users.getReport`.
fn without_checksum(id: &str) -> &str {
    match id.rsplit_once('-') {
        Some((rest, tail))
            if tail.len() == 4 && rest.contains('.') && tail.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            rest
        }
        _ => id,
    }
}

fn clean(parts: &mut Vec<Vec<NameWord>>) {
    for part in parts.iter_mut() {
        part.retain(|word| word.is_ascii() && !word.bytes().all(|byte| byte.is_ascii_digit()));
        let version = |word: &NameWord| word.starts_with('v') && word.len() < 5 && is_version(word);
        part.retain(|word| !NOISE.contains(word) && !version(word));
    }
    parts.retain(|part| !part.is_empty());
}

/// Whether the word is a number or a checksum.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 8 && digits >= 3 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the id only repeats method and path, which then give the better name.
fn repeats_path(parts: &[Vec<NameWord>], input: &NameInput<'_>, method: &str, path: &PathWords) -> bool {
    let mut words = parts.iter().flatten().peekable();
    let repeats_method = words.next_if(|word| word.eq_ignore_ascii_case(method)).is_some();
    let rest: Vec<&NameWord> = words.collect();
    // The method may already be stripped from `parts`, so look at the original id, too.
    let starts_with =
        input.operation_id.is_some_and(|id| id.len() >= method.len() && starts_with_method(id, method));
    if !rest.iter().all(|word| path.has(word)) {
        return false;
    }
    let stems: Vec<_> = rest.iter().map(|word| singular(word)).collect();
    let whole = || {
        path.literals.iter().flat_map(Literal::stems).all(|stem| stems.iter().any(|known| **known == **stem))
    };
    let has_method = repeats_method || starts_with;
    rest.is_empty() || (has_method && whole()) || (!has_method && name_verbs(parts).lead.is_none())
}

fn starts_with_method(id: &str, method: &str) -> bool {
    id.get(..method.len()).is_some_and(|start| start.eq_ignore_ascii_case(method))
}

/// Whether the word is used as a verb, not as a noun among other nouns.
fn is_real_verb(found: &NameVerb, parts: &[Vec<NameWord>], method: &str) -> bool {
    let Some(part) = parts.get(found.part) else { return false };
    let leads = part.iter().take(found.word).all(|word| verbs::is_modifier(word));
    let last = found.word + 1 == part.len();
    match found.verb.weight {
        Weight::Strong => {
            leads
                || last
                || found.verb.has(VerbTrait::NeverNoun)
                || GENERIC_VERBS.contains(found.verb.canonical)
        }
        Weight::Doubtful => leads || last,
        Weight::Weak => {
            let acts = risk(found.verb.effect) > 0 && method != "GET";
            (leads && acts && (part.len() > 1 || parts.len() > 1))
                || (last && (acts || found.verb.word == "index") && parts.len() > 1)
        }
    }
}

/// The parts of an id.
struct IdPhrase {
    /// Modifiers of the verb: `batch`, `force`.
    modifiers: Vec<NameWord>,
    verb: NameWord,
    /// The words before the verb, the nearest last.
    groups: Vec<Vec<NameWord>>,
    /// The words after the verb.
    tail: Vec<NameWord>,
}

impl IdPhrase {
    fn of(parts: &[Vec<NameWord>], lead: NameVerb, second: Option<NameVerb>) -> IdPhrase {
        let found = second.unwrap_or(lead);
        let part = parts.get(found.part).map(Vec::as_slice).unwrap_or_default();
        let before = part.get(..lead.word).unwrap_or_default();
        let (mut modifiers, own): (Vec<NameWord>, Vec<NameWord>) =
            before.iter().cloned().partition(|word| verbs::is_modifier(word));
        let mut groups: Vec<Vec<NameWord>> = parts.get(..found.part).unwrap_or_default().to_vec();
        groups.push(own);
        // In `create_or_update` the second verb is the main verb.
        modifiers.extend(part.get(lead.word..found.word).unwrap_or_default().iter().cloned());
        groups.retain(|group| !group.iter().all(|word| GENERIC_VERBS.contains(word)));
        let mut tail: Vec<NameWord> = part.get(found.word + 1..).unwrap_or_default().to_vec();
        tail.extend(parts.iter().skip(found.part + 1).flatten().cloned());
        let word = part.get(found.word).map(|word| &**word).unwrap_or_default();
        if word != found.verb.word {
            // The verb and its object are one word.
            tail.insert(0, word.strip_prefix(found.verb.word).unwrap_or(word).into());
        }
        let mut phrase = IdPhrase { modifiers, verb: found.verb.canonical.into(), groups, tail };
        phrase.remove_fillers();
        phrase
    }

    fn remove_fillers(&mut self) {
        let asks = matches!(&*self.verb, "get" | "find");
        while let Some(word) = self.tail.first().filter(|word| ARTICLES.contains(word)) {
            if asks && matches!(&**word, "one" | "single") {
                self.verb = "get".into();
            }
            self.tail.remove(0);
        }
        if asks && self.tail.first().is_some_and(|word| **word == *"all") {
            self.tail.remove(0);
            self.verb = "list".into();
        }
    }

    fn names(&self, method: &str, path: &PathWords) -> Vec<Vec<NameWord>> {
        let group = self.groups.last().map(Vec::as_slice).unwrap_or_default();
        let long = object(&self.verb, group, &self.tail, path, true);
        let short = object(&self.verb, group, &without_id(&self.tail, group), path, false);
        let mut names: Vec<Vec<NameWord>> =
            [short, long].into_iter().map(|object| self.name(object, method, path)).collect();
        names.dedup();
        names
    }

    fn name(&self, mut object: Vec<NameWord>, method: &str, path: &PathWords) -> Vec<NameWord> {
        let nouns = object.iter().take_while(|word| !PREPOSITIONS.contains(word)).count();
        let last = path.literals.last().and_then(|literal| literal.words.last());
        let head =
            nouns.checked_sub(1).and_then(|head| object.get_mut(head)).filter(|head| last == Some(*head));
        let mut verb = &*self.verb;
        if let Some(head) = head.filter(|head| is_plural(head) && !super::path::is_singular_plural(head)) {
            let single = matches!(verb, "get" | "update" | "delete" | "replace" | "remove");
            if verb == "get" && method == "GET" && !path.item {
                verb = "list";
            } else if (single && path.item)
                || (verb == "create" && method == "POST" && self.modifiers.is_empty())
            {
                *head = singular_word(head);
            }
        }
        [self.modifiers.as_slice(), &[verb.into()], &object].concat()
    }
}

/// Returns the object of the verb.
fn object(verb: &str, group: &[NameWord], tail: &[NameWord], path: &PathWords, whole: bool) -> Vec<NameWord> {
    let preposition = |word: &NameWord| PREPOSITIONS.contains(word);
    let nouns = tail.iter().take_while(|word| !preposition(word)).count();
    let owner = owner(group, path);
    if nouns == 0 {
        let mut object = group.to_vec();
        if let Some(word) = object.last_mut() {
            *word = if COLLECTION_VERBS.contains(verb) { plural(word).into() } else { singular_word(word) };
        }
        object.extend_from_slice(tail);
        return object;
    }
    let is_repeated = group.iter().all(|word| tail.iter().any(|known| singular(known) == singular(word)));
    let needed = owner.is_some()
        || (nouns == 1 && GENERIC_VERBS.contains(verb) && group.iter().any(|word| path.has(word)));
    if is_repeated || !(needed || whole) {
        return tail.to_vec();
    }
    prefixed(&owner.unwrap_or_else(|| group.to_vec()), tail)
}

/// Returns the group in the singular, if it is the owner of something in the path.
fn owner(group: &[NameWord], path: &PathWords) -> Option<Vec<NameWord>> {
    let last = singular_word(group.last()?);
    let owns = path.literals.iter().any(|literal| literal.owner && literal.stems().any(|stem| *stem == last));
    owns.then(|| {
        let before = group.iter().take(group.len() - 1).cloned();
        before.chain([last.clone()]).collect()
    })
}

/// Removes identifiers: `pet by id` → `pet`, `templates by employer id` → `templates by employer`.
fn without_id(tail: &[NameWord], group: &[NameWord]) -> Vec<NameWord> {
    let Some(by) = tail.iter().rposition(|word| **word == *"by") else { return tail.to_vec() };
    let (object, key) = tail.split_at(by);
    if !key.iter().any(|word| IDENTIFIERS.contains(word)) {
        return tail.to_vec();
    }
    let key = key.iter().skip(1).filter(|word| !IDENTIFIERS.contains(word));
    let known: Vec<_> = object.iter().chain(group).map(|word| singular(word)).collect();
    let key: Vec<NameWord> = key.cloned().collect();
    let own = key.iter().all(|word| **word == *"and" || known.contains(&singular(word)));
    if own { object.to_vec() } else { [object, &["by".into()], &key].concat() }
}

fn prefixed(group: &[NameWord], object: &[NameWord]) -> Vec<NameWord> {
    let new = group.iter().filter(|word| !object.iter().any(|known| singular(known) == singular(word)));
    new.cloned().chain(object.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_not_words() {
        assert!(is_code("58d8bcb8a9e6240e200cff28"));
        assert!(!is_code("defaced1"));
        assert!(!is_code("deadline"));
    }
}
