//! Every document gives valid operations, whatever it contains.

use super::*;
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::schema::SchemaSet;
use proptest::prelude::*;
use std::collections::HashSet;

const KEYS: [&str; 44] = [
    "parameters",
    "requestBody",
    "responses",
    "200",
    "default",
    "content",
    "application/json",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "schema",
    "schemas",
    "type",
    "properties",
    "required",
    "items",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "$ref",
    "enum",
    "const",
    "in",
    "name",
    "style",
    "explode",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "nullable",
    "discriminator",
    "propertyName",
    "mapping",
    "encoding",
    "examples",
    "example",
    "readOnly",
    "additionalProperties",
    "A",
    "b",
];
const WORDS: [&str; 26] = [
    "string",
    "object",
    "array",
    "integer",
    "null",
    "file",
    "path",
    "query",
    "header",
    "cookie",
    "body",
    "formData",
    "querystring",
    "id",
    "ID",
    "#/components/schemas/A",
    "#/components/schemas/b",
    "#/definitions/A",
    "#/components",
    "#",
    "binary",
    "byte",
    "deepObject",
    "^a",
    "(",
    "",
];

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..9).prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        let key = prop_oneof![8 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn param_like() -> impl Strategy<Value = Value> {
    (prop::sample::select(&WORDS[..]), "[iI][dD]|\\PC{0,5}", anything(), any::<bool>())
        .prop_map(|(place, name, schema, required)| json!({"in": place, "name": name, "schema": schema, "required": required}))
}

fn check(read: &Details) -> Result<(), TestCaseError> {
    let names: HashSet<&str> = read.params.iter().map(|param| param.name.as_str()).collect();
    prop_assert_eq!(names.len(), read.params.len());
    for name in names {
        prop_assert!(name.starts_with(|ch: char| ch.is_ascii_lowercase()), "{}", name);
        prop_assert!(
            name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
            "{}",
            name
        );
    }
    let (mut schemas, mut problems) = SchemaSet::compile(&read.types);
    for param in &read.params {
        problems.extend(schemas.add(&param.schema, &param.name).1);
    }
    problems.extend(read.returns.iter().flat_map(|returns| schemas.add(&returns.schema, "returns").1));
    // A type may still consist only of itself.
    let errors: Vec<_> = problems
        .iter()
        .filter(|problem| {
            problem.severity == Severity::Error && !problem.message.contains("refers only to itself")
        })
        .collect();
    prop_assert!(errors.is_empty(), "{:?}", errors);
    for segment in &read.path {
        if let Segment::Param(name) = segment {
            prop_assert!(
                read.params.iter().any(|param| param.name == *name
                    && param.required
                    && param.location == ParamLocation::Path)
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn anything_for_an_operation_is_survived(components in anything(), operation in anything(), version in prop::sample::select(vec!["3.0", "3.1"])) {
        let api = ApiFixture(json!({"openapi": version, "components": components}));
        check(&api.read("POST", "/{id}/{ID}", operation))?;
    }

    #[test]
    fn any_schemas_are_survived(
        a in anything(), b in anything(), body in anything(), answer in anything(),
        params in prop::collection::vec(param_like(), 0..5),
    ) {
        let content = |schema: &Value| json!({"application/json": {"schema": schema}});
        let operation = json!({"parameters": params, "requestBody": {"required": true, "content": content(&body)},
            "responses": {"200": {"content": content(&answer)}}});
        let api = ApiFixture(json!({"openapi": "3.1.0", "components": {"schemas": {"A": a, "b": b}}}));
        check(&api.read("POST", "/{id}", operation.clone()))?;
        for name in ["A", "AInput", "B", "BInput"] {
            let _ = api.type_named(name);
        }
        let swagger = ApiFixture(json!({"swagger": "2.0", "definitions": {"A": a}}));
        check(&swagger.read("POST", "/{id}", operation))?;
    }
}
