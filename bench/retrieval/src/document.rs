//! An OpenAPI document as search and links read it: enough to measure with, no more.

use anyhow::{Context, Result};
use mcpaql_core::facts::{Effect, Facts, Guard, Reach, Repeat};
use mcpaql_core::library::{Given, Need, Outline};
use mcpaql_core::operation::{Binding, Category, HttpBinding, Operation, Segment};
use mcpaql_core::search::Doc;
use mcpaql_core::suggest::snake_case;
use serde_json::Value;

/// One operation of the document.
pub struct Loaded {
    pub id: String,
    pub operation: Operation,
    pub outline: Outline,
    pub path: String,
    pub summary: String,
    pub description: String,
}

/// The names that a search document borrows.
pub struct Names<'a> {
    tags: Vec<&'a str>,
    params: Vec<&'a str>,
    fields: Vec<&'a str>,
}

impl Loaded {
    pub fn names(&self) -> Names<'_> {
        Names {
            tags: self.operation.tags.iter().map(String::as_str).collect(),
            params: self.outline.params.iter().map(|param| param.name.as_str()).collect(),
            fields: self
                .outline
                .answer
                .iter()
                .flat_map(|answer| &answer.fields)
                .map(String::as_str)
                .collect(),
        }
    }

    pub fn doc<'a>(&'a self, names: &'a Names<'a>) -> Doc<'a> {
        Doc {
            name: &self.operation.name,
            path: &self.path,
            summary: &self.summary,
            description: &self.description,
            tags: &names.tags,
            params: &names.params,
            category: self.operation.category,
            deprecated: self.operation.deprecated.is_some(),
            fields: &names.fields,
        }
    }
}

pub fn read(text: &str) -> Result<Vec<Loaded>> {
    let root: Value = serde_json::from_str(text)?;
    let paths = root.get("paths").and_then(Value::as_object).context("the document has no paths")?;
    let mut all = Vec::new();
    for (path, item) in paths {
        for method in ["get", "put", "post", "delete", "patch"] {
            if let Some(operation) = item.get(method) {
                all.push(one(&root, path, method, item, operation));
            }
        }
    }
    Ok(all)
}

fn one(root: &Value, path: &str, method: &str, item: &Value, value: &Value) -> Loaded {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let id = match text("operationId") {
        id if id.is_empty() => format!("{method} {path}"),
        id => id,
    };
    let category = match method {
        "get" => Category::Read,
        "delete" => Category::Delete,
        "put" | "patch" => Category::Update,
        _ if acts(path) => Category::Execute,
        _ => Category::Create,
    };
    let binding = Binding::Http(HttpBinding::new(method.to_uppercase(), segments(path)));
    let mut operation = Operation::new(snake_case(&id), category, facts(category), binding);
    operation.tags = list(value, "tags").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if value.get("deprecated") == Some(&Value::Bool(true)) {
        operation.deprecated = Some(String::new());
    }
    let outline = Outline { params: params(root, item, value), answer: answer(root, value) };
    Loaded {
        id,
        operation,
        outline,
        path: path.to_owned(),
        summary: text("summary"),
        description: text("description"),
    }
}

/// Search and links do not look at these.
fn facts(category: Category) -> Facts {
    let effect = Effect::of(category);
    Facts {
        effect,
        repeat: Repeat::Unknown,
        overwrites: false,
        reversible: true,
        guard: Guard::None,
        reach: Reach::Open,
    }
}

/// Whether the path ends in a verb.
fn acts(path: &str) -> bool {
    const VERBS: [&str; 12] = [
        "merge",
        "dispatches",
        "cancel",
        "force-cancel",
        "rerun",
        "rerun-failed-jobs",
        "attempts",
        "start",
        "stop",
        "transfer",
        "pings",
        "tests",
    ];
    path.rsplit(['/', ':']).next().is_some_and(|last| VERBS.contains(&last))
}

