//! Tests that the JSON Schema for editors and the loader agree: the same keys, the same words, and the schema accepts every
//! example document.

use super::operation::{DANGER_KEYS, EXAMPLE_KEYS, HINTS, OPERATION_KEYS};
use super::params::{LOCATIONS, PARAM_KEYS, TYPE_KEYS};
use super::target::{
    CODE_KEYS, COMMAND_KEYS, HTTP_KEYS, MCP_KEYS, PROTOCOLS, RESOURCE_KEYS, STARTS, STORE_KEYS, TRANSPORTS,
};
use super::*;
use crate::load::DOCUMENT_SCHEMA;
use crate::source::Source;
use auth::{AUTH_KEYS, AUTH_KINDS};
use binding::WHEN_KEYS;
use dialect::{PRIMITIVES, SCHEMA_KEYS};
use exchange::ERROR_RULE_KEYS;
use http::{HTTP_BINDING_KEYS, METHODS, SERIALIZATIONS};
use lifecycle::LIFECYCLE_KEYS;
use mcpaql_core::error::Remedy;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::{BodyForm, Danger, Output, PageKind, StyleForm};
use mcpaql_core::policy;
use mcpaql_core::schema::{SchemaId, SchemaSet};
use pagination::{LINK_STYLE, PAGINATION_KEYS};
use profile::FAMILY_KEYS;
use serde_json::json;
use std::collections::BTreeSet;

fn document_schema() -> Value {
    serde_json::from_str(DOCUMENT_SCHEMA).expect("the schema is JSON")
}

fn definitions() -> IndexMap<String, Value> {
    serde_json::from_value(document_schema()["$defs"].clone()).expect("definitions by name")
}

/// The closed objects of the schema with the loader's tables of their keys.
fn key_tables() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("ElementDocument", ELEMENT_KEYS.to_vec()),
        ("GeneratorDocument", GENERATOR_KEYS.to_vec()),
        ("Identity", ADAPTER_KEYS.to_vec()),
        ("HttpTarget", HTTP_KEYS.to_vec()),
        ("StoreTarget", STORE_KEYS.to_vec()),
        ("Resource", RESOURCE_KEYS.to_vec()),
        ("CommandTarget", COMMAND_KEYS.to_vec()),
        ("CodeTarget", CODE_KEYS.to_vec()),
        ("McpTarget", MCP_KEYS.to_vec()),
        ("Alternative", targets::TARGET_KEYS.to_vec()),
        ("Auth", AUTH_KEYS.to_vec()),
        ("AuthConfig", AUTH_KEYS.to_vec()),
        ("ToolNames", TOOL_NAME_KEYS.to_vec()),
        ("Annotations", [HINTS, &["endpoints"]].concat()),
        ("Hints", HINTS.to_vec()),
        ("Errors", ERROR_KEYS.to_vec()),
        ("Family", FAMILY_KEYS.to_vec()),
        ("Operations", Category::ALL.map(Category::endpoint).to_vec()),
        ("Operation", OPERATION_KEYS.to_vec()),
        ("HttpBinding", HTTP_BINDING_KEYS.to_vec()),
        ("Pagination", PAGINATION_KEYS.to_vec()),
        ("ErrorRule", ERROR_RULE_KEYS.to_vec()),
        ("Danger", DANGER_KEYS.to_vec()),
        ("Lifecycle", LIFECYCLE_KEYS.to_vec()),
        ("WhenArguments", WHEN_KEYS.to_vec()),
        ("Example", EXAMPLE_KEYS.to_vec()),
        ("Param", [PARAM_KEYS, SCHEMA_KEYS].concat()),
        ("SchemaObject", SCHEMA_KEYS.to_vec()),
        ("ListedType", LISTED_TYPE_KEYS.to_vec()),
    ]
}

fn is_closed_object(definition: &Value) -> bool {
    definition["additionalProperties"] == false && definition.get("properties").is_some()
}

fn words(value: &Value) -> BTreeSet<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn set<'w>(words: impl IntoIterator<Item = &'w str>) -> BTreeSet<&'w str> {
    words.into_iter().collect()
}

#[test]
fn every_object_has_exactly_the_keys_that_the_loader_knows() {
    let definitions = definitions();
    let tables = key_tables();
    for (name, keys) in &tables {
        let properties = definitions[*name]["properties"].as_object().expect("an object with properties");
        assert_eq!(set(properties.keys().map(String::as_str)), set(keys.iter().copied()), "{name}");
    }
    let closed = definitions.iter().filter(|(_, definition)| is_closed_object(definition));
    assert_eq!(
        set(closed.map(|(name, _)| name.as_str())),
        set(tables.iter().map(|(name, _)| *name)),
        "an object without a table, or a table without an object"
    );
}

