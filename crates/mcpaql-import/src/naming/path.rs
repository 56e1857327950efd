//! Names operations by method and path: `GET /movie/{id}/keywords` → `list_movie_keywords`.

use super::summary::SummaryObject;
use super::verb::{instead_of_read, is_described_as_read, path_action, summary_verb};
use super::{NameInput, NameWord};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::path::is_version;
use mcpaql_lexicon::names::opening_action;
use mcpaql_lexicon::verbs;
use mcpaql_lexicon::{PREPOSITIONS, WordSet, is_plural, plural, singular, words};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// Words at the start of paths that add no information.
static NOISE: WordSet = WordSet::of("api rest apis json xml public services providers");
/// Plural nouns for a single resource.
static SINGULAR_PLURALS: WordSet = WordSet::of(
    "settings preferences details credentials properties contents sales totals specs terms capabilities permissions \
     statistics stats analytics metrics",
);
/// Adjectives, which follow the noun in paths and precede it in names.
static ADJECTIVES: WordSet = WordSet::of(
    "active airing_today all archived current deleted favorite featured latest now_playing on_the_air pending \
     popular public random recent recommended remote scheduled similar top_rated trending upcoming annual daily hourly local \
     mobile monthly national toll_free weekly yearly",
);

/// The words of a path.
#[derive(Debug, Clone, Default)]
pub(super) struct PathWords {
    /// Parts that are not placeholders, without versions and noise.
    pub(super) literals: Vec<Literal>,
    /// The names of placeholders.
    pub(super) params: Vec<Literal>,
    /// Whether the path ends with a placeholder.
    pub(super) item: bool,
    /// Whether the path is the name of a call: `/users.list`.
    pub(super) is_call: bool,
    /// The number of placeholders at the end.
    trailing_params: usize,
}

/// A part of a path that is not a placeholder.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    /// The words.
    pub(super) words: Rc<[NameWord]>,
    /// The words in the singular.
    stems: Rc<[NameWord]>,
    /// Whether a placeholder follows, so that it owns what comes after it.
    pub(super) owner: bool,
}

/// The words of known parts, because a document repeats a few hundred parts thousands of times.
pub(super) type LiteralCache<'a> = HashMap<&'a str, Literal>;

