use super::*;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::compile::compile;
use mcpaql_document::load;
use mcpaql_document::load::Origins;
use proptest::prelude::*;
use serde_json::json;

const STYLE: LanguageStyle = LanguageStyle {
    functions: IdentifierCase::Camel,
    fields: IdentifierCase::Snake,
    reserved: &["type", "default"],
    types: &["Error"],
    results: true,
};

/// Returns a catalog of one operation with these parameters and types.
fn catalog(params: &Value, types: &Value) -> Catalog {
    let document = json!({
        "type": "adapter", "name": "shop", "version": "1.0.0", "description": "A shop.",
        "target": {"protocol": "rest", "base_url": "https://shop.example"},
        "types": types,
        "operations": {"create": [{
            "name": "place_order", "description": "Places an order.", "maps_to": "POST /orders", "params": params
        }]}
    });
    let loaded = load::load(&document);
    let adapter = loaded.adapter.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    compile(adapter, &Origins::default(), &AdapterSettings::default()).catalog.unwrap()
}

fn fields(params: Value, types: Value) -> (Vec<ModelField>, Vec<Definition>) {
    let catalog = catalog(&params, &types);
    let mut model = Model::of(&catalog, &STYLE);
    (model.operations.remove(0).fields, model.types)
}

/// Returns the type of a parameter with this schema, without checking the document, and the types that it uses.
fn read_one(schema: Value, types: &indexmap::IndexMap<String, Value>) -> (ModelField, Vec<Definition>) {
    let mut operation = catalog(&json!({"p": "string"}), &json!({})).operations.remove(0).operation;
    operation.params[0].schema = schema;
    let mut reader = read::SchemaReader::new(&STYLE);
    let mut fields = reader.params(&operation, types);
    let (types, _) = reader.finish(vec![&mut fields]);
    (fields.remove(0), types)
}

fn kind(schema: Value) -> (Type, bool) {
    let field = read_one(schema, &indexmap::IndexMap::new()).0;
    (field.kind, field.nullable)
}

fn named(name: &str) -> Type {
    Type::Named(name.to_owned())
}

fn list(inner: Type) -> Type {
    Type::List(Box::new(inner))
}

#[test]
fn an_operation_has_names_in_the_style_of_its_language() {
    let catalog = catalog(&json!({"type": {"type": "string"}, "per_page": "integer"}), &json!({}));
    let model = Model::of(&catalog, &STYLE);
    let [only] = model.operations.as_slice() else { panic!("{model:?}") };
    assert_eq!((only.function.as_str(), only.params.as_str()), ("placeOrder", "PlaceOrderParams"));
    assert_eq!(
        only.fields.iter().map(|field| (field.name.as_str(), field.ident.as_str())).collect::<Vec<_>>(),
        [("type", "type_"), ("per_page", "per_page")]
    );
}

