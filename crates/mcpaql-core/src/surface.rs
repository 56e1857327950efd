//! The surface: what `tools/list` says about an adapter, within a token budget.
//!
//! Every description says how to introspect. It names operations with their signatures while the budget lasts, then by name, then as
//! counted groups, so the surface does not grow with the number of operations. Words that a popular gateway takes for shell
//! syntax (`;`, `&&`, `||`, `$(`, `> `, `< `) never come from here.

use crate::adapter::Mode;
use crate::catalog::{CRUDE, Catalog, Endpoint, Entry, Scope, Settings};
use crate::operation::{Binding, Category, INTROSPECT, Operation, Param, Segment};
use crate::policy::Hints;
use crate::signature;
use crate::tokens;
use crate::validate::fills_default;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Estimated tokens a semantic surface may cost.
pub const SEMANTIC_BUDGET: usize = 1200;
/// Estimated tokens a single tool may cost.
pub const SINGLE_BUDGET: usize = 450;
/// How many groups a description counts before it says "and more".
const GROUPS: usize = 12;
/// The same where even that would break the budget.
const FEW_GROUPS: usize = 3;

/// One tool, as a client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Unique in the server.
    pub name: String,
    /// For people; stands also as `annotations.title`.
    pub title: String,
    /// For the model.
    pub description: String,
    /// JSON Schema with an object root.
    pub input_schema: Value,
    /// All four hints.
    pub hints: Hints,
}

impl Tool {
    /// The tool as `tools/list` carries it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.hints.read_only,
                "destructiveHint": self.hints.destructive,
                "idempotentHint": self.hints.idempotent,
                "openWorldHint": self.hints.open_world,
            },
        })
    }
}

/// How much a description says about each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Counts,
    Groups,
    Names,
    Signatures,
}

/// The tools of a catalog whose names are settled. `params` are the parameters before nested types were hoisted.
pub(crate) fn tools(catalog: &Catalog, params: &[Vec<Param>], settings: &Settings) -> Vec<Tool> {
    let operation_enum = settings.operation_enum.unwrap_or(false);
    let mut tools = Vec::new();
    if matches!(catalog.mode, Mode::Semantic | Mode::All) {
        tools.extend(endpoint_tools(catalog, settings.budget.unwrap_or(SEMANTIC_BUDGET), operation_enum));
    }
    if matches!(catalog.mode, Mode::Single | Mode::All) {
        tools.extend(whole_tool(catalog, settings.budget.unwrap_or(SINGLE_BUDGET), operation_enum));
    }
    if catalog.mode == Mode::Discrete {
        for (entry, params) in catalog.operations.iter().zip(params) {
            if !entry.tool.is_empty() {
                tools.extend(operation_tool(catalog, entry, params));
            }
        }
    }
    tools
}

fn endpoint_tools(catalog: &Catalog, budget: usize, operation_enum: bool) -> Vec<Tool> {
    let build = |name: &str, endpoint: &Endpoint, detail: Detail| {
        let entries = members(catalog, &endpoint.operations);
        Tool {
            name: entries.first().map(|entry| entry.tool.clone()).unwrap_or_default(),
            title: format!("{} — {}", catalog.adapter.display_name, endpoint.title),
            description: endpoint_description(catalog, name, endpoint, &entries, detail),
            input_schema: input_schema(&entries, operation_enum),
            hints: endpoint.hints,
        }
    };
    let mut chosen: Vec<(Detail, usize, Tool)> = catalog
        .endpoints
        .iter()
        .map(|(name, endpoint)| build(name, endpoint, Detail::Counts))
        .map(|tool| (Detail::Counts, cost(&tool), tool))
        .collect();
    let mut total: usize = chosen.iter().map(|(_, cost, _)| cost).sum();
    // Spend what is left where it buys the most: the cheapest upgrades first, names everywhere before signatures anywhere.
    for detail in [Detail::Groups, Detail::Names, Detail::Signatures] {
        let mut upgrades: Vec<(usize, usize, Tool)> = Vec::new();
        for (index, (name, endpoint)) in catalog.endpoints.iter().enumerate() {
            // Where names do not fit, signatures need not even be read.
            if detail == Detail::Signatures && chosen.get(index).is_some_and(|slot| slot.0 != Detail::Names) {
                continue;
            }
            let tool = build(name, endpoint, detail);
            upgrades.push((cost(&tool), index, tool));
        }
        upgrades.sort_by_key(|(cost, index, _)| (*cost, *index));
        for (cost, index, tool) in upgrades {
            if let Some(slot) = chosen.get_mut(index)
                && (total + cost).saturating_sub(slot.1) <= budget
            {
                total = (total + cost).saturating_sub(slot.1);
                *slot = (detail, cost, tool);
            }
        }
    }
    chosen.into_iter().map(|(_, _, tool)| tool).collect()
}

