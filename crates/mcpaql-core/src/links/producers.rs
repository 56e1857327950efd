//! Indexes what operations return, and ranks the producers of an identifier.

use super::path::{IDENTIFIERS, NeededIdentifier, Nouns, OperationPath, subject};
use crate::library::Outline;
use crate::operation::{Category, Operation};
use mcpaql_lexicon::{WordSet, singulars};
use std::collections::{HashMap, HashSet};

/// Maximum producers of a parameter.
const MAX_PRODUCERS: usize = 8;
/// Maximum producers of a noun that are compared for each parameter. Those that need the fewest identifiers are kept.
const MAX_CANDIDATES: usize = 24;
/// Words before a noun that make it a count or a default.
static MEASURES: WordSet = WordSet::of("public private total number num count open max default owned");
/// Words in the names of search operations.
static SEARCHES: WordSet = WordSet::of("search find lookup query autocomplete suggest");
/// Last words of paths and names of operations that return the caller.
static CALLERS: WordSet = WordSet::of("me myself self whoami");
/// Words for the caller in the name of an operation that returns a person: `get_current_user`.
static CALLER_ADJECTIVES: WordSet = WordSet::of("authenticated current logged my own");
/// Words around the noun in the name of a result type.
static WRAPPERS: WordSet = WordSet::of(
    "list collection response result page item object dto model summary detail paged minimal simple",
);

/// The meaning of a field in a result. It is cached, because the same fields appear in many results.
enum FieldMeaning {
    /// An identifier with this name.
    Identifier(String),
    /// Resources of this noun.
    Things(u32),
    /// Anything else.
    Other,
}

type FieldMeanings<'a> = HashMap<&'a str, FieldMeaning>;

impl FieldMeaning {
    fn of(field: &str, nouns: &mut Nouns) -> FieldMeaning {
        let words = singulars(field);
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return FieldMeaning::Other };
        if IDENTIFIERS.contains(last) {
            return if words.len() > 1 {
                FieldMeaning::Identifier(words.join(" "))
            } else {
                FieldMeaning::Other
            };
        }
        let plural = !field.to_lowercase().ends_with(last.as_str());
        // `default_branch` is a name and `public_repos` is a count.
        let is_measure = MEASURES.contains(first);
        if words.len() == 1 || (plural && !is_measure) {
            FieldMeaning::Things(nouns.number(last))
        } else {
            FieldMeaning::Other
        }
    }
}

/// How an operation returns an identifier, most certain first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProducerKind {
    /// Lists the collection in the path of the identifier.
    Collection,
    /// Searches resources of this kind.
    Search,
    /// Lists a part of the collection: `/movies/popular`.
    Part,
    /// Lists resources of this kind.
    List,
    /// Returns the caller, who is a resource of this kind: `/me`.
    Caller,
    /// Has a result field with the parameter's name.
    Field,
    /// Has resources of this kind in its result.
    Embedded,
}

impl ProducerKind {
    /// Returns the cost compared with a list. 10 is the cost of one further identifier that the caller needs.
    const fn cost(self, scoped: bool) -> u32 {
        match self {
            ProducerKind::Collection if scoped => 0,
            ProducerKind::Search => 1,
            ProducerKind::Collection => 2,
            ProducerKind::Part => 3,
            ProducerKind::List => 4,
            ProducerKind::Caller => 5,
            ProducerKind::Field => 14,
            ProducerKind::Embedded => 18,
        }
    }
}

/// An operation one literal segment below a path, with the words of its result type if that has a name.
type ChildOperation = (u32, Option<Box<[u32]>>);

/// What operations return.
pub(super) struct ProducerIndex {
    by_noun: HashMap<u32, Vec<(u32, ProducerKind)>>,
    by_path: HashMap<String, u32>,
    /// Operations by the path that they are below.
    parts: HashMap<String, Vec<ChildOperation>>,
    /// Paths with items below them.
    collections: HashSet<String>,
    by_field: HashMap<String, Vec<u32>>,
}

