//! `catalog.json`: the data of a project in TypeScript or Python, for `tools/list`, `introspect` and validation.
//!
//! What always holds: the data comes from the same catalog that `mcpaql serve` uses; the same catalog gives the same text,
//! byte for byte; it contains no secrets, only the names of their variables. Each tool, operation, type and definition is
//! on its own line.
//!
//! | member | meaning |
//! |---|---|
//! | `adapter` | `{name, display_name, version, description}` |
//! | `instructions` | the instructions in the answer to `initialize` |
//! | `mode`, `errors` | `semantic`, `single`, `all` or `discrete`; `unrecoverable` or `all`: which errors have `isError` |
//! | `limits` | `{request_bytes, response_bytes, string_bytes, array_items, depth}` |
//! | `protocol` | `_protocol` of a plain list of operations |
//! | `target` | the target of calls: see `binding` |
//! | `tools` | the objects of `tools/list`, in order |
//! | `routes` | tool → `{endpoint}`, `{whole: true}` or `{operation}` (its name); `renamed_to` if the name is an alias |
//! | `operations` | in order, `introspect` last |
//! | `types` | in order: `{name, forms, extra}` |
//! | `$defs` | named types that parameters refer to, as JSON Schema 2020-12 |
//!
//! An operation:
//!
//! | member | meaning |
//! |---|---|
//! | `name`, `category`, `endpoint`, `tool` | identify the operation |
//! | `aliases?`, `deprecated?` | other names; the replacement, which may be empty |
//! | `group`, `tagged?` | the group of the operation in a long list; whether the group is a tag |
//! | `summary` | its summary, for searches |
//! | `brief` | its signature as a suggestion |
//! | `signature` | `details.signature` of errors |
//! | `forms` | the answers of introspection: `summary` and `signature` in a list, `hit` in a search, `detail` and `alone` by name |
//! | `extra` | what `detail: full` adds to `forms.detail`; its `parameters` are in the same order |
//! | `params` | `{name, required?, sensitive?, identifier?, text?, default?}` in order |
//! | `spellings?` | other spellings of parameters → the name, null if ambiguous |
//! | `takes_input?` | fields of an update may be in `input`; identifiers may not |
//! | `gate?` | what answers a call that does not run at once: see below |
//! | `controls?` | the operation takes query controls: `{items?, more?}`, the path of its list, and whether an answer is one page of it |
//! | `schema` | JSON Schema of the parameters: an object with `properties`, nothing required |
//!
//! `gate` is an error: `{code, message, details}`. With `seconds`, it comes with a confirmation token that is valid so long, and a
//! call with the token runs. Without, no call runs.
//!
//! `text` is `no_control` (no control characters except tab). U+0000 is never allowed.

use crate::{Project, gate};
use indexmap::IndexMap;
use mcpaql_core::adapter::{ErrorPolicy, Mode};
use mcpaql_core::catalog::{Catalog, CatalogEntry, FullOperation, Tool, ToolRoute, ToolScope};
use mcpaql_core::groups::group_of;
use mcpaql_core::introspect;
use mcpaql_core::operation::Operation;
use mcpaql_core::schema::SchemaSet;
use mcpaql_core::signature;
use mcpaql_core::surface;
use mcpaql_core::validate::ParamRule;
use mcpaql_gate::trust::TrustLevel;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// Maximum estimated tokens for the signature of a search hit.
const MAX_HIT_TOKENS: usize = 40;
/// Maximum items on a page of a list.
const MAX_PAGE_ITEMS: usize = 200;

/// The parameter with the token of a confirmation, unless the operation has a parameter of this name.
const TOKEN_PARAM: &str = "confirmation_token";
/// Features of `mcpaql serve` that these projects do not have.
const MISSING_CAPABILITIES: [&str; 6] =
    ["batch", "aggregations", "ranked_search", "background_executions", "store", "mcp_upstreams"];
/// The query controls of these projects, instead of parameters of each operation.
const QUERY_CONTROLS: &str = "READ operations also take in params: fields (minimal, standard, full or a list of paths), filter {field: value, list or {gt, gte, lt, lte, contains, starts_with, in, not, exists}}, sort {field, order}, pages (first and after, last and before, limit and offset, page and page_size). Where an operation has its own parameter of that name, write _fields, _filter";