fn whole_tool(catalog: &Catalog, budget: usize, operation_enum: bool) -> Option<Tool> {
    let entries: Vec<&Entry> = catalog.operations.iter().collect();
    let name = catalog.tool_names().find(|name| {
        catalog.route(name).is_some_and(|route| route.scope == Scope::Whole && route.renamed_to.is_none())
    })?;
    let hints = entries.iter().map(|entry| entry.hints).reduce(Hints::riskier)?;
    let build = |detail: Detail| Tool {
        name: name.to_owned(),
        title: catalog.adapter.display_name.clone(),
        description: whole_description(catalog, detail),
        input_schema: input_schema(&entries, operation_enum),
        hints,
    };
    // From the poorest up, because signatures are dear to make and only a few operations can afford them.
    let mut tool = build(Detail::Counts);
    for detail in [Detail::Groups, Detail::Names, Detail::Signatures] {
        let richer = build(detail);
        if cost(&richer) > budget {
            // Groups may cost more than the names of a few operations do.
            if detail == Detail::Groups {
                continue;
            }
            break;
        }
        tool = richer;
    }
    Some(tool)
}

/// `params` are those of the document, which a library has again where there is one.
fn operation_tool(catalog: &Catalog, entry: &Entry, params: &[Param]) -> Option<Tool> {
    let full = catalog.read(entry);
    let (operation, params, types) = match &full {
        Some(full) => (&full.operation, full.operation.params.as_slice(), &full.types),
        None if catalog.is_deferred(entry) => return None,
        None => (&entry.operation, params, &catalog.types),
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in params {
        let mut schema = param.schema.as_object().cloned().unwrap_or_default();
        if !param.description.is_empty() {
            schema.insert("description".into(), param.description.as_str().into());
        }
        if let Some(default) = param.default.as_ref().filter(|_| !param.sensitive) {
            schema.insert("default".into(), default.clone());
        }
        properties.insert(param.name.clone(), Value::Object(schema));
        if param.required && !fills_default(operation, param) {
            required.push(Value::from(param.name.as_str()));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert("additionalProperties".into(), false.into());
    let mut schema = Value::Object(schema);
    let defs = definitions(&mut schema, types);
    if let (Some(root), false) = (schema.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".into(), Value::Object(defs));
    }
    let description = if operation.description.is_empty() {
        operation.title.clone()
    } else {
        operation.description.clone()
    };
    let description = match operation.deprecated.as_deref().map(str::trim) {
        None => description,
        Some("") => format!("Deprecated. {description}"),
        Some(instead) => format!("Deprecated. {instead} {description}"),
    };
    Some(Tool {
        name: entry.tool.clone(),
        title: operation.title.clone(),
        description,
        input_schema: schema,
        hints: entry.hints,
    })
}

/// Rewrites `#/types/X` to `#/$defs/X` and collects the types that are needed, each once.
fn definitions(schema: &mut Value, types: &IndexMap<String, Value>) -> Map<String, Value> {
    let mut wanted = Vec::new();
    rewrite(schema, &mut wanted);
    let mut defs = Map::new();
    while let Some(name) = wanted.pop() {
        if defs.contains_key(&name) {
            continue;
        }
        let mut definition = types.get(&name).cloned().unwrap_or_else(|| json!({}));
        rewrite(&mut definition, &mut wanted);
        defs.insert(name, definition);
    }
    defs.sort_keys();
    defs
}

fn rewrite(value: &mut Value, wanted: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            spell_out_null(map);
            for (key, member) in map {
                let name = member.as_str().and_then(|text| text.strip_prefix("#/types/")).map(str::to_owned);
                match name {
                    Some(name) if key == "$ref" => {
                        *member = Value::from(format!("#/$defs/{name}"));
                        wanted.push(name);
                    }
                    _ => rewrite(member, wanted),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, wanted)),
        _ => {}
    }
}

/// `nullable` is not JSON Schema: clients that validate would refuse the null that the operation takes.
fn spell_out_null(map: &mut Map<String, Value>) {
    // Beside anything but a boolean it is a property of that name.
    if map.get("nullable").is_none_or(|value| !value.is_boolean()) {
        return;
    }
    if map.shift_remove("nullable") != Some(Value::Bool(true)) {
        return;
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let has_enum = map.contains_key("enum");
    match map.get_mut("type") {
        Some(Value::Array(kinds)) => kinds.push("null".into()),
        Some(kind) => *kind = json!([kind.take(), "null"]),
        None if has_enum => {}
        None => {
            let schema = std::mem::take(map);
            map.insert("anyOf".into(), json!([schema, {"type": "null"}]));
        }
    }
}

fn members<'c>(catalog: &'c Catalog, indexes: &[usize]) -> Vec<&'c Entry> {
    indexes.iter().filter_map(|index| catalog.operations.get(*index)).collect()
}

fn input_schema(entries: &[&Entry], operation_enum: bool) -> Value {
    let mut operation = json!({
        "type": "string",
        "description": "Operation name",
        "x-mcp-header": "Operation",
    });
    if operation_enum && let Some(map) = operation.as_object_mut() {
        let names: Vec<&str> = entries.iter().map(|entry| entry.operation.name.as_str()).collect();
        map.insert("enum".into(), json!(names));
    }
    json!({
        "type": "object",
        "properties": {
            "operation": operation,
            "params": {"type": "object", "description": "Operation parameters", "additionalProperties": true},
        },
        "required": ["operation"],
    })
}

/// What a family is for, in the CRUDE profile.
fn purpose(category: Category) -> &'static str {
    match category {
        Category::Create => "Operations that add something new.",
        Category::Read => "Safe, read-only operations.",
        Category::Update => "Operations that change existing data.",
        Category::Delete => "Destructive operations that remove data.",
        Category::Execute => "Operations that run something.",
    }
}

