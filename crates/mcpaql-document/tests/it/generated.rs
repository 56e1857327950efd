//! Adapters made up by proptest: any mix of categories, parameters, annotations and families, all of them servable.

use mcpaql_core::catalog::{AdapterSettings, Catalog, CatalogEntry, ToolScope};
use mcpaql_document::check::{self, CheckOutput};
use mcpaql_document::source::Source;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A document to be.
#[derive(Debug, Clone)]
pub(crate) struct Plan(pub(crate) Value);

impl Plan {
    pub(crate) fn source(&self) -> Source {
        Source::new("generated.json", self.0.to_string())
    }

    pub(crate) fn check(&self, settings: &AdapterSettings) -> CheckOutput {
        check::check(&self.source(), settings)
    }

    /// Whether a call of the tool can run the operation.
    pub(crate) fn reaches(catalog: &Catalog, tool: &str, entry: &CatalogEntry) -> bool {
        match &catalog.route(tool).expect("listed tools are routed").scope {
            ToolScope::Endpoint(endpoint) => entry.operation.endpoint == *endpoint,
            ToolScope::Adapter => true,
            ToolScope::Operation(_) => entry.tool == tool,
        }
    }
}

fn scalar_schema() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "string"})),
        (0u64..5, 5u64..40)
            .prop_map(|(low, high)| json!({"type": "string", "minLength": low, "maxLength": high})),
        Just(json!({"type": "string", "format": "date"})),
        Just(json!({"type": "string", "format": "uuid"})),
        Just(json!({"type": "string", "enum": ["open", "closed"]})),
        Just(json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"})),
        Just(json!({"type": "boolean"})),
        (-50i64..50, 0i64..50)
            .prop_map(|(low, more)| json!({"type": "integer", "minimum": low, "maximum": low + more})),
        Just(json!({"type": "number", "multipleOf": 5})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": "Label"})),
        Just(json!({"const": "fixed"})),
        Just(json!({"oneOf": [{"type": "integer"}, {"type": "string", "format": "email"}]})),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    scalar_schema().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::btree_map("[a-z]{2,6}", (inner, any::<bool>()), 1..4).prop_map(|fields| {
                let required: Vec<&String> =
                    fields.iter().filter(|(_, (_, r))| *r).map(|(name, _)| name).collect();
                let mut schema = json!({"type": "object", "additionalProperties": false});
                if !required.is_empty() {
                    schema["required"] = json!(required);
                }
                let fields: Map<String, Value> =
                    fields.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
                schema["properties"] = json!(fields);
                schema
            }),
        ]
    })
}

fn hints() -> impl Strategy<Value = Value> {
    let names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    prop::collection::btree_map(prop::sample::select(names.to_vec()), any::<bool>(), 0..3)
        .prop_map(|hints| json!(hints))
}

fn params() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z]{2,8}", (schema(), any::<bool>()), 0..5).prop_map(|params| {
        let params: Map<String, Value> = params
            .into_iter()
            .map(|(name, (mut schema, required))| {
                if required && schema.get("required").is_none() {
                    schema["required"] = json!(true);
                }
                schema["description"] = json!("What to use");
                (name, schema)
            })
            .collect();
        Value::Object(params)
    })
}

type Drawn = (usize, Value, Value, Option<bool>);

fn operation(index: usize, (category, params, hints, idempotent): Drawn) -> (&'static str, Value) {
    let (endpoint, method) =
        [("create", "POST"), ("read", "GET"), ("update", "PUT"), ("delete", "DELETE"), ("execute", "POST")]
            [category];
    let noun = ["repo", "issue", "label", "user"][index % 4];
    let mut operation = json!({
        "name": format!("{endpoint}_{noun}_{index}"),
        "maps_to": format!("{method} /things/{index}"),
        "description": format!("Operation number {index}"),
        "tags": [noun],
        "params": params,
        "annotations": hints,
    });
    if let Some(idempotent) = idempotent {
        operation["idempotent"] = json!(idempotent);
    }
    (endpoint, operation)
}

/// Up to `most` operations over HTTP, with or without a custom profile.
pub(crate) fn plans(most: usize) -> impl Strategy<Value = Plan> {
    let drawn = (0usize..5, params(), hints(), any::<Option<bool>>());
    (prop::collection::vec(drawn, 0..=most), hints(), hints(), any::<bool>()).prop_map(
        |(drawn, adapter, endpoint, custom)| {
            let mut operations: Map<String, Value> = Map::new();
            for (index, drawn) in drawn.into_iter().enumerate() {
                let (endpoint, operation) = operation(index, drawn);
                let list = operations.entry(endpoint).or_insert_with(|| json!([]));
                list.as_array_mut().expect("a list").push(operation);
            }
            let mut annotations = adapter;
            annotations["endpoints"] = json!({"update": endpoint, "read": {"idempotentHint": true}});
            let mut document = json!({
                "name": "generated-api",
                "type": "adapter",
                "version": "1.0.0",
                "description": "An adapter that nobody wrote",
                "target": {"base_url": "https://api.example.com"},
                "annotations": annotations,
                "types": {"Label": {"type": "object", "properties": {
                    "name": {"type": "string", "required": true}, "color": {"type": "string"},
                }}},
                "operations": operations,
            });
            if custom {
                document["endpoints"] = json!({
                    "query": {"purpose": "Ask for things", "categories": ["READ"]},
                    "manage": {"purpose": "Change things", "categories": ["CREATE", "UPDATE", "DELETE"]},
                    "operate": {"purpose": "Run things", "categories": ["EXECUTE"], "annotations": {"readOnlyHint": true}},
                });
            }
            Plan(document)
        },
    )
}