/// Returns the text of `catalog.json`.
pub(crate) fn text(project: &Project<'_>) -> String {
    let catalog = project.catalog;
    let mut members = head(catalog);
    let operations: Vec<Value> = operations(catalog, project.options.trust);
    let definitions = definitions(catalog, &operations);
    members.insert("tools".into(), catalog.tools.iter().map(tool_without_batches).collect());
    members.insert("routes".into(), routes(catalog));
    members.insert("operations".into(), operations.into());
    members.insert("types".into(), types(catalog));
    members.insert("$defs".into(), definitions.into());
    lines(&members)
}

/// Writes one member per line; long lists have one line per item.
fn lines(members: &Map<String, Value>) -> String {
    let mut out = Vec::new();
    for (name, member) in members {
        let key = Value::from(name.as_str());
        out.push(match (name.as_str(), member) {
            ("tools" | "operations" | "types", Value::Array(items)) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("{key}: [\n{}\n]", items.join(",\n"))
            }
            ("$defs", Value::Object(fields)) if !fields.is_empty() => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, field)| format!("{}:{field}", Value::from(name.as_str())))
                    .collect();
                format!("{key}: {{\n{}\n}}", fields.join(",\n"))
            }
            _ => format!("{key}: {member}"),
        });
    }
    format!("{{\n{}\n}}\n", out.join(",\n"))
}

/// Returns a tool as a server without batches lists it: each call has an operation.
fn tool_without_batches(tool: &Tool) -> Value {
    let mut tool = tool.to_json();
    let properties = tool.pointer_mut("/inputSchema/properties").and_then(Value::as_object_mut);
    let has_envelope = |properties: &Map<String, Value>| properties.contains_key("operation");
    if properties.as_deref().is_some_and(has_envelope)
        && properties.and_then(|properties| properties.shift_remove("operations")).is_some()
        && let Some(schema) = tool.pointer_mut("/inputSchema").and_then(Value::as_object_mut)
    {
        schema.insert("required".into(), json!(["operation"]));
    }
    tool
}

