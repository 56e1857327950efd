//! The closed shapes of the specification, and its checks on messages, over generated adapters.
//!
//! The shapes are written here in our own words: the keys that `introspect` may use, and those it must.

use crate::generated::plans;
use crate::support::{catalog, details, document, introspect, object};
use mcpaql_core::adapter::{Auth, ErrorPolicy};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::error::{Code, OpError, Remedy, looks_internal};
use mcpaql_core::introspect;
use mcpaql_core::request;
use mcpaql_core::response;
use mcpaql_document::check::undeclared_destruction;
use proptest::prelude::*;
use serde_json::{Value, json};

/// An object with these keys only.
struct Shape {
    required: &'static [&'static str],
    optional: &'static [&'static str],
}

const OPERATION: Shape = Shape {
    required: &[
        "name",
        "semantic_category",
        "endpoint",
        "mcpTool",
        "description",
        "permissions",
        "parameters",
        "returns",
    ],
    optional: &["examples", "aggregation_support", "lifecycle"],
};
const PARAMETER: Shape = Shape {
    required: &["name", "type", "required"],
    optional: &[
        "description",
        "default",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "items",
        "sensitive",
    ],
};
const ROW: Shape =
    Shape { required: &["name", "semantic_category", "endpoint", "description"], optional: &[] };
const TYPE_ROW: Shape = Shape { required: &["name", "kind"], optional: &["description"] };
const EXAMPLE: Shape = Shape { required: &["request"], optional: &["description"] };
const LIFECYCLE: Shape =
    Shape { required: &["states"], optional: &["supports_cancel", "supports_retry", "progress_reporting"] };

const AGGREGATION: Shape = Shape { required: &["supported"], optional: &["default_mode", "functions"] };

