//! What a search answers: enough about a few operations to call the right one, in few words.
//!
//! Nothing is said twice: a summary that repeats the name is left out, where an identifier comes from is said once, and
//! identifiers that come from the same operations share a line.

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

/// So many operations where nobody says how many.
pub(crate) const DEFAULT_HITS: usize = 5;
/// Estimated tokens of all of them together, for so many.
const HITS_TOKEN_BUDGET: usize = 236;

/// How much is said about an operation.
#[derive(Clone, Copy)]
pub(crate) struct HitSize {
    pub(crate) signature: usize,
    summary: usize,
    /// Operations named for each parameter.
    producers: usize,
}

/// From generous to terse. Where values come from outlasts the summary: it leads on, and the name says much already.
pub(crate) const HIT_SIZES: [HitSize; 6] = [
    HitSize { signature: 40, summary: 100, producers: 2 },
    HitSize { signature: 28, summary: 72, producers: 2 },
    HitSize { signature: 20, summary: 56, producers: 1 },
    HitSize { signature: 12, summary: 40, producers: 1 },
    HitSize { signature: 8, summary: 0, producers: 1 },
    HitSize { signature: 8, summary: 0, producers: 0 },
];

/// The hits, the best first, as generous as there is room.
pub(crate) fn rows(catalog: &Catalog, shown: &[(&CatalogEntry, Producers<'_>)]) -> Value {
    let shown: Vec<_> = shown.iter().map(|(entry, from)| (catalog, *entry, from.clone())).collect();
    rows_of(&shown, false)
}

/// The hits of several adapters, each with its adapter where that is to be said.
pub(crate) fn rows_of(shown: &[(&Catalog, &CatalogEntry, Producers<'_>)], named: bool) -> Value {
    let room = HITS_TOKEN_BUDGET * shown.len().max(1).div_ceil(DEFAULT_HITS);
    let mut rows = Value::Null;
    for size in HIT_SIZES {
        let mut said = HashSet::new();
        rows = shown
            .iter()
            .filter_map(|(catalog, entry, from)| {
                let mut row = row(catalog, entry, from, size, &mut said)?;
                if named {
                    row.shift_insert(0, "adapter".into(), catalog.adapter.name.as_str().into());
                }
                Some(Value::Object(row))
            })
            .collect();
        if tokens::estimate(&rows.to_string()) <= room {
            break;
        }
    }
    rows
}

fn row(
    catalog: &Catalog,
    entry: &CatalogEntry,
    producers: &Producers<'_>,
    size: HitSize,
    said: &mut HashSet<String>,
) -> Option<Map<String, Value>> {
    let operation = catalog.full_operation(entry)?.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    if catalog.mode == Mode::Discrete {
        out.insert("tool".into(), entry.tool.as_str().into());
    } else {
        out.insert("endpoint".into(), operation.endpoint.as_str().into());
    }
    out.insert("signature".into(), signature::brief(operation, size.signature).into());
    let summary = summary(operation);
    if size.summary > 0 && !repeats_name(&summary, operation) {
        out.insert("summary".into(), clipped(&summary, size.summary).into());
    }
    let from = producer_names(operation, producers, size.producers, said);
    if !from.is_empty() {
        out.insert("from".into(), Value::Object(from));
    }
    Some(out)
}

/// Where the required values come from, as far as no hit before said so.
fn producer_names(
    operation: &Operation,
    producers: &Producers<'_>,
    most: usize,
    said: &mut HashSet<String>,
) -> Map<String, Value> {
    let mut lines: IndexMap<Vec<&str>, Vec<&str>> = IndexMap::new();
    for (param, names) in producers {
        let names: Vec<&str> = names.iter().copied().take(most).collect();
        let needed = operation.param(param).is_some_and(|param| param.required);
        if needed && !names.is_empty() && said.insert(format!("{param} {}", names.join(" "))) {
            lines.entry(names).or_default().push(param);
        }
    }
    lines.into_iter().map(|(names, params)| (params.join(", "), names.into())).collect()
}

/// Whether a summary only says the name again.
pub(crate) fn repeats_name(summary: &str, operation: &Operation) -> bool {
    let params = operation.params.iter().map(|param| param.name.as_str());
    let known: Vec<&str> =
        std::iter::once(operation.name.as_str()).chain(params).flat_map(|name| name.split('_')).collect();
    // `repositories` is `repo`, and `issues` is `issue`.
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

/// The text, cut between words.
fn clipped(text: &str, most: usize) -> String {
    let cut = shorten(text, most);
    match cut.strip_suffix('…').and_then(|start| start.rsplit_once(' ')) {
        Some((whole, _)) if cut != text => format!("{whole}…"),
        _ => cut.into_owned(),
    }
}
