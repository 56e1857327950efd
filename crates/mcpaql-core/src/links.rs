//! Where identifiers come from: for every identifier an operation needs, the operations that return one.
//!
//! Inferred from paths, parameter names and answers, never from calls. What always holds: a producer reads and nothing
//! else, is not the operation itself, and does not need the identifier it is to provide; the best stands first, and that is
//! the one that needs the fewest identifiers the caller does not have yet.

use crate::library::Outline;
use crate::operation::{Binding, Category, Operation, Segment};
use crate::search::words::singulars;
use crate::suggest::snake_case;
use std::collections::{HashMap, HashSet};

/// Producers that are known of a parameter.
const KNOWN: usize = 8;
/// Producers of which an adapter document names no more.
pub const BEST: usize = 3;
/// Producers of a noun that are weighed for each parameter, the ones that need least.
const WEIGHED: usize = 24;
/// An identifier that more than one operation in so many needs is known to whoever calls any of them.
const EVERYWHERE: usize = 3;
/// In smaller catalogs nothing is everywhere.
const MANY: usize = 30;
/// Words before a noun that make a count or a default of it.
const MEASURES: [&str; 10] =
    ["public", "private", "total", "number", "num", "count", "open", "max", "default", "owned"];
/// Words that make an identifier of a noun.
const IDENTIFIERS: [&str; 16] = [
    "id",
    "number",
    "slug",
    "name",
    "key",
    "uuid",
    "guid",
    "code",
    "sha",
    "hash",
    "handle",
    "sku",
    "login",
    "no",
    "num",
    "identifier",
];
/// Words of operations that look something up.
const SEARCHES: [&str; 6] = ["search", "find", "lookup", "query", "autocomplete", "suggest"];
/// Words around the noun in the name of an answer's type.
const WRAPPERS: [&str; 14] = [
    "list",
    "collection",
    "response",
    "result",
    "page",
    "item",
    "object",
    "dto",
    "model",
    "summary",
    "detail",
    "paged",
    "minimal",
    "simple",
];
/// Short and long forms, and plurals that no rule makes.
const CANONICAL: [(&str, &str); 12] = [
    ("repository", "repo"),
    ("organization", "org"),
    ("organisation", "org"),
    ("people", "person"),
    ("application", "app"),
    ("child", "child"),
    ("children", "child"),
    ("pull request", "pull"),
    ("username", "user"),
    ("account", "user"),
    ("television", "tv"),
    ("series", "tv"),
];

/// The producers of all parameters of all operations.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Every distinct parameter with its producers, which many operations share.
    sources: Vec<Source>,
    /// Positions in `sources`, all operations one after another.
    wanted: Vec<u32>,
    /// Where each operation's part of `wanted` ends.
    ends: Vec<u32>,
}

/// A parameter and the operations that return a value for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// The parameter, as callers write it.
    pub param: String,
    /// Positions of operations, the best first.
    pub producers: Vec<u32>,
    /// Whether so many operations need it that it says little about this one.
    pub everywhere: bool,
}

impl Source {
    /// The producers that are worth naming wherever the parameter is shown.
    #[must_use]
    pub fn best(&self) -> &[u32] {
        self.producers.get(..BEST).unwrap_or(&self.producers)
    }
}

impl Links {
    /// The identifiers that the operation at that position needs and somebody returns, in the order of its parameters.
    pub fn of(&self, position: usize) -> impl Iterator<Item = &Source> {
        let end = |at: usize| self.ends.get(at).map(|end| *end as usize);
        let start = position.checked_sub(1).and_then(end).unwrap_or(0);
        let wanted = end(position).and_then(|end| self.wanted.get(start..end)).unwrap_or_default();
        wanted.iter().filter_map(|number| self.sources.get(*number as usize))
    }
}

