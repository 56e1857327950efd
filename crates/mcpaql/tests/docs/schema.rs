//! The JSON Schema of `mcpaql.yaml` against the program: the same keys and words, and the same verdict about configurations.

use crate::pages::{page, pages, root};
use crate::reference::{known, load_config};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::error::Code;
use mcpaql_core::schema::{SchemaId, SchemaSet};
use mcpaql_document::source::Source;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

/// The committed file, so that editors can use it without the program.
const FILE: &str = "docs/reference/mcpaql.schema.json";

fn printed() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mcpaql")).args(["schema", "config"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(&printed()).unwrap()
}

/// A configuration in which every object of the schema occurs.
fn everything() -> Value {
    let parts = json!({"names": {}, "titles": {}, "annotations": {}, "descriptions": {}, "schemas": {}});
    json!({
        "adapters": [
            {"builtin": "notebook", "limits": {}, "auth": {"type": "none"}},
            {"mcp": {"command": ["server"]}, "targets": {"other": {}}},
        ],
        "audit": {},
        "policies": {"ours": {"destructive": {}, "writes": {}}},
        "conventions": {"ours": parts},
    })
}

/// The objects of the schema, and where they occur in [`everything`].
const OBJECTS: &[(&str, &str)] = &[
    ("Config", ""),
    ("AdapterEntry", "/adapters/0"),
    ("Limits", "/adapters/0/limits"),
    ("Auth", "/adapters/0/auth"),
    ("McpServer", "/adapters/1/mcp"),
    ("Alternative", "/adapters/1/targets/other"),
    ("Audit", "/audit"),
    ("Policy", "/policies/ours"),
    ("Destructive", "/policies/ours/destructive"),
    ("WrittenHints", "/policies/ours/writes"),
    ("Convention", "/conventions/ours"),
    ("NameRequirements", "/conventions/ours/names"),
    ("TitleRequirements", "/conventions/ours/titles"),
    ("AnnotationRequirements", "/conventions/ours/annotations"),
    ("DescriptionRequirements", "/conventions/ours/descriptions"),
    ("SchemaRequirements", "/conventions/ours/schemas"),
];

fn properties<'s>(schema: &'s Value, name: &str) -> &'s serde_json::Map<String, Value> {
    schema["$defs"][name]["properties"].as_object().unwrap_or_else(|| panic!("no object {name}"))
}

#[test]
fn the_schema_has_exactly_the_keys_that_the_program_reads() {
    let schema = schema();
    for (name, pointer) in OBJECTS {
        let keys: BTreeSet<String> = properties(&schema, name).keys().cloned().collect();
        assert_eq!(keys, known(everything(), pointer, load_config), "{name} (left: schema, right: program)");
    }
    let is_closed = |definition: &Value| definition["additionalProperties"] == false;
    let definitions = schema["$defs"].as_object().unwrap().iter();
    let closed: BTreeSet<&str> =
        definitions.filter(|(_, one)| is_closed(one)).map(|(name, _)| name.as_str()).collect();
    // The keys of `auth.config` are those of `auth`, and `auth` of an entry has `hosts` besides.
    let tested: BTreeSet<&str> =
        OBJECTS.iter().map(|(name, _)| *name).chain(["AuthConfig", "EntryAuth"]).collect();
    let (auth, mut entry) = (properties(&schema, "Auth"), properties(&schema, "EntryAuth").clone());
    assert!(entry.remove("hosts").is_some());
    assert_eq!(&entry, auth);
    assert_eq!(closed, tested, "an object of the schema is not tested, or does not exist");
}

#[test]
fn every_key_has_a_description_and_every_object_allows_x_keys() {
    let schema = schema();
    for (name, _) in OBJECTS {
        assert!(schema["$defs"][name]["patternProperties"].get("^x-").is_some(), "{name}");
        for (key, property) in properties(&schema, name) {
            let about = property["description"].as_str().unwrap_or_default();
            assert!(about.ends_with(['.', ')']), "{name}.{key} has no full description: '{about}'");
        }
    }
}

