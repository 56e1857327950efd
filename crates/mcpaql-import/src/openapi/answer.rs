//! Reads the answer of an operation: its schema, and the positions of items and page cursors in it.

use super::body::is_json;
use super::details::Context;
use super::params::{locate_value, word};
use super::schema::shape;
use super::text::{FIELD_TEXT, shorten};
use mcpaql_core::library::AnswerOutline;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Fields with the items of a list, the most likely first.
const ITEM_FIELDS: [&str; 22] = [
    "items",
    "data",
    "results",
    "value",
    "values",
    "entries",
    "records",
    "list",
    "rows",
    "objects",
    "hits",
    "content",
    "elements",
    "nodes",
    "resources",
    "result",
    "documents",
    "members",
    "edges",
    "_embedded",
    "response",
    "payload",
];
/// Fields that only an envelope has.
const ENVELOPE_FIELDS: [&str; 22] = [
    "total",
    "count",
    "total_count",
    "totalCount",
    "next",
    "next_page",
    "nextPage",
    "nextPageToken",
    "next_page_token",
    "nextLink",
    "@odata.nextLink",
    "has_more",
    "hasMore",
    "page",
    "pagination",
    "paging",
    "meta",
    "metadata",
    "links",
    "_links",
    "kind",
    "cursor",
];
/// Objects of an answer that may contain a link or cursor to the next page.
const PAGE_FIELDS: [&str; 16] = [
    "meta",
    "metadata",
    "pagination",
    "paging",
    "links",
    "_links",
    "page_info",
    "pageInfo",
    "response_metadata",
    "cursors",
    "cursor",
    "page",
    "next",
    "_meta",
    "pages",
    "$metadata",
];
/// Descriptions without information.
const EMPTY_WORDS: [&str; 14] = [
    "ok",
    "okay",
    "success",
    "successful",
    "response",
    "successful operation",
    "successful response",
    "default response",
    "default",
    "a successful response",
    "200",
    "created",
    "accepted",
    "success response",
];

/// The successful answer in the document.
#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) description: String,
    /// The schema and the id of its document.
    pub(super) schema: Option<(Value, String)>,
    /// Whether the answer has a `Link` header.
    pub(super) link: bool,
}

/// Returns the first successful answer with a schema, or else the first successful answer.
pub(super) fn response(cx: &Context<'_>, operation: &Value) -> Option<Response> {
    let responses = operation.get("responses").and_then(Value::as_object)?;
    let mut keys: Vec<&String> = responses.keys().filter(|key| key.starts_with('2')).collect();
    keys.sort();
    keys.extend(responses.keys().filter(|key| *key == "default"));
    let mut first = None;
    for key in keys {
        let Some(value) = responses.get(key).and_then(|value| locate_value(cx, value, cx.base)) else {
            continue;
        };
        let success = key != "default";
        let found = Response {
            description: informative_text(word(&value.node, "description").unwrap_or_default()),
            schema: schema(&value.node).map(|schema| (schema, value.base.clone())),
            link: success && has_link(&value.node),
        };
        if found.schema.is_some() {
            return Some(found);
        }
        if first.is_none() && success {
            first = Some(found);
        }
    }
    first
}

fn schema(response: &Value) -> Option<Value> {
    if let Some(schema) = response.get("schema") {
        return Some(schema.clone());
    }
    let content = response.get("content").and_then(Value::as_object)?;
    let media = content.iter().find(|(name, _)| is_json(name));
    match media {
        Some((_, media)) => media.get("schema").or_else(|| media.get("itemSchema")).cloned(),
        None if content.is_empty() => None,
        None => Some(json!({"type": "string"})),
    }
}

fn has_link(response: &Value) -> bool {
    let headers = response.get("headers").and_then(Value::as_object);
    headers.is_some_and(|headers| headers.keys().any(|name| name.eq_ignore_ascii_case("link")))
}

fn informative_text(text: &str) -> String {
    let text = shorten(text, FIELD_TEXT);
    let plain = text.trim_end_matches(['.', '!']).to_ascii_lowercase();
    if EMPTY_WORDS.contains(&plain.as_str()) { String::new() } else { text }
}

/// The positions of items and page fields in an answer.
#[derive(Debug, Default)]
pub(super) struct AnswerLayout {
    /// The path to the items, as dotted names; empty if the answer itself is the list.
    pub(super) items: Option<String>,
    /// Fields that may lead to the next page, as dotted names.
    pub(super) fields: Vec<String>,
    /// The schema of an item, or of the whole answer, and the id of its document.
    pub(super) item_schema: Option<(Value, String)>,
}

struct AnswerField {
    name: String,
    list: bool,
    schema: Value,
    base: String,
}

/// Finds items and page fields in the top levels of an answer.
pub(super) fn answer_layout(cx: &Context<'_>, schema: &Value, base: &str) -> AnswerLayout {
    let Some(top) = locate_value(cx, schema, base) else { return AnswerLayout::default() };
    if is_list(&top.node) {
        let item = top.node.get("items").map(|items| (items.clone(), top.base.clone()));
        return AnswerLayout { items: Some(String::new()), item_schema: item, fields: Vec::new() };
    }
    let fields = fields(cx, schema, base);
    let mut seen =
        AnswerLayout { item_schema: Some((schema.clone(), base.to_owned())), ..AnswerLayout::default() };
    names_within(cx, &fields, "", &mut seen.fields, 0);
    if let Some((at, list)) = items(&fields) {
        seen.items = Some(at.to_owned());
        seen.item_schema = Some(list);
    } else if let Some(inner) = wrapped_object(&fields) {
        let below = self::fields(cx, &inner.schema, &inner.base);
        seen.item_schema = Some((inner.schema.clone(), inner.base.clone()));
        if let Some((at, list)) = items(&below) {
            seen.items = Some(format!("{}.{at}", inner.name));
            seen.item_schema = Some(list);
        }
    }
    seen
}

