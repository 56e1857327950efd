//! Names operations by their ids, if an id gives a better name than method and path.

use super::path::{Literal, LiteralCache, PathWords, singular_word};
use super::summary::SummaryObject;
use super::verb::{GENERIC_VERBS, IdVerb, id_verb, instead_of_read, summary_verb};
use super::{NameInput, NameWord};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::path::is_version;
use mcpaql_lexicon::classify::strip_method;
use mcpaql_lexicon::names::split_parts;
use mcpaql_lexicon::verbs::{self, VerbTrait, Weight};
use mcpaql_lexicon::{PREPOSITIONS, WordSet, first_words, is_plural, plural, singular};
use std::collections::HashSet;

/// Words for parts of frameworks.
static FRAMEWORK_WORDS: WordSet = WordSet::of("controller controllers viewset");
/// Such words that are also nouns of APIs. They are framework words only at the start or the end of a part of an id.
static FRAMEWORK_NOUNS: WordSet = WordSet::of("api endpoint endpoints method operation rest svc");
/// Such words that end the name of a class.
static CLASS_NOUNS: WordSet =
    WordSet::of("handler impl interface management manager repository resource service storage");
/// Words before a noun that add no information.
static ARTICLES: WordSet = WordSet::of("a all an multiple one several single the");
static IDENTIFIERS: WordSet = WordSet::of("guid id ids key pk sid uuid");
static COLLECTION_VERBS: WordSet = WordSet::of("count find list query search");

/// Returns the names from an id, the shortest first; none if method and path give a better name.
pub(super) fn names<'a>(
    input: &NameInput<'a>,
    method: &str,
    path: &PathWords,
    cache: &mut LiteralCache<'a>,
) -> Vec<Vec<NameWord>> {
    let Some(id) = input.operation_id.map(str::trim).filter(|id| !id.is_empty()) else { return Vec::new() };
    if path.marks_state(method, input) {
        return Vec::new();
    }
    let id = without_path(id, input.path, method);
    let id = strip_method(without_checksum(id), Some(method));
    let mut parts: Vec<Vec<NameWord>> =
        split_parts(id).map(|part| Literal::of(part, cache).words.to_vec()).collect();
    // `Get all employees` is a sentence.
    let starts_with_verb = || parts.iter().flatten().next().is_some_and(|word| verbs::verb(word).is_some());
    if id.contains(' ') && starts_with_verb() {
        parts = vec![parts.concat()];
    }
    let parts = clean(split_at_versions(parts), input, method, path);
    if parts.iter().flatten().any(|word| is_code(word)) {
        return Vec::new();
    }
    let short: Vec<Vec<NameWord>> = without_versions(&parts);
    if let Some(plain) = without_copy_mark(&short)
        && let Some(phrase) = phrase(&plain, input, method, path)
    {
        return names_of_copy(phrase.names(input, method, path), &short, path);
    }
    let Some(phrase) = phrase(&short, input, method, path) else { return Vec::new() };
    let mut names = phrase.names(input, method, path);
    let spelled = names.first().and_then(|name| phrase.spelled_name(name));
    // With its version, if another version of the operation has the same name.
    if short != parts {
        let versioned = self::phrase(&parts, input, method, path);
        names.extend(versioned.into_iter().flat_map(|phrase| phrase.names(input, method, path)));
    }
    names.extend(spelled);
    names
}

/// Returns verb and nouns of an id; `None` if method and path give a better name.
fn phrase(
    parts: &[Vec<NameWord>],
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
) -> Option<IdPhrase> {
    let verb = id_verb(parts, input, method, path);
    // A read whose id acts: the path says better what it is about.
    let acts = |part: &Vec<NameWord>| {
        part.first()
            .and_then(|word| verbs::verb(word))
            .is_some_and(|verb| verb.acts() && verb.word != "generate")
    };
    if verb.is_none() && input.category == Some(Category::Read) && parts.last().is_some_and(acts) {
        return None;
    }
    if repeats_path(parts, input, method, path, verb.is_some()) {
        return None;
    }
    match verb {
        // Many parts after the verb are a path.
        Some(found) if parts.len() - found.part > 3 => None,
        Some(found) => {
            let mut phrase = IdPhrase::of(parts, found);
            phrase.replace_method(input, method, path);
            Some(phrase)
        }
        // `PostUserBadge`: the method is the verb, and the id splits the nouns better than the path.
        None if starts_with_method(input.operation_id.unwrap_or_default(), method) => {
            (parts.len() == 1).then(|| IdPhrase::of_nouns(parts, input, method, path))
        }
        None => is_noun_phrase(parts, input, path).then(|| IdPhrase::of_nouns(parts, input, method, path)),
    }
}

