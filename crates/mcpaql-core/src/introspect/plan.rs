//! Plans: a ready batch for a question that needs several operations.
//!
//! ```json
//! {"operations": [
//!   {"operation": "search_movie", "params": {"query": "…"}},
//!   {"operation": "get_movie_credits", "params": {"movie_id": {"$result": "0.data.results.0.id"}}}
//! ]}
//! ```
//!
//! The best hit needs an identifier that the question does not contain, and another operation returns it. That operation
//! comes first, and a reference takes the identifier from its answer. `…` is a value that the agent fills in. A list has
//! a filter, so that the reference takes the right item; the agent removes the filter if any item will do.
//!
//! What always holds: every step but the last reads, and the last one changes something only if the question asks for it. One tool takes all steps, so the plan is one call. Every reference
//! points to a field that the schema of the earlier answer describes.

mod given;
mod path;

use crate::adapter::Mode;
use crate::catalog::{Catalog, CatalogEntry, FullOperation};
use crate::operation::{Category, Operation, Param, fills_default};
use crate::search;
use given::GivenWords;
use mcpaql_lexicon::{WordSet, iter_words};
use path::ResultPath;
use serde_json::{Map, Value, json};

/// Number of best hits of which one can be the last step.
const MAX_RANK_OF_LAST_STEP: usize = 3;
/// Maximum steps.
const MAX_STEPS: usize = 3;
/// A value that the agent fills in.
const OPEN: &str = "…";
/// Last words of identifiers that people rarely know. They know names.
static OPAQUE: WordSet = WordSet::of("id uuid guid number num no sha hash gid oid");
/// Names of parameters that contain the text to search.
static SEARCH_PARAMS: WordSet = WordSet::of("q query search keyword keywords name term text title");
/// Words of a question that ask for the first item of a list.
static FIRST_ITEM_WORDS: WordSet = WordSet::of(
    "latest newest recent recently last oldest first top best worst most highest lowest biggest largest smallest popular \
    trending current currently now today one",
);

/// Returns the plan for a question, from its hits, best first.
pub(crate) fn plan(catalog: &Catalog, question: &str, hits: &[&CatalogEntry]) -> Option<Value> {
    if catalog.mode == Mode::Discrete {
        return None;
    }
    let best = hits.first()?;
    let words = GivenWords::new(question);
    let any_item = iter_words(question).any(|word| FIRST_ITEM_WORDS.contains(&word));
    // `the movie Titanic` is a movie, so the operation on a movie is the last step.
    let is_about_named = |entry: &&&CatalogEntry| {
        catalog.outline(entry).params.iter().any(|param| param.required && words.name(&param.name))
    };
    let named_kind = hits.iter().find(is_about_named);
    for entry in named_kind.into_iter().chain(hits.iter().take(MAX_RANK_OF_LAST_STEP)) {
        let mut draft =
            PlanDraft { catalog, words: &words, any_item, hits, steps: Vec::new(), pending: Vec::new() };
        draft.add(entry)?;
        let category = entry.operation.category;
        if category != Category::Read && !search::asks_for_change(question, category) {
            continue;
        }
        if draft.steps.len() > 1 {
            // The best hit is the last step; or it returns the item that the question asks for and the last step
            // needs; or it has no place for the name in the question.
            let is_best = entry.operation.name == best.operation.name;
            let fits = is_best
                || named_kind.is_some()
                || (any_item && draft.has(&best.operation.name))
                || (words.name_something && !takes_text(catalog, best));
            return (fits && draft.is_one_call()).then(|| draft.render());
        }
    }
    None
}

/// Returns whether an operation has a parameter for a text to search.
fn takes_text(catalog: &Catalog, entry: &CatalogEntry) -> bool {
    catalog.full_operation(entry).is_some_and(|full| search_param(full.operation).is_some())
}

/// Returns the parameter that contains the text to search.
fn search_param(operation: &Operation) -> Option<&Param> {
    operation.params.iter().find(|param| SEARCH_PARAMS.contains(&param.name))
}

/// A plan in progress.
struct PlanDraft<'c, 'w> {
    catalog: &'c Catalog,
    words: &'w GivenWords,
    /// Whether the first item of a list will do.
    any_item: bool,
    hits: &'w [&'w CatalogEntry],
    steps: Vec<PlanStep<'c>>,
    /// Operations whose producers are being added.
    pending: Vec<&'c str>,
}

struct PlanStep<'c> {
    operation: &'c Operation,
    params: Map<String, Value>,
    /// Whether the agent cannot know one of its identifiers.
    blocked: bool,
}