/// No word of a list is spelled like this.
const NO_WORD: &str = "qqqqqqqqqqqqqqqq";

#[test]
fn the_schema_has_exactly_the_words_that_the_program_reads() {
    let schema = schema();
    let mut seen = 0;
    for (name, pointer) in
        OBJECTS.iter().filter(|(name, _)| !["Auth", "McpServer", "Alternative"].contains(name))
    {
        for (key, property) in properties(&schema, name) {
            let Some(listed) = enumerated(property) else { continue };
            let mut wrong = everything();
            wrong.pointer_mut(pointer).unwrap()[key] = json!(NO_WORD);
            let place = format!("{pointer}/{key}");
            let problem = load_config(&wrong)
                .into_iter()
                .find(|one| one.pointer == place && one.severity == Severity::Error)
                .unwrap_or_else(|| panic!("{place} accepts any word"));
            let expected = problem.expected.unwrap_or_else(|| panic!("{place} lists no words"));
            let expected: BTreeSet<&str> = expected.trim_start_matches("one of ").split(", ").collect();
            assert_eq!(listed, expected, "{place} (left: schema, right: program)");
            seen += 1;
        }
    }
    assert!(seen >= 15, "only {seen} lists of words");
    let rules = &schema["$defs"]["Audit"]["properties"]["rules"]["additionalProperties"]["enum"];
    for (level, is_known) in [("off", true), ("error", true), ("loud", false)] {
        let problems = load_config(&json!({"adapters": [], "audit": {"rules": {"NAME-001": level}}}));
        assert_eq!(problems.is_empty(), is_known, "{level}");
        assert_eq!(rules.as_array().unwrap().contains(&json!(level)), is_known, "{level}");
    }
}

/// Returns the words of a property. A property that also allows other words, such as `policy`, has none.
fn enumerated(property: &Value) -> Option<BTreeSet<&str>> {
    let any = property["anyOf"].as_array();
    if any.is_some_and(|variants| variants.iter().any(|one| one["type"] == "string")) {
        return None;
    }
    let words = property["enum"].as_array().or_else(|| any?.first()?["enum"].as_array())?;
    Some(words.iter().filter_map(Value::as_str).collect())
}

/// Validates configurations as an editor would. The core's validator has named types, so the definitions become types.
struct Editor {
    schemas: SchemaSet,
    config: SchemaId,
}

impl Editor {
    fn new() -> Editor {
        let schema: Value = serde_json::from_str(&printed().replace("#/$defs/", "#/types/")).unwrap();
        assert_eq!(schema["$ref"], "#/types/Config");
        let types = serde_json::from_value(schema["$defs"].clone()).unwrap();
        let (schemas, problems) = SchemaSet::compile(&types);
        assert!(problems.is_empty(), "{problems:#?}");
        let config = schemas.named("Config").unwrap();
        Editor { schemas, config }
    }

    fn violations(&self, config: &Value) -> Vec<String> {
        let violations = self.schemas.check(self.config, config);
        violations.iter().map(|violation| format!("{:?}: {violation}", violation.path)).collect()
    }
}

fn parse(name: &str, text: &str) -> Value {
    Source::new(name, text).parse().unwrap_or_else(|problems| panic!("{name}: {problems:?}")).value
}

