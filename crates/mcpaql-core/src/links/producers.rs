//! What operations return, and which of them serve a need best.

use super::path::{IDENTIFIERS, NeededIdentifier, Nouns, OperationPath, subject};
use crate::library::Outline;
use crate::operation::{Category, Operation};
use mcpaql_lexicon::{WordSet, singulars};
use std::collections::{HashMap, HashSet};

/// Producers that are known of a parameter.
const MAX_PRODUCERS: usize = 8;
/// Producers of a noun that are weighed for each parameter, the ones that need least.
const MAX_CANDIDATES: usize = 24;
/// Words before a noun that make a count or a default of it.
static MEASURES: WordSet = WordSet::of("public private total number num count open max default owned");
/// Words of operations that look something up.
static SEARCHES: WordSet = WordSet::of("search find lookup query autocomplete suggest");
/// Words around the noun in the name of an answer's type.
static WRAPPERS: WordSet = WordSet::of(
    "list collection response result page item object dto model summary detail paged minimal simple",
);

/// What a field of an answer holds; the same fields come again and again.
enum FieldMeaning {
    /// The identifier of that name.
    Identifier(String),
    /// Things of that noun.
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
        // `default_branch` and `public_repos` are a name and a count.
        let measured = MEASURES.contains(first);
        if words.len() == 1 || (plural && !measured) {
            FieldMeaning::Things(nouns.number(last))
        } else {
            FieldMeaning::Other
        }
    }
}

/// How an operation is known to return an identifier, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProducerKind {
    /// Lists what the path identifies one of.
    Collection,
    /// Looks things of that kind up.
    Search,
    /// Lists a part of the collection: `/movies/popular`.
    Part,
    /// Lists things of that kind.
    List,
    /// Its answer holds a field of the parameter's name.
    Field,
    /// Its answer holds things of that kind.
    Embedded,
}

impl ProducerKind {
    /// How many further identifiers a caller would rather find than use it instead of a list.
    const fn cost(self, scoped: bool) -> u32 {
        match self {
            ProducerKind::Collection if scoped => 0,
            ProducerKind::Search => 1,
            ProducerKind::Collection => 2,
            ProducerKind::Part => 3,
            ProducerKind::List => 4,
            ProducerKind::Field => 14,
            ProducerKind::Embedded => 18,
        }
    }
}

/// An operation one literal below a path, with the words of its answer's type, where that has a name.
type ChildOperation = (u32, Option<Box<[u32]>>);

/// What operations return.
pub(super) struct ProducerIndex {
    by_noun: HashMap<u32, Vec<(u32, ProducerKind)>>,
    by_path: HashMap<String, u32>,
    /// By the path that they stand below.
    parts: HashMap<String, Vec<ChildOperation>>,
    /// Paths that items stand below.
    collections: HashSet<String>,
    by_field: HashMap<String, Vec<u32>>,
}

impl ProducerIndex {
    pub(super) fn new(
        ops: &[(&Operation, Outline)],
        routes: &[OperationPath],
        nouns: &mut Nouns,
    ) -> ProducerIndex {
        let mut supply = ProducerIndex {
            by_noun: HashMap::new(),
            by_path: HashMap::new(),
            parts: HashMap::new(),
            collections: HashSet::new(),
            by_field: HashMap::new(),
        };
        for need in routes.iter().flat_map(|route| &route.needs) {
            if !supply.collections.contains(&need.parent) {
                supply.collections.insert(need.parent.clone());
            }
        }
        let mut meanings = FieldMeanings::default();
        let reads =
            ops.iter().zip(routes).enumerate().filter(|(_, ((op, _), _))| op.category == Category::Read);
        for (position, ((op, outline), route)) in reads {
            let Ok(position) = u32::try_from(position) else { break };
            supply.register(position, op, outline, route, nouns);
            supply.register_fields(position, outline, &mut meanings, nouns);
        }
        let needs = |position: u32| routes.get(position as usize).map_or(0, |route| route.needs.len());
        for list in supply.by_noun.values_mut() {
            list.sort_by_key(|&(position, kind)| (needs(position), kind, position));
            list.dedup_by_key(|(position, _)| *position);
            list.truncate(MAX_CANDIDATES);
        }
        for list in supply.parts.values_mut() {
            list.sort_by_key(|(position, _)| (needs(*position), *position));
        }
        for list in supply.by_field.values_mut() {
            list.sort_by_key(|&position| (needs(position), position));
            list.truncate(MAX_CANDIDATES);
        }
        supply
    }