fn fits(value: &Value, shape: &Shape) -> Result<(), String> {
    let object = value.as_object().ok_or_else(|| format!("{value} is no object"))?;
    if let Some(missing) = shape.required.iter().find(|key| !object.contains_key(**key)) {
        return Err(format!("{missing} is missing in {value}"));
    }
    let allowed = |key: &&String| [shape.required, shape.optional].concat().contains(&key.as_str());
    match object.keys().find(|key| !allowed(key)) {
        Some(other) => Err(format!("{other} is not allowed in {value}")),
        None => Ok(()),
    }
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn operation_fits(operation: &Value) -> Result<(), String> {
    fits(operation, &OPERATION)?;
    fits(&operation["permissions"], &Shape { required: &["readOnly", "destructive"], optional: &[] })?;
    list(operation, "parameters").iter().try_for_each(|parameter| fits(parameter, &PARAMETER))?;
    fits(&operation["returns"], &TYPE_ROW)?;
    list(operation, "examples").iter().try_for_each(|example| fits(example, &EXAMPLE))?;
    operation.get("aggregation_support").map_or(Ok(()), |support| fits(support, &AGGREGATION))?;
    operation.get("lifecycle").map_or(Ok(()), |lifecycle| fits(lifecycle, &LIFECYCLE))
}

fn type_fits(details: &Value) -> Result<(), String> {
    let texts = |key: &str| {
        let is_text = details[key].as_array().is_some_and(|items| items.iter().all(Value::is_string));
        if is_text { Ok(()) } else { Err(format!("{key} is no list of texts in {details}")) }
    };
    match details["kind"].as_str() {
        Some("enum") => {
            fits(details, &Shape { required: &["name", "kind", "values"], optional: &["description"] })?;
            texts("values")
        }
        Some("union") => {
            fits(details, &Shape { required: &["name", "kind", "members"], optional: &["description"] })?;
            texts("members")
        }
        Some("object") => {
            fits(details, &Shape { required: &["name", "kind", "fields"], optional: &["description"] })?;
            list(details, "fields").iter().try_for_each(|field| fits(field, &PARAMETER))
        }
        Some("scalar") => fits(details, &TYPE_ROW),
        _ => Err(format!("{details} has another kind")),
    }
}

fn answers_fit(catalog: &Catalog) -> Result<(), String> {
    let (data, _) = introspect(catalog, json!({"query": "operations"}));
    fits(&data, &Shape { required: &["operations"], optional: &["_protocol"] })?;
    list(&data, "operations").iter().try_for_each(|row| fits(row, &ROW))?;
    let (data, _) = introspect(catalog, json!({"query": "types"}));
    fits(&data, &Shape { required: &["types"], optional: &[] })?;
    list(&data, "types").iter().try_for_each(|row| fits(row, &TYPE_ROW))?;
    for entry in &catalog.operations {
        operation_fits(&details(catalog, &entry.operation.name))?;
    }
    for name in catalog.type_names().chain(introspect::PROTOCOL_TYPES.iter().map(|name| (*name).to_owned())) {
        let (data, _) = introspect(catalog, json!({"query": "types", "name": name}));
        type_fits(&data["type"])?;
    }
    Ok(())
}

/// Every kind of schema, and texts that look like a stack frame.
const HARD: &str = "types:
  Level: { type: integer, enum: [1, 2] }
  Word: { type: string, enum: [a, b], nullable: true }
  Names: { type: array, items: { type: string }, maxItems: 3 }
  Free: { type: object, additionalProperties: { type: integer } }
  Either: { oneOf: [{ type: string, minLength: 3 }, { type: boolean }] }
operations:
  create:
    - name: create_at
      maps_to: POST /at
      params:
        at: { type: string, required: true, description: The time at which it starts }
        format: { type: string, enum: [flat file, at home], description: What format the file has }
        lat: { type: number, exclusiveMinimum: 0, multipleOf: 2, nullable: true }
        level: { type: Level }
        word: { type: Word }
        names: { type: Names }
        free: { type: Free }
        either: { type: Either }
        fixed: { const: at once }
        code: { type: string, pattern: '^at [a-z]$' }
        heat: { type: object, properties: { at: { type: integer, required: true }, that: { type: string } }, additionalProperties: false }
        secret: { type: string, sensitive: true, maxLength: 2 }
  update:
    - { name: update_at, maps_to: \"PATCH /at/{id}\", params: { id: { type: string, required: true }, format: { type: string, required: true } } }
  execute:
    - { name: run_at, maps_to: POST /run, lifecycle: true }
";

#[test]
fn details_lists_and_types_have_closed_shapes() {
    answers_fit(&catalog(HARD)).unwrap();
}

#[test]
fn the_lifecycle_of_an_operation_has_the_keys_of_the_specification() {
    let catalog = catalog(HARD);
    let shown = &details(&catalog, "run_at")["lifecycle"];
    assert_eq!(shown["states"], json!(["pending", "running", "completed", "failed", "cancelled"]));
    assert_eq!((&shown["supports_cancel"], &shown["supports_retry"]), (&json!(true), &json!(false)));
    let full = crate::support::full_details(&catalog, "run_at");
    assert_eq!(full["background"]["keep_seconds"], 86_400);
}

#[test]
fn input_of_an_update_is_listed_and_accepted() {
    let catalog = catalog(HARD);
    let names: Vec<String> = list(&details(&catalog, "update_at"), "parameters")
        .iter()
        .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["id", "format", "input", "dry_run"]);
    let names = &names[..3];
    let sent = object(json!({"id": "1", "input": {"format": "x"}}));
    let call = request::prepare_operation(&catalog, "update_at", sent).unwrap();
    assert_eq!(json!(call.args), json!({"id": "1", "format": "x"}));
    let unknown = object(json!({"id": "1", "zzzz": 1}));
    let error = request::prepare_operation(&catalog, "update_at", unknown).unwrap_err();
    assert_eq!(error.details["valid_params"], json!(names));
    assert!(error.message.ends_with("Valid parameters: id, format, input"), "{}", error.message);
}

#[test]
fn an_element_type_is_a_parameter_or_ignored_with_a_warning() {
    let catalog = catalog(
        "operations: { read: [{ name: list_a, maps_to: GET /a }, { name: list_b, maps_to: GET /b, params: { element_type: string } }] }\n",
    );
    let call = |name: &str| {
        let arguments = object(json!({"operation": name, "element_type": "persona"}));
        request::prepare(&catalog, "demo_mcpaql_read", arguments).unwrap()
    };
    let ignored = call("list_a");
    assert_eq!((json!(ignored.args), ignored.warnings[0].code), (json!({}), "IGNORED_PARAMS"));
    let taken = call("list_b");
    assert_eq!((json!(taken.args), taken.warnings.len()), (json!({"element_type": "persona"}), 0));
    let inside = object(json!({"operation": "list_a", "params": {"element_type": "persona"}}));
    let error = request::prepare(&catalog, "demo_mcpaql_read", inside).unwrap_err();
    assert_eq!(error.code, Code::UnknownParam);
}

#[test]
fn a_page_size_over_the_maximum_is_reduced_with_a_warning() {
    let catalog = catalog(HARD);
    let params = object(json!({"operation": "introspect", "params": {"first": 1000, "detail": "full"}}));
    let call = request::prepare(&catalog, "demo_mcpaql_read", params).unwrap();
    let answer = introspect::answer(&catalog, &call.args).unwrap();
    assert_eq!(answer.warnings[0].code, "VALIDATION_CLAMPED_WARNING");
    assert_eq!(answer.warnings[0].details["maximum"], 20);
}

#[test]
fn a_message_that_looks_internal_is_only_in_the_details() {
    let error = OpError::new(Code::NotFoundResource, "Nobody is at home.").with_detail("id", 1);
    let reply = response::envelope(&Err(error), ErrorPolicy::Unrecoverable);
    let envelope: Value = serde_json::from_str(&reply.text).unwrap();
    assert!(!looks_internal(envelope["error"]["message"].as_str().unwrap()), "{envelope}");
    assert_eq!(envelope["error"]["details"], json!({"id": 1, "reason": "Nobody is at home."}));
}

/// A document with the keys of the specification that this program did not read before.
const KEYS: &str = "auth: { type: bearer }
operations:
  read:
    - name: list_repos
      maps_to: GET /repos
      supports_fields: true
      default_fields: [id, name]
      params: { page: integer, per_page: integer }
      pagination: { style: link_header, param_name: page, per_page_param: per_page, default_limit: 25, max_limit: 100 }
  delete:
    - name: delete_repo
      maps_to: DELETE /repo
      danger: { level: dangerous, reasons: [It cannot be undone], confirmation_message: Delete it?, cooldown_seconds: 5 }
";

#[test]
fn keys_of_the_specification_are_read_and_those_without_effect_are_named() {
    let checked = crate::support::check(&document(KEYS));
    assert_eq!(checked.errors(), 0, "{:#?}", checked.diagnostics);
    let catalog = checked.catalog.expect("a catalog");
    let operation = |name: &str| &catalog.get(name).unwrap().operation;
    assert_eq!(operation("delete_repo").danger.as_str(), "dangerous");
    let notes = operation("delete_repo").danger_notes.as_ref().expect("reasons");
    assert!(!notes.reasons.is_empty() && notes.confirmation_message.is_some(), "{notes:?}");
    let pagination = operation("list_repos").pagination.as_ref().expect("pages");
    assert_eq!((pagination.kind.as_str(), pagination.at.as_deref()), ("link", Some("page")));
    assert_eq!(pagination.size.as_deref(), Some("per_page"));
    assert!(operation("list_repos").fields.as_ref().is_some_and(|fields| fields.default_fields.is_some()));
    let Auth::Bearer { token_env, .. } = &catalog.adapter.auth else { panic!("{:?}", catalog.adapter.auth) };
    assert_eq!(token_env, "DEMO_TOKEN");
    let warned: Vec<&str> = checked.diagnostics.iter().map(|one| one.pointer.as_str()).collect();
    let expected = [
        "/auth",
        "/operations/read/0/pagination/default_limit",
        "/operations/read/0/pagination/max_limit",
        "/operations/delete/0/danger/cooldown_seconds",
    ];
    assert_eq!(warned, expected);
}

#[test]
fn a_tool_without_a_destructive_hint_is_reported() {
    let operations = "operations: { read: [{ name: get_a, maps_to: GET /a }], create: [{ name: add_a, maps_to: POST /a }] }";
    for (policy, expected) in [("mcpaql", 0), ("mcpaql-spec", 0), ("nextcloud", 1)] {
        let checked = crate::support::check(&document(&format!("policy: {policy}\n{operations}\n")));
        let found = undeclared_destruction(&checked.catalog.expect("a catalog"));
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages.len(), expected, "{policy}: {messages:?}");
        assert!(
            messages.iter().all(|text| text.starts_with("demo_mcpaql_create: no destructiveHint")),
            "{messages:?}"
        );
    }
}

