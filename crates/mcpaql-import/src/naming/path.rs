//! Names operations by method and path: `GET /movie/{id}/keywords` → `list_movie_keywords`.

use super::{NameInput, NameWord};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::path::{PathShape, is_version};
use mcpaql_lexicon::verbs::{self, Verb, Weight};
use mcpaql_lexicon::{WordSet, is_plural, plural, singular, words};
use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// Words at the start of paths that add no information.
static NOISE: WordSet = WordSet::of("api rest apis json xml public services providers");
/// Plural nouns for a single resource.
static SINGULAR_PLURALS: WordSet =
    WordSet::of("settings preferences details credentials properties contents sales totals specs terms");
/// Adjectives, which follow the noun in paths and precede it in names.
static ADJECTIVES: WordSet = WordSet::of(
    "active airing_today all archived current deleted favorite featured latest now_playing on_the_air pending \
     popular public random recent recommended scheduled similar top_rated trending upcoming",
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
            for part in segment.split(['.', ':']).filter(|part| !matches!(*part, "json" | "xml" | "php")) {
                self.literal(part.split('{').next().unwrap_or(part), cache);
            }
        }
    }

    fn placeholder<'a>(&mut self, name: &'a str, cache: &mut LiteralCache<'a>) {
        self.params.push(Literal::of(name, cache));
        self.item = true;
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
        self.literals.push(literal);
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
        of.iter().skip(of.len().saturating_sub(count)).flat_map(noun).collect()
    };
    if let Some(verb) = ending_verb(input, method, path) {
        let start = last.words.iter().position(|word| verbs::verb(word) == Some(verb)).unwrap_or_default();
        let mut name: Vec<NameWord> = last.words.iter().take(start).cloned().collect();
        name.push(verb.canonical.into());
        let rest: Vec<NameWord> = last.words.iter().skip(start + 1).cloned().collect();
        let many = matches!(verb.canonical, "list" | "search" | "query" | "count" | "find");
        let kept = if rest.is_empty() || parents > 1 { parents } else { 0 };
        let mut object = ancestors(kept, before);
        if let (true, true, Some(word)) = (many, rest.is_empty(), object.last_mut()) {
            *word = plural(word).into();
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
    let adjective = ADJECTIVES.contains(&last.words.join("_")) && !path.item;
    if let (true, "GET", Some((noun_part, before))) = (adjective, method, before.split_last()) {
        let single = matches!(last.words.join("_").as_str(), "latest" | "current" | "random");
        let mut object = [ancestors(parents.saturating_sub(1), before), noun_part.words.to_vec()].concat();
        if let Some(word) = object.last_mut() {
            *word = if single { singular_word(word) } else { plural(word).into() };
        }
        let verb = if single { "get" } else { "list" };
        return [&[verb.into()], &*last.words, &object].concat();
    }
    let (verb, single) = method_verb(input, method, path, last);
    let mut name = join_words(
        ancestors(parents, before),
        if single { last.singular_words() } else { last.words.to_vec() },
    );
    name.insert(0, verb.into());
    name
}

/// Appends the words of up to `depth` parents that the name does not have yet.
pub(super) fn qualified(words: &[NameWord], path: &PathWords, depth: usize) -> Vec<NameWord> {
    let more: Vec<NameWord> = path
        .literals
        .iter()
        .rev()
        .take(depth)
        .rev()
        .flat_map(noun)
        .filter(|word| !words.iter().any(|known| known == word || *singular(known) == **word))
        .collect();
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

fn ending_verb(input: &NameInput<'_>, method: &str, path: &PathWords) -> Option<&'static Verb> {
    if path.item {
        return None;
    }
    let verb = PathShape::of(input.path).verb()?;
    let noun = method == "GET" && verb.weight == Weight::Weak;
    let noun = noun
        || (method == "GET"
            && verb.acts()
            && input.category.is_none_or(|found| found == Category::Read)
            && last_is_noun(path));
    (!noun && path.literals.last()?.words.iter().any(|word| **word == *verb.word)).then_some(verb)
}

/// Whether the last part is a noun: `/merge-fields` and `/delete-requests` are, `/merge` and `/delete-all` are not.
fn last_is_noun(path: &PathWords) -> bool {
    path.literals
        .last()
        .is_some_and(|last| last.words.len() > 1 && last.words.last().is_some_and(|word| is_plural(word)))
}

/// Returns the verb for the method at this path.
pub(super) fn verb(input: &NameInput<'_>, method: &str, path: &PathWords) -> &'static str {
    path.literals.last().map_or("call", |last| method_verb(input, method, path, last).0)
}

fn method_verb(
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
    last: &Literal,
) -> (&'static str, bool) {
    let noun = last.words.last().map(|word| &**word).unwrap_or_default();
    let many = is_plural(noun) && !SINGULAR_PLURALS.contains(noun);
    match (method, path.item) {
        ("GET", true) => ("get", true),
        ("GET", false) if many => ("list", false),
        ("GET", false) => ("get", false),
        ("HEAD", _) => ("check", path.item),
        ("OPTIONS" | "TRACE", _) => ("inspect", path.item),
        ("PUT" | "PATCH", item) => ("update", item),
        ("DELETE", item) => ("delete", item),
        (_, item) => match input.category {
            Some(Category::Read) => ("query", item),
            Some(Category::Execute) => ("run", true),
            Some(Category::Delete) => ("delete", item),
            Some(Category::Update) => ("update", item),
            _ if item => ("update", true),
            _ => ("create", true),
        },
    }
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

/// Whether the word is a plural noun for a single resource.
pub(super) fn is_singular_plural(word: &str) -> bool {
    SINGULAR_PLURALS.contains(word)
}
