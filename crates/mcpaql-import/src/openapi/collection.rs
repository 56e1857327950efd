//! Finds out whether an operation returns a collection, without reading its schemas.

use super::document::OpenApiDocument;
use super::refs::Documents;
use super::scan;
use std::sync::Arc;

/// Statuses of successful answers, best first.
const SUCCESS: &[&str] = &["200", "201", "206", "202", "2XX", "2xx", "default"];
/// Names of collections inside an envelope.
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
/// Maximum number of references that are followed.
const MAX_STEPS: usize = 8;

/// A part of a document.
struct DocumentPart {
    document: Arc<OpenApiDocument>,
    base: Arc<str>,
    pointer: Option<String>,
    range: scan::TextRange,
}

impl DocumentPart {
    fn text(&self) -> &str {
        match &self.pointer {
            Some(pointer) => self.document.at(pointer).unwrap_or_default(),
            None => self.range.slice(self.document.text()),
        }
    }
}

/// Whether an operation with these `responses` returns a collection; `None` if it is unknown.
pub(crate) fn returns_collection(
    documents: &Documents,
    document: &Arc<OpenApiDocument>,
    base: &Arc<str>,
    responses: &str,
) -> Option<bool> {
    let all = scan::members(responses);
    let success = SUCCESS.iter().find_map(|status| all.get(*status))?;
    let range = scan::TextRange::of(document.text(), success);
    let piece = DocumentPart { document: document.clone(), base: base.clone(), pointer: None, range };
    let response = follow_references(documents, piece)?;
    let schema = schema_of(response.text())?;
    let range = scan::TextRange::of(response.document.text(), schema);
    let schema = follow_references(documents, DocumentPart { pointer: None, range, ..response })?;
    is_collection(documents, &schema)
}

fn follow_references(documents: &Documents, piece: DocumentPart) -> Option<DocumentPart> {
    let mut piece = piece;
    for _ in 0..MAX_STEPS {
        let Some(reference) = scan::child(piece.text(), "$ref").and_then(scan::string) else {
            return Some(piece);
        };
        let location = documents.locate(&piece.base, &reference)?;
        let range = scan::TextRange::of("", "");
        piece = DocumentPart {
            document: location.document,
            base: Arc::from(location.base),
            pointer: Some(location.pointer),
            range,
        };
    }
    None
}

/// Returns the schema of an answer, in Swagger 2.0 or OpenAPI 3.
fn schema_of(response: &str) -> Option<&str> {
    if let Some(schema) = scan::child(response, "schema") {
        return Some(schema);
    }
    let media = scan::members(scan::child(response, "content")?);
    let (_, json) = media.iter().find(|(name, _)| name.contains("json")).or_else(|| media.first())?;
    scan::child(json, "schema")
}

fn is_collection(documents: &Documents, schema: &DocumentPart) -> Option<bool> {
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
        let range = scan::TextRange::of(schema.document.text(), part);
        let piece = DocumentPart {
            document: schema.document.clone(),
            base: schema.base.clone(),
            pointer: None,
            range,
        };
        match scan::child(part, "$ref").is_some() {
            true => {
                let piece = follow_references(documents, piece);
                let inner = piece.as_ref().and_then(|piece| scan::child(piece.text(), "properties"));
                found |= inner.is_some_and(has_enveloped_list);
            }
            false => parts.extend(scan::child(part, "properties")),
        }
    }
    Some(found || parts.into_iter().any(has_enveloped_list))
}

fn has_enveloped_list(properties: &str) -> bool {
    let properties = scan::members(properties);
    ENVELOPES.iter().filter_map(|name| properties.get(*name)).any(|schema| {
        let members = scan::members(schema);
        members.contains_key("items") || members.get("type").is_some_and(|kind| kind.contains("\"array\""))
    })
}