#[test]
fn every_key_has_a_description_and_every_object_allows_x_keys() {
    for (name, definition) in definitions().iter().filter(|(_, definition)| is_closed_object(definition)) {
        assert!(definition["patternProperties"].get("^x-").is_some(), "{name} does not allow x-… keys");
        for (key, property) in definition["properties"].as_object().expect("properties") {
            let about = property["description"].as_str().unwrap_or_default();
            assert!(about.ends_with(['.', ')']), "{name}.{key} has no full description: '{about}'");
        }
    }
}

#[test]
fn every_list_of_words_is_the_loaders_own() {
    let schema = document_schema();
    let policies = policy::names().to_vec();
    let rows: [(&str, Vec<&str>); 23] = [
        ("McpTarget/properties/start", STARTS.to_vec()),
        ("ElementDocument/properties/mode", Mode::ALL.map(Mode::as_str).to_vec()),
        ("GeneratorDocument/properties/mode", Mode::ALL.map(Mode::as_str).to_vec()),
        ("ElementDocument/properties/policy/anyOf/0", policies.clone()),
        ("GeneratorDocument/properties/policy/anyOf/0", policies),
        ("HttpTarget/properties/serialization", SERIALIZATIONS.to_vec()),
        ("Auth/properties/type", AUTH_KINDS.to_vec()),
        ("AuthConfig/properties/type", AUTH_KINDS.to_vec()),
        ("Errors/properties/is_error", ErrorPolicy::WORDS.to_vec()),
        ("ElementDocument/properties/results", ResultForm::WORDS.to_vec()),
        ("GeneratorDocument/properties/results", ResultForm::WORDS.to_vec()),
        ("Operation/properties/danger/anyOf/0", Danger::ALL.map(Danger::as_str).to_vec()),
        ("Operation/properties/danger_level", Danger::ALL.map(Danger::as_str).to_vec()),
        ("Danger/properties/level", Danger::ALL.map(Danger::as_str).to_vec()),
        ("Operation/properties/effect", Effect::ALL.map(Effect::as_str).to_vec()),
        ("Operation/properties/output", Output::ALL.map(Output::as_str).to_vec()),
        ("Operation/properties/body", BodyForm::ALL.map(BodyForm::as_str).to_vec()),
        ("HttpBinding/properties/body", BodyForm::ALL.map(BodyForm::as_str).to_vec()),
        ("HttpBinding/properties/method", METHODS.to_vec()),
        ("Pagination/properties/kind", PageKind::ALL.map(PageKind::as_str).to_vec()),
        (
            "Pagination/properties/style",
            PageKind::ALL.map(PageKind::as_str).into_iter().chain([LINK_STYLE]).collect(),
        ),
        ("Param/properties/in", LOCATIONS.to_vec()),
        ("Param/properties/style", StyleForm::ALL.map(StyleForm::as_str).to_vec()),
    ];
    for (pointer, expected) in rows {
        let found = schema.pointer(&format!("/$defs/{pointer}/enum")).expect(pointer);
        assert_eq!(words(found), set(expected), "{pointer}");
    }
    let types = &schema["$defs"]["SchemaObject"]["properties"]["type"]["anyOf"][1]["items"]["enum"];
    assert_eq!(words(types), set(PRIMITIVES.iter().copied()));
    let categories = Category::ALL.into_iter().flat_map(|category| [category.as_str(), category.endpoint()]);
    assert_eq!(words(&schema["$defs"]["Category"]["enum"]), set(categories));
    let codes = Code::ALL.iter().filter(|code| code.remedy() != Remedy::Author).map(|code| code.as_str());
    assert_eq!(words(&schema["$defs"]["ExitMeaning"]["enum"]), set(codes.chain(["success"])));
    assert_eq!(schema["$defs"]["GeneratorDocument"]["properties"]["schema_version"]["const"], "1.0");
}

#[test]
fn targets_and_types_of_parameters_are_the_loaders_own() {
    let definitions = definitions();
    let consts = |key: &str| -> Vec<&str> {
        let targets = ["HttpTarget", "StoreTarget", "CommandTarget", "CodeTarget", "McpTarget"];
        targets.iter().filter_map(|name| definitions[*name]["properties"][key]["const"].as_str()).collect()
    };
    assert_eq!(set(consts("transport")), set(TRANSPORTS.iter().copied()));
    assert_eq!(set(consts("protocol")), set(PROTOCOLS.iter().copied()));
    let variants = definitions["Param"]["anyOf"].as_array().expect("variants");
    let any_of = variants.iter().filter_map(|variant| variant["required"][0].as_str());
    assert_eq!(set(any_of), set(TYPE_KEYS.iter().copied()));
}