impl ProducerIndex {
    pub(super) fn new(
        ops: &[(&Operation, Outline)],
        paths: &[OperationPath],
        nouns: &mut Nouns,
    ) -> ProducerIndex {
        let mut index = ProducerIndex {
            by_noun: HashMap::new(),
            by_path: HashMap::new(),
            parts: HashMap::new(),
            collections: HashSet::new(),
            by_field: HashMap::new(),
        };
        for need in paths.iter().flat_map(|path| &path.needs) {
            if !index.collections.contains(&need.parent) {
                index.collections.insert(need.parent.clone());
            }
        }
        let mut meanings = FieldMeanings::default();
        let reads =
            ops.iter().zip(paths).enumerate().filter(|(_, ((op, _), _))| op.category == Category::Read);
        for (position, ((op, outline), path)) in reads {
            let Ok(position) = u32::try_from(position) else { break };
            let searches = index.register(position, op, outline, path, nouns);
            index.register_fields(position, outline, searches, &mut meanings, nouns);
        }
        let needs = |position: u32| paths.get(position as usize).map_or(0, |path| path.required().count());
        for list in index.by_noun.values_mut() {
            list.sort_by_key(|&(position, kind)| (needs(position), kind, position));
            list.dedup_by_key(|(position, _)| *position);
            list.truncate(MAX_CANDIDATES);
        }
        for list in index.parts.values_mut() {
            list.sort_by_key(|(position, _)| (needs(*position), *position));
        }
        for list in index.by_field.values_mut() {
            list.sort_by_key(|&position| (needs(position), position));
            list.truncate(MAX_CANDIDATES);
        }
        index
    }

    /// Registers what an operation is about. Returns whether it searches.
    fn register(
        &mut self,
        position: u32,
        op: &Operation,
        outline: &Outline,
        path: &OperationPath,
        nouns: &mut Nouns,
    ) -> bool {
        let answer = outline.answer.as_ref();
        let is_list = answer.is_none_or(|answer| answer.list || answer.fields.is_empty());
        if !path.path.is_empty() && !path.path.ends_with('}') {
            self.by_path.entry(path.path.clone()).or_insert(position);
            if let Some((parent, _)) = path.path.rsplit_once('/') {
                let type_words = answer.and_then(|answer| answer.type_name.as_deref()).map(|name| {
                    let words: Vec<u32> = singulars(name).iter().map(|word| nouns.number(word)).collect();
                    words.into_boxed_slice()
                });
                self.parts.entry(parent.to_owned()).or_default().push((position, type_words));
            }
        }
        let words = singulars(&op.name);
        let literals: Vec<Vec<String>> =
            path.path.split('/').filter(|s| !s.is_empty() && *s != "{}").map(singulars).collect();
        let searches = words.iter().chain(literals.iter().flatten()).any(|word| SEARCHES.contains(word));
        let mut entities: Vec<(u32, ProducerKind)> = Vec::new();
        let listed = if searches { ProducerKind::Search } else { ProducerKind::List };
        if is_list && !path.path.ends_with('}') {
            if let Some(last) = literals.last() {
                entities.push((nouns.number(&last.join(" ")), listed));
            } else {
                entities.push((nouns.number(&subject(&op.name)), listed));
            }
            if searches {
                for word in literals.iter().flatten().filter(|word| !SEARCHES.contains(word)) {
                    entities.push((nouns.number(word), ProducerKind::Search));
                }
            }
        }
        if let Some(name) = answer.filter(|answer| answer.list).and_then(|answer| answer.type_name.as_deref())
        {
            let mut words = singulars(name);
            words.retain(|word| !WRAPPERS.contains(word));
            entities.push((nouns.number(&words.join(" ")), listed));
            entities.extend(words.last().map(|last| (nouns.number(last), listed)));
        }
        let is_list = answer.is_some_and(|answer| answer.list);
        if !is_list && path.needs.is_empty() && returns_caller(&words, literals.last()) {
            entities.push((nouns.number("user"), ProducerKind::Caller));
        }
        for (noun, kind) in entities {
            self.by_noun.entry(noun).or_default().push((position, kind));
        }
        searches
    }