impl<'c> PlanDraft<'c, '_> {
    /// Adds the steps that produce an operation's identifiers, and then the operation itself. Returns its position.
    fn add(&mut self, entry: &'c CatalogEntry) -> Option<usize> {
        let full = self.catalog.full_operation(entry)?;
        let operation = full.operation;
        let producers = self.catalog.specific_producers(entry);
        self.pending.push(&operation.name);
        let mut step = PlanStep { operation, params: Map::new(), blocked: false };
        for param in
            operation.params.iter().filter(|param| param.required && !fills_default(operation, param))
        {
            let source = producers.iter().find(|(name, _)| *name == param.name);
            let source = source.filter(|_| is_opaque(param) && !self.words.give(&param.name));
            let reference = source.and_then(|_| self.reference(entry, param));
            step.blocked |= source.is_some() && reference.is_none();
            step.params.insert(param.name.clone(), reference.unwrap_or_else(|| OPEN.into()));
        }
        self.pending.pop();
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    /// Returns a reference to the value of a parameter in the answer of the best producer whose answer has it.
    fn reference(&mut self, consumer: &'c CatalogEntry, param: &Param) -> Option<Value> {
        self.candidates(consumer, &param.name).into_iter().find_map(|entry| {
            let full = self.catalog.full_operation(entry)?;
            let path = ResultPath::find(full, &param.name)?;
            let known = self.steps.iter().position(|step| step.operation.name == entry.operation.name);
            let step = match known {
                Some(step) => step,
                None => self.produce(entry, full, &path)?,
            };
            Some(json!({"$result": format!("{step}.data.{}", path.text)}))
        })
    }

    /// Returns the producers of a parameter. If the question names a thing, those that search come first. Then come those
    /// that need what the consumer needs and nothing else, such as a list of the same repository, then the hits.
    fn candidates(&self, consumer: &'c CatalogEntry, param: &str) -> Vec<&'c CatalogEntry> {
        let mut all = self.catalog.all_producers(consumer, param);
        all.sort_by_key(|entry| {
            let searches = self.words.name_something && takes_text(self.catalog, entry);
            let rank = self.hits.iter().position(|hit| hit.operation.name == entry.operation.name);
            (!searches, self.scope_difference(consumer, entry, param), rank.unwrap_or(self.hits.len()))
        });
        all
    }

    /// Returns how many required parameters only one of two operations has, except for the one to produce.
    fn scope_difference(&self, consumer: &CatalogEntry, producer: &CatalogEntry, produced: &str) -> usize {
        let required = |entry: &CatalogEntry| -> Vec<String> {
            let outline = self.catalog.outline(entry);
            let names = outline.params.into_iter().filter(|param| param.required && param.name != produced);
            names.map(|param| param.name).filter(|name| !SEARCH_PARAMS.contains(name)).collect()
        };
        let (one, other) = (required(consumer), required(producer));
        one.iter().filter(|name| !other.contains(name)).count()
            + other.iter().filter(|name| !one.contains(name)).count()
    }

    /// Adds a step that reads the item with an identifier.
    fn produce(
        &mut self,
        entry: &'c CatalogEntry,
        full: FullOperation<'c>,
        path: &ResultPath,
    ) -> Option<usize> {
        let is_long = self.steps.len() + self.pending.len() >= MAX_STEPS;
        let is_circular = self.pending.contains(&entry.operation.name.as_str());
        if entry.operation.category != Category::Read || is_long || is_circular {
            return None;
        }
        let before = self.steps.len();
        let at = self.add(entry)?;
        let operation = full.operation;
        let step = self.steps.get_mut(at)?;
        if step.blocked {
            self.steps.truncate(before);
            return None;
        }
        if let Some(param) = search_param(operation) {
            step.params.entry(param.name.as_str()).or_insert_with(|| OPEN.into());
        } else if let Some(title) = path.title.as_ref().filter(|_| !self.any_item) {
            let control = if operation.param("filter").is_some() { "_filter" } else { "filter" };
            step.params.insert(control.to_owned(), json!({title: {"contains": OPEN}}));
        }
        Some(at)
    }

    fn has(&self, name: &str) -> bool {
        self.steps.iter().any(|step| step.operation.name == name)
    }

    /// Returns whether one tool takes all steps.
    fn is_one_call(&self) -> bool {
        let endpoint = self.steps.first().map(|step| &step.operation.endpoint);
        match self.catalog.mode {
            Mode::Single | Mode::All => true,
            Mode::Semantic => self.steps.iter().all(|step| Some(&step.operation.endpoint) == endpoint),
            Mode::Discrete => false,
        }
    }

    /// Returns the batch. Shared tools need the adapter beside it.
    fn render(self) -> Value {
        let mut batch = Map::new();
        if self.catalog.sharing.is_some() {
            batch.insert("adapter".into(), self.catalog.adapter.name.as_str().into());
        }
        let steps = self.steps.into_iter().map(|step| {
            let mut item = Map::new();
            item.insert("operation".into(), step.operation.name.as_str().into());
            if !step.params.is_empty() {
                item.insert("params".into(), Value::Object(step.params));
            }
            Value::Object(item)
        });
        batch.insert("operations".into(), steps.collect());
        Value::Object(batch)
    }
}

/// Returns whether people rarely know the value of a parameter.
fn is_opaque(param: &Param) -> bool {
    param.schema.get("type").is_some_and(|kind| kind == "integer")
        || iter_words(&param.name).last().is_some_and(|last| OPAQUE.contains(&last))
}
