//! No input causes a panic.

use crate::generated::{Plan, plans};
use crate::support::assert_says_nothing_like_a_stack;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::request;
use mcpaql_document::check;
use mcpaql_document::config;
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_document::source::Source;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "string",
            "GET /a/{b}",
            "{",
            "mcpaql",
            "#/types/Label",
            "READ",
            "1.0.0",
            "${env:X}"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Mostly words that are keys or values of documents.
fn word() -> impl Strategy<Value = String> {
    let known = vec![
        "name",
        "type",
        "target",
        "operations",
        "read",
        "params",
        "required",
        "enum",
        "default",
        "items",
        "properties",
        "auth",
        "types",
        "endpoints",
        "annotations",
        "examples",
        "maps_to",
        "http",
        "command",
        "resources",
        "fields",
        "operation",
        "$ref",
        "oneOf",
        "aliases",
        "tool_names",
        "adapter",
        "schema_version",
        "a/b~c",
        "",
    ];
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => ".{0,6}"]
}

/// Inserts a value somewhere into a document, or removes one.
fn mutate(document: &mut Value, at: &Index, put: Option<Value>) {
    let mut pointers = Vec::new();
    collect(document, String::new(), &mut pointers);
    let pointer: &String = at.get(&pointers);
    let Some(place) = document.pointer_mut(pointer) else { return };
    *place = put.unwrap_or(Value::Null);
}

fn collect(value: &Value, pointer: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, member) in map {
                collect(member, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{pointer}/{index}"), out);
            }
        }
        _ => {}
    }
    out.push(pointer);
}

/// A document with a native target, so that stores and commands are mutated, too.
fn native() -> impl Strategy<Value = Plan> {
    let head = |protocol: &str| {
        json!({"name": "demo", "type": "adapter", "version": "1.0.0", "description": "x",
        "target": {"transport": "native", "protocol": protocol}})
    };
    let mut store = head("store");
    store["target"]["resources"] = json!({"note": {"fields": {
        "title": {"type": "string", "required": true}, "due": {"type": "string", "format": "date"}}}});
    let mut command = head("command");
    command["operations"] = json!({"read": [{"name": "show_log", "command": ["git", "log", ["-n", "{count}"], {"when": "all", "args": ["--all"]}],
        "params": {"count": {"type": "integer"}, "all": {"type": "boolean"}}, "stdin": "{count}", "exit": {"1": "success"}}]});
    prop::sample::select(vec![Plan(store), Plan(command)])
}

fn see_everything(source: &Source) {
    for mode in Mode::ALL {
        let checked =
            check::check(source, &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() });
        for diagnostic in &checked.diagnostics {
            assert!(diagnostic.span.is_some(), "{diagnostic:?}");
        }
        for style in DiagnosticFormat::ALL {
            let _ = style.render(&[(source, &checked.diagnostics)], true);
        }
        let unserved = checked.catalog.is_none();
        assert!(
            !unserved || checked.errors() > 0,
            "a document without a catalog has no error: {}",
            source.text
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_can_be_checked(text in any::<String>(), name in prop::sample::select(vec!["a.md", "a.yaml", "a.json", "a"])) {
        see_everything(&Source::new(name, text));
    }

    #[test]
    fn any_front_matter_can_be_checked(text in "[a-z:{}\\[\\]\n &*|>\"'#-]{0,200}") {
        see_everything(&Source::new("a.md", format!("---\n{text}\n---\n")));
    }

    #[test]
    fn any_value_can_be_checked(value in any_value()) {
        see_everything(&Source::new("a.json", value.to_string()));
        let _ = config::load(&value);
    }

    #[test]
    fn a_document_with_anything_anywhere_can_be_checked(
        plan in prop_oneof![3 => plans(3), 1 => native()],
        changes in prop::collection::vec((any::<Index>(), prop::option::of(any_value())), 1..4),
    ) {
        let mut document = plan.0;
        for (at, put) in changes {
            mutate(&mut document, &at, put);
        }
        see_everything(&Source::new("a.json", document.to_string()));
    }

    #[test]
    fn any_arguments_are_accepted_or_refused(
        plan in plans(4),
        arguments in prop::collection::vec((word(), any_value()), 0..5),
        pick in any::<Index>(),
        params in any_value(),
    ) {
        for mode in Mode::ALL {
            let catalog = plan.check(&AdapterSettings { mode: Some(mode), ..AdapterSettings::default() }).catalog.expect("servable");
            let mut arguments: Map<String, Value> = arguments.iter().cloned().collect();
            let tools: Vec<String> = catalog.tools.iter().map(|tool| tool.name.clone()).collect();
            for tool in &tools {
                let _ = request::prepare(&catalog, tool, arguments.clone());
                let operation = &pick.get(&catalog.operations).operation;
                arguments.insert("operation".into(), operation.name.as_str().into());
                arguments.insert("params".into(), params.clone());
                if let Err(error) = request::prepare(&catalog, tool, arguments.clone())
                    && !error.message.contains("nknown") {
                    assert_says_nothing_like_a_stack(&error.message);
                }
            }
        }
    }
}
