//! Derives the six operations of a store's resource: create, get, list, search, update, delete.
//!
//! What always holds: a field never shadows a parameter that controls the call (`id`, `input`, `if_match`, `first`, `after`,
//! `query`). Defaults of fields apply only to new records. Every example is valid for its parameters.

use indexmap::IndexMap;
use mcpaql_core::adapter::Resource;
use mcpaql_core::facts::{self, Declared, Guard, Reach};
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{
    Binding, Category, Example, Operation, Param, ParamLocation, Returns, StoreAction, StoreBinding,
};
use mcpaql_core::sample;
use serde_json::{Map, Value, json};

/// The keys that the store adds to every record; a field cannot have these names.
pub const RECORD_KEYS: [&str; 4] = ["id", "created_at", "updated_at", "_etag"];

/// An id as the store generates them.
const SAMPLE_ID: &str = "n66tq8v3m0kxe";

/// Records per page, if the caller does not set `first`.
pub const DEFAULT_RECORDS_PAGE_SIZE: u64 = 25;
/// Maximum records per page.
pub const MAX_RECORDS_PAGE_SIZE: u64 = 100;

/// Returns the operations of the resource `name`.
#[must_use]
pub fn operations(name: &str, resource: &Resource) -> Vec<Operation> {
    let words = ResourceNames {
        name,
        plural: &resource.plural,
        singular: &spaced(name),
        many: &spaced(&resource.plural),
    };
    let mut operations = vec![
        create(&words, resource),
        get(&words, resource),
        list(&words, resource),
        search(&words, resource),
        update(&words, resource),
        delete(&words),
    ];
    for operation in &mut operations {
        operation.hide = resource.hide.clone();
        if operation.category == Category::Read {
            operation.fields = resource.declared.clone();
        }
    }
    operations
}

/// Returns the fields that `search` reads: the declared ones, or else all fields of free text.
#[must_use]
pub fn search_fields(resource: &Resource) -> Vec<&str> {
    if !resource.search.is_empty() {
        return resource.search.iter().map(String::as_str).collect();
    }
    let is_text = |schema: &Value| {
        schema.get("type").is_some_and(|kind| kind == "string") && schema.get("enum").is_none()
    };
    resource.fields.iter().filter(|(_, schema)| is_text(schema)).map(|(name, _)| name.as_str()).collect()
}

/// Whether `list` can compare the field for equality: its values are strings, numbers, booleans or null.
fn is_scalar(schema: &Value) -> bool {
    let scalar = |kind: &Value| {
        kind.as_str().is_some_and(|kind| matches!(kind, "string" | "integer" | "number" | "boolean" | "null"))
    };
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().all(scalar),
        Some(kind) => scalar(kind),
        None => match schema.get("enum") {
            Some(Value::Array(values)) => values.iter().all(|value| !value.is_object() && !value.is_array()),
            _ => false,
        },
    }
}

/// Whether the field is a parameter of `list`.
#[must_use]
pub fn is_filter(name: &str, schema: &Value) -> bool {
    is_scalar(schema) && !matches!(name, "first" | "after")
}

/// Whether the field is a parameter of `update`, in addition to being a member of `input`.
#[must_use]
pub fn is_update_param(name: &str) -> bool {
    !matches!(name, "id" | "input" | "if_match")
}

struct ResourceNames<'a> {
    name: &'a str,
    plural: &'a str,
    singular: &'a str,
    many: &'a str,
}

impl ResourceNames<'_> {
    /// Returns `a note` or `an entry`.
    fn with_article(&self) -> String {
        let article = if self.singular.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {}", self.singular)
    }
}

fn create(words: &ResourceNames<'_>, resource: &Resource) -> Operation {
    let params = resource
        .fields
        .iter()
        .map(|(name, schema)| {
            let required = resource.required.contains(name);
            let default = schema.get("default").filter(|_| !required).cloned();
            Param { default, ..field_param(name, schema, required) }
        })
        .collect();
    let about = match resource.description.trim() {
        "" => format!("Create {}.", words.with_article()),
        text => format!("Create {}: {}.", words.with_article(), text.trim_end_matches('.')),
    };
    let example = required_sample(resource);
    operation(words, StoreAction::Create, about, params, Some(record(resource)), example)
}

fn get(words: &ResourceNames<'_>, resource: &Resource) -> Operation {
    let about = format!("Get one {} by its id.", words.singular);
    operation(words, StoreAction::Get, about, vec![id(words)], Some(record(resource)), Some(sample_id()))
}