/// Infers the producers of every identifier that these operations need.
#[must_use]
pub fn producers(ops: &[(&Operation, Outline)]) -> Links {
    let mut nouns = Nouns::default();
    let routes: Vec<Route> = ops.iter().map(|(op, outline)| Route::new(op, outline, &mut nouns)).collect();
    let supply = Supply::new(ops, &routes, &mut nouns);
    let mut users: HashMap<&str, usize> = HashMap::new();
    for need in routes.iter().flat_map(|route| &route.needs) {
        *users.entry(&need.param).or_default() += 1;
    }
    let everywhere = |param: &str| {
        ops.len() >= MANY && users.get(param).is_some_and(|users| users * EVERYWHERE > ops.len())
    };
    let mut links = Links::default();
    let mut numbers: HashMap<Source, u32> = HashMap::new();
    for (position, route) in routes.iter().enumerate() {
        for need in &route.needs {
            let producers = supply.of(position, route, need, &routes);
            if producers.is_empty() {
                continue;
            }
            let everywhere = everywhere(&need.param);
            let source = Source { param: need.param.clone(), producers, everywhere };
            let number = *numbers.entry(source).or_insert_with_key(|source| {
                links.sources.push(source.clone());
                u32::try_from(links.sources.len() - 1).unwrap_or(u32::MAX)
            });
            links.wanted.push(number);
        }
        links.ends.push(u32::try_from(links.wanted.len()).unwrap_or(u32::MAX));
    }
    links
}

/// Nouns by number.
#[derive(Default)]
struct Nouns(HashMap<String, u32>);

impl Nouns {
    fn number(&mut self, noun: &str) -> u32 {
        let noun = CANONICAL.iter().find(|(long, _)| *long == noun).map_or(noun, |(_, short)| short);
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(noun.to_owned()).or_insert(next)
    }
}

/// An identifier that an operation needs.
struct Need {
    param: String,
    /// What it identifies.
    noun: u32,
    /// What else it may identify: what the path calls the collection.
    other: Option<u32>,
    /// The path up to it, with nameless placeholders; empty where it is not in the path.
    parent: String,
    /// Whether other identifiers stand before it.
    scoped: bool,
}

/// An operation's path, taken apart.
struct Route {
    /// With nameless placeholders.
    path: String,
    needs: Vec<Need>,
}

impl Route {
    fn new(op: &Operation, outline: &Outline, nouns: &mut Nouns) -> Route {
        let segments = segments(op);
        let mut route = Route { path: String::new(), needs: Vec::new() };
        let subject = subject(&op.name);
        for (at, segment) in segments.iter().enumerate() {
            if let Some(param) = placeholder(segment) {
                let before = at.checked_sub(1).and_then(|before| segments.get(before));
                let literal = before.filter(|before| placeholder(before).is_none()).map(String::as_str);
                let after = segments.get(at + 1).and_then(|after| placeholder(after));
                let (noun, other) = nouns_of(param, literal, after, &subject, nouns);
                let scoped = !route.needs.is_empty();
                route.needs.push(Need {
                    param: called(param, outline).to_owned(),
                    noun,
                    other,
                    parent: route.path.clone(),
                    scoped,
                });
                route.path.push_str("/{}");
            } else {
                route.path.push('/');
                route.path.push_str(segment);
            }
        }
        for param in outline.params.iter().filter(|param| param.required && !param.in_path) {
            let words = singulars(&param.name);
            let (Some(last), known) = (words.last(), route.needs.iter().any(|need| need.param == param.name))
            else {
                continue;
            };
            if known || !matches!(last.as_str(), "id" | "uuid" | "guid" | "slug") {
                continue;
            }
            let (noun, other) = nouns_of(&param.name, None, None, &subject, nouns);
            let scoped = !route.needs.is_empty();
            route.needs.push(Need { param: param.name.clone(), noun, other, parent: String::new(), scoped });
        }
        route
    }
}

/// What callers call the parameter of a placeholder; the head of an operation may still have the API's spelling.
fn called<'o>(placeholder: &'o str, outline: &'o Outline) -> &'o str {
    let in_path = |name: &str| {
        outline
            .params
            .iter()
            .find(|param| param.in_path && param.name == name)
            .map(|param| param.name.as_str())
    };
    in_path(placeholder).or_else(|| in_path(&snake_case(placeholder))).unwrap_or(placeholder)
}

