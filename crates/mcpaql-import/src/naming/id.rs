//! Names from operation ids, where an id says more than method and path.

use super::path::{Literal, LiteralCache, PathWords, singular_word};
use super::{NameInput, NameWord};
use mcpaql_lexicon::classify::path::is_version;
use mcpaql_lexicon::classify::strip_method;
use mcpaql_lexicon::names::{NameVerb, name_verbs, split_parts};
use mcpaql_lexicon::verbs::{self, VerbTrait, Weight, risk};
use mcpaql_lexicon::{PREPOSITIONS, WordSet, is_plural, plural, singular};

/// What generators add to ids.
static NOISE: WordSet = WordSet::of("api controller controllers endpoint method operation rest svc");
/// Words before a noun that add nothing.
static ARTICLES: WordSet = WordSet::of("a an one single the");
static IDENTIFIERS: WordSet = WordSet::of("guid id ids key pk sid uuid");
/// Verbs that need their object's owner to say anything.
static GENERIC_VERBS: WordSet =
    WordSet::of("add check count create delete find get list post remove search set update");
static COLLECTION_VERBS: WordSet = WordSet::of("count find list query search");

/// The names that an id gives, the shortest first; none where method and path say it better.
pub(super) fn names<'a>(
    input: &NameInput<'a>,
    method: &str,
    path: &PathWords,
    known: &mut LiteralCache<'a>,
) -> Vec<Vec<NameWord>> {
    let Some(id) = input.operation_id.map(str::trim).filter(|id| !id.is_empty()) else { return Vec::new() };
    let id = without_path(id, input.path, method);
    let id = strip_method(without_checksum(id), Some(method));
    let mut parts: Vec<Vec<NameWord>> =
        split_parts(id).map(|part| Literal::of(part, known).words.to_vec()).collect();
    clean(&mut parts);
    if parts.iter().flatten().any(|word| is_code(word)) || repeats_path(&parts, input, method, path) {
        return Vec::new();
    }
    let said = name_verbs(&parts);
    let phrase = match said.lead.filter(|found| is_real_verb(found, &parts, method)) {
        // What stands behind the verb in many parts is a path.
        Some(found) if parts.len() - found.part > 3 => return Vec::new(),
        Some(found) => IdPhrase::of(&parts, found, said.second.filter(|_| said.compound)),
        // `PostUserBadge`: the method is the verb, and the id still divides the nouns better than the path.
        None if starts_with_method(input.operation_id.unwrap_or_default(), method) && parts.len() == 1 => {
            let verb = super::path::verb(input, method, path);
            IdPhrase { modifiers: Vec::new(), verb: verb.into(), groups: Vec::new(), tail: parts.concat() }
        }
        None => return Vec::new(),
    };
    phrase.names(method, path)
}

/// `read_pets_v1_pets__get` → `read_pets`: one framework appends path and method.
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

/// `users.getReport-a0ff` → `users.getReport`: some generators tell overloads apart by a checksum.
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

/// A number or a checksum instead of a word.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 8 && digits >= 3 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the id only repeats method and path: then those say the same in better English.
fn repeats_path(parts: &[Vec<NameWord>], input: &NameInput<'_>, method: &str, path: &PathWords) -> bool {
    let mut words = parts.iter().flatten().peekable();
    let echo = words.next_if(|word| word.eq_ignore_ascii_case(method)).is_some();
    let rest: Vec<&NameWord> = words.collect();
    // What was before the method is gone already; an id that began with it is as long as its rest now.
    let bare =
        input.operation_id.is_some_and(|id| id.len() >= method.len() && starts_with_method(id, method));
    if !rest.iter().all(|word| path.has(word)) {
        return false;
    }
    let stems: Vec<_> = rest.iter().map(|word| singular(word)).collect();
    let whole = || {
        path.literals.iter().flat_map(Literal::stems).all(|stem| stems.iter().any(|known| **known == **stem))
    };
    rest.is_empty() || ((echo || bare) && whole()) || (!echo && !bare && name_verbs(parts).lead.is_none())
}

fn starts_with_method(id: &str, method: &str) -> bool {
    id.get(..method.len()).is_some_and(|start| start.eq_ignore_ascii_case(method))
}

/// Whether the verb found is one, and not a noun in the middle of nouns.
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

/// An id, taken apart.
struct IdPhrase {
    /// How it is done: `batch`, `force`.
    modifiers: Vec<NameWord>,
    verb: NameWord,
    /// What stands before the verb, the nearest last.
    groups: Vec<Vec<NameWord>>,
    /// What stands behind it.
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
        // Of `create_or_update` the second verb is the verb.
        modifiers.extend(part.get(lead.word..found.word).unwrap_or_default().iter().cloned());
        groups.retain(|group| !group.iter().all(|word| GENERIC_VERBS.contains(word)));
        let mut tail: Vec<NameWord> = part.get(found.word + 1..).unwrap_or_default().to_vec();
        tail.extend(parts.iter().skip(found.part + 1).flatten().cloned());
        let word = part.get(found.word).map(|word| &**word).unwrap_or_default();
        if word != found.verb.word {
            // The verb is glued to its object.
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

/// What the verb acts on.
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
    let said = group.iter().all(|word| tail.iter().any(|known| singular(known) == singular(word)));
    let needed = owner.is_some()
        || (nouns == 1 && GENERIC_VERBS.contains(verb) && group.iter().any(|word| path.has(word)));
    if said || !(needed || whole) {
        return tail.to_vec();
    }
    prefixed(&owner.unwrap_or_else(|| group.to_vec()), tail)
}

/// The group as a thing that has parts, where the path says that it is one.
fn owner(group: &[NameWord], path: &PathWords) -> Option<Vec<NameWord>> {
    let last = singular_word(group.last()?);
    let owns = path.literals.iter().any(|literal| literal.owner && literal.stems().any(|stem| *stem == last));
    owns.then(|| {
        let before = group.iter().take(group.len() - 1).cloned();
        before.chain([last.clone()]).collect()
    })
}

/// `pet by id` → `pet`, `templates by employer id` → `templates by employer`.
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
