//! What operations return, and which of them serve a need best.

use super::route::{IDENTIFIERS, Need, Nouns, Route, subject};
use crate::library::Outline;
use crate::operation::{Category, Operation};
use mcpaql_lexicon::{WordSet, singulars};
use std::collections::{HashMap, HashSet};

/// Producers that are known of a parameter.
const KNOWN: usize = 8;
/// Producers of a noun that are weighed for each parameter, the ones that need least.
const WEIGHED: usize = 24;
/// Words before a noun that make a count or a default of it.
static MEASURES: WordSet = WordSet::of("public private total number num count open max default owned");
/// Words of operations that look something up.
static SEARCHES: WordSet = WordSet::of("search find lookup query autocomplete suggest");
/// Words around the noun in the name of an answer's type.
static WRAPPERS: WordSet = WordSet::of(
    "list collection response result page item object dto model summary detail paged minimal simple",
);

/// What a field of an answer holds; the same fields come again and again.
enum Meaning {
    /// The identifier of that name.
    Identifier(String),
    /// Things of that noun.
    Things(u32),
    /// Anything else.
    Other,
}

type Meanings<'a> = HashMap<&'a str, Meaning>;

impl Meaning {
    fn of(field: &str, nouns: &mut Nouns) -> Meaning {
        let words = singulars(field);
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return Meaning::Other };
        if IDENTIFIERS.contains(last) {
            return if words.len() > 1 { Meaning::Identifier(words.join(" ")) } else { Meaning::Other };
        }
        let plural = !field.to_lowercase().ends_with(last.as_str());
        // `default_branch` and `public_repos` are a name and a count.
        let measured = MEASURES.contains(first);
        if words.len() == 1 || (plural && !measured) {
            Meaning::Things(nouns.number(last))
        } else {
            Meaning::Other
        }
    }
}

/// How an operation is known to return an identifier, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
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

impl Kind {
    /// How many further identifiers a caller would rather find than use it instead of a list.
    const fn cost(self, scoped: bool) -> u32 {
        match self {
            Kind::Collection if scoped => 0,
            Kind::Search => 1,
            Kind::Collection => 2,
            Kind::Part => 3,
            Kind::List => 4,
            Kind::Field => 14,
            Kind::Embedded => 18,
        }
    }
}

/// An operation one literal below a path, with the words of its answer's type, where that has a name.
type Part = (u32, Option<Box<[u32]>>);

/// What operations return.
pub(super) struct Supply {
    by_noun: HashMap<u32, Vec<(u32, Kind)>>,
    by_path: HashMap<String, u32>,
    /// By the path that they stand below.
    parts: HashMap<String, Vec<Part>>,
    /// Paths that items stand below.
    collections: HashSet<String>,
    by_field: HashMap<String, Vec<u32>>,
}

impl Supply {
    pub(super) fn new(ops: &[(&Operation, Outline)], routes: &[Route], nouns: &mut Nouns) -> Supply {
        let mut supply = Supply {
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
        let mut meanings = Meanings::default();
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
            list.truncate(WEIGHED);
        }
        for list in supply.parts.values_mut() {
            list.sort_by_key(|(position, _)| (needs(*position), *position));
        }
        for list in supply.by_field.values_mut() {
            list.sort_by_key(|&position| (needs(position), position));
            list.truncate(WEIGHED);
        }
        supply
    }

    fn register(
        &mut self,
        position: u32,
        op: &Operation,
        outline: &Outline,
        route: &Route,
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
        let mut entities: Vec<(u32, Kind)> = Vec::new();
        let listed = if searches { Kind::Search } else { Kind::List };
        if listing && !route.path.ends_with('}') {
            if let Some(last) = literals.last() {
                entities.push((nouns.number(&last.join(" ")), listed));
            } else {
                entities.push((nouns.number(&subject(&op.name)), listed));
            }
            if searches {
                for word in literals.iter().flatten().filter(|word| !SEARCHES.contains(word)) {
                    entities.push((nouns.number(word), Kind::Search));
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
        meanings: &mut Meanings<'a>,
        nouns: &mut Nouns,
    ) {
        for field in outline.answer.iter().flat_map(|answer| &answer.fields) {
            match meanings.entry(field).or_insert_with(|| Meaning::of(field, nouns)) {
                Meaning::Identifier(name) => match self.by_field.get_mut(name.as_str()) {
                    Some(list) => list.push(position),
                    None => {
                        self.by_field.insert(name.clone(), vec![position]);
                    }
                },
                Meaning::Things(noun) => {
                    self.by_noun.entry(*noun).or_default().push((position, Kind::Embedded));
                }
                Meaning::Other => {}
            }
        }
    }

    /// The producers of what an operation needs, the best first.
    pub(super) fn of(&self, position: usize, route: &Route, need: &Need, routes: &[Route]) -> Vec<u32> {
        let mut candidates: Vec<(u32, Kind)> = Vec::new();
        if !need.parent.is_empty() {
            candidates.extend(self.by_path.get(&need.parent).map(|&found| (found, Kind::Collection)));
            let parts = self.parts.get(&need.parent).into_iter().flatten();
            let fitting = parts.filter(|(found, of)| {
                let path = routes.get(*found as usize).map_or("", |route| &route.path);
                // `/issues/events` has events below it, so it lists events and not issues.
                !self.collections.contains(path)
                    && of.as_ref().is_none_or(|words| {
                        words.contains(&need.noun) || need.other.is_some_and(|other| words.contains(&other))
                    })
            });
            candidates.extend(fitting.map(|(found, _)| (*found, Kind::Part)).take(WEIGHED));
        }
        for noun in [Some(need.noun), need.other].into_iter().flatten() {
            candidates.extend(self.by_noun.get(&noun).into_iter().flatten().copied());
        }
        let field = singulars(&need.param).join(" ");
        candidates.extend(self.by_field.get(&field).into_iter().flatten().map(|&found| (found, Kind::Field)));
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
            if producers.len() == KNOWN {
                break;
            }
        }
        producers
    }
}