/// Returns the field with the list of an envelope, and the schema of its items.
fn items(fields: &[AnswerField]) -> Option<(&str, (Value, String))> {
    let enveloped =
        fields.len() <= 2 || fields.iter().any(|field| ENVELOPE_FIELDS.contains(&field.name.as_str()));
    let usual =
        ITEM_FIELDS.iter().find_map(|name| fields.iter().find(|field| field.list && field.name == *name));
    let mut lists = fields.iter().filter(|field| field.list);
    let only = lists.next().filter(|_| lists.next().is_none() && enveloped && fields.len() <= 12);
    let field = usual.or(only)?;
    let item = field.schema.get("items").cloned().unwrap_or_else(|| json!({}));
    Some((&field.name, (item, field.base.clone())))
}

/// Returns the single object inside an envelope.
fn wrapped_object(fields: &[AnswerField]) -> Option<&AnswerField> {
    let usual = |field: &&AnswerField| {
        !field.list && field.schema.is_object() && ITEM_FIELDS.contains(&field.name.as_str())
    };
    fields.iter().find(usual).filter(|_| fields.len() <= 6)
}

fn fields(cx: &Context<'_>, schema: &Value, base: &str) -> Vec<AnswerField> {
    let mut out: Vec<AnswerField> = Vec::new();
    shape(cx.refs, schema, base, &mut |name, schema, base| {
        let target = locate_value(cx, schema, base);
        let list = target.as_ref().is_some_and(|target| is_list(&target.node));
        let looked_into = list || ITEM_FIELDS.contains(&name) || PAGE_FIELDS.contains(&name);
        let (schema, base) = match target.filter(|_| looked_into) {
            // Items are read relative to the document of their list. An object keeps its reference, and so its name.
            Some(target) if list => (Value::clone(&target.node), target.base),
            Some(target) if is_object(&target.node) => (schema.clone(), base.to_owned()),
            _ => (Value::Null, String::new()),
        };
        out.retain(|field| field.name != name);
        out.push(AnswerField { name: name.to_owned(), list, schema, base });
    });
    out
}

fn names_within(cx: &Context<'_>, fields: &[AnswerField], before: &str, out: &mut Vec<String>, depth: usize) {
    for field in fields {
        let name = if before.is_empty() { field.name.clone() } else { format!("{before}.{}", field.name) };
        if depth < 2 && !field.list && field.schema.is_object() && PAGE_FIELDS.contains(&field.name.as_str())
        {
            let below = self::fields(cx, &field.schema, &field.base);
            names_within(cx, &below, &name, out, depth + 1);
        }
        out.push(name);
    }
}

fn is_list(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => schema.get("items").is_some() && schema.get("properties").is_none(),
    }
}

fn is_object(schema: &Value) -> bool {
    ["properties", "allOf", "oneOf", "anyOf"].iter().any(|key| schema.get(key).is_some())
}

/// Known outlines of answers, because most operations return one of a few types.
#[derive(Debug, Default)]
pub(super) struct AnswerCache(Mutex<HashMap<(String, String), AnswerOutline>>);

/// Maximum number of cached outlines.
const MAX_ANSWERS: usize = 4096;

impl AnswerCache {
    /// Returns the outline of an answer. An answer that is only a reference is read once.
    pub(super) fn outline(&self, cx: &Context<'_>, schema: &Value, base: &str) -> AnswerOutline {
        let read = || answer_outline(cx, &answer_layout(cx, schema, base));
        let alone = schema.as_object().is_some_and(|schema| schema.len() == 1);
        let Some(reference) = word(schema, "$ref").filter(|_| alone) else { return read() };
        let key = (base.to_owned(), reference.to_owned());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outline) = known().get(&key) {
            return outline.clone();
        }
        // Not under the lock: a reference may lead to another document, which must be loaded.
        let outline = read();
        let mut known = known();
        if known.len() < MAX_ANSWERS {
            known.insert(key, outline.clone());
        }
        outline
    }
}

/// Returns the outline of an answer.
fn answer_outline(cx: &Context<'_>, seen: &AnswerLayout) -> AnswerOutline {
    let mut outline = AnswerOutline { list: seen.items.is_some(), ..AnswerOutline::default() };
    let Some((schema, base)) = &seen.item_schema else { return outline };
    outline.type_name = type_name(cx, schema, base);
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str, schema: &Value, _: &str| {
        if schema.get("writeOnly") != Some(&Value::Bool(true)) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    if shape(cx.refs, schema, base, &mut add).is_none()
        && let Some(top) = locate_value(cx, schema, base)
    {
        // The first variant stands for all.
        let variants = ["oneOf", "anyOf"].iter().find_map(|key| top.node.get(key).and_then(Value::as_array));
        if let Some(first) = variants.and_then(|variants| variants.first()) {
            outline.type_name = outline.type_name.or_else(|| type_name(cx, first, &top.base));
            let _ = shape(cx.refs, first, &top.base, &mut add);
        }
    }
    outline.fields = names;
    outline
}

/// Returns the name of the type that a schema refers to.
fn type_name(cx: &Context<'_>, schema: &Value, base: &str) -> Option<String> {
    let parts = schema.get("allOf").and_then(Value::as_array);
    let schema = parts.filter(|parts| parts.len() == 1).and_then(|parts| parts.first()).unwrap_or(schema);
    let target = cx.refs.resolve(base, word(schema, "$ref")?)?;
    (is_object(&target.value) || target.value.get("type").is_some_and(|kind| kind == "object"))
        .then(|| cx.types.name(&target.base, &target.pointer, false))
}
