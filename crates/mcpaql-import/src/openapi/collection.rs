//! Whether an operation answers with a collection, seen without reading its schemas.

use super::document::Document;
use super::refs::Documents;
use super::scan;
use std::sync::Arc;

/// Answers that say success, best first.
const SUCCESS: &[&str] = &["200", "201", "206", "202", "2XX", "2xx", "default"];
/// How collections are called inside an envelope.
const ENVELOPES: &[&str] = &[
    "content",
    "data",
    "docs",
    "documents",
    "elements",
    "entities",
    "entries",
    "hits",
    "items",
    "list",
    "objects",
    "records",
    "resources",
    "results",
    "rows",
    "value",
    "values",
];
/// How many references are followed.
const MAX_STEPS: usize = 8;

/// A piece of some document.
struct Piece {
    document: Arc<Document>,
    base: Arc<str>,
    pointer: Option<String>,
    range: scan::Range,
}

impl Piece {
    fn text(&self) -> &str {
        match &self.pointer {
            Some(pointer) => self.document.at(pointer).unwrap_or_default(),
            None => self.range.slice(self.document.text()),
        }
    }
}

/// Whether the `responses` of an operation tell of a collection; `None` where they do not tell.
pub(crate) fn answers(
    documents: &Documents,
    document: &Arc<Document>,
    base: &Arc<str>,
    responses: &str,
) -> Option<bool> {
    let all = scan::members(responses);
    let success = SUCCESS.iter().find_map(|status| all.get(*status))?;
    let range = scan::Range::of(document.text(), success);
    let piece = Piece { document: document.clone(), base: base.clone(), pointer: None, range };
    let response = followed(documents, piece)?;
    let schema = schema_of(response.text())?;
    let range = scan::Range::of(response.document.text(), schema);
    let schema = followed(documents, Piece { pointer: None, range, ..response })?;
    is_collection(documents, &schema)
}

fn followed(documents: &Documents, piece: Piece) -> Option<Piece> {
    let mut piece = piece;
    for _ in 0..MAX_STEPS {
        let Some(reference) = scan::child(piece.text(), "$ref").and_then(scan::string) else {
            return Some(piece);
        };
        let place = documents.place(&piece.base, &reference)?;
        let range = scan::Range::of("", "");
        piece = Piece {
            document: place.document,
            base: Arc::from(place.base),
            pointer: Some(place.pointer),
            range,
        };
    }
    None
}

/// The schema of an answer, in the spelling of either version.
fn schema_of(response: &str) -> Option<&str> {
    if let Some(schema) = scan::child(response, "schema") {
        return Some(schema);
    }
    let media = scan::members(scan::child(response, "content")?);
    let (_, json) = media.iter().find(|(name, _)| name.contains("json")).or_else(|| media.first())?;
    scan::child(json, "schema")
}

fn is_collection(documents: &Documents, schema: &Piece) -> Option<bool> {
    let members = scan::members(schema.text());
    let is_array = |members: &indexmap::IndexMap<std::borrow::Cow<'_, str>, &str>| {
        members.contains_key("items") || members.get("type").is_some_and(|kind| kind.contains("\"array\""))
    };
    if is_array(&members) {
        return Some(true);
    }
    let mut parts: Vec<&str> = members.get("properties").copied().into_iter().collect();
    let pieces = members.get("allOf").map(|all| scan::items(all)).unwrap_or_default();
    let mut found = false;
    for part in pieces {
        let range = scan::Range::of(schema.document.text(), part);
        let piece =
            Piece { document: schema.document.clone(), base: schema.base.clone(), pointer: None, range };
        match scan::child(part, "$ref").is_some() {
            true => {
                let piece = followed(documents, piece);
                let inner = piece.as_ref().and_then(|piece| scan::child(piece.text(), "properties"));
                found |= inner.is_some_and(enveloped);
            }
            false => parts.extend(scan::child(part, "properties")),
        }
    }
    Some(found || parts.into_iter().any(enveloped))
}

fn enveloped(properties: &str) -> bool {
    let properties = scan::members(properties);
    ENVELOPES.iter().filter_map(|name| properties.get(*name)).any(|schema| {
        let members = scan::members(schema);
        members.contains_key("items") || members.get("type").is_some_and(|kind| kind.contains("\"array\""))
    })
}