impl PathWords {
    pub(super) fn of<'a>(path: &'a str, cache: &mut LiteralCache<'a>) -> PathWords {
        let mut found = PathWords::default();
        let (plain, argument) = match path.split_once(['#', '?']) {
            Some((plain, rest)) => (plain, rest.split('&').find_map(|pair| pair.split_once('='))),
            None => (path, None),
        };
        for segment in plain.split('/').filter(|segment| !segment.is_empty()) {
            found.segment(segment, cache);
        }
        if let Some((_, value)) = argument.filter(|(_, value)| !value.starts_with('{')) {
            found.literal(value.rsplit('.').next().unwrap_or(value), cache);
        }
        found
    }

    /// Whether the path ends with two placeholders: `/cards/{card}/{field}`.
    pub(super) fn ends_with_two_params(&self) -> bool {
        self.trailing_params == 2
    }

    /// Whether the operation marks something as read: `POST /messages/{id}/read`.
    pub(super) fn marks_state(&self, method: &str, input: &NameInput<'_>) -> bool {
        let is_state =
            |last: &Literal| matches!(&*last.words, [word] if matches!(&**word, "read" | "seen" | "unread"));
        matches!(method, "POST" | "PUT" | "PATCH")
            && !self.item
            && self.len() > 1
            && input.category.is_some_and(|category| category != Category::Read)
            && self.literals.last().is_some_and(is_state)
    }

    pub(super) fn len(&self) -> usize {
        self.literals.len()
    }

    fn segment<'a>(&mut self, segment: &'a str, cache: &mut LiteralCache<'a>) {
        let segment = segment.split('(').next().unwrap_or(segment);
        if let Some(rest) = segment.strip_prefix('{') {
            let (name, rest) = rest.split_once('}').unwrap_or((rest, ""));
            self.placeholder(name, cache);
            // Other text after a placeholder, as in `{id}.json` and `{from}..{to}`, is part of the value.
            if let Some(verb) = rest.strip_prefix(':') {
                self.literal(verb, cache);
            }
        } else if let Some(name) = segment.strip_prefix(':') {
            self.placeholder(name, cache);
        } else {
            let segment = segment.strip_prefix("microsoft.graph.").unwrap_or(segment);
            let parts = segment.split(['.', ':']).filter(|part| !matches!(*part, "json" | "xml" | "php"));
            let is_method = segment.contains(':');
            self.is_call = self.params.is_empty() && !is_method && parts.clone().count() > 1;
            for part in parts {
                self.literal(part.split('{').next().unwrap_or(part), cache);
            }
        }
    }

    fn placeholder<'a>(&mut self, name: &'a str, cache: &mut LiteralCache<'a>) {
        self.params.push(Literal::of(name, cache));
        self.item = true;
        self.trailing_params += 1;
        if let Some(last) = self.literals.last_mut() {
            last.owner = true;
        }
    }

    fn literal<'a>(&mut self, text: &'a str, cache: &mut LiteralCache<'a>) {
        let literal = Literal::of(text, cache);
        let version = literal.words.iter().all(|word| is_version(word));
        let noise = || literal.words.iter().all(|word| is_version(word) || NOISE.contains(word));
        if version || (self.literals.is_empty() && noise()) {
            return;
        }
        self.item = false;
        self.trailing_params = 0;
        self.literals.push(literal);
    }

    /// Whether this word is a part of the path that owns what follows: a part of a call, or a part before a placeholder.
    pub(super) fn is_owner(&self, word: &str) -> bool {
        let is_part = |literal: &Literal| {
            (self.is_call || literal.owner) && matches!(&*literal.words, [only] if **only == *word)
        };
        !is_singular_plural(word) && self.literals.iter().any(is_part)
    }

    /// Whether this plural noun owns what follows, in singular or plural.
    pub(super) fn owns(&self, word: &str) -> bool {
        let one = singular(word);
        let is_owner =
            |literal: &Literal| literal.owner && matches!(&*literal.stems, [only] if **only == *one);
        is_plural(word) && !is_singular_plural(word) && self.literals.iter().any(is_owner)
    }

    /// Whether the last part ends with this word, also if it is glued to others: `horizontalpodautoscalers`.
    pub(super) fn ends_with(&self, word: &str) -> bool {
        let last = self.literals.last().and_then(|literal| literal.words.last());
        last.is_some_and(|last| **last == *word || (word.len() > 3 && last.ends_with(word)))
    }

    /// Returns the noun of a call that is only a verb: `start` of `/jobs/{id}/start` starts a job.
    pub(super) fn object_of(&self, verb: &str) -> Vec<NameWord> {
        let Some((last, before)) = self.literals.split_last() else { return Vec::new() };
        if !last.words.iter().any(|word| **word == *verb) {
            return if self.item { last.singular_words() } else { last.words.to_vec() };
        }
        before.last().filter(|literal| literal.owner).map(Literal::singular_words).unwrap_or_default()
    }

    /// Whether the path, including placeholders, contains the word in singular or plural.
    pub(super) fn has(&self, word: &str) -> bool {
        let one = singular(word);
        self.literals.iter().chain(&self.params).flat_map(|part| part.stems.iter()).any(|stem| **stem == *one)
    }
}

impl Literal {
    /// Returns the words, the last one in the singular.
    fn singular_words(&self) -> Vec<NameWord> {
        let mut words = self.words.to_vec();
        if let (Some(word), Some(stem)) = (words.last_mut(), self.stems.last()) {
            word.clone_from(stem);
        }
        words
    }

    /// Returns the words in the singular.
    pub(super) fn stems(&self) -> impl Iterator<Item = &NameWord> {
        self.stems.iter()
    }

    pub(super) fn of<'a>(text: &'a str, cache: &mut LiteralCache<'a>) -> Literal {
        let make = || {
            let words: Rc<[NameWord]> =
                words(text).into_iter().filter(|word| word.is_ascii()).map(NameWord::from).collect();
            let stems = words.iter().map(singular_word).collect();
            Literal { words, stems, owner: false }
        };
        cache.entry(text).or_insert_with(make).clone()
    }
}

