//! Names operations by method and path: `GET /movie/{id}/keywords` → `list_movie_keywords`.

use super::verb::{instead_of_read, is_described_as_read, path_action, summary_verb};
use super::{NameInput, NameWord};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::path::is_version;
use mcpaql_lexicon::verbs;
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
    let noun = last.words.last().map(|word| &**word).unwrap_or_default();
    let (mut verb, mut single) = method_verb(input, method, path, noun);
    if let Some(found) = summary_verb(input, method, noun) {
        verb = found.canonical;
        single &= !found.many;
    }
    let mut name = join_words(
        ancestors(parents, before),
        if single { last.singular_words() } else { last.words.to_vec() },
    );
    name.insert(0, verb);
    name
}

/// Appends the words of up to `depth` parents that the name does not have yet.
pub(super) fn qualified(words: &[NameWord], path: &PathWords, depth: usize) -> Vec<NameWord> {
    let skipped = path.literals.len().saturating_sub(depth);
    with_more(words, path.literals.iter().skip(skipped).flat_map(noun))
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

/// Whether the words are an adjective.
pub(super) fn is_adjective(words: &[NameWord]) -> bool {
    ADJECTIVES.contains(&words.join("_"))
}

/// Whether the word is a plural noun for a single resource.
pub(super) fn is_singular_plural(word: &str) -> bool {
    SINGULAR_PLURALS.contains(word)
}