/// What its calls do to the world; never milder than its hints.
fn effect(category: Category, hints: Hints) -> &'static str {
    match category {
        Category::Create if hints.destructive => "Some of them may overwrite or remove what is there.",
        Category::Create => "They add data and leave what is there untouched.",
        Category::Read if !hints.read_only => "Some of them may do more than read.",
        Category::Read => "They only read and never change anything.",
        Category::Update => "They may overwrite previous values.",
        Category::Delete => "What they remove may be gone for good. Use with caution.",
        Category::Execute => "IMPORTANT: they may be destructive, and repeating one runs it again.",
    }
}

fn endpoint_description(
    catalog: &Catalog,
    name: &str,
    endpoint: &Endpoint,
    entries: &[&Entry],
    detail: Detail,
) -> String {
    let category = (catalog.profile == CRUDE).then(|| Category::parse(name)).flatten();
    let mut parts = Vec::new();
    match category {
        Some(category) => parts.push(format!("{}: {}", catalog.adapter.display_name, purpose(category))),
        None => {
            parts.push(sentence(&endpoint.purpose));
            parts.push(format!("Primary semantic categories: {}", categories(entries).join(", ")));
        }
    }
    parts.push(supported(catalog, entries, detail));
    if let Some(category) = category {
        parts.push(effect(category, endpoint.hints).to_owned());
    }
    if let Some(example) = quick_start(catalog, entries) {
        parts.push(format!("Quick start example:\n{example}"));
    }
    parts.push(discovery(catalog, name));
    parts.join("\n\n")
}

/// How to find out more. The tool that carries `introspect` shows the call; the others only say where it is.
fn discovery(catalog: &Catalog, endpoint: &str) -> String {
    let home = catalog.get(INTROSPECT).map(|entry| entry.operation.endpoint.as_str());
    if home == Some(endpoint) {
        return format!("Discover all operations and parameters:\n{LIST_CALL}");
    }
    let tool = catalog.introspect_tool().unwrap_or_default();
    format!("Discover required parameters with introspect through {tool}.")
}

/// The call that lists everything.
const LIST_CALL: &str = r#"{"operation":"introspect","params":{"query":"operations"}}"#;

fn whole_description(catalog: &Catalog, detail: Detail) -> String {
    let adapter = &catalog.adapter;
    let mut parts = vec![
        format!("MCP-AQL {} adapter. All operations through one entry point.", adapter.display_name),
        "Operations are routed by their semantic category.".to_owned(),
    ];
    let mut lines = vec!["Supported operation categories:".to_owned()];
    for category in Category::ALL {
        let entries: Vec<&Entry> =
            catalog.operations.iter().filter(|entry| entry.operation.category == category).collect();
        if entries.is_empty() {
            continue;
        }
        let title = crate::adapter::title_of(category.endpoint());
        lines.push(format!("- {title}: {}", list(catalog, &entries, detail, ", ")));
    }
    parts.push(lines.join("\n"));
    if let Some(example) = quick_start(catalog, &catalog.operations.iter().collect::<Vec<_>>()) {
        parts.push(format!("Quick start example:\n{example}"));
    }
    parts.push(format!(
        "Discover all operations and parameters:
{LIST_CALL}"
    ));
    parts.join("\n\n")
}

fn supported(catalog: &Catalog, entries: &[&Entry], detail: Detail) -> String {
    match detail {
        Detail::Signatures => format!("Supported operations:\n{}", list(catalog, entries, detail, "\n")),
        _ => format!("Supported operations: {}", list(catalog, entries, detail, ", ")),
    }
}