/// Returns the name with this number of parents of the last part.
pub(super) fn name(input: &NameInput<'_>, method: &str, path: &PathWords, parents: usize) -> Vec<NameWord> {
    let Some((last, before)) = path.literals.split_last() else { return name_from_tag(input, method, path) };
    let ancestors = |count: usize, of: &[Literal]| -> Vec<NameWord> {
        let owned = of.iter().skip(of.len().saturating_sub(count));
        owned
            .flat_map(|literal| if path.is_call { literal.singular_words() } else { noun(literal) })
            .collect()
    };
    if path.marks_state(method, input) {
        let object = ancestors(parents, before);
        return [&[NameWord::from("mark")], &*object, &[NameWord::from("as")], &*last.words].concat();
    }
    if let Some(action) = path_action(input, method, path) {
        let mut name: Vec<NameWord> = last.words.iter().take(action.word).cloned().collect();
        let before = match before.split_last() {
            // `/findings/bulk/update`
            Some((modifier, before)) if matches!(&*modifier.words, [word] if verbs::is_modifier(word)) => {
                name.extend(modifier.words.iter().cloned());
                before
            }
            _ => before,
        };
        let is_single = name.is_empty();
        name.push(action.canonical);
        let rest: Vec<NameWord> = last.words.iter().skip(action.word + 1).cloned().collect();
        let kept = if rest.is_empty() || parents > 1 { parents } else { 0 };
        // `/files.remote.share` shares a remote file.
        let mut object = match before.split_last() {
            Some((adjective, before)) if kept > 0 && !adjective.owner && is_adjective(&adjective.words) => {
                [adjective.words.to_vec(), ancestors(kept, before)].concat()
            }
            _ => ancestors(kept, before),
        };
        if let (true, Some(word)) = (rest.is_empty(), object.last_mut()) {
            if action.many {
                *word = plural(word).into();
            } else if is_single {
                *word = singular_word(word);
            }
        }
        name.extend(join_words(object, rest));
        return name;
    }
    // `/search/movie`: the verb precedes its object.
    if let Some(position) = before
        .iter()
        .rposition(|literal| matches!(&*literal.words, [word] if **word == *"search") && !literal.owner)
        && !path.item
    {
        let mut object: Vec<NameWord> = before
            .iter()
            .skip(position + 1)
            .chain([last])
            .flat_map(|part| part.words.iter().cloned())
            .collect();
        if let Some(word) = object.last_mut() {
            *word = plural(word).into();
        }
        object.insert(0, "search".into());
        return object;
    }
    let is_state = matches!(&*last.words, [word] if is_participle(word))
        && before
            .last()
            .is_some_and(|noun| !noun.owner && noun.words.last().is_some_and(|word| is_plural(word)));
    let adjective = (is_state || ADJECTIVES.contains(&last.words.join("_"))) && !path.item;
    if let (true, "GET", Some((noun_part, before))) = (adjective, method, before.split_last()) {
        let single = matches!(last.words.join("_").as_str(), "latest" | "current" | "random");
        let mut object = [ancestors(parents.saturating_sub(1), before), noun_part.words.to_vec()].concat();
        if let Some(word) = object.last_mut() {
            *word = if single { singular_word(word) } else { plural(word).into() };
        }
        let verb = if single { "get" } else { "list" };
        return [&[verb.into()], &*last.words, &object].concat();
    }
    let noun = last.words.last().map(|word| &**word).unwrap_or_default();
    if let Some(name) = verb_of_noun(input, method, path, noun) {
        return name;
    }
    let (mut verb, mut single) = method_verb(input, method, path, noun);
    if let Some(found) = summary_verb(input, method, noun) {
        verb = found.canonical;
        single &= !found.many;
    }
    let mut child = if single { last.singular_words() } else { last.words.to_vec() };
    let mut parent = ancestors(parents, before);
    if let Some(object) = SummaryObject::of(input.summary) {
        if object.is_about(noun) {
            (verb, child) = with_number(&object, verb, child, method, path);
        }
        // "Set the Jira service" of `/services/jira`
        if last.stems.iter().all(|stem| object.has(stem)) && object.words.iter().any(|word| path.has(word)) {
            let head = object.words.last().is_some_and(|head| path.has(head));
            if head && (object.words.len() > child.len()) {
                let other = |literal: &&Literal| !literal.words.iter().any(|word| object.has(word));
                let others: Vec<Literal> = before.iter().filter(other).cloned().collect();
                parent = ancestors(parents.min(others.len()), &others);
                child = in_number_of(&child, object.words);
            }
        }
    }
    let mut name = join_words(parent, child);
    name.insert(0, verb);
    name
}

