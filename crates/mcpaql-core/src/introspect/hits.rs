//! Formats search results: a few operations, in few tokens, with enough detail to call the right one.
//!
//! A hit is enough to make the call: its signature has the required parameters, then the optional ones that the question
//! speaks of, then others in the order of the document, and the number of those left out. The best hit has most of the
//! space.
//!
//! What always holds: nothing is repeated. A summary that only repeats the name is left out, the producers of an
//! identifier are named once, and identifiers with the same producers share a line.

use super::mentioned::MentionedWords;
use super::summary;
use crate::adapter::Mode;
use crate::catalog::{Catalog, CatalogEntry, Producers};
use crate::operation::Operation;
use crate::schema::shorten;
use crate::signature;
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
    /// Maximum tokens of the other signatures.
    signature: usize,
    summary: usize,
    /// Maximum producers for each parameter.
    producers: usize,
}

/// Sizes from long to short. The summary is dropped before the producers: an agent needs the producers for its next
/// call, and the name contains most of the summary.
const HIT_SIZES: [HitSize; 9] = [
    HitSize { first: 100, signature: 40, summary: 100, producers: 3 },
    HitSize { first: 80, signature: 28, summary: 72, producers: 3 },
    HitSize { first: 72, signature: 20, summary: 56, producers: 3 },
    HitSize { first: 72, signature: 16, summary: 40, producers: 2 },
    HitSize { first: 64, signature: 12, summary: 40, producers: 1 },
    HitSize { first: 64, signature: 8, summary: 0, producers: 1 },
    HitSize { first: 48, signature: 8, summary: 0, producers: 1 },
    HitSize { first: 24, signature: 8, summary: 0, producers: 1 },
    HitSize { first: 24, signature: 8, summary: 0, producers: 0 },
];

/// Describes the hits, best first, with as much detail as the token budget allows.
pub(crate) fn rows(catalog: &Catalog, question: &str, shown: &[(&CatalogEntry, Producers<'_>)]) -> Value {
    let shown: Vec<_> = shown.iter().map(|(entry, producers)| (catalog, *entry, producers.clone())).collect();
    rows_of(question, &shown, false)
}

/// Describes the hits of several adapters, with the adapter's name if `named`.
pub(crate) fn rows_of(
    question: &str,
    shown: &[(&Catalog, &CatalogEntry, Producers<'_>)],
    named: bool,
) -> Value {
    let words = MentionedWords::new(question);
    let mentioned = shown.iter().map(|(catalog, entry, _)| {
        catalog.full_operation(entry).map(|full| words.params(full.operation)).unwrap_or_default()
    });
    let mentioned: Vec<Vec<&str>> = mentioned.collect();
    let budget = HITS_TOKEN_BUDGET * shown.len().max(1).div_ceil(DEFAULT_HITS);
    let mut rows = Value::Null;
    for size in HIT_SIZES {
        let mut shown_producers = HashSet::new();
        rows = shown
            .iter()
            .zip(&mentioned)
            .enumerate()
            .filter_map(|(index, ((catalog, entry, producers), mentioned))| {
                let signature = if index == 0 { size.first } else { size.signature };
                let size = HitSize { signature, ..size };
                let mut row = row(catalog, entry, producers, mentioned, size, &mut shown_producers)?;
                if named {
                    row.shift_insert(0, "adapter".into(), catalog.adapter.name.as_str().into());
                }
                Some(Value::Object(row))
            })
            .collect();
        if tokens::estimate(&rows.to_string()) <= budget {
            break;
        }
    }
    rows
}

fn row(
    catalog: &Catalog,
    entry: &CatalogEntry,
    producers: &Producers<'_>,
    mentioned: &[&str],
    size: HitSize,
    shown_producers: &mut HashSet<String>,
) -> Option<Map<String, Value>> {
    let operation = catalog.full_operation(entry)?.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    if catalog.mode == Mode::Discrete {
        out.insert("tool".into(), entry.tool.as_str().into());
    } else {
        out.insert("endpoint".into(), operation.endpoint.as_str().into());
    }
    out.insert("signature".into(), signature::brief_with(operation, size.signature, mentioned).into());
    let summary = summary(operation);
    if size.summary > 0 && !repeats_name(&summary, operation) {
        out.insert("summary".into(), clipped(&summary, size.summary).into());
    }
    let from = producer_names(operation, producers, mentioned, size.producers, shown_producers);
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