/// Whether an id without a verb is a short noun: `mileage_report`, not `users_user_id_posts`.
fn is_noun_phrase(parts: &[Vec<NameWord>], input: &NameInput<'_>, path: &PathWords) -> bool {
    let words: Vec<&NameWord> = parts.iter().flatten().collect();
    let distinct: HashSet<_> = words.iter().map(|word| singular(word)).collect();
    let is_plain = |word: &&&NameWord| !IDENTIFIERS.contains(word) && !PREPOSITIONS.contains(word);
    let in_summary = |word: &str| first_words(input.summary).any(|known| singular(&known) == singular(word));
    let known = words.iter().filter(|word| path.has(word) || in_summary(word)).count();
    (1..=5).contains(&words.len())
        && distinct.len() == words.len()
        && words.iter().all(|word| is_plain(&word))
        && known * 2 >= words.len()
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

/// Returns the parts without the mark of a second operation with the same name: `delete_album_alt1`.
fn without_copy_mark(parts: &[Vec<NameWord>]) -> Option<Vec<Vec<NameWord>>> {
    let (last, before) = parts.split_last()?;
    let (mark, rest) = last.split_last().filter(|(_, rest)| rest.len() > 1)?;
    let number = ["alt", "copy", "dup"].iter().find_map(|name| mark.strip_prefix(name))?;
    let is_mark = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_mark.then(|| [before, &[rest.to_vec()]].concat())
}

/// Returns names for a second operation with the same name: with an owner of the path, or with its mark.
fn names_of_copy(plain: Vec<Vec<NameWord>>, parts: &[Vec<NameWord>], path: &PathWords) -> Vec<Vec<NameWord>> {
    let Some(name) = plain.first() else { return Vec::new() };
    let deeper = (1..=path.len()).map(|depth| super::path::qualified(name, path, depth));
    let has_owner = |longer: &Vec<NameWord>| longer != name && !longer.iter().any(|word| **word == *"in");
    let mark = parts.last().and_then(|part| part.last()).cloned();
    let marked: Vec<NameWord> = name.iter().cloned().chain(mark).collect();
    deeper.filter(has_owner).chain([marked]).collect()
}

/// Splits a part that has the name of a class, a version and the name of a method: `salesInvoiceRepositoryV1GetList`.
fn split_at_versions(parts: Vec<Vec<NameWord>>) -> Vec<Vec<NameWord>> {
    let split = |part: Vec<NameWord>| {
        let version = part.iter().position(|word| word.starts_with('v') && is_version(word));
        let position = version.filter(|position| {
            *position > 1 && part.get(position + 1).is_some_and(|next| verbs::verb(next).is_some())
        });
        match position {
            Some(position) => {
                let (class, call) = part.split_at(position + 1);
                vec![class.to_vec(), call.to_vec()]
            }
            None => vec![part],
        }
    };
    parts.into_iter().flat_map(split).collect()
}

/// Removes numbers, words of frameworks and a method at the end.
fn clean(
    mut parts: Vec<Vec<NameWord>>,
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
) -> Vec<Vec<NameWord>> {
    for part in &mut parts {
        part.retain(|word| word.is_ascii() && !word.bytes().all(|byte| byte.is_ascii_digit()));
    }
    parts.retain(|part| !part.is_empty());
    let starts_with_verb =
        |part: &[NameWord]| part.len() > 1 && part.first().is_some_and(|word| verbs::verb(word).is_some());
    if let [.., before, last] = parts.as_slice()
        && let [word] = last.as_slice()
        && word.eq_ignore_ascii_case(method)
        && starts_with_verb(before)
        // `ExportConfigurations_Delete` deletes.
        && before.first().and_then(|word| verbs::verb(word)).is_some_and(|verb| verb.weight == Weight::Strong)
    {
        parts.pop();
    }
    let is_noun = |word: &str| {
        let is_never = word == "api" || verbs::verb(word).is_some_and(|verb| verb.has(VerbTrait::NeverNoun));
        path.has(word) || (!is_never && first_words(input.summary).any(|known| known == word))
    };
    // `HeadUserImage`
    if let Some(first) = parts.first_mut()
        && method == "HEAD"
        && first.len() > 1
        && first.first().is_some_and(|word| **word == *"head")
    {
        first.remove(0);
    }
    if let Some(last) = parts.last_mut()
        && starts_with_verb(last)
        && last.last().is_some_and(|word| word.eq_ignore_ascii_case(method) && !is_noun(word))
    {
        last.pop();
    }
    let is_framework = |word: &NameWord| FRAMEWORK_WORDS.contains(word) && !is_noun(word);
    let mut parts: Vec<Vec<NameWord>> =
        parts.iter().flat_map(|part| part.split(&is_framework)).map(<[NameWord]>::to_vec).collect();
    parts.retain(|part| !part.is_empty());
    let count = parts.len();
    for (index, part) in parts.iter_mut().enumerate() {
        let is_class = |word: &NameWord| index + 1 < count && CLASS_NOUNS.contains(word);
        let version = part.pop_if(|word| index + 1 < count && word.starts_with('v') && is_version(word));
        while part.len() > 1
            && part
                .last()
                .is_some_and(|word| (FRAMEWORK_NOUNS.contains(word) || is_class(word)) && !is_noun(word))
        {
            part.pop();
        }
        part.extend(version);
        while (part.len() > 1 || count > 1)
            && index == 0
            && part.first().is_some_and(|word| FRAMEWORK_NOUNS.contains(word) && !is_noun(word))
        {
            part.remove(0);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Removes versions: `v1`, `v2beta1`.
fn without_versions(parts: &[Vec<NameWord>]) -> Vec<Vec<NameWord>> {
    let version = |word: &NameWord| word.len() > 1 && word.starts_with('v') && is_version(word);
    let parts =
        parts.iter().map(|part| part.iter().filter(|word| !version(word)).cloned().collect::<Vec<_>>());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether the word is a number or a checksum.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 8 && digits >= 3 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the id only repeats method and path, which then give the better name.
fn repeats_path(
    parts: &[Vec<NameWord>],
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
    has_verb: bool,
) -> bool {
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
    // `mileage_report` orders the words of `/reports/mileage` better.
    let in_order = || {
        let mut of_path = path.literals.iter().flat_map(Literal::stems);
        stems.iter().all(|word| of_path.any(|stem| **stem == **word))
    };
    let has_method = repeats_method || starts_with;
    // `getPriorities` of `/priority` has the better number.
    let is_more = rest.last().is_some_and(|word| is_plural(word) && !path.ends_with(word));
    if is_more && has_verb && !path.item {
        return false;
    }
    rest.is_empty() || (has_method && whole()) || (!has_method && !has_verb && (in_order() || path.item))
}

fn starts_with_method(id: &str, method: &str) -> bool {
    id.get(..method.len()).is_some_and(|start| start.eq_ignore_ascii_case(method))
}

/// The parts of an id.
struct IdPhrase {
    /// Modifiers of the verb: `batch`, `force`.
    modifiers: Vec<NameWord>,
    verb: NameWord,
    /// The verb as in the id.
    spelled: NameWord,
    /// The words before the verb, the nearest last.
    groups: Vec<Vec<NameWord>>,
    /// The words after the verb.
    tail: Vec<NameWord>,
}

impl IdPhrase {
    fn of(parts: &[Vec<NameWord>], found: IdVerb) -> IdPhrase {
        let part = parts.get(found.part).map(Vec::as_slice).unwrap_or_default();
        let before = part.get(..found.start).unwrap_or_default();
        let (mut modifiers, own): (Vec<NameWord>, Vec<NameWord>) =
            before.iter().cloned().partition(|word| verbs::is_modifier(word));
        let mut groups: Vec<Vec<NameWord>> = parts.get(..found.part).unwrap_or_default().to_vec();
        // In `create_or_update` the second verb is the main verb.
        modifiers.extend(part.get(found.start..found.word).unwrap_or_default().iter().cloned());
        groups.retain(|group| !group.iter().all(|word| GENERIC_VERBS.contains(word)));
        groups.push(own);
        groups.retain(|group| !group.is_empty());
        let mut tail: Vec<NameWord> = part.get(found.word + 1..).unwrap_or_default().to_vec();
        tail.extend(parts.iter().skip(found.part + 1).flatten().cloned());
        let word = part.get(found.word).map(|word| &**word).unwrap_or_default();
        if *word != *found.spelled {
            // The verb and its object are one word.
            tail.insert(0, word.strip_prefix(&*found.spelled).unwrap_or(word).into());
        }
        let mut phrase = IdPhrase { modifiers, verb: found.canonical, spelled: found.spelled, groups, tail };
        phrase.remove_fillers();
        phrase
    }

    /// Returns the phrase of an id without a verb.
    fn of_nouns(parts: &[Vec<NameWord>], input: &NameInput<'_>, method: &str, path: &PathWords) -> IdPhrase {
        let mut nouns = parts.concat();
        let head = nouns.last().cloned().unwrap_or_else(|| "".into());
        let (mut verb, mut single) = super::path::method_verb(input, method, path, &head);
        if let Some(found) = summary_verb(input, method, &head) {
            verb = found.canonical;
            single &= !found.many;
        }
        // `endpoint_new` is already the verb.
        nouns.retain(|word| verbs::verb(word).is_none_or(|known| *known.canonical != *verb));
        if let Some(head) = nouns.last_mut().filter(|_| single) {
            *head = singular_word(head);
        }
        IdPhrase { modifiers: Vec::new(), spelled: verb.clone(), verb, groups: Vec::new(), tail: nouns }
    }

    /// Replaces a verb that only repeats the method: `Templates_PostTemplates`.
    fn replace_method(&mut self, input: &NameInput<'_>, method: &str, path: &PathWords) {
        let is_method = (self.spelled.eq_ignore_ascii_case(method)
            || matches!(&*self.spelled, "put" | "patch"))
            && matches!(method, "POST" | "PUT" | "PATCH");
        let Some(head) = self.tail.last().filter(|_| is_method && input.category.is_some()) else { return };
        if let Some(found) = summary_verb(input, method, head) {
            self.verb = found.canonical;
        } else if path.literals.last().is_some_and(|last| {
            last.stems().all(|stem| self.tail.iter().any(|word| singular(word) == **stem))
        }) {
            self.verb = super::path::method_verb(input, method, path, head).0;
        }
    }

    fn remove_fillers(&mut self) {
        let asks = matches!(&*self.verb, "get" | "find");
        while let Some(word) = self.tail.first().filter(|word| ARTICLES.contains(word)) {
            match &**word {
                "one" | "single" if asks => self.verb = "get".into(),
                "all" | "multiple" | "several" if asks => self.verb = "list".into(),
                // `delete_all_users` is not `delete_users`.
                "all" | "multiple" | "several" => break,
                _ => {}
            }
            self.tail.remove(0);
        }
        // `OrderRepository_getList`
        if asks && matches!(self.tail.as_slice(), [only] if **only == *"list") && !self.groups.is_empty() {
            self.verb = "list".into();
            self.tail.clear();
        }
        // `submit a refund for a payment`
        self.tail.retain(|word| !matches!(&**word, "a" | "an" | "the"));
        let creates = matches!(&*self.verb, "create" | "add") && self.tail.len() > 1;
        self.tail.drain(..usize::from(creates && self.tail.first().is_some_and(|word| **word == *"new")));
    }

    fn names(&self, input: &NameInput<'_>, method: &str, path: &PathWords) -> Vec<Vec<NameWord>> {
        let group = self.group(path);
        let long = object(&self.verb, &group, &self.tail, path, true);
        let short = object(&self.verb, &group, &without_ids(&self.tail, &group, path), path, false);
        let whole: Vec<NameWord> = self.groups.concat();
        let whole = object(&self.verb, &whole, &self.tail, path, true);
        let objects = [short, long, whole].into_iter().map(|object| self.in_number_of_summary(object, input));
        let mut names: Vec<Vec<NameWord>> =
            objects.map(|object| self.name(object, input, method, path)).collect();
        names.dedup();
        names
    }

    /// Returns the object in the plural, if the id has a plural noun before the verb and the summary, too:
    /// `recordingSettingsUpdate`.
    fn in_number_of_summary(&self, mut object: Vec<NameWord>, input: &NameInput<'_>) -> Vec<NameWord> {
        let Some(head) = object.last_mut().filter(|_| self.tail.is_empty()) else { return object };
        let many = plural(head);
        let in_id = self.groups.last().and_then(|group| group.last()).is_some_and(|word| **word == *many);
        let in_summary = || first_words(input.summary).take(8).any(|word| *word == *many);
        let is_known = in_id && (super::path::is_singular_plural(&many) || in_summary());
        if is_known && !matches!(&*self.verb, "create" | "add") {
            *head = many.into();
        }
        object
    }

    /// Returns a name with the verb of the id, because `edit` and `update` of one thing are two operations.
    fn spelled_name(&self, name: &[NameWord]) -> Option<Vec<NameWord>> {
        let mut name = name.to_vec();
        let verb = name.get_mut(self.modifiers.len()).filter(|verb| **verb == self.verb)?;
        if *self.verb == *"get" || self.spelled == self.verb {
            return None;
        }
        verb.clone_from(&self.spelled);
        Some(name)
    }

    /// Returns the words of the nearest group. An adjective precedes the noun before it: `requests.denied.list`.
    fn group(&self, path: &PathWords) -> Vec<NameWord> {
        let mut group = match self.groups.as_slice() {
            [.., noun, last] if last.iter().all(is_adjective) => [noun.as_slice(), last].concat(),
            [.., last] => last.clone(),
            [] => Vec::new(),
        };
        let adjectives = group.iter().rev().take_while(|word| is_adjective(word)).count();
        if adjectives < group.len() {
            group.rotate_right(adjectives);
        }
        // In `admin.apps.requests`, apps own requests.
        let owners = group.len().saturating_sub(1);
        for word in group.iter_mut().take(owners).filter(|word| path.is_owner(word)) {
            *word = singular_word(word);
        }
        group
    }

    fn name(
        &self,
        mut object: Vec<NameWord>,
        input: &NameInput<'_>,
        method: &str,
        path: &PathWords,
    ) -> Vec<NameWord> {
        if object.is_empty() {
            object = path.object_of(&self.verb);
        }
        let mut nouns = object.iter().take_while(|word| !PREPOSITIONS.contains(word)).count();
        // `albums tracks` of `/albums/{id}/tracks` are tracks of one album.
        for word in object.iter_mut().take(nouns.saturating_sub(1)).filter(|word| path.owns(word)) {
            *word = singular_word(word);
        }
        if method == "DELETE" && !path.item {
            nouns -= plural_instead_of_collection(&mut object, nouns, path);
        }
        let mut verb = self.verb.clone();
        let noun = nouns.checked_sub(1).and_then(|head| object.get(head)).cloned();
        if let Some(other) = instead_of_read(&verb, input, method, noun.as_ref()) {
            verb = other;
        }
        // `teams_by_year` are many.
        let by_key = object.iter().any(|word| **word == *"by");
        let head = nouns.checked_sub(1).and_then(|head| object.get_mut(head));
        if let Some(head) = head.filter(|head| !super::path::is_singular_plural(head)) {
            let single = matches!(&*verb, "get" | "update" | "delete" | "replace" | "remove");
            let is_last = path.ends_with(head);
            let is_list = SummaryObject::of(input.summary)
                .is_some_and(|object| object.listed || (object.many && object.is_about(head)));
            if !is_last && is_plural(head) && is_list && *verb == *"get" && method == "GET" && !path.item {
                verb = "list".into();
            } else if is_last && is_plural(head) {
                if *verb == *"get" && method == "GET" && !path.item {
                    verb = "list".into();
                } else if (single && path.item && !by_key)
                    || (*verb == *"create" && method == "POST" && self.modifiers.is_empty())
                {
                    *head = singular_word(head);
                }
            } else if *verb == *"list" && path.ends_with(&plural(head)) {
                *head = plural(head).into();
            }
        }
        if *verb == *"list" {
            adjective_first(&mut object, path);
        }
        [self.modifiers.as_slice(), &[verb], &object].concat()
    }
}

/// Replaces the word `collection` by a plural noun, and returns the number of removed words: `delete collection IP address` of
/// `/ipaddresses` deletes IP addresses.
fn plural_instead_of_collection(object: &mut Vec<NameWord>, nouns: usize, path: &PathWords) -> usize {
    let Some(position) = object.iter().take(nouns.saturating_sub(1)).position(|word| **word == *"collection")
    else {
        return 0;
    };
    let head = nouns.checked_sub(1).and_then(|head| object.get_mut(head));
    let Some(head) = head.filter(|head| path.ends_with(&plural(head))) else { return 0 };
    *head = plural(head).into();
    object.remove(position);
    1
}

/// Moves an adjective at the end of the path before its noun: `PhoneNumberLocal` of `/PhoneNumbers/Local` is a local phone
/// number.
fn adjective_first(object: &mut [NameWord], path: &PathWords) {
    let [.., noun, adjective] = path.literals.as_slice() else { return };
    let count = adjective.words.len();
    let start = object.len().saturating_sub(count);
    if path.item || !super::path::is_adjective(&adjective.words) || !object.ends_with(&adjective.words) {
        return;
    }
    let Some(head) = start.checked_sub(1).and_then(|head| object.get_mut(head)) else { return };
    if noun.words.last().is_some_and(|word| singular(word) == singular(head)) {
        *head = plural(head).into();
        object.rotate_right(count);
    }
}

/// Whether a word is an adjective, such as a participle: `denied`, `archived`.
fn is_adjective(word: &NameWord) -> bool {
    super::path::is_adjective(std::slice::from_ref(word)) || super::path::is_participle(word)
}

/// Returns the object of the verb.
fn object(verb: &str, group: &[NameWord], tail: &[NameWord], path: &PathWords, whole: bool) -> Vec<NameWord> {
    let preposition = |word: &NameWord| PREPOSITIONS.contains(word);
    let nouns = tail.iter().take_while(|word| !preposition(word)).count();
    let owner = owner(group, path);
    if nouns == 0 {
        let mut object = group.to_vec();
        if let Some(word) = object.last_mut() {
            *word = match COLLECTION_VERBS.contains(verb) {
                true if super::path::is_participle(word) => word.clone(),
                true => plural(word).into(),
                false => singular_word(word),
            };
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
    let mut group = owner.unwrap_or_else(|| group.to_vec());
    if let Some(last) = group.last_mut().filter(|word| path.is_owner(word)) {
        *last = singular_word(last);
    }
    prefixed(&group, tail)
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

/// Removes the identifiers of all keys: `card item by id card by id item` → `card item`. A last key that is no identifier
/// is a part of the object, if the path ends with two placeholders: `cards by id card by field` → `card field`.
fn without_ids(tail: &[NameWord], group: &[NameWord], path: &PathWords) -> Vec<NameWord> {
    let keys = tail.iter().filter(|word| ***word == *"by").count();
    if keys < 2 {
        return without_id(tail, group);
    }
    let mut parts = tail.split(|word| **word == *"by");
    let mut object = parts.next().unwrap_or_default().to_vec();
    let known: Vec<_> = object.iter().chain(group).map(|word| singular(word).into_owned()).collect();
    let is_known =
        |word: &NameWord| known.iter().any(|noun| singular(word) == *noun || is_short_for(word, noun));
    let has_id = |key: &[NameWord]| key.iter().any(|word| IDENTIFIERS.contains(word));
    let is_own = |key: &[NameWord]| {
        has_id(key)
            && key.iter().all(|word| {
                IDENTIFIERS.contains(word)
                    || is_known(word)
                    || path.params.iter().any(|param| param.words.contains(word))
            })
    };
    let other: Vec<&[NameWord]> = parts.filter(|key| !is_own(key)).collect();
    if let ([key], true) = (other.as_slice(), path.ends_with_two_params())
        && !has_id(key)
    {
        if let Some(head) = object.last_mut() {
            *head = singular_word(head);
        }
        object.extend_from_slice(key);
        return object;
    }
    for key in other {
        object.push("by".into());
        object.extend_from_slice(key);
    }
    object
}

/// Whether a word is the start of a noun: `org`, `organization`.
fn is_short_for(word: &str, noun: &str) -> bool {
    word.len() >= 3 && noun.starts_with(word)
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
    let is_known =
        |word: &NameWord| known.iter().any(|noun| **noun == *singular(word) || is_short_for(word, noun));
    let own = key.iter().all(|word| **word == *"and" || is_known(word));
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