fn head(catalog: &Catalog) -> Map<String, Value> {
    let (adapter, limits) = (&catalog.adapter, &catalog.limits);
    let mut protocol =
        introspect_answer(catalog, json!({"first": 1})).remove("_protocol").unwrap_or_default();
    if let Some(members) = protocol.as_object_mut() {
        for page in ["pageInfo", "groups", "hint", "dry_run", "batch"] {
            members.shift_remove(page);
        }
        if let Some(controls) = members.get_mut("query_controls") {
            *controls = QUERY_CONTROLS.into();
        }
    }
    if let Some(Value::Object(capabilities)) = protocol.get_mut("capabilities") {
        for missing in MISSING_CAPABILITIES {
            capabilities.insert(missing.to_owned(), false.into());
        }
        capabilities.insert("confirmation".to_owned(), true.into());
    }
    let members = json!({
        "adapter": {
            "name": adapter.name,
            "display_name": adapter.display_name,
            "version": adapter.version,
            "description": adapter.description,
        },
        "instructions": surface::instructions_of_a_project(&[catalog]),
        "mode": catalog.mode.as_str(),
        "errors": match catalog.errors {
            ErrorPolicy::Unrecoverable => "unrecoverable",
            ErrorPolicy::All => "all",
        },
        "limits": {
            "request_bytes": limits.request_bytes,
            "response_bytes": limits.response_bytes,
            "string_bytes": limits.string_bytes,
            "array_items": limits.array_items,
            "depth": limits.depth,
        },
        "protocol": protocol,
        "target": crate::binding::target(adapter),
    });
    match members {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn routes(catalog: &Catalog) -> Value {
    let route = |route: &ToolRoute| {
        let mut out = Map::new();
        match &route.scope {
            ToolScope::Endpoint(endpoint) => out.insert("endpoint".into(), endpoint.as_str().into()),
            ToolScope::Adapter => out.insert("whole".into(), true.into()),
            ToolScope::Operation(index) => {
                let name = catalog.operations.get(*index).map(|entry| entry.operation.name.as_str());
                out.insert("operation".into(), name.into())
            }
        };
        if let Some(name) = &route.renamed_to {
            out.insert("renamed_to".into(), name.as_str().into());
        }
        Value::Object(out)
    };
    let routes: BTreeMap<&str, Value> =
        catalog.tool_names().filter_map(|name| Some((name, route(catalog.route(name)?)))).collect();
    json!(routes)
}

/// Returns the answer of `introspect`.
fn introspect_answer(catalog: &Catalog, params: Value) -> Map<String, Value> {
    let Value::Object(params) = params else { return Map::new() };
    match introspect::answer(catalog, &params).map(|answer| answer.data.into_value()) {
        Ok(Value::Object(data)) => data,
        _ => Map::new(),
    }
}

/// Returns all rows of a list by reading every page.
fn list_all(catalog: &Catalog, query: &str, detail: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut after = String::new();
    loop {
        let mut data = introspect_answer(
            catalog,
            json!({"query": query, "detail": detail, "first": MAX_PAGE_ITEMS, "after": after}),
        );
        if let Some(Value::Array(page)) = data.remove(query) {
            rows.extend(page);
        }
        let info = data.get("_protocol").and_then(|protocol| protocol.get("pageInfo"));
        let cursor = info.and_then(|info| info.get("endCursor")).and_then(Value::as_str);
        match cursor.filter(|_| info.and_then(|info| info.get("hasNextPage")) == Some(&Value::Bool(true))) {
            Some(cursor) => after = cursor.to_owned(),
            None => return rows,
        }
    }
}

fn by_name(rows: Vec<Value>) -> HashMap<String, Value> {
    let named = |row: Value| Some((row.get("name")?.as_str()?.to_owned(), row));
    rows.into_iter().filter_map(named).collect()
}

/// Returns the answer about one name.
fn described(catalog: &Catalog, query: &str, name: &str, detail: Option<&str>) -> Value {
    let mut params = json!({"query": query, "name": name});
    if let (Some(detail), Some(params)) = (detail, params.as_object_mut()) {
        params.insert("detail".into(), detail.into());
    }
    let mut about =
        introspect_answer(catalog, params).remove(query.trim_end_matches('s')).unwrap_or_default();
    if let Some(members) = about.as_object_mut() {
        members.shift_remove("aggregation_support");
        let full = catalog.get(name).and_then(|entry| catalog.full_operation(entry));
        if let (Some(full), Some(Value::Array(shown))) = (full, members.get_mut("parameters")) {
            let is_own = |param: &Value| {
                param.get("name").and_then(Value::as_str).is_some_and(|name| full.params.accepts(name))
            };
            shown.retain(is_own);
        }
    }
    about
}

/// Returns what `full` has and `detail` has not; for the parameters, in the same order.
fn extra(detail: &Value, full: &Value) -> Value {
    let Value::Object(full) = full else { return json!({}) };
    let mut out = Map::new();
    for (key, value) in full {
        match (detail.get(key), value) {
            (None, value) => {
                out.insert(key.clone(), value.clone());
            }
            (Some(Value::Array(plain)), Value::Array(rich)) if key == "parameters" => {
                let extras = plain.iter().zip(rich).map(|(plain, rich)| extra(plain, rich));
                out.insert(key.clone(), extras.collect());
            }
            (Some(_), _) => {}
        }
    }
    Value::Object(out)
}

fn operations(catalog: &Catalog, trust: TrustLevel) -> Vec<Value> {
    let summaries = by_name(list_all(catalog, "operations", "summary"));
    let signatures = by_name(list_all(catalog, "operations", "signature"));
    let known = |from: &HashMap<String, Value>, name: &str| from.get(name).cloned().unwrap_or_default();
    let operation = |entry: &CatalogEntry| {
        let whole = catalog.full_operation(entry)?;
        let name = entry.operation.name.as_str();
        let mut out = operation_head(entry);
        let row = known(&summaries, name);
        let summary = row.get("description").cloned().unwrap_or_default();
        let brief = signature::brief(whole.operation, MAX_HIT_TOKENS);
        let (place, of) = match catalog.mode {
            Mode::Discrete => ("tool", entry.tool.as_str()),
            Mode::Semantic | Mode::Single | Mode::All => ("endpoint", entry.operation.endpoint.as_str()),
        };
        let hit = json!({"name": name, place: of, "signature": brief, "summary": summary});
        out.insert("summary".into(), summary);
        out.insert("brief".into(), brief.into());
        out.insert("signature".into(), whole.params.signature().into());
        let detail = described(catalog, "operations", name, None);
        out.insert("extra".into(), extra(&detail, &described(catalog, "operations", name, Some("full"))));
        let forms = json!({
            "summary": row,
            "signature": known(&signatures, name),
            "hit": hit,
            "alone": described(catalog, "operations", name, Some("signature")),
            "detail": detail,
        });
        out.insert("forms".into(), forms);
        checks(whole, &mut out);
        let gate = gate::answer(whole.operation, trust, whole.params.accepts(TOKEN_PARAM));
        out.extend(gate.map(|gate| ("gate".to_owned(), gate)));
        Some(out.into())
    };
    catalog.operations.iter().filter_map(operation).collect()
}

fn operation_head(entry: &CatalogEntry) -> Map<String, Value> {
    let operation: &Operation = &entry.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    out.insert("category".into(), operation.category.as_str().into());
    out.insert("endpoint".into(), operation.endpoint.as_str().into());
    out.insert("tool".into(), entry.tool.as_str().into());
    if !operation.aliases.is_empty() {
        out.insert("aliases".into(), operation.aliases.clone().into());
    }
    if let Some(instead) = &operation.deprecated {
        out.insert("deprecated".into(), instead.as_str().into());
    }
    let (group, tagged) = group_of(operation);
    out.insert("group".into(), group.into());
    if tagged {
        out.insert("tagged".into(), true.into());
    }
    out
}

/// Adds the data that validates the parameters of an operation.
fn checks(whole: FullOperation<'_>, out: &mut Map<String, Value>) {
    let mut properties = Map::new();
    let mut params = Vec::new();
    for rule in whole.params.rules(whole.schemas) {
        params.push(param(&rule));
        properties.insert(rule.name.to_owned(), rule.schema);
    }
    out.insert("params".into(), params.into());
    let spellings = whole.params.spellings();
    if !spellings.is_empty() {
        out.insert("spellings".into(), json!(spellings));
    }
    if whole.params.takes_input() {
        out.insert("takes_input".into(), true.into());
    }
    if whole.operation.takes_controls() {
        out.insert("controls".into(), list_rules(whole.operation).into());
    }
    out.insert("schema".into(), json!({"type": "object", "properties": properties}));
}

/// Returns what is known about the list in the answers of an operation.
fn list_rules(operation: &Operation) -> Map<String, Value> {
    let Some(pagination) = &operation.pagination else { return Map::new() };
    let mut out = Map::new();
    out.extend(pagination.items.as_ref().map(|items| ("items".to_owned(), items.as_str().into())));
    out.insert("more".into(), true.into());
    out
}

fn param(rule: &ParamRule<'_>) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), rule.name.into());
    let flags = [("required", rule.required), ("sensitive", rule.sensitive), ("identifier", rule.identifier)];
    for (key, _) in flags.into_iter().filter(|(_, set)| *set) {
        out.insert(key.into(), true.into());
    }
    out.extend(rule.text.map(|text| ("text".to_owned(), text.into())));
    out.extend(rule.default.map(|default| ("default".to_owned(), default.clone())));
    out.into()
}

fn types(catalog: &Catalog) -> Value {
    let summaries = by_name(list_all(catalog, "types", "summary"));
    let signatures = by_name(list_all(catalog, "types", "signature"));
    let known = |from: &HashMap<String, Value>, name: &str| from.get(name).cloned().unwrap_or_default();
    let one = |full: Value| {
        let name = full.get("name").and_then(Value::as_str)?;
        let detail = described(catalog, "types", name, None);
        let signature = known(&signatures, name);
        let forms = json!({
            "summary": known(&summaries, name),
            "signature": signature,
            "alone": signature,
            "detail": detail,
        });
        Some(json!({"name": name, "forms": forms, "extra": extra(&detail, &full)}))
    };
    list_all(catalog, "types", "full").into_iter().filter_map(one).collect()
}

/// Returns the named types that the schemas of the operations refer to, ordered by name.
fn definitions(catalog: &Catalog, operations: &[Value]) -> Map<String, Value> {
    let Some(schemas) = schemas(catalog) else { return Map::new() };
    let names: IndexMap<String, String> =
        catalog.types.keys().filter_map(|name| Some((reference(schemas, name)?, name.clone()))).collect();
    let mut waiting = Vec::new();
    operations.iter().filter_map(|operation| operation.get("schema")).for_each(|schema| {
        references(schema, &mut waiting);
    });
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    while let Some(target) = waiting.pop() {
        let Some(name) = names.get(&target).filter(|name| !found.contains_key(name.as_str())) else {
            continue;
        };
        let Some(schema) = schemas.type_to_json_schema(name) else { continue };
        references(&schema, &mut waiting);
        found.insert(name.clone(), schema);
    }
    found.into_iter().collect()
}

fn schemas(catalog: &Catalog) -> Option<&SchemaSet> {
    catalog.operations.first().and_then(|entry| catalog.full_operation(entry)).map(|whole| whole.schemas)
}

/// Returns the `$ref` of a named type.
fn reference(schemas: &SchemaSet, name: &str) -> Option<String> {
    let reference = schemas.to_json_schema(schemas.named(name)?);
    reference.get("$ref").and_then(Value::as_str).map(str::to_owned)
}

/// Collects every `$ref` in a schema.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(target) if key == "$ref" => found.push(target.clone()),
                    _ if key == "enum" => {}
                    other => references(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