/// Validates documents as an editor would. The core's validator has named types but no `if`, so the definitions become types,
/// and the form of a document is chosen as in the loader.
struct Editor {
    schemas: SchemaSet,
    element: SchemaId,
    generator: SchemaId,
}

impl Editor {
    fn new() -> Editor {
        let text = DOCUMENT_SCHEMA.replace("#/$defs/", "#/types/");
        let schema: Value = serde_json::from_str(&text).expect("the schema is JSON");
        let types: IndexMap<String, Value> = serde_json::from_value(schema["$defs"].clone()).expect("types");
        assert_eq!(
            schema["if"],
            json!({"anyOf": [{"required": ["schema_version"]}, {"required": ["adapter"]}]})
        );
        assert_eq!(schema["then"], json!({"$ref": "#/types/GeneratorDocument"}));
        assert_eq!(schema["else"], json!({"$ref": "#/types/ElementDocument"}));
        let (schemas, problems) = SchemaSet::compile(&types);
        assert!(problems.is_empty(), "{problems:#?}");
        let named = |name: &str| schemas.named(name).expect("a definition");
        Editor { element: named("ElementDocument"), generator: named("GeneratorDocument"), schemas }
    }

    fn violations(&self, document: &Value) -> Vec<String> {
        let generated = document.get("schema_version").is_some() || document.get("adapter").is_some();
        let form = if generated { self.generator } else { self.element };
        let violations = self.schemas.check(form, document);
        violations.iter().map(|violation| format!("{:?}: {violation}", violation.path)).collect()
    }
}

fn generated() -> Value {
    json!({
        "schema_version": "1.0",
        "adapter": {
            "name": "tiny-api", "version": "1.0.0", "description": "A tiny API.",
            "target_api": {"base_url": "https://api.example.com", "transport": "http", "protocol": "rest"},
        },
        "auth": {"type": "bearer", "config": {"token_env": "TINY_TOKEN"}},
        "types": [{"name": "Thing", "fields": [{"name": "id", "type": "string", "required": true}]}],
        "endpoints": {"read": [{
            "name": "get_thing", "http": {"method": "GET", "path": "/things/{id}"},
            "params": [{"name": "id", "type": "string", "required": true}],
            "response": {"array": "Thing"},
        }]},
    })
}

fn written() -> Value {
    json!({
        "name": "tiny", "type": "adapter", "version": "1.0.0", "description": "A tiny API.",
        "target": {"base_url": "https://api.example.com"},
        "operations": {"read": [{"name": "get_thing", "maps_to": "GET /thing", "params": {"id": "string"}}]},
    })
}

#[test]
fn every_example_is_valid() {
    let editor = Editor::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.contains("-adapter.") {
            continue; // the description of an API
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let parsed = Source::new(name.as_str(), text).parse().expect("a document");
        assert_eq!(editor.violations(&parsed.value), [""; 0], "{name}");
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} examples");
}

#[test]
fn both_forms_are_valid_and_mistakes_are_not() {
    let editor = Editor::new();
    let mut with_schema = written();
    with_schema["$schema"] = json!("./adapter.schema.json");
    for document in [generated(), written(), with_schema] {
        assert_eq!(editor.violations(&document), [""; 0]);
        assert!(load(&document).diagnostics.is_empty(), "{:#?}", load(&document).diagnostics);
    }
    let mistakes: [(&str, Value); 9] = [
        ("/mod", json!("semantic")),
        ("/mode", json!("semantics")),
        ("/name", json!("Tiny")),
        ("/type", json!("persona")),
        ("/target/base_url", json!("api.example.com")),
        ("/operations/read/0/name", json!("getThing")),
        ("/operations/read/0/danger", json!("harmless")),
        ("/operations/read/0/params/id", json!({"type": "string", "required": "yes"})),
        ("/operations/read/0/params/id", json!({"type": "string", "in": "trailer"})),
    ];
    for (pointer, wrong) in mistakes {
        let mut document = written();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        document.pointer_mut(parent).expect("a parent")[key] = wrong;
        assert!(!editor.violations(&document).is_empty(), "the schema accepts {pointer}");
        assert!(load(&document).has_errors(), "the loader accepts {pointer}");
    }
}