#[test]
fn every_example_is_valid_for_the_schema_and_for_the_program() {
    let editor = Editor::new();
    let mut seen = 0;
    for page in pages() {
        for block in page.blocks().into_iter().filter(|block| block.language == "yaml") {
            let starts = |line: &str| line.starts_with("adapters:");
            let is_config = block.file.as_deref() == Some("mcpaql.yaml")
                || (block.file.is_none() && block.text.lines().any(starts));
            if !is_config {
                continue;
            }
            let place = format!("{}:{}", page.name, block.line);
            let value = parse(&place, &block.text);
            assert_eq!(editor.violations(&value), [""; 0], "{place}");
            let problems = load_config(&value);
            assert!(problems.iter().all(|one| one.severity != Severity::Error), "{place}: {problems:?}");
            seen += 1;
        }
    }
    assert!(seen >= 5, "only {seen} examples");
    // The example of the module that reads the file.
    let reader = std::fs::read_to_string(root().join("crates/mcpaql-document/src/config.rs")).unwrap();
    let example = reader.split_once("//! ```yaml\n").unwrap().1.split_once("//! ```").unwrap().0;
    let example: Vec<&str> =
        example.lines().map(|line| line.trim_start_matches("//!").get(1..).unwrap_or("")).collect();
    assert_eq!(editor.violations(&parse("config.rs", &example.join("\n"))), [""; 0]);
    // Teams may keep conventions in files of their own.
    let conventions = std::fs::read_to_string(root().join("examples/firefly-conventions.yaml")).unwrap();
    let config =
        json!({"adapters": ["a.yaml"], "conventions": parse("firefly-conventions.yaml", &conventions)});
    assert_eq!(editor.violations(&config), [""; 0]);
}

#[test]
fn mistakes_are_refused_by_the_schema_and_by_the_program() {
    let editor = Editor::new();
    let sound = || json!({"adapters": [{"builtin": "notebook"}, "shop.yaml"]});
    assert_eq!(editor.violations(&sound()), [""; 0]);
    let extended = json!({"x-note": 1, "adapters": [{"builtin": "notebook", "x-note": 2}]});
    assert!(editor.violations(&extended).is_empty() && load_config(&extended).is_empty());
    let mistakes: [(&str, Value); 17] = [
        ("/mod", json!("single")),
        ("/mode", json!("many")),
        ("/data", json!(1)),
        ("/list_timeout", json!(0)),
        ("/list_timeout", json!("10")),
        ("/budget", json!(-1)),
        ("/adapters", json!({"builtin": "notebook"})),
        ("/adapters/0/builtin", json!(["notebook"])),
        ("/adapters/0/mode", json!("unified")),
        ("/adapters/0/prefix", json!("GH")),
        ("/adapters/0/name", json!("No Name")),
        ("/adapters/0/limits", json!({"max_response_bytes": 0})),
        ("/adapters/0/auth", json!({"type": "magic"})),
        ("/policies", json!({"ours": {"open_world": "sometimes"}})),
        ("/policies", json!({"ours": {"writes": {"reed": []}}})),
        ("/conventions", json!({"ours": {"names": {"words": [2]}}})),
        ("/audit", json!({"rules": {"NAME-001": "loud"}})),
    ];
    for (pointer, wrong) in mistakes {
        let mut config = sound();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        config.pointer_mut(parent).unwrap()[key] = wrong;
        assert!(!editor.violations(&config).is_empty(), "the schema accepts {pointer}");
        let problems = load_config(&config);
        assert!(problems.iter().any(|one| one.severity == Severity::Error), "the program accepts {pointer}");
    }
    for incomplete in [json!({}), json!({"adapters": [{"prefix": "a_"}]})] {
        assert!(!editor.violations(&incomplete).is_empty(), "{incomplete}");
        assert!(
            load_config(&incomplete).iter().any(|one| one.code == Code::SchemaMissingField),
            "{incomplete}"
        );
    }
    // The core's validator reads `oneOf` as `anyOf`; editors do not.
    let origins: Vec<&str> = ["document", "builtin", "openapi", "mcp"].into();
    let one_of: Vec<Value> = origins.iter().map(|key| json!({"required": [key]})).collect();
    assert_eq!(schema()["$defs"]["AdapterEntry"]["oneOf"], json!(one_of));
    let several = json!({"adapters": [{"builtin": "notebook", "document": "shop.yaml"}]});
    assert!(load_config(&several).iter().any(|one| one.message.contains("one origin")));
}

#[test]
fn the_committed_file_is_what_the_program_prints() {
    let path = root().join(FILE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, printed()).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == printed(), "{FILE}: run UPDATE_DOCS=1 cargo test -p mcpaql --test docs");
    assert!(page("docs/reference/configuration.md").text.contains("# yaml-language-server: $schema="));
}
