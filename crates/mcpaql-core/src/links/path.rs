//! The identifiers that an operation needs, from its path and parameters.

use crate::library::Outline;
use crate::operation::{Binding, Operation, Segment};
use mcpaql_lexicon::{WordSet, singulars, snake_case};
use std::collections::HashMap;

/// Last words of identifiers, such as `id` in `film_id`.
pub(super) static IDENTIFIERS: WordSet =
    WordSet::of("id number slug name key uuid guid code sha hash handle sku login no num identifier");
/// Long and short forms of the same noun.
const CANONICAL: [(&str, &str); 9] = [
    ("repository", "repo"),
    ("organization", "org"),
    ("organisation", "org"),
    ("application", "app"),
    ("pull request", "pull"),
    ("username", "user"),
    ("account", "user"),
    ("television", "tv"),
    ("series", "tv"),
];

/// Numbers of nouns.
#[derive(Default)]
pub(super) struct Nouns(HashMap<String, u32>);

impl Nouns {
    pub(super) fn number(&mut self, noun: &str) -> u32 {
        let noun = CANONICAL.iter().find(|(long, _)| *long == noun).map_or(noun, |(_, short)| short);
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(noun.to_owned()).or_insert(next)
    }
}

/// An identifier that an operation needs.
pub(super) struct NeededIdentifier {
    pub(super) param: String,
    /// The noun of the resource that it identifies.
    pub(super) noun: u32,
    /// Another noun that it may identify: the collection in the path.
    pub(super) other: Option<u32>,
    /// The path before it, with unnamed placeholders; empty if it is not in the path.
    pub(super) parent: String,
    /// Whether other identifiers come before it.
    pub(super) scoped: bool,
    /// Whether the operation cannot be called without it.
    pub(super) required: bool,
}

/// An operation's path and the identifiers it needs.
pub(super) struct OperationPath {
    /// The path with unnamed placeholders.
    pub(super) path: String,
    pub(super) needs: Vec<NeededIdentifier>,
}

impl OperationPath {
    /// Returns the identifiers that the operation cannot be called without.
    pub(super) fn required(&self) -> impl Iterator<Item = &NeededIdentifier> {
        self.needs.iter().filter(|need| need.required)
    }

    pub(super) fn new(op: &Operation, outline: &Outline, nouns: &mut Nouns) -> OperationPath {
        let segments = segments(op);
        let mut path = OperationPath { path: String::new(), needs: Vec::new() };
        let subject = subject(&op.name);
        for (index, segment) in segments.iter().enumerate() {
            if let Some(param) = placeholder(segment) {
                let before = index.checked_sub(1).and_then(|before| segments.get(before));
                let literal = before.filter(|before| placeholder(before).is_none()).map(String::as_str);
                let after = segments.get(index + 1).and_then(|after| placeholder(after));
                let (noun, other) = nouns_of(param, literal, after, &subject, nouns);
                let scoped = !path.needs.is_empty();
                let param = caller_param_name(param, outline);
                if !outline.params.iter().any(|known| known.name == param && known.is_choice) {
                    path.needs.push(NeededIdentifier {
                        param: param.to_owned(),
                        noun,
                        other,
                        parent: path.path.clone(),
                        scoped,
                        required: true,
                    });
                }
                path.path.push_str("/{}");
            } else {
                path.path.push('/');
                path.path.push_str(segment);
            }
        }
        for param in outline.params.iter().filter(|param| !param.in_path && !param.is_choice) {
            let words = singulars(&param.name);
            let (Some(last), known) = (words.last(), path.needs.iter().any(|need| need.param == param.name))
            else {
                continue;
            };
            // An optional `id` may be anything; an optional `film_id` is a film.
            let is_identifier = matches!(last.as_str(), "id" | "uuid" | "guid" | "slug");
            if known || !is_identifier || !(param.required || words.len() > 1) {
                continue;
            }
            let (noun, other) = nouns_of(&param.name, None, None, &subject, nouns);
            let scoped = !path.needs.is_empty();
            path.needs.push(NeededIdentifier {
                param: param.name.clone(),
                noun,
                other,
                parent: String::new(),
                scoped,
                required: param.required,
            });
        }
        path
    }
}

/// Returns the caller's name for the parameter of a placeholder. The head of an operation may have the API's spelling.
fn caller_param_name<'o>(placeholder: &'o str, outline: &'o Outline) -> &'o str {
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

/// Returns the subject of a name: its words after the verb.
pub(super) fn subject(name: &str) -> String {
    singulars(name).into_iter().skip(1).collect::<Vec<_>>().join(" ")
}

/// Returns the nouns that a parameter may identify, from its name and the segments around it.
fn nouns_of(
    param: &str,
    literal: Option<&str>,
    after: Option<&str>,
    subject: &str,
    nouns: &mut Nouns,
) -> (u32, Option<u32>) {
    let mut words = singulars(param);
    while words.last().is_some_and(|last| IDENTIFIERS.contains(last)) {
        words.pop();
    }
    let collection_name = literal.map(|literal| singulars(literal).join(" ")).filter(|noun| !noun.is_empty());
    let own = words.join(" ");
    let own_number = (!own.is_empty()).then(|| nouns.number(&own));
    let Some(collection_name) = collection_name else {
        let noun = own_number.unwrap_or_else(|| nouns.number(subject));
        return (noun, None);
    };
    let collection = nouns.number(&collection_name);
    // `/repos/{owner}/{repo}`: both together identify an item of `repos`.
    if let Some(after) = after {
        let (next, _) = nouns_of(after, None, None, subject, nouns);
        if next == collection {
            return (collection, own_number.filter(|own| *own != collection));
        }
    }
    match own_number {
        // `/users/{username}`: the parameter's name adds nothing to the path.
        Some(_) if own.starts_with(&collection_name) => (collection, None),
        Some(own) => (own, (own != collection).then_some(collection)),
        None => (collection, None),
    }
}