#[test]
fn descriptions_do_not_contradict_the_hints() {
    let quiet = "operations: { execute: [{ name: run_it, maps_to: POST /a, annotations: { destructiveHint: false } }] }\n";
    let text =
        |source: &str| crate::support::tool(&catalog(source), "demo_mcpaql_execute").description.clone();
    assert!(!text(quiet).contains("destructive"), "{}", text(quiet));
    assert!(
        text("operations: { execute: [{ name: run_it, maps_to: POST /a }] }\n")
            .contains("may be destructive")
    );
}

#[test]
fn every_tool_shows_a_call_of_introspect_that_works() {
    let catalog = catalog(HARD);
    for tool in &catalog.tools {
        let (_, call) = tool.description.rsplit_once('\n').expect("the last line is a call");
        let arguments = object(serde_json::from_str(call).expect(call));
        assert_eq!(arguments["operation"], "introspect");
        let call = request::prepare(&catalog, "demo_mcpaql_read", arguments).expect("a valid call");
        assert!(introspect::answer(&catalog, &call.args).is_ok(), "{}", tool.description);
        assert!(tool.description.contains("demo_mcpaql_read") || tool.name.ends_with("_read"));
    }
}

/// Checks the message that a client sees, and whether it is the one that was written for the problem.
fn message_is_clean(error: OpError) -> Result<(), String> {
    if looks_internal(&error.message) {
        return Err(format!("replaced by a general one: {}", error.message));
    }
    for also in error.details.get("also").and_then(Value::as_array).into_iter().flatten() {
        if looks_internal(also.as_str().unwrap_or_default()) {
            return Err(also.to_string());
        }
    }
    let reply = response::envelope(&Err(error), ErrorPolicy::Unrecoverable);
    let envelope: Value = serde_json::from_str(&reply.text).map_err(|error| error.to_string())?;
    let keys: Vec<&String> = envelope.as_object().into_iter().flatten().map(|(key, _)| key).collect();
    if keys != ["success", "error"] {
        return Err(envelope.to_string());
    }
    fits(&envelope["error"], &Shape { required: &["code", "message"], optional: &["details"] })
}

