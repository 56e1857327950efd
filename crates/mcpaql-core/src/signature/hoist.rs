//! Replaces nested objects with named types, so that introspection can refer to them.
//!
//! What always holds: nothing of the source schema is lost. Replacing the references with the types gives the original
//! schema.

use crate::operation::Param;
use indexmap::IndexMap;
use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value};

/// Maximum nesting depth. Deeper schemas are left unchanged.
const MAX_DEPTH: usize = 64;

/// Returns the parameters with every nested object schema replaced by a reference to a new type in `types`:
/// `CreateIssueLabels` for the parameter `labels` of `create_issue`.
#[must_use]
pub fn hoist(op_name: &str, params: &[Param], types: &mut IndexMap<String, Value>) -> Vec<Param> {
    params
        .iter()
        .map(|param| {
            let name = format!("{op_name} {}", param.name);
            Param { schema: hoist_schema(&name, &param.schema, types), ..param.clone() }
        })
        .collect()
}

/// Replaces the objects inside declared types, too: `AddressGeo` for the field `geo` of `Address`.
pub fn hoist_types(types: &mut IndexMap<String, Value>) {
    for name in types.keys().cloned().collect::<Vec<_>>() {
        if let Some(Value::Object(body)) = types.get(&name).cloned() {
            let hoisted = hoist_inside(&body, &name, types, 0);
            types.insert(name, Value::Object(hoisted));
        }
    }
}

/// Returns a schema with its object schemas replaced. `name` is the name of the outermost one, in any spelling.
#[must_use]
pub fn hoist_schema(name: &str, schema: &Value, types: &mut IndexMap<String, Value>) -> Value {
    hoist_value(schema, &pascal_case(name), types, 0)
}

/// Converts a name to Pascal case: `create_issue` becomes `CreateIssue`.
#[must_use]
pub fn pascal_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for token in snake_case(text).split('_') {
        let mut chars = token.chars();
        out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
        out.push_str(chars.as_str());
    }
    out
}

fn hoist_value(schema: &Value, name: &str, types: &mut IndexMap<String, Value>, depth: usize) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    if depth > MAX_DEPTH {
        return schema.clone();
    }
    if !declares_fields(map) {
        return Value::Object(hoist_inside(map, name, types, depth));
    }
    let name = unused(name, types);
    // The name is reserved before the inner types choose theirs, and comes before them.
    types.insert(name.clone(), Value::Null);
    let mut body = hoist_inside(map, &name, types, depth);
    let mut reference = Map::from_iter([("$ref".to_owned(), Value::from(format!("#/types/{name}")))]);
    // `required: true` of a property belongs to the object around it, so it stays there.
    if let Some(Value::Bool(_)) = body.get("required")
        && let Some(flag) = body.shift_remove("required")
    {
        reference.insert("required".to_owned(), flag);
    }
    types.insert(name, Value::Object(body));
    Value::Object(reference)
}

/// Returns the map with the schemas inside it replaced.
fn hoist_inside(
    map: &Map<String, Value>,
    name: &str,
    types: &mut IndexMap<String, Value>,
    depth: usize,
) -> Map<String, Value> {
    let mut out = Map::with_capacity(map.len());
    for (key, value) in map {
        let hoisted = match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                let hoisted = fields.iter().map(|(field, schema)| {
                    let name = format!("{name}{}", pascal_case(field));
                    (field.clone(), hoist_value(schema, &name, types, depth + 1))
                });
                Value::Object(hoisted.collect())
            }
            ("items", Value::Object(_)) => hoist_value(value, name, types, depth + 1),
            ("items" | "prefixItems", Value::Array(items)) => {
                let hoisted = items.iter().enumerate();
                hoisted
                    .map(|(n, item)| hoist_value(item, &format!("{name}Item{}", n + 1), types, depth + 1))
                    .collect()
            }
            ("additionalProperties", Value::Object(_)) => {
                hoist_value(value, &format!("{name}Value"), types, depth + 1)
            }
            ("anyOf" | "oneOf", Value::Array(variants)) => hoist_variants(variants, name, types, depth),
            // The parts of one object are one type together. Only objects inside them get names.
            ("allOf", Value::Array(parts)) => parts
                .iter()
                .map(|part| match part {
                    Value::Object(part) if depth < MAX_DEPTH => {
                        Value::Object(hoist_inside(part, name, types, depth + 1))
                    }
                    other => other.clone(),
                })
                .collect(),
            _ => value.clone(),
        };
        out.insert(key.clone(), hoisted);
    }
    out
}

