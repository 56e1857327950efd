//! Formats search results: a few operations, in few tokens, with enough detail to call the right one.
//!
//! A hit is enough to make the call: its signature has the required parameters, then the optional ones that the question
//! speaks of, then others in the order of the document, and the number of those left out. Small types are written out. The
//! best hit has most of the space; in the others, a parameter without a type is a string.
//!
//! What always holds: nothing is repeated. A summary that only repeats the name is left out, the producers of an
//! identifier are named once, and identifiers with the same producers share a line.

use super::mentioned::MentionedWords;
use super::{plan, summary};
use crate::adapter::Mode;
use crate::catalog::{Catalog, CatalogEntry, Producers};
use crate::operation::Operation;
use crate::schema::shorten;
use crate::signature::{self, BriefOptions};
use crate::tokens;
use indexmap::IndexMap;
use mcpaql_lexicon::{PREPOSITIONS, snake_case};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Default number of search results.
pub(crate) const DEFAULT_HITS: usize = 5;
/// Maximum estimated tokens of [`DEFAULT_HITS`] results together.
const HITS_TOKEN_BUDGET: usize = 226;

/// How much is shown of an operation.
#[derive(Clone, Copy)]
struct HitSize {
    /// Maximum tokens of the signature of the first hit.
    first: usize,
    /// Maximum tokens of the same, up to the last parameter that is required or that the question speaks of.
    first_needed: usize,
    /// Maximum tokens of the other signatures.
    signature: usize,
    /// Maximum tokens of the same, up to the last parameter that is required or that the question speaks of: for the first
    /// few hits, and for the others.
    needed: [usize; 2],
    summary: usize,
    /// Maximum producers for each parameter.
    producers: usize,
}

/// Sizes from long to short. The summary is dropped before the producers: an agent needs the producers for its next
/// call, and the name contains most of the summary. Then the last hits get shorter, because they are rarely called. The
/// parameters that a call of the first hit needs are dropped last.
const HIT_SIZES: [HitSize; 11] = [
    HitSize { first: 100, first_needed: 130, signature: 40, needed: [72, 72], summary: 100, producers: 3 },
    HitSize { first: 80, first_needed: 120, signature: 28, needed: [56, 40], summary: 72, producers: 3 },
    HitSize { first: 72, first_needed: 110, signature: 20, needed: [48, 24], summary: 56, producers: 3 },
    HitSize { first: 64, first_needed: 110, signature: 12, needed: [44, 16], summary: 40, producers: 2 },
    HitSize { first: 56, first_needed: 110, signature: 8, needed: [40, 8], summary: 0, producers: 1 },
    HitSize { first: 48, first_needed: 110, signature: 8, needed: [32, 8], summary: 0, producers: 1 },
    HitSize { first: 40, first_needed: 110, signature: 8, needed: [20, 8], summary: 0, producers: 1 },
    HitSize { first: 32, first_needed: 100, signature: 8, needed: [8, 8], summary: 0, producers: 1 },
    HitSize { first: 32, first_needed: 80, signature: 8, needed: [8, 8], summary: 0, producers: 1 },
    HitSize { first: 24, first_needed: 56, signature: 8, needed: [8, 8], summary: 0, producers: 1 },
    HitSize { first: 24, first_needed: 24, signature: 8, needed: [8, 8], summary: 0, producers: 0 },
];
/// Number of hits that count as the first few.
const FEW_HITS: usize = 3;

