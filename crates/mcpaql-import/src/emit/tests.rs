//! Written documents are readable and load as the same adapter.

mod documents;
mod round_trip;
mod strategies;
mod texts;

use super::{Provenance, markdown, order};
use mcpaql_core::adapter::{Adapter, TargetConfig};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::introspect;
use mcpaql_core::operation::INTROSPECT;
use mcpaql_document::compile::compile;
use mcpaql_document::load::{Origins, load};
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};

fn provenance() -> Provenance {
    Provenance {
        source: "https://api.example.com/openapi.json".into(),
        version: Some("2.1".into()),
        fingerprint: Some("sha256:0123abcd".into()),
    }
}

fn write(adapter: &Adapter) -> String {
    markdown(adapter, &provenance())
}

/// Returns the adapter of a document, and asserts that the document has no problems.
fn read(text: &str) -> Adapter {
    let parsed = Source::new("written-adapter.md", text).parse().unwrap_or_else(|problems| {
        panic!("{problems:#?}\n{text}");
    });
    assert!(parsed.diagnostics.is_empty(), "{:#?}\n{text}", parsed.diagnostics);
    let loaded = load(&parsed.value);
    assert!(loaded.diagnostics.is_empty(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.adapter.expect("a usable adapter")
}

/// Returns the adapter in the order of the document.
fn in_order(adapter: &Adapter) -> Adapter {
    let mut adapter = adapter.clone();
    if !matches!(adapter.target, TargetConfig::Store(_)) {
        adapter.operations = order(&adapter.operations).into_iter().cloned().collect();
    }
    adapter.types.sort_keys();
    adapter
}

/// Returns everything that a client can see of an adapter.
fn seen(adapter: Adapter) -> Value {
    let compiled = compile(adapter, &Origins::default(), &AdapterSettings::default());
    let messages = compiled.diagnostics.iter().map(|problem| problem.message.clone());
    // This message names the first invisible character, and a document has another order than its adapter.
    let problems: Vec<String> =
        messages.filter(|message| !message.contains("invisible characters")).collect();
    let Some(catalog) = compiled.catalog else { return json!({ "problems": problems }) };
    let entries: Vec<Value> = catalog
        .operations
        .iter()
        .map(|entry| {
            json!({
                "signature": catalog.full_operation(entry).map(|whole| whole.signature),
                "hints": format!("{:?}", entry.hints),
                "danger": entry.operation.danger.as_str(),
                "sent": format!("{:?}", entry.operation.binding),
                "params": entry.operation.params.iter().map(|param| format!(
                    "{} {} {:?} {} {} {:?} {:?}",
                    param.name, param.wire, param.location, param.required, param.sensitive, param.style,
                    (&param.default, &param.api_default)
                )).collect::<Vec<_>>(),
                "details": asked(&catalog, json!({"query": "operations", "name": entry.operation.name})),
            })
        })
        .collect();
    let types: Vec<Value> =
        catalog.types.keys().map(|name| asked(&catalog, json!({"query": "types", "name": name}))).collect();
    json!({
        "problems": problems,
        "tools": catalog.tools.iter().map(|tool| tool.to_json()).collect::<Vec<_>>(),
        "list": asked(&catalog, json!({"query": "operations"})),
        "operations": entries,
        "types": types,
        "target": match &catalog.adapter.target {
            // A store is fully described by its operations.
            TargetConfig::Store(store) => format!("{:?}", store.resources.keys()),
            target => format!("{target:?}"),
        },
        "auth": format!("{:?}", catalog.adapter.auth),
        "about": [catalog.adapter.display_name, catalog.adapter.description, catalog.adapter.version],
    })
}

fn asked(catalog: &Catalog, question: Value) -> Value {
    let args: Map<String, Value> = question.as_object().cloned().unwrap_or_default();
    assert!(catalog.get(INTROSPECT).is_some());
    let answer = introspect::answer(catalog, &args).expect("introspection answers");
    answer.data.into_value()
}
