//! What a search answers: enough about a few operations to call the right one, in few words.
//!
//! Nothing is said twice: a summary that repeats the name is left out, and where an identifier comes from is said once.

use super::summary;
use crate::adapter::Mode;
use crate::catalog::{Catalog, Entry};
use crate::operation::Operation;
use crate::schema::shorten;
use crate::signature;
use crate::suggest::snake_case;
use crate::tokens;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// So many operations where nobody says how many.
pub(super) const SHOWN: usize = 5;
/// Estimated tokens of all of them together, for so many.
const ROOM: usize = 236;

/// How much is said about an operation.
#[derive(Clone, Copy)]
struct Size {
    signature: usize,
    summary: usize,
    /// Operations named for each parameter.
    producers: usize,
}

/// From generous to terse.
const SIZES: [Size; 5] = [
    Size { signature: 40, summary: 100, producers: 2 },
    Size { signature: 28, summary: 72, producers: 2 },
    Size { signature: 20, summary: 56, producers: 1 },
    Size { signature: 12, summary: 40, producers: 1 },
    Size { signature: 8, summary: 32, producers: 0 },
];

/// The hits, the best first, as generous as there is room.
pub(super) fn rows(catalog: &Catalog, shown: &[&Entry]) -> Value {
    let room = ROOM * shown.len().max(1).div_ceil(SHOWN);
    let mut rows = Value::Null;
    for size in SIZES {
        let mut said = HashSet::new();
        rows = shown.iter().filter_map(|entry| row(catalog, entry, size, &mut said)).collect();
        if tokens::estimate(&rows.to_string()) <= room {
            break;
        }
    }
    rows
}

fn row(catalog: &Catalog, entry: &Entry, size: Size, said: &mut HashSet<String>) -> Option<Value> {
    let operation = catalog.whole(entry)?.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    if catalog.mode == Mode::Discrete {
        out.insert("tool".into(), entry.tool.as_str().into());
    } else {
        out.insert("endpoint".into(), operation.endpoint.as_str().into());
    }
    out.insert("signature".into(), signature::brief(operation, size.signature).into());
    let summary = summary(operation);
    if !repeats(&summary, operation) {
        out.insert("summary".into(), shorten(&summary, size.summary).into());
    }
    let from = from(catalog, entry, operation, size.producers, said);
    if !from.is_empty() {
        out.insert("from".into(), Value::Object(from));
    }
    Some(Value::Object(out))
}

/// Where the required values come from, as far as no hit before said so.
fn from(
    catalog: &Catalog,
    entry: &Entry,
    operation: &Operation,
    producers: usize,
    said: &mut HashSet<String>,
) -> Map<String, Value> {
    let mut out = Map::new();
    if producers == 0 {
        return out;
    }
    for (param, mut names) in catalog.producers(entry) {
        if operation.param(&param).is_none_or(|param| !param.required) {
            continue;
        }
        names.truncate(producers);
        if !names.is_empty() && said.insert(format!("{param} {}", names.join(" "))) {
            out.insert(param, names.into());
        }
    }
    out
}

/// Words that say nothing about an operation.
const FILLERS: [&str; 14] =
    ["a", "an", "the", "of", "for", "to", "in", "on", "by", "from", "with", "and", "all", "your"];

/// Whether a summary only says the name again.
fn repeats(summary: &str, operation: &Operation) -> bool {
    let stem = |word: &str| -> String { word.trim_end_matches('s').to_owned() };
    let name: HashSet<String> = operation.name.split('_').map(stem).collect();
    let params = operation.params.iter().flat_map(|param| param.name.split('_').map(stem));
    let known: HashSet<String> = params.chain(name).collect();
    snake_case(summary)
        .split('_')
        .filter(|word| !word.is_empty() && !FILLERS.contains(word))
        .all(|word| known.contains(&stem(word)))
}
