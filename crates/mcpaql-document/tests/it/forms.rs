//! Two forms of the document in three formats give one model: the same API always has the same tools.

use crate::support::{catalog_of, introspect};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_document::source::{Source, SourceFormat};
use serde_json::{Value, json};

fn element_form() -> Value {
    json!({
        "name": "issue-tracker",
        "type": "adapter",
        "version": "1.2.0",
        "display_name": "Issue Tracker",
        "description": "Issues of a team",
        "target": {"base_url": "https://issues.example.com/api", "transport": "http", "protocol": "rest"},
        "auth": {"type": "bearer", "token_env": "ISSUES_TOKEN"},
        "types": {
            "Label": {"type": "object", "properties": {
                "name": {"type": "string", "required": true},
                "color": {"type": "string"},
            }},
        },
        "operations": {
            "create": [{
                "name": "create_issue",
                "maps_to": "POST /projects/{project}/issues",
                "description": "Open an issue",
                "params": {
                    "project": {"type": "string", "required": true, "description": "Project key"},
                    "title": {"type": "string", "required": true, "maxLength": 120},
                    "labels": {"type": "array", "items": {"$ref": "#/types/Label"}},
                },
                "returns": {"type": "object"},
                "examples": [{"description": "A bug", "params": {"project": "core", "title": "It breaks"}}],
            }],
            "read": [{
                "name": "list_issues",
                "maps_to": "GET /projects/{project}/issues",
                "description": "List issues",
                "params": {
                    "project": {"type": "string", "required": true},
                    "per_page": {"type": "integer", "as": "perPage", "default": 20, "maximum": 100},
                },
            }],
            "delete": [{
                "name": "delete_issue",
                "maps_to": "DELETE /issues/{id}",
                "params": {"id": {"type": "integer", "required": true}},
                "danger": "dangerous",
            }],
        },
    })
}

/// The same API as a generator writes it: `http` instead of `maps_to`, lists instead of maps.
fn generator_form() -> Value {
    json!({
        "schema_version": "1.0",
        "adapter": {
            "name": "issue-tracker",
            "display_name": "Issue Tracker",
            "version": "1.2.0",
            "description": "Issues of a team",
            "target_api": {"base_url": "https://issues.example.com/api", "transport": "http", "protocol": "rest"},
        },
        "auth": {"type": "bearer", "config": {"token_env": "ISSUES_TOKEN"}},
        "types": [{"name": "Label", "fields": [
            {"name": "name", "type": "string", "required": true},
            {"name": "color", "type": "string"},
        ]}],
        "endpoints": {
            "create": [{
                "name": "create_issue",
                "http": {"method": "POST", "path": "/projects/{project}/issues"},
                "description": "Open an issue",
                "params": [
                    {"name": "project", "type": "string", "required": true, "description": "Project key"},
                    {"name": "title", "type": "string", "required": true, "maxLength": 120},
                    {"name": "labels", "type": {"array": {"ref": "Label"}}},
                ],
                "response": {"type": "object"},
                "examples": [{"description": "A bug", "request": {
                    "operation": "create_issue", "params": {"project": "core", "title": "It breaks"},
                }}],
            }],
            "read": [{
                "name": "list_issues",
                "http": {"method": "GET", "path": "/projects/{project}/issues"},
                "description": "List issues",
                "params": [
                    {"name": "project", "type": "string", "required": true},
                    {"name": "per_page", "type": "integer", "as": "perPage", "default": 20, "maximum": 100},
                ],
            }],
            "delete": [{
                "name": "delete_issue",
                "http": {"method": "DELETE", "path": "/issues/{id}"},
                "params": [{"name": "id", "type": "integer", "required": true}],
                "danger_level": "dangerous",
            }],
        },
    })
}

/// Writes block YAML with quoted strings, so that all formats have the same value.
fn yaml(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().map(|(key, value)| format!("\n{indent}{key}:{}", nested(value, depth))).collect()
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("\n{indent}-{}", nested(item, depth))).collect()
        }
        scalar => scalar.to_string(),
    }
}

fn nested(value: &Value, depth: usize) -> String {
    let text = yaml(value, depth + 1);
    if text.starts_with('\n') { text } else { format!(" {text}") }
}

fn spellings(value: &Value) -> [(SourceFormat, Source); 3] {
    let text = yaml(value, 0).trim_start().to_owned() + "\n";
    [
        (
            SourceFormat::Markdown,
            Source::new("issue-tracker-adapter.md", format!("---\n{text}---\n\n# Issues\n\nProse.\n")),
        ),
        (SourceFormat::Yaml, Source::new("issue-tracker.yaml", text)),
        (SourceFormat::Json, Source::new("issue-tracker.json", serde_json::to_string_pretty(value).unwrap())),
    ]
}

/// Returns everything that a client can see.
fn seen(catalog: &Catalog) -> Value {
    let tools: Vec<Value> = catalog.tools.iter().map(|tool| tool.to_json()).collect();
    let names: Vec<&str> = catalog.operations.iter().map(|entry| entry.operation.name.as_str()).collect();
    let types: Vec<&str> = catalog.types.keys().map(String::as_str).collect();
    json!({
        "tools": tools,
        "operations": introspect(catalog, json!({})).0,
        "details": introspect(catalog, json!({"name": names})).0,
        "types": introspect(catalog, json!({"query": "types", "name": types})).0,
    })
}

#[test]
fn the_same_api_written_six_ways_is_the_same_adapter() {
    let mut first: Option<(Value, String)> = None;
    for value in [element_form(), generator_form()] {
        for (format, source) in spellings(&value) {
            assert_eq!(source.parse().unwrap().format, format, "{}", source.name);
            let catalog = catalog_of(&source, &AdapterSettings::default());
            // The requests to the target are part of the model, although no client sees them.
            let bound: Vec<_> = catalog
                .operations
                .iter()
                .map(|entry| (&entry.operation.binding, &entry.operation.params, entry.operation.facts))
                .collect();
            let inside = format!("{bound:?} {:?} {:?}", catalog.adapter.target, catalog.adapter.auth);
            let seen = (seen(&catalog), inside);
            let first = first.get_or_insert_with(|| seen.clone());
            assert_eq!(*first, seen, "{} differs", source.name);
        }
    }
}

#[test]
fn the_form_of_parameters_makes_no_difference() {
    let mut listed = element_form();
    let params = &mut listed["operations"]["create"][0]["params"];
    let items: Vec<Value> = params
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| {
            let mut item = schema.clone();
            item["name"] = json!(name);
            item
        })
        .collect();
    *params = json!(items);
    let of = |value: &Value| {
        seen(&catalog_of(&Source::new("a.json", value.to_string()), &AdapterSettings::default()))
    };
    assert_eq!(of(&listed), of(&element_form()));
}