#[test]
fn no_code_has_a_text_that_looks_internal() {
    for code in Code::ALL.iter().filter(|code| code.remedy() != Remedy::Author) {
        let general = format!("{} {}", code.meaning(), code.advice());
        assert!(!looks_internal(&general), "{general}");
    }
}

/// Names and values of a caller that end like a stack frame starts.
fn hostile_json() -> impl Strategy<Value = Value> {
    let text =
        prop::sample::select(vec!["at", "that", "at home", "format", "what there", "x", "5", "[1]", ""]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, move |inner| {
        let keys = text.clone().prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

fn calls_are_clean(catalog: &Catalog, operation: &str, params: Value) -> Result<(), String> {
    match request::prepare_operation(catalog, operation, object(params)) {
        Ok(_) => Ok(()),
        Err(error) => message_is_clean(error),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_generated_adapter_answers_in_closed_shapes(plan in plans(6)) {
        let catalog = plan.check(&AdapterSettings::default()).catalog.expect("generated adapters can be served");
        prop_assert_eq!(answers_fit(&catalog), Ok(()));
    }

    #[test]
    fn no_validation_message_looks_internal(plan in plans(4), values in prop::collection::vec(hostile_json(), 6)) {
        let catalog = plan.check(&AdapterSettings::default()).catalog.expect("generated adapters can be served");
        for entry in &catalog.operations {
            let name = entry.operation.name.as_str();
            prop_assert_eq!(calls_are_clean(&catalog, name, json!({})), Ok(()));
            prop_assert_eq!(calls_are_clean(&catalog, name, json!({"at": 1, "format": 2, "what there": 3})), Ok(()));
            let params = catalog.full_operation(entry).expect("it is compiled").operation.params.clone();
            for value in &values {
                let sent: serde_json::Map<String, Value> =
                    params.iter().map(|param| (param.name.clone(), value.clone())).collect();
                prop_assert_eq!(calls_are_clean(&catalog, name, Value::Object(sent)), Ok(()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_message_about_a_hard_schema_looks_internal(name in 0_usize..12, value in hostile_json(), also in hostile_json()) {
        let catalog = catalog(HARD);
        let operation = &catalog.full_operation(catalog.get("create_at").unwrap()).unwrap().operation;
        let param = operation.params[name % operation.params.len()].name.clone();
        let mut sent = object(json!({"at": "now"}));
        sent.insert(param, value.clone());
        prop_assert_eq!(calls_are_clean(&catalog, "create_at", Value::Object(sent)), Ok(()));
        prop_assert_eq!(calls_are_clean(&catalog, "update_at", json!({"id": "1", "format": value, "input": also})), Ok(()));
        prop_assert_eq!(calls_are_clean(&catalog, "create at home", json!({"at": also})), Ok(()));
    }
}