/// Returns a name with the verb whose noun ends the path: "Block a domain" of `POST /domain_blocks`.
fn verb_of_noun(input: &NameInput<'_>, method: &str, path: &PathWords, noun: &str) -> Option<Vec<NameWord>> {
    let base = opening_action(input.summary)
        .filter(|base| method == "POST" && !path.item && **base == *singular(noun))?;
    let verb = verbs::verb(&base).filter(|verb| Some(verb.category()) == input.category)?;
    let object =
        SummaryObject::of(input.summary).filter(|object| object.words.iter().all(|word| path.has(word)))?;
    Some(std::iter::once(verb.canonical.into()).chain(object.words).collect())
}

/// Returns verb and noun in the number of the summary: "Delete a file" of `/files`, "Get the sessions of a client" of
/// `/sessions/{client}`.
fn with_number(
    object: &SummaryObject,
    verb: NameWord,
    mut child: Vec<NameWord>,
    method: &str,
    path: &PathWords,
) -> (NameWord, Vec<NameWord>) {
    let Some(head) = child.last_mut().filter(|head| !is_singular_plural(head)) else { return (verb, child) };
    let own_key = || {
        let one = singular(head);
        path.params.last().is_none_or(|param| {
            param.stems.iter().any(|stem| **stem == *one)
                || matches!(&*param.words, [only] if is_identifier(only))
        })
    };
    match (method, object.many, path.item) {
        ("GET", true, true) if *verb == *"get" && !own_key() => {
            *head = plural(head).into();
            ("list".into(), child)
        }
        ("GET", true, false) if *verb == *"get" => {
            *head = plural(head).into();
            ("list".into(), child)
        }
        ("DELETE", false, false) => {
            *head = singular_word(head);
            (verb, child)
        }
        _ => (verb, child),
    }
}

fn is_identifier(word: &str) -> bool {
    matches!(word, "id" | "guid" | "key" | "name" | "pk" | "sid" | "slug" | "uuid")
}

/// Returns the words with their last one in the number of the other words.
fn in_number_of(other: &[NameWord], mut words: Vec<NameWord>) -> Vec<NameWord> {
    let is_many = other.last().is_some_and(|word| is_plural(word));
    if let Some(head) =
        words.last_mut().filter(|head| other.iter().any(|word| singular(word) == singular(head)))
    {
        *head = if is_many { plural(head).into() } else { singular_word(head) };
    }
    words
}

/// Appends the words of up to `depth` parents that the name does not have yet.
pub(super) fn qualified(words: &[NameWord], path: &PathWords, depth: usize) -> Vec<NameWord> {
    let skipped = path.literals.len().saturating_sub(depth);
    let parts = path.literals.iter().skip(skipped);
    let is_known =
        |word: &NameWord| words.iter().any(|known| known == word || singular(known) == singular(word));
    // `get_meeting_recording` reads better than `get_recording_in_meeting`.
    let (Some((verb, object)), true) = (
        words.split_first(),
        parts.clone().all(|part| part.owner || is_caller(part) || part.stems.iter().all(&is_known)),
    ) else {
        return with_more(words, parts.flat_map(noun));
    };
    let owners = parts.flat_map(noun).filter(|word| !is_known(word)).map(|word| match &*word {
        "me" | "mine" | "self" => "my".into(),
        _ => word,
    });
    let takes_owner = verbs::verb(verb).is_some()
        && !object.iter().any(|word| PREPOSITIONS.contains(word) || matches!(&**word, "if" | "whether"));
    match takes_owner {
        true => std::iter::once(verb.clone()).chain(owners).chain(object.iter().cloned()).collect(),
        false => with_more(words, owners),
    }
}

/// Whether a part of a path is the caller: `/me/albums`.
fn is_caller(literal: &Literal) -> bool {
    matches!(&*literal.words, [word] if matches!(&**word, "me" | "mine" | "self"))
}

/// Appends the words of a tag that the name does not have yet.
pub(super) fn tagged(name: &[NameWord], tag: &str) -> Vec<NameWord> {
    with_more(name, words(tag).into_iter().map(NameWord::from))
}

fn with_more(words: &[NameWord], more: impl Iterator<Item = NameWord>) -> Vec<NameWord> {
    let more: Vec<NameWord> =
        more.filter(|word| !words.iter().any(|known| known == word || *singular(known) == **word)).collect();
    if more.is_empty() {
        return words.to_vec();
    }
    [words, &["in".into()], &more].concat()
}