    fn register_fields<'a>(
        &mut self,
        position: u32,
        outline: &'a Outline,
        searches: bool,
        meanings: &mut FieldMeanings<'a>,
        nouns: &mut Nouns,
    ) {
        // A search whose result has a field for each kind of thing searches all of them. A list of one kind does not.
        let is_list = outline.answer.as_ref().is_none_or(|answer| answer.list);
        let embedded = if searches && !is_list { ProducerKind::Search } else { ProducerKind::Embedded };
        for field in outline.answer.iter().flat_map(|answer| &answer.fields) {
            match meanings.entry(field).or_insert_with(|| FieldMeaning::of(field, nouns)) {
                FieldMeaning::Identifier(name) => match self.by_field.get_mut(name.as_str()) {
                    Some(list) => list.push(position),
                    None => {
                        self.by_field.insert(name.clone(), vec![position]);
                    }
                },
                FieldMeaning::Things(noun) => {
                    self.by_noun.entry(*noun).or_default().push((position, embedded));
                }
                FieldMeaning::Other => {}
            }
        }
    }

    /// Returns the producers of an identifier that an operation needs, best first.
    pub(super) fn producers_for(
        &self,
        position: usize,
        path: &OperationPath,
        need: &NeededIdentifier,
        paths: &[OperationPath],
    ) -> Vec<u32> {
        let mut candidates: Vec<(u32, ProducerKind)> = Vec::new();
        if !need.parent.is_empty() {
            candidates.extend(self.by_path.get(&need.parent).map(|&found| (found, ProducerKind::Collection)));
            let parts = self.parts.get(&need.parent).into_iter().flatten();
            let fitting = parts.filter(|(found, type_words)| {
                let path = paths.get(*found as usize).map_or("", |path| &path.path);
                // `/issues/events` has events below it, so it lists events, not issues.
                !self.collections.contains(path)
                    && type_words.as_ref().is_none_or(|words| {
                        words.contains(&need.noun) || need.other.is_some_and(|other| words.contains(&other))
                    })
            });
            candidates.extend(fitting.map(|(found, _)| (*found, ProducerKind::Part)).take(MAX_CANDIDATES));
        }
        for noun in [Some(need.noun), need.other].into_iter().flatten() {
            candidates.extend(self.by_noun.get(&noun).into_iter().flatten().copied());
        }
        let field = singulars(&need.param).join(" ");
        candidates.extend(
            self.by_field.get(&field).into_iter().flatten().map(|&found| (found, ProducerKind::Field)),
        );
        let mut ranked: Vec<(u32, usize, u32)> = candidates
            .into_iter()
            .filter(|(found, _)| *found as usize != position)
            .filter_map(|(found, kind)| {
                let producer = paths.get(found as usize)?;
                let circular = producer.required().any(|other| other.noun == need.noun);
                let further = producer.required().filter(|other| {
                    !path.required().any(|own| own.noun == other.noun && own.param != need.param)
                });
                let further = u32::try_from(further.count()).unwrap_or(u32::MAX);
                (!circular).then(|| {
                    (
                        further.saturating_mul(10).saturating_add(kind.cost(need.scoped)),
                        producer.path.len(),
                        found,
                    )
                })
            })
            .collect();
        ranked.sort_unstable();
        let mut producers: Vec<u32> = Vec::new();
        for (_, _, found) in ranked {
            if !producers.contains(&found) {
                producers.push(found);
            }
            if producers.len() == MAX_PRODUCERS {
                break;
            }
        }
        producers
    }
}

/// Returns whether an operation with these words in its name and in the last literal of its path returns the caller.
fn returns_caller(name: &[String], last: Option<&Vec<String>>) -> bool {
    let is_caller = |words: &[String]| matches!(words, [only] if CALLERS.contains(only));
    let about_user = matches!(name, [.., adjective, noun] if CALLER_ADJECTIVES.contains(adjective)
        && matches!(noun.as_str(), "user" | "account" | "profile"));
    last.map_or_else(
        || about_user || name.last().is_some_and(|word| CALLERS.contains(word)),
        |last| is_caller(last) || (about_user && matches!(last.as_slice(), [.., noun] if noun == "user" || noun == "account" || noun == "profile")),
    )
}