fn segments(op: &Operation) -> Vec<String> {
    let Binding::Http(http) = &op.binding else { return Vec::new() };
    let mut path = String::new();
    for segment in &http.path {
        match segment {
            Segment::Literal(text) => path.push_str(text),
            Segment::Param(name) => {
                path.push('{');
                path.push_str(name);
                path.push('}');
            }
        }
    }
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

fn placeholder(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// What a name is about: its words after the verb.
fn subject(name: &str) -> String {
    singulars(name).into_iter().skip(1).collect::<Vec<_>>().join(" ")
}

/// What a parameter identifies, by its own name and by the segments around it.
fn nouns_of(
    param: &str,
    literal: Option<&str>,
    after: Option<&str>,
    subject: &str,
    nouns: &mut Nouns,
) -> (u32, Option<u32>) {
    let mut words = singulars(param);
    while words.last().is_some_and(|last| IDENTIFIERS.contains(&last.as_str())) {
        words.pop();
    }
    let collection = literal.map(|literal| singulars(literal).join(" ")).filter(|noun| !noun.is_empty());
    let own = words.join(" ");
    let own_number = (!own.is_empty()).then(|| nouns.number(&own));
    let Some(collection) = collection else {
        let noun = own_number.unwrap_or_else(|| nouns.number(subject));
        return (noun, None);
    };
    let whole = nouns.number(&collection);
    // `/repos/{owner}/{repo}`: both together identify what the path calls `repos`.
    if let Some(after) = after {
        let (next, _) = nouns_of(after, None, None, subject, nouns);
        if next == whole {
            return (whole, own_number.filter(|own| *own != whole));
        }
    }
    match own_number {
        // `/users/{username}`: the name says no more than the path.
        Some(_) if own.starts_with(&collection) => (whole, None),
        Some(own) => (own, (own != whole).then_some(whole)),
        None => (whole, None),
    }
}

/// Whether a field of an answer seems to hold things, not how many there are or which is the usual one.
fn holds_things(field: &str, words: &[String]) -> bool {
    let plural = words.last().is_some_and(|last| !field.to_lowercase().ends_with(last.as_str()));
    let measured = words.first().is_some_and(|first| MEASURES.contains(&first.as_str()));
    words.len() == 1 || (plural && !measured)
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

/// What operations return.
struct Supply {
    by_noun: HashMap<u32, Vec<(u32, Kind)>>,
    by_path: HashMap<String, u32>,
    /// Below a path by one literal; with the words of the answer's type, where it has a name.
    parts: HashMap<String, Vec<(u32, Option<Box<[u32]>>)>>,
    /// Paths that items stand below.
    collections: HashSet<String>,
    by_field: HashMap<String, Vec<u32>>,
}

impl Supply {
    fn new(ops: &[(&Operation, Outline)], routes: &[Route], nouns: &mut Nouns) -> Supply {
        let mut supply = Supply {
            by_noun: HashMap::new(),
            by_path: HashMap::new(),
            parts: HashMap::new(),
            collections: HashSet::new(),
            by_field: HashMap::new(),
        };
        let reads =
            ops.iter().zip(routes).enumerate().filter(|(_, ((op, _), _))| op.category == Category::Read);
        for (position, ((op, outline), route)) in reads {
            let Ok(position) = u32::try_from(position) else { break };
            supply.register(position, op, outline, route, nouns);
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
        let searches =
            words.iter().chain(literals.iter().flatten()).any(|word| SEARCHES.contains(&word.as_str()));
        let mut entities: Vec<(u32, Kind)> = Vec::new();
        let listed = if searches { Kind::Search } else { Kind::List };
        if listing && !route.path.ends_with('}') {
            if let Some(last) = literals.last() {
                entities.push((nouns.number(&last.join(" ")), listed));
            } else {
                entities.push((nouns.number(&subject(&op.name)), listed));
            }
            if searches {
                for word in literals.iter().flatten().filter(|word| !SEARCHES.contains(&word.as_str())) {
                    entities.push((nouns.number(word), Kind::Search));
                }
            }
        }
        if let Some(answer) = answer {
            if let Some(name) = &answer.type_name
                && answer.list
            {
                let words: Vec<String> =
                    singulars(name).into_iter().filter(|word| !WRAPPERS.contains(&word.as_str())).collect();
                entities.push((nouns.number(&words.join(" ")), listed));
                if let Some(last) = words.last() {
                    entities.push((nouns.number(last), listed));
                }
            }
            for field in &answer.fields {
                let words = singulars(field);
                if words.last().is_some_and(|last| IDENTIFIERS.contains(&last.as_str())) {
                    if words.len() > 1 {
                        self.by_field.entry(words.join(" ")).or_default().push(position);
                    }
                } else if let Some(last) = words.last()
                    && holds_things(field, &words)
                {
                    entities.push((nouns.number(last), Kind::Embedded));
                }
            }
        }
        for (noun, kind) in entities {
            self.by_noun.entry(noun).or_default().push((position, kind));
        }
    }

    /// The producers of what an operation needs, the best first.
    fn of(&self, position: usize, route: &Route, need: &Need, routes: &[Route]) -> Vec<u32> {
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
