//! Schemas of Rust types, in the form that a document has.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

/// A generator whose definitions become the `types` of a document.
pub(super) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/types".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// The types that several schemas share, by name.
pub(super) fn shared_types(types: &SchemaGenerator) -> Map<String, Value> {
    let plain = |(name, schema): (&String, &Value)| (name.clone(), plain_value(schema.clone()));
    types.definitions().iter().map(plain).collect()
}

/// The schema of a result; `None` for a type that can be anything, and for `()`.
pub(super) fn result_schema(schema: Schema) -> Option<Value> {
    let schema = plain_value(schema.to_value());
    let is_empty = schema.as_object().is_some_and(|schema| schema.keys().all(|key| key == "title"));
    let is_null = schema.get("type").and_then(Value::as_str) == Some("null");
    (schema.is_object() && !is_empty && !is_null).then_some(schema)
}

/// Returns the fields of a struct as parameters; `None` if the schema belongs to another kind of type.
pub(super) fn fields(types: &SchemaGenerator, schema: Schema) -> Option<Value> {
    let schema = schema.to_value();
    let mut schema = &schema;
    // A struct around another one has the fields of that one. The chain ends, because every type does.
    while let Some(name) =
        schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix("#/types/"))
    {
        schema = types.definitions().get(name)?;
    }
    let says = |key: &str| schema.get(key).is_some_and(|value| *value != false);
    let has_fields = schema.get("properties").is_some_and(|fields| fields != &json!({}));
    let is_map = !has_fields && says("additionalProperties");
    let is_choice = says("oneOf") || says("anyOf");
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    (is_object && !is_map && !is_choice).then(|| parameters(plain_value(schema.clone())))
}

/// The schema of a struct as parameters, each with `required` where it is.
fn parameters(mut schema: Value) -> Value {
    let required: Vec<String> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let properties = schema.as_object_mut().and_then(|schema| schema.shift_remove("properties"));
    let mut params = match properties {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for name in required {
        if let Some(Value::Object(param)) = params.get_mut(&name) {
            param.insert("required".into(), true.into());
        }
    }
    Value::Object(params)
}

/// A schema without the formats that only Rust has: the widths of numbers.
fn plain_value(mut schema: Value) -> Value {
    const RUST: &[&str] = &[
        "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128",
        "uint", "float", "double",
    ];
    match &mut schema {
        Value::Object(map) => {
            if map.get("format").and_then(Value::as_str).is_some_and(|format| RUST.contains(&format)) {
                map.shift_remove("format");
            }
            map.values_mut().for_each(|value| *value = plain_value(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = plain_value(value.take())),
        _ => {}
    }
    schema
}