    fn register(
        &mut self,
        position: u32,
        op: &Operation,
        outline: &Outline,
        route: &OperationPath,
        nouns: &mut Nouns,
    ) {
        let answer = outline.answer.as_ref();
        let listing = answer.is_none_or(|answer| answer.list || answer.fields.is_empty());
        if !route.path.is_empty() && !route.path.ends_with('}') {
            self.by_path.entry(route.path.clone()).or_insert(position);
            if let Some((parent, _)) = route.path.rsplit_once('/') {
                let of = answer.and_then(|answer| answer.type_name.as_deref()).map(|name| {
                    let words: Vec<u32> = singulars(name).iter().map(|word| nouns.number(word)).collect();
                    words.into_boxed_slice()
                });
                self.parts.entry(parent.to_owned()).or_default().push((position, of));
            }
        }
        let words = singulars(&op.name);
        let literals: Vec<Vec<String>> =
            route.path.split('/').filter(|s| !s.is_empty() && *s != "{}").map(singulars).collect();
        let searches = words.iter().chain(literals.iter().flatten()).any(|word| SEARCHES.contains(word));
        let mut entities: Vec<(u32, ProducerKind)> = Vec::new();
        let listed = if searches { ProducerKind::Search } else { ProducerKind::List };
        if listing && !route.path.ends_with('}') {
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
        for (noun, kind) in entities {
            self.by_noun.entry(noun).or_default().push((position, kind));
        }
    }

    fn register_fields<'a>(
        &mut self,
        position: u32,
        outline: &'a Outline,
        meanings: &mut FieldMeanings<'a>,
        nouns: &mut Nouns,
    ) {
        for field in outline.answer.iter().flat_map(|answer| &answer.fields) {
            match meanings.entry(field).or_insert_with(|| FieldMeaning::of(field, nouns)) {
                FieldMeaning::Identifier(name) => match self.by_field.get_mut(name.as_str()) {
                    Some(list) => list.push(position),
                    None => {
                        self.by_field.insert(name.clone(), vec![position]);
                    }
                },
                FieldMeaning::Things(noun) => {
                    self.by_noun.entry(*noun).or_default().push((position, ProducerKind::Embedded));
                }
                FieldMeaning::Other => {}
            }
        }
    }

    /// The producers of what an operation needs, the best first.
    pub(super) fn producers_for(
        &self,
        position: usize,
        route: &OperationPath,
        need: &NeededIdentifier,
        routes: &[OperationPath],
    ) -> Vec<u32> {
        let mut candidates: Vec<(u32, ProducerKind)> = Vec::new();
        if !need.parent.is_empty() {
            candidates.extend(self.by_path.get(&need.parent).map(|&found| (found, ProducerKind::Collection)));
            let parts = self.parts.get(&need.parent).into_iter().flatten();
            let fitting = parts.filter(|(found, of)| {
                let path = routes.get(*found as usize).map_or("", |route| &route.path);
                // `/issues/events` has events below it, so it lists events and not issues.
                !self.collections.contains(path)
                    && of.as_ref().is_none_or(|words| {
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
                let producer = routes.get(found as usize)?;
                let circular = producer.needs.iter().any(|other| other.noun == need.noun);
                let further = producer.needs.iter().filter(|other| {
                    !route.needs.iter().any(|own| own.noun == other.noun && own.param != need.param)
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