fn hoist_variants(
    variants: &[Value],
    name: &str,
    types: &mut IndexMap<String, Value>,
    depth: usize,
) -> Value {
    let several = variants.iter().filter_map(Value::as_object).filter(|map| declares_fields(map)).count() > 1;
    let hoisted = variants.iter().enumerate().map(|(n, variant)| {
        let name = if several { format!("{name}Option{}", n + 1) } else { name.to_owned() };
        hoist_value(variant, &name, types, depth + 1)
    });
    hoisted.collect()
}

fn declares_fields(map: &Map<String, Value>) -> bool {
    map.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty())
}

fn unused(name: &str, types: &IndexMap<String, Value>) -> String {
    let name = if name.is_empty() { "Type" } else { name };
    let numbered = (2..).map(|n: usize| format!("{name}{n}"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !types.contains_key(name))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ParamLocation;
    use crate::schema::strategies::{any_json, schema};
    use proptest::prelude::*;
    use serde_json::json;

    fn param(name: &str, schema: Value) -> Param {
        Param::new(name, ParamLocation::Body, schema)
    }

    /// Replaces the references to generated types with their bodies.
    fn expand(value: &Value, types: &IndexMap<String, Value>) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| expand(item, types)).collect(),
            Value::Object(map) => {
                let target =
                    map.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/types/"));
                if let Some(body) = target.and_then(|name| types.get(name)) {
                    let mut body = expand(body, types);
                    let siblings = map.iter().filter(|(key, _)| *key != "$ref");
                    body.as_object_mut().unwrap().extend(siblings.map(|(key, v)| (key.clone(), v.clone())));
                    return body;
                }
                Value::Object(map.iter().map(|(key, value)| (key.clone(), expand(value, types))).collect())
            }
            other => other.clone(),
        }
    }

    #[test]
    fn nested_objects_get_names_of_their_own() {
        let label = json!({"type": "object", "properties": {"name": {"type": "string"},
            "owner": {"properties": {"id": {"type": "integer"}}, "required": true}}});
        let params = [
            param("title", json!({"type": "string"})),
            param("labels", json!({"type": "array", "items": label})),
            param(
                "target",
                json!({"oneOf": [{"type": "string"}, {"properties": {"id": {}}}, {"properties": {"n": {}}}]}),
            ),
        ];
        let mut types = IndexMap::from([("CreateIssueLabels".to_owned(), json!({"type": "string"}))]);
        let hoisted = hoist("create_issue", &params, &mut types);
        assert_eq!(hoisted[0], params[0]);
        assert_eq!(
            hoisted[1].schema,
            json!({"type": "array", "items": {"$ref": "#/types/CreateIssueLabels2"}})
        );
        assert_eq!(
            hoisted[2].schema["oneOf"],
            json!([{"type": "string"}, {"$ref": "#/types/CreateIssueTargetOption2"}, {"$ref": "#/types/CreateIssueTargetOption3"}])
        );
        assert_eq!(
            types.keys().collect::<Vec<_>>(),
            [
                "CreateIssueLabels",
                "CreateIssueLabels2",
                "CreateIssueLabels2Owner",
                "CreateIssueTargetOption2",
                "CreateIssueTargetOption3"
            ]
        );
        let owner = &types["CreateIssueLabels2"]["properties"]["owner"];
        assert_eq!(*owner, json!({"$ref": "#/types/CreateIssueLabels2Owner", "required": true}));
        assert_eq!(types["CreateIssueLabels2Owner"], json!({"properties": {"id": {"type": "integer"}}}));
    }

    #[test]
    fn names_are_pascal_case() {
        for (text, expected) in
            [("create_issue labels", "CreateIssueLabels"), ("userID", "UserId"), ("??", "")]
        {
            assert_eq!(pascal_case(text), expected);
        }
        let mut types = IndexMap::new();
        let hoisted = hoist_schema("??", &json!({"properties": {"a": {}}}), &mut types);
        assert_eq!(hoisted, json!({"$ref": "#/types/Type"}));
    }

    proptest! {
        #[test]
        fn expanding_gives_the_original_schema(schema in prop_oneof![schema(), any_json()]) {
            let mut types = IndexMap::new();
            let hoisted = hoist("do_it", &[param("p", schema.clone())], &mut types);
            prop_assert_eq!(expand(&hoisted[0].schema, &types), schema);
            for body in types.values() {
                prop_assert!(body.is_object());
            }
        }
    }
}