/// Describes the hits, best first, with as much detail as the token budget allows, and with the adapter's name if `named`.
fn rows_of(question: &str, shown: &[(&Catalog, &CatalogEntry, Producers<'_>)], named: bool) -> Value {
    rows_within(question, shown, HITS_TOKEN_BUDGET * shown.len().max(1).div_ceil(DEFAULT_HITS), named).0
}

/// Describes the hits of a question and its plan, together within the budget. The last hits are left out first, then the
/// plan. A page that the caller asks for has all its hits and no plan.
pub(crate) fn rows_and_plan(
    question: &str,
    shown: &[(&Catalog, &CatalogEntry, Producers<'_>)],
    named: bool,
    paged: bool,
) -> (Value, Option<Value>) {
    let plan = shown.first().filter(|_| !paged).and_then(|(catalog, _, _)| {
        let same = shown.iter().filter(|(other, _, _)| std::ptr::eq(*other, *catalog));
        plan::plan(catalog, question, &same.map(|(_, entry, _)| *entry).collect::<Vec<_>>())
    });
    if let Some(plan) = plan {
        let budget = HITS_TOKEN_BUDGET.saturating_sub(tokens::estimate(&plan.to_string()));
        for count in (FEW_HITS.min(shown.len())..=shown.len().min(DEFAULT_HITS)).rev() {
            let (rows, fits) = rows_within(question, shown.get(..count).unwrap_or(shown), budget, named);
            if fits {
                return (rows, Some(plan));
            }
        }
    }
    (rows_of(question, shown, named), None)
}

/// Describes the hits within a budget. Returns whether they fit.
fn rows_within(
    question: &str,
    shown: &[(&Catalog, &CatalogEntry, Producers<'_>)],
    budget: usize,
    named: bool,
) -> (Value, bool) {
    let words = MentionedWords::new(question);
    let mentioned = shown.iter().map(|(catalog, entry, _)| {
        catalog.full_operation(entry).map(|full| words.params(full.operation)).unwrap_or_default()
    });
    let mentioned: Vec<Vec<&str>> = mentioned.collect();
    let mut rows = Value::Null;
    for size in HIT_SIZES {
        let [few, further] = size.needed;
        let mut shown_producers = HashSet::new();
        rows = shown
            .iter()
            .zip(&mentioned)
            .enumerate()
            .filter_map(|(index, ((catalog, entry, producers), mentioned))| {
                let options = if index == 0 {
                    BriefOptions {
                        tokens: size.first,
                        needed_tokens: size.first_needed,
                        asked: mentioned,
                        ..BriefOptions::default()
                    }
                } else {
                    BriefOptions {
                        tokens: size.signature,
                        needed_tokens: if index < FEW_HITS { few } else { further },
                        asked: mentioned,
                        implied_strings: true,
                        ..BriefOptions::default()
                    }
                };
                let mut row = row(catalog, entry, producers, options, size, &mut shown_producers)?;
                if named {
                    row.shift_insert(0, "adapter".into(), catalog.adapter.name.as_str().into());
                }
                Some(Value::Object(row))
            })
            .collect();
        if tokens::estimate(&rows.to_string()) <= budget {
            return (rows, true);
        }
    }
    (rows, false)
}

fn row(
    catalog: &Catalog,
    entry: &CatalogEntry,
    producers: &Producers<'_>,
    options: BriefOptions<'_>,
    size: HitSize,
    shown_producers: &mut HashSet<String>,
) -> Option<Map<String, Value>> {
    let full = catalog.full_operation(entry)?;
    let operation = full.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    if catalog.mode == Mode::Discrete {
        out.insert("tool".into(), entry.tool.as_str().into());
    } else {
        out.insert("endpoint".into(), operation.endpoint.as_str().into());
    }
    let options = BriefOptions { types: Some(full.types), ..options };
    out.insert("signature".into(), signature::brief_with(operation, &options).into());
    let summary = summary(operation);
    if size.summary > 0 && !repeats_name(&summary, operation) {
        out.insert("summary".into(), clipped(&summary, size.summary).into());
    }
    let from = producer_names(operation, producers, options.asked, size.producers, shown_producers);
    if !from.is_empty() {
        out.insert("from".into(), Value::Object(from));
    }
    Some(out)
}

/// Returns the producers of the required parameters and of those that the question speaks of, except for those that an
/// earlier hit has shown.
fn producer_names(
    operation: &Operation,
    producers: &Producers<'_>,
    mentioned: &[&str],
    max: usize,
    shown_producers: &mut HashSet<String>,
) -> Map<String, Value> {
    let mut lines: IndexMap<Vec<&str>, Vec<&str>> = IndexMap::new();
    for (param, names) in producers {
        let names: Vec<&str> = names.iter().copied().take(max).collect();
        let needed = operation
            .param(param)
            .is_some_and(|param| param.required || mentioned.contains(&param.name.as_str()));
        if needed && !names.is_empty() && shown_producers.insert(format!("{param} {}", names.join(" "))) {
            lines.entry(names).or_default().push(param);
        }
    }
    lines.into_iter().map(|(names, params)| (params.join(", "), names.into())).collect()
}

/// Returns whether a summary only repeats the name.
pub(crate) fn repeats_name(summary: &str, operation: &Operation) -> bool {
    let params = operation.params.iter().map(|param| param.name.as_str());
    let known: Vec<&str> =
        std::iter::once(operation.name.as_str()).chain(params).flat_map(|name| name.split('_')).collect();
    // `repositories` counts as `repo`, and `issues` as `issue`.
    let same =
        |a: &str, b: &str| a == b || a.len().min(b.len()) > 2 && (a.starts_with(b) || b.starts_with(a));
    let filler = |word: &str| {
        PREPOSITIONS.contains(word) || matches!(word, "a" | "an" | "the" | "and" | "all" | "your")
    };
    snake_case(summary)
        .split('_')
        .filter(|word| !word.is_empty() && !filler(word))
        .all(|word| known.iter().any(|known| same(known, word)))
}

/// Shortens a text between words.
fn clipped(text: &str, max: usize) -> String {
    let cut = shorten(text, max);
    match cut.strip_suffix('…').and_then(|start| start.rsplit_once(' ')) {
        Some((whole, _)) if cut != text => format!("{whole}…"),
        _ => cut.into_owned(),
    }
}