fn list(words: &ResourceNames<'_>, resource: &Resource) -> Operation {
    let filters: Vec<(&String, &Value)> =
        resource.fields.iter().filter(|(name, schema)| is_filter(name, schema)).collect();
    let names: Vec<&str> = filters.iter().map(|(name, _)| name.as_str()).collect();
    let about = match names.as_slice() {
        [] => format!("List {}, newest first.", words.many),
        names => format!("List {}, newest first, all or those with an exact {}.", words.many, any_of(names)),
    };
    let mut params: Vec<Param> =
        filters.iter().map(|(name, schema)| field_param(name, schema, false)).collect();
    params.extend(page_params());
    let example = Map::from_iter([("first".to_owned(), json!(10))]);
    operation(words, StoreAction::List, about, params, Some(page(resource)), Some(example))
}

fn search(words: &ResourceNames<'_>, resource: &Resource) -> Operation {
    let fields = search_fields(resource);
    let about = match fields.as_slice() {
        [] => format!("Find {} by text.", words.many),
        fields => {
            format!("Find {} that contain every word of the query in their {}.", words.many, any_of(fields))
        }
    };
    let schema = json!({"type": "string", "minLength": 1});
    let query = param("query", schema, true, "Words to look for, in any case and order.");
    let mut params = vec![query];
    params.extend(page_params());
    let example = Map::from_iter([("query".to_owned(), json!(words.singular))]);
    operation(words, StoreAction::Search, about, params, Some(page(resource)), Some(example))
}

fn update(words: &ResourceNames<'_>, resource: &Resource) -> Operation {
    let mut properties = Map::new();
    for (name, schema) in &resource.fields {
        let schema = partial(&without(schema, &["default", "sensitive", "required"]));
        let schema = if resource.required.contains(name) { schema } else { nullable(schema) };
        properties.insert(name.clone(), schema);
    }
    let flat = properties.iter().filter(|(name, _)| is_update_param(name));
    let flat: Vec<Param> = flat.map(|(name, schema)| field_param(name, schema, false)).collect();
    let input = json!({"type": "object", "properties": properties.clone(), "additionalProperties": false});
    let mut params = vec![
        id(words),
        param(
            "input",
            input,
            false,
            "The fields to change. Objects merge, arrays replace, null removes. Only the store sets _etag, id, created_at, updated_at.",
        ),
        if_match("The _etag you read. The update is refused if the record has changed since."),
    ];
    params.extend(flat);
    let about = format!("Change fields of {} and keep the rest.", words.with_article());
    let change =
        resource.fields.iter().find_map(|(name, schema)| Some((name.clone(), plain_sample(name, schema)?)));
    let example = change.map(|change| {
        let mut example = sample_id();
        example.insert("input".into(), Value::Object(Map::from_iter([change])));
        example
    });
    operation(words, StoreAction::Update, about, params, Some(record(resource)), example)
}

/// The guard against lost updates. Its wire name is `_etag`, so callers can also send the `_etag` of a record under that name.
fn if_match(description: &str) -> Param {
    Param { wire: "_etag".into(), ..param("if_match", json!({"type": "string"}), false, description) }
}

fn delete(words: &ResourceNames<'_>) -> Operation {
    let params = vec![
        id(words),
        if_match("The _etag you read. The delete is refused if the record has changed since."),
    ];
    let about = format!("Delete one {} for good.", words.singular);
    let returns = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}, "deleted": {"type": "boolean"}},
        "required": ["id", "deleted"],
    });
    operation(words, StoreAction::Delete, about, params, Some(returns), Some(sample_id()))
}

fn operation(
    words: &ResourceNames<'_>,
    action: StoreAction,
    description: String,
    params: Vec<Param>,
    returns: Option<Value>,
    example: Option<Map<String, Value>>,
) -> Operation {
    let (category, noun) = match action {
        StoreAction::Create => (Category::Create, words.name),
        StoreAction::Get => (Category::Read, words.name),
        StoreAction::List | StoreAction::Search => (Category::Read, words.plural),
        StoreAction::Update => (Category::Update, words.name),
        StoreAction::Delete => (Category::Delete, words.name),
    };
    let name = format!("{}_{noun}", action.as_str());
    let danger = facts::danger_of(&name, category);
    let binding = Binding::Store(StoreBinding { resource: words.name.to_owned(), action });
    let facts = facts::infer(&Declared {
        category,
        effect: None,
        idempotent: None,
        danger,
        guard: Guard::None,
        reach: Reach::Process,
        binding: &binding,
    });
    Operation {
        title: title_of(&name),
        description,
        params,
        returns: returns.map(|schema| Returns { schema, description: String::new() }),
        examples: example.map(|params| Example { description: String::new(), params }).into_iter().collect(),
        tags: vec![words.name.to_owned()],
        danger,
        ..Operation::new(name, category, facts, binding)
    }
}