/// Returns names with placeholders, which distinguish `/a/{id}` from `/a/{name}`.
pub(super) fn with_params(input: &NameInput<'_>, method: &str, path: &PathWords) -> Vec<Vec<NameWord>> {
    let base = name(input, method, path, 1);
    let whole = name(input, method, path, path.len());
    let Some(last) = path.params.last() else { return Vec::new() };
    let by = |words: Vec<NameWord>, params: Vec<NameWord>| [words, vec!["by".into()], params].concat();
    let all = path.params.iter().flat_map(|param| param.words.iter().cloned()).collect();
    vec![by(base, last.words.to_vec()), by(whole.clone(), last.words.to_vec()), by(whole, all)]
}

/// Returns the name for a path without words; the noun is the tag.
fn name_from_tag(input: &NameInput<'_>, method: &str, path: &PathWords) -> Vec<NameWord> {
    let verb = match method {
        "GET" => "get",
        "PUT" | "PATCH" => "update",
        "DELETE" => "delete",
        _ => "call",
    };
    let tag = input.tags.first().map(|tag| words(tag)).unwrap_or_default();
    let mut noun: Vec<NameWord> =
        tag.into_iter().filter(|word| word.is_ascii()).map(NameWord::from).collect();
    if noun.is_empty() {
        noun = path.params.last().map_or_else(|| vec!["root".into()], |param| param.words.to_vec());
    }
    noun.insert(0, verb.into());
    noun
}

/// Returns the verb for the method and the category at this path, and whether its noun is singular.
pub(super) fn method_verb(
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
    noun: &str,
) -> (NameWord, bool) {
    let many = is_plural(noun) && !SINGULAR_PLURALS.contains(noun);
    let (verb, single) = match (method, path.item) {
        ("GET", true) => ("get", true),
        ("GET", false) if many => ("list", false),
        ("GET", false) => ("get", false),
        ("HEAD", _) => ("check", path.item),
        ("OPTIONS" | "TRACE", _) => ("inspect", path.item),
        ("PUT" | "PATCH", item) => ("update", item),
        ("DELETE", item) => ("delete", item),
        (_, item) => match input.category {
            Some(Category::Read) => ("query", item),
            Some(Category::Execute) if is_described_as_read(input) => ("request", item),
            Some(Category::Execute) => ("run", true),
            Some(Category::Delete) => ("delete", item),
            Some(Category::Update) => ("update", item),
            _ if item => ("update", true),
            _ => ("create", true),
        },
    };
    (instead_of_read(verb, input, method, None).unwrap_or_else(|| verb.into()), single)
}

fn noun(literal: &Literal) -> Vec<NameWord> {
    if literal.owner { literal.singular_words() } else { literal.words.to_vec() }
}

/// Returns the word in the singular.
pub(super) fn singular_word(word: &NameWord) -> NameWord {
    match singular(word) {
        Cow::Borrowed(same) if *same == **word => word.clone(),
        stem => stem.into(),
    }
}

/// Joins parent and child without repeating the parent: `/movie/{id}/movie_credits`.
fn join_words(parent: Vec<NameWord>, child: Vec<NameWord>) -> Vec<NameWord> {
    let repeats =
        child.first().is_some_and(|word| parent.last().is_some_and(|last| singular(last) == singular(word)));
    let keep = if repeats { parent.len().saturating_sub(1) } else { parent.len() };
    parent.into_iter().take(keep).chain(child).collect()
}

/// Whether a word is a past participle: `denied`, `archived`, `sent`.
pub(super) fn is_participle(word: &str) -> bool {
    let stems = || {
        let long = word.strip_suffix("ied").map(|stem| format!("{stem}y"));
        // `starred`
        let doubled = word.strip_suffix("ed").and_then(|stem| stem.get(..stem.len().checked_sub(1)?));
        long.into_iter()
            .chain(word.strip_suffix("ed").map(str::to_owned))
            .chain(word.strip_suffix('d').map(str::to_owned))
            .chain(doubled.map(str::to_owned))
    };
    matches!(word, "sent" | "made" | "given" | "built" | "owned" | "hidden" | "taken" | "paid")
        || (word.len() >= 6 && word.ends_with("ed") && stems().any(|stem| verbs::is_verb(&stem)))
}

/// Whether the words are an adjective.
pub(super) fn is_adjective(words: &[NameWord]) -> bool {
    ADJECTIVES.contains(&words.join("_"))
}

/// Whether the word is a plural noun for a single resource.
pub(super) fn is_singular_plural(word: &str) -> bool {
    SINGULAR_PLURALS.contains(word)
}