fn segments(path: &str) -> Vec<Segment> {
    let mut found = Vec::new();
    for (at, part) in path.split('{').enumerate() {
        match part.split_once('}').filter(|_| at > 0) {
            Some((name, rest)) => {
                found.push(Segment::Param(name.to_owned()));
                if !rest.is_empty() {
                    found.push(Segment::Literal(rest.to_owned()));
                }
            }
            None => found.push(Segment::Literal(part.to_owned())),
        }
    }
    found
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The value behind a reference, and the reference's last name.
fn resolve<'v>(root: &'v Value, mut value: &'v Value) -> (&'v Value, Option<&'v str>) {
    let mut name = None;
    for _ in 0..8 {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { break };
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) else {
            break;
        };
        name = reference.rsplit('/').next();
        value = target;
    }
    (value, name)
}

fn params(root: &Value, item: &Value, value: &Value) -> Vec<Need> {
    let mut found: Vec<Need> = Vec::new();
    for param in list(item, "parameters").iter().chain(list(value, "parameters")) {
        let (param, _) = resolve(root, param);
        let Some(name) = param.get("name").and_then(Value::as_str) else { continue };
        let in_path = param.get("in").and_then(Value::as_str) == Some("path");
        let required = in_path || param.get("required") == Some(&Value::Bool(true));
        found.push(Need { name: name.to_owned(), required, in_path });
    }
    let body = value.get("requestBody").map(|body| resolve(root, body).0);
    let schema = body.and_then(|body| body.pointer("/content/application~1json/schema"));
    if let Some(schema) = schema.map(|schema| resolve(root, schema).0) {
        let required = list(schema, "required");
        let names = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, _) in names {
            let required = required.iter().any(|known| known.as_str() == Some(name));
            found.push(Need { name: name.clone(), required, in_path: false });
        }
    }
    found
}

fn answer(root: &Value, value: &Value) -> Option<Given> {
    let responses = value.get("responses")?.as_object()?;
    let (_, response) = responses.iter().find(|(status, _)| status.starts_with('2'))?;
    let (response, _) = resolve(root, response);
    let content = response.get("content")?.as_object()?;
    let (_, media) = content.iter().find(|(kind, _)| kind.contains("json"))?;
    let (schema, name) = resolve(root, media.get("schema")?);
    if let Some(items) = schema.get("items") {
        let (items, name) = resolve(root, items);
        return Some(Given { type_name: name.map(str::to_owned), list: true, fields: fields(root, items) });
    }
    // An envelope: one field of the answer holds the items.
    const ENVELOPES: [&str; 6] = ["items", "data", "results", "value", "values", "entries"];
    let properties = fields_of(root, schema);
    let arrays: Vec<(&str, &Value)> = properties
        .iter()
        .filter_map(|(name, property)| Some((*name, resolve(root, property).0.get("items")?)))
        .collect();
    let paged = properties.iter().any(|(name, _)| name.starts_with("total") || *name == "page");
    let wrapped = arrays
        .iter()
        .find(|(name, _)| ENVELOPES.contains(name))
        .or(arrays.first().filter(|_| arrays.len() == 1 && (paged || properties.len() <= 2)));
    if let Some((_, items)) = wrapped {
        let (items, name) = resolve(root, items);
        return Some(Given { type_name: name.map(str::to_owned), list: true, fields: fields(root, items) });
    }
    Some(Given { type_name: name.map(str::to_owned), list: false, fields: fields(root, schema) })
}

fn fields(root: &Value, schema: &Value) -> Vec<String> {
    fields_of(root, schema).into_iter().map(|(name, _)| name.to_owned()).collect()
}

fn fields_of<'v>(root: &'v Value, schema: &'v Value) -> Vec<(&'v str, &'v Value)> {
    let (schema, _) = resolve(root, schema);
    let mut found: Vec<(&str, &Value)> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, property)| (name.as_str(), property))
        .collect();
    for part in ["allOf", "anyOf", "oneOf"].iter().flat_map(|key| list(schema, key)) {
        let (part, _) = resolve(root, part);
        let properties = part.get("properties").and_then(Value::as_object).into_iter().flatten();
        found.extend(properties.map(|(name, property)| (name.as_str(), property)));
    }
    found
}