fn list(catalog: &Catalog, entries: &[&Entry], detail: Detail, separator: &str) -> String {
    let names = |text: &dyn Fn(&Entry) -> String| {
        entries.iter().map(|entry| text(entry)).collect::<Vec<_>>().join(separator)
    };
    match detail {
        // `introspect` is explained by the discovery line; its signature would only repeat it.
        Detail::Signatures => names(&|entry| match catalog.whole(entry) {
            Some(whole) if entry.operation.name != INTROSPECT => signature::call(whole.operation),
            _ => entry.operation.name.clone(),
        }),
        Detail::Names => names(&|entry| entry.operation.name.clone()),
        Detail::Groups => groups(entries, GROUPS),
        Detail::Counts => groups(entries, FEW_GROUPS),
    }
}

/// `412 in 23 groups: repos 45, issues 30 and 21 more`; where nearly every operation is a group of its own, a few names.
fn groups(entries: &[&Entry], most: usize) -> String {
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    let own = entries.iter().filter(|entry| entry.operation.name != INTROSPECT);
    for operation in own.clone().map(|entry| &entry.operation) {
        let group = operation.tags.first().map_or_else(
            || operation.name.split_once('_').map_or(operation.name.as_str(), |(_, object)| object),
            String::as_str,
        );
        *counts.entry(group).or_default() += 1;
    }
    let (total, count) = (counts.len(), own.clone().count());
    if total * 2 > count {
        let names: Vec<&str> = own.take(most).map(|entry| entry.operation.name.as_str()).collect();
        return format!("{count}, such as {}", names.join(", "));
    }
    counts.sort_by(|a, m, b, n| n.cmp(m).then(a.cmp(b)));
    let shown: Vec<String> =
        counts.iter().take(most).map(|(group, count)| format!("{group} {count}")).collect();
    let more = if total > most { format!(" and {} more", total - most) } else { String::new() };
    format!("{count} in {total} groups: {}{more}", shown.join(", "))
}

/// So many operations are looked at for an example call.
const CANDIDATES: usize = 24;

/// The shortest example call of a real operation; one that needs no identifier first, since nobody has one at the start.
fn quick_start(catalog: &Catalog, entries: &[&Entry]) -> Option<String> {
    let needs_id = |operation: &Operation| {
        let is_id = |name: &str| name == "id" || name.ends_with("_id") || name.ends_with("_number");
        operation.params.iter().any(|param| param.required && is_id(&param.name))
    };
    // A write without any parameter is the wrong thing to try first.
    let blind = |entry: &Entry, call: &str| !entry.hints.read_only && !call.contains("\"params\"");
    // Of many operations only those with the fewest placeholders are read: they need the least.
    let mut candidates: Vec<&Entry> =
        entries.iter().copied().filter(|entry| entry.operation.name != INTROSPECT).collect();
    if candidates.len() > CANDIDATES {
        candidates.sort_by_key(|entry| placeholders(&entry.operation));
        candidates.truncate(CANDIDATES);
    }
    let calls = candidates.into_iter().filter_map(|entry| {
        let operation = catalog.whole(entry)?.operation;
        let call = example_call(operation)?;
        Some(((blind(entry, &call), needs_id(operation), call.len()), call))
    });
    calls.min_by_key(|(rank, _)| *rank).map(|(_, call)| call)
}

fn placeholders(operation: &Operation) -> usize {
    let Binding::Http(http) = &operation.binding else { return 0 };
    http.path.iter().filter(|segment| matches!(segment, Segment::Param(_))).count()
}

/// The first example of an operation as the arguments of a call, unless it is long.
fn example_call(operation: &Operation) -> Option<String> {
    let example = operation.examples.first()?;
    let mut call = Map::new();
    call.insert("operation".into(), operation.name.as_str().into());
    if !example.params.is_empty() {
        call.insert("params".into(), Value::Object(example.params.clone()));
    }
    let text = Value::Object(call).to_string();
    (text.len() <= 240).then_some(text)
}

fn categories(entries: &[&Entry]) -> Vec<&'static str> {
    Category::ALL
        .into_iter()
        .filter(|category| entries.iter().any(|entry| entry.operation.category == *category))
        .map(Category::as_str)
        .collect()
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

fn cost(tool: &Tool) -> usize {
    tokens::estimate(&tool.to_json().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_spelled_the_way_json_schema_does() {
        let rows = [
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
            (json!({"enum": ["a"], "nullable": true}), json!({"enum": ["a", null]})),
            (
                json!({"$ref": "#/types/A", "nullable": true}),
                json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
            ),
            (
                json!({"type": "object", "properties": {"nullable": {"type": "string", "nullable": true}}}),
                json!({"type": "object", "properties": {"nullable": {"type": ["string", "null"]}}}),
            ),
        ];
        for (mut schema, expected) in rows {
            rewrite(&mut schema, &mut Vec::new());
            assert_eq!(schema, expected);
        }
    }
}