#[test]
fn schemas_become_types() {
    let literals = |values: Value| Type::Literals(values.as_array().unwrap().clone());
    for (schema, expected) in [
        (json!({"type": "string"}), (Type::String, false)),
        (json!({"type": "string", "nullable": true}), (Type::String, true)),
        (json!({"type": ["integer", "null"]}), (Type::Integer, true)),
        (json!({"type": ["string", "integer"]}), (Type::Union(vec![Type::String, Type::Integer]), false)),
        (json!({"type": "array", "items": {"type": "number"}}), (list(Type::Number), false)),
        (json!({"type": "array"}), (list(Type::Any), false)),
        (json!({"type": "object"}), (Type::Map(Box::new(Type::Any)), false)),
        (
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            (Type::Map(Box::new(Type::Boolean)), false),
        ),
        (json!({"type": "string", "enum": ["a", "b", "a"]}), (literals(json!(["a", "b"])), false)),
        (json!({"enum": ["a", null, 3]}), (literals(json!(["a", 3])), true)),
        (json!({"enum": [1.5, 2]}), (Type::Number, false)),
        (json!({"type": "string", "const": "a"}), (literals(json!(["a"])), false)),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), (Type::String, true)),
        (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), (literals(json!(["a", "b"])), false)),
        (json!({"anyOf": [{"type": "integer"}, {"type": "number"}, {}]}), (Type::Any, false)),
        (json!({"type": "string", "anyOf": [{"minLength": 1}, {"maxLength": 3}]}), (Type::String, false)),
        (json!({"allOf": [{"type": "string"}, {"enum": ["a"]}]}), (literals(json!(["a"])), false)),
        (json!({"$ref": "#/types/Nowhere"}), (Type::Any, false)),
    ] {
        assert_eq!(kind(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn long_lists_of_literals_become_their_common_type() {
    let words: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
    assert_eq!(kind(json!({"type": "string", "enum": words})), (Type::String, false));
    let variants: Vec<Value> = (0..1000).map(|n| json!({"type": "string", "maxLength": n})).collect();
    assert_eq!(kind(json!({"type": "string", "oneOf": variants})), (Type::String, false));
}

#[test]
fn objects_are_definitions_with_fields() {
    let (fields, types) = fields(
        json!({"address": {"type": "object", "nullable": true, "required": ["street"], "description": "Where to.",
            "properties": {"street": {"type": "string", "description": "With number."}, "geo": {"$ref": "#/types/Geo"}},
            "additionalProperties": false}}),
        json!({"Geo": {"type": "object", "properties": {"lat": {"type": "number"}}}}),
    );
    assert_eq!((&fields[0].kind, fields[0].nullable), (&named("PlaceOrderAddress"), true));
    let address = types.iter().find(|definition| definition.ident == "PlaceOrderAddress").unwrap();
    let DefinitionKind::Object { fields, rest } = &address.shape else { panic!("{address:?}") };
    assert_eq!(*rest, None);
    let [street, geo] = fields.as_slice() else { panic!("{fields:?}") };
    assert!(street.required && !geo.required);
    assert_eq!((street.docs.as_str(), &geo.kind), ("With number.", &named("Geo")));
    let geo = types.iter().find(|definition| definition.ident == "Geo").unwrap();
    assert!(matches!(&geo.shape, DefinitionKind::Object { rest: Some(Type::Any), .. }), "{geo:?}");
}

#[test]
fn parts_of_an_object_are_one_type() {
    let (fields, types) = fields(
        json!({"pet": {"allOf": [{"$ref": "#/types/Pet"}, {"type": "object", "required": ["name"],
            "properties": {"bark": {"type": "boolean"}}}]}, "plain": {"allOf": [{"$ref": "#/types/Pet"}]}}),
        json!({"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}),
    );
    assert_eq!(fields[1].kind, named("Pet"));
    let Type::Named(pet) = &fields[0].kind else { panic!("{fields:?}") };
    let pet = types.iter().find(|definition| definition.ident == *pet).unwrap();
    let DefinitionKind::Object { fields, .. } = &pet.shape else { panic!("{pet:?}") };
    let found: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.required)).collect();
    assert_eq!(found, [("name", true), ("bark", false)]);
}

#[test]
fn a_default_that_is_filled_in_makes_a_parameter_optional() {
    let (fields, _) = fields(json!({"n": {"type": "integer", "required": true, "default": 3}}), json!({}));
    assert_eq!((fields[0].required, &fields[0].default), (false, &Some(json!(3))));
}

#[test]
fn names_of_types_are_the_languages_own() {
    let (fields, types) = fields(
        json!({"a": {"$ref": "#/types/Error"}, "b": {"$ref": "#/types/error"}}),
        json!({"Error": {"type": "string"}, "error": {"type": "integer"}}),
    );
    assert_eq!((&fields[0].kind, &fields[1].kind), (&named("Error_"), &named("Error2")));
    assert_eq!(types.len(), 2);
}

#[test]
fn cycles_of_aliases_are_cut_and_objects_may_be_recursive() {
    let (_, types) = fields(
        json!({"a": {"$ref": "#/types/A"}, "l": {"$ref": "#/types/L"}, "n": {"$ref": "#/types/Node"}}),
        json!({"A": {"$ref": "#/types/B"}, "B": {"$ref": "#/types/A"},
            "L": {"type": "array", "items": {"$ref": "#/types/L"}},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/types/Node"}}}}),
    );
    let shape = |name: &str| &types.iter().find(|definition| definition.ident == name).unwrap().shape;
    assert_eq!(*shape("L"), DefinitionKind::Alias(list(Type::Any)));
    assert_eq!(*shape("A"), DefinitionKind::Alias(named("B")));
    assert_eq!(*shape("B"), DefinitionKind::Alias(Type::Any));
    let DefinitionKind::Object { fields, .. } = shape("Node") else { panic!() };
    assert_eq!(fields[0].kind, named("Node"));
}

#[test]
fn a_type_that_may_be_null_is_null_where_it_is_used() {
    let (fields, types) = fields(
        json!({"a": {"$ref": "#/types/A"}, "l": {"type": "array", "items": {"$ref": "#/types/B"}}}),
        json!({"A": {"$ref": "#/types/B"}, "B": {"type": ["string", "null"]}}),
    );
    assert_eq!((&fields[0].kind, fields[0].nullable), (&named("A"), true));
    assert_eq!(fields[1].kind, list(Type::Union(vec![named("B"), Type::Null])));
    let b = types.iter().find(|definition| definition.ident == "B").unwrap();
    assert_eq!(b.shape, DefinitionKind::Alias(Type::String));
}

/// Generates JSON that often resembles a schema.
fn nearly_a_schema() -> BoxedStrategy<Value> {
    let word = proptest::sample::select(
        &["string", "object", "array", "null", "#/types/T", "#/types/U", "T", "é*/", "integer"][..],
    );
    let leaf = prop_oneof![
        word.prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        Just(Value::Null),
        Just(json!(["object", "null"])),
    ];
    let key = proptest::sample::select(
        &[
            "type",
            "nullable",
            "enum",
            "const",
            "items",
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "oneOf",
            "anyOf",
            "allOf",
            "$ref",
            "description",
            "a",
            "a_",
            "b",
        ][..],
    );
    leaf.prop_recursive(5, 48, 5, move |inner| {
        let entry = (key.clone().prop_map(str::to_owned), inner.clone());
        prop_oneof![
            1 => proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            3 => proptest::collection::vec(entry, 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
    .boxed()
}

fn sound(kind: &Type, types: &[Definition]) -> bool {
    match kind {
        Type::Named(name) => types.iter().filter(|definition| definition.ident == *name).count() == 1,
        Type::List(inner) | Type::Map(inner) => sound(inner, types),
        Type::Literals(values) => !values.is_empty(),
        Type::Union(variants) => {
            let inner =
                |variant: &Type| !matches!(variant, Type::Any | Type::Union(_)) && sound(variant, types);
            variants.len() > 1 && variants.iter().all(inner)
        }
        _ => true,
    }
}

fn different(fields: &[ModelField]) -> bool {
    let mut idents: Vec<&str> = fields.iter().map(|field| field.ident.as_str()).collect();
    idents.sort_unstable();
    idents.windows(2).all(|pair| pair[0] != pair[1])
}

proptest! {
    #[test]
    fn every_schema_has_a_type(p in nearly_a_schema(), t in nearly_a_schema(), u in nearly_a_schema()) {
        let types = indexmap::IndexMap::from([("T".to_owned(), t), ("U".to_owned(), u)]);
        let (field, types) = read_one(p, &types);
        prop_assert!(sound(&field.kind, &types), "{field:?} {types:?}");
        for definition in &types {
            match &definition.shape {
                DefinitionKind::Alias(kind) => prop_assert!(sound(kind, &types), "{definition:?}"),
                DefinitionKind::Object { fields, rest } => {
                    prop_assert!(different(fields) && rest.iter().all(|rest| sound(rest, &types)));
                    prop_assert!(fields.iter().all(|field| sound(&field.kind, &types)), "{definition:?}");
                }
            }
        }
    }
}