fn id(words: &ResourceNames<'_>) -> Param {
    param("id", json!({"type": "string", "minLength": 1}), true, &format!("Id of the {}.", words.singular))
}

fn page_params() -> [Param; 2] {
    let first = json!({"type": "integer", "minimum": 1});
    let description = format!("How many to return, up to {MAX_RECORDS_PAGE_SIZE}.");
    [
        Param {
            default: Some(json!(DEFAULT_RECORDS_PAGE_SIZE)),
            ..param("first", first, false, &description)
        },
        param("after", json!({"type": "string"}), false, "The endCursor of the page before."),
    ]
}

fn field_param(name: &str, schema: &Value, required: bool) -> Param {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let sensitive = schema.get("sensitive").and_then(Value::as_bool).unwrap_or_default();
    let schema = without(schema, &["description", "default", "sensitive", "required"]);
    Param { sensitive, ..param(name, schema, required, description) }
}

fn param(name: &str, schema: Value, required: bool, description: &str) -> Param {
    Param { required, description: description.to_owned(), ..Param::new(name, ParamLocation::Body, schema) }
}

/// Returns the schema without these keys. A `required` list of properties stays; a `required: true` flag is removed.
fn without(schema: &Value, keys: &[&str]) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let removed = |key: &String, value: &Value| {
        keys.contains(&key.as_str()) && !(key == "required" && value.is_array())
    };
    Value::Object(map.iter().filter(|(k, v)| !removed(k, v)).map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// Returns the schema of an update to a value: an object may be partial, and `null` removes its optional members.
fn partial(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let Some(Value::Object(properties)) = map.get("properties") else { return schema.clone() };
    let required = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let parts = properties.iter().map(|(name, part)| {
        let part = partial(&without(part, &["default"]));
        let is_required = required.iter().any(|known| known == name);
        (name.clone(), if is_required { part } else { nullable(part) })
    });
    let parts = parts.collect::<Map<_, _>>();
    let kept =
        map.iter().filter(|(key, _)| !matches!(key.as_str(), "required" | "minProperties" | "properties"));
    let kept = kept.map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(kept.chain([("properties".to_owned(), Value::Object(parts))]).collect())
}

/// Returns the schema with null allowed.
fn nullable(schema: Value) -> Value {
    let described = schema.get("description").cloned();
    let mut wrapped = match schema {
        Value::Object(mut map)
            if map.get("type").is_some_and(Value::is_string) && !map.contains_key("enum") =>
        {
            let kind = map.get("type").cloned().unwrap_or_default();
            map.insert("type".into(), json!([kind, "null"]));
            return Value::Object(map);
        }
        schema => json!({"anyOf": [without(&schema, &["description"]), {"type": "null"}]}),
    };
    if let (Some(text), Value::Object(map)) = (described, &mut wrapped) {
        map.insert("description".into(), text);
    }
    wrapped
}

fn record(resource: &Resource) -> Value {
    let text = json!({"type": "string"});
    let mut properties = Map::from_iter([("id".to_owned(), text.clone())]);
    for (name, schema) in &resource.fields {
        properties.insert(name.clone(), without(schema, &["default", "sensitive", "required"]));
    }
    for name in ["created_at", "updated_at", "_etag"] {
        properties.insert(name.to_owned(), text.clone());
    }
    json!({"type": "object", "properties": properties})
}

fn page(resource: &Resource) -> Value {
    json!({
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": record(resource)},
            "pageInfo": {
                "type": "object",
                "properties": {
                    "hasNextPage": {"type": "boolean"},
                    "hasPreviousPage": {"type": "boolean"},
                    "startCursor": {"type": "string"},
                    "endCursor": {"type": "string"},
                },
            },
        },
    })
}

fn sample_id() -> Map<String, Value> {
    Map::from_iter([("id".to_owned(), json!(SAMPLE_ID))])
}

/// Returns a sample value of a field, if its schema allows to construct one.
fn plain_sample(name: &str, schema: &Value) -> Option<Value> {
    sample::sample(name, schema, &IndexMap::new())
}

/// Returns sample values of the required fields (or of one field, if none is required); `None` if a required field has no
/// sample.
fn required_sample(resource: &Resource) -> Option<Map<String, Value>> {
    let mut example = Map::new();
    for (name, schema) in &resource.fields {
        if resource.required.contains(name) {
            example.insert(name.clone(), plain_sample(name, schema)?);
        }
    }
    if example.is_empty()
        && let Some((name, value)) =
            resource.fields.iter().find_map(|(name, schema)| Some((name, plain_sample(name, schema)?)))
    {
        example.insert(name.clone(), value);
    }
    Some(example)
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns `a`, `a or b`, `a, b or c`.
fn any_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

#[cfg(test)]
#[path = "store_operations_tests.rs"]
mod tests;
