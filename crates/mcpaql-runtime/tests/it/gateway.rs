//! Served adapters as clients see them: one server, any modes, and an explanation for every invalid parameter.

mod live;
mod plain;
mod swap;
mod together;

use crate::fixture::crypto;
use crate::http::upstream::Upstream;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::open::open;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

async fn served(source: &Source, mode: Mode, data: Option<&Path>) -> ServedAdapter {
    crypto();
    let settings = AdapterSettings { mode: Some(mode), ..AdapterSettings::default() };
    let checked = check::check(source, &settings);
    let mut catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    catalog.limits.response_bytes = 2000;
    open(catalog, "a.yaml", data, &(Arc::new(|name: &str| std::env::var(name).ok()) as _)).await.unwrap()
}

fn adapter(name: &str, rest: &str) -> Source {
    let head = "type: adapter\nversion: \"1.0.0\"\ndescription: A demo";
    Source::new("a.yaml", format!("name: {name}\n{head}\n{rest}"))
}

const READS: &str = "target: { base_url: \"https://api.example.com\" }
operations:
  read: [{ name: get_thing, maps_to: GET /things }]
  create: [{ name: create_thing, maps_to: POST /things }]
";

async fn instructions(adapters: &[(&str, Mode)]) -> String {
    let mut all = Vec::new();
    for (name, mode) in adapters {
        all.push(served(&adapter(name, READS), *mode, None).await);
    }
    Gateway::new(all).unwrap().instructions()
}

#[tokio::test]
async fn instructions_are_correct_for_every_mode_and_for_mixtures() {
    let envelope = r#"{"operation": NAME, "params": {…}}"#;
    let discover = |tools: &str| {
        format!(
            r#"Find operations with {{"operation":"introspect","params":{{"search":"what you want to do"}}}} on {tools}. Call an operation directly when its signature is shown."#
        )
    };
    let split = |names: &str| {
        format!(
            "The tools of {names} take {envelope}. Each tool has some of the operations: call an operation through a tool that lists it."
        )
    };
    let whole = |name: &str| format!("The one tool of {name} takes {envelope} for every operation.");
    let discrete = |name: &str| {
        format!(
            "Each tool of {name} is one operation and takes its parameters as arguments; the result is JSON with `success` and either `data` or `error`."
        )
    };
    let controls = "Operations that read also take query controls: fields (minimal, standard, full or a list), filter {field: value or {gt, contains, …}}, sort {field, order}, aggregate, first and after.";
    let batch = r#"Several calls in one: {"operations": [{"operation": NAME, "params": {…}}, …]}, and a later one can use an earlier result: {"$result": "0.data.id"}."#;
    let dry = "Operations that change something take dry_run: true.";
    let all = format!("{controls} {batch} {dry}");
    for mode in [Mode::Semantic, Mode::All] {
        let expected = format!("{} {} {all}", split("Desk"), discover("desk_mcpaql_read"));
        assert_eq!(instructions(&[("desk", mode)]).await, expected);
    }
    let expected = format!("{} {} {all}", whole("Desk"), discover("desk_mcpaql"));
    assert_eq!(instructions(&[("desk", Mode::Single)]).await, expected);
    let expected = format!("{} {controls} {dry}", discrete("Desk"));
    assert_eq!(instructions(&[("desk", Mode::Discrete)]).await, expected);
    let mixed =
        [("aa", Mode::Discrete), ("bb", Mode::Single), ("cc", Mode::Semantic), ("dd", Mode::Semantic)];
    let tools = discover("bb_mcpaql, cc_mcpaql_read, dd_mcpaql_read");
    let expected = format!("{} {} {} {tools} {all}", split("Cc, Dd"), whole("Bb"), discrete("Aa"));
    assert_eq!(instructions(&mixed).await, expected);
}

#[tokio::test]
async fn a_collision_says_how_to_fix_it_wherever_the_prefix_comes_from() {
    let pair = [
        served(&adapter("desk", READS), Mode::Single, None).await,
        served(&adapter("desk", READS), Mode::Single, None).await,
    ];
    let message = Gateway::new(pair.into()).unwrap_err().to_string();
    assert_eq!(
        message,
        "two adapters have a tool 'desk_mcpaql': desk (a.yaml) and desk (a.yaml); set another `name` or `prefix` for one of them"
    );
}

/// Returns the error of a call that fails only in its target. It must contain the signature.
async fn explained(served: &ServedAdapter, operation: &str, params: Value) -> Value {
    let params = params.as_object().unwrap().clone();
    let error = served.call_operation(operation, params, &Caller::nobody()).await.unwrap_err();
    assert!(error.code.as_str().starts_with("VALIDATION_"), "{error:?}");
    let signature = error.details["signature"].as_str().unwrap();
    assert!(signature.starts_with(&format!("{operation}(")), "{signature}");
    assert_eq!(error.details["operation"], operation);
    assert!(!error.details.contains_key("param"), "{error:?}");
    error.details.get("param_name").cloned().unwrap_or_default()
}

#[tokio::test]
async fn validation_errors_of_the_target_contain_the_signature_too() {
    let upstream = Upstream::fixed(422, &[("content-type", "application/json")], r#"{"message":"no"}"#).await;
    let base = &upstream.url;
    let web = adapter(
        "web",
        &format!(
            "target: {{ base_url: \"{base}\" }}
operations:
  read:
    - {{ name: get_thing, maps_to: \"GET /things/{{id}}\", params: {{ id: {{ type: string, required: true }} }} }}
    - {{ name: get_refused, maps_to: GET /refused }}
"
        ),
    );
    let web = served(&web, Mode::Semantic, None).await;
    for id in ["..", ""] {
        assert_eq!(explained(&web, "get_thing", json!({"id": id})).await, "id");
    }
    assert_eq!(explained(&web, "get_refused", json!({})).await, Value::Null);

    let program = adapter(
        "program",
        "target: { transport: native, protocol: command }
operations:
  read: [{ name: say, command: [echo, \"{text}\"], params: { text: { type: string, required: true } } }]
",
    );
    let program = served(&program, Mode::Semantic, None).await;
    assert_eq!(explained(&program, "say", json!({"text": "-n"})).await, "text");

    let folder = tempfile::tempdir().unwrap();
    let notebook = mcpaql_runtime::builtin::document("notebook").unwrap();
    let notebook = served(&notebook, Mode::Semantic, Some(folder.path())).await;
    assert_eq!(explained(&notebook, "list_notes", json!({"after": "nonsense"})).await, "after");
    let note = json!({"title": "t"}).as_object().unwrap().clone();
    let note = notebook.call_operation("create_note", note, &Caller::nobody()).await.unwrap();
    let note = note.data.into_value();
    explained(&notebook, "update_note", json!({"id": note["id"]})).await;
}

#[tokio::test]
async fn an_answer_over_the_limit_is_an_error() {
    let operations: Vec<String> =
        (0..100).map(|n| format!("{{ name: get_{n}, maps_to: GET /things/{n} }}")).collect();
    let rest = format!(
        "target: {{ base_url: \"https://api.example.com\" }}\noperations: {{ read: [{}] }}\n",
        operations.join(", ")
    );
    let large = served(&adapter("large", &rest), Mode::Single, None).await;
    let introspect = json!({"operation": "introspect", "params": {"query": "operations"}});
    let reply = large.call("large_mcpaql", introspect.as_object().unwrap().clone(), &Caller::nobody()).await;
    let answer: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!(answer["error"]["code"], "VALIDATION_PAYLOAD_TOO_LARGE", "{answer}");
    assert_eq!(answer["error"]["details"]["limit_type"], "response_size");
    assert!(reply.text.len() < 2000);
}

#[tokio::test]
async fn a_call_goes_to_the_selected_target_and_does_not_send_the_selection() {
    let json_answer = &[("content-type", "application/json")];
    let one = Upstream::fixed(200, json_answer, r#"{"from":"one"}"#).await;
    let two = Upstream::fixed(200, json_answer, r#"{"from":"two"}"#).await;
    let (first, second) = (&one.url, &two.url);
    let source = adapter(
        "clusters",
        &format!(
            "target: {{ base_url: \"{first}\" }}
targets: {{ production: {{}}, staging: {{ base_url: \"{second}\", headers: {{ X-Env: stage }} }} }}
operations:
  create:
    - {{ name: create_pod, maps_to: POST /pods, params: {{ title: {{ type: string, required: true }} }} }}
"
        ),
    );
    let served = served(&source, Mode::Semantic, None).await;
    for (target, upstream) in [("production", &one), ("staging", &two)] {
        let params = json!({"target": target, "title": "a"}).as_object().unwrap().clone();
        let answer = served.call_operation("create_pod", params, &Caller::nobody()).await.unwrap();
        assert_eq!(answer.data.into_value()["from"], if target == "staging" { "two" } else { "one" });
        assert_eq!(upstream.only().body, r#"{"title":"a"}"#);
    }
    assert_eq!(two.only().header("x-env"), Some("stage"));
    assert_eq!(one.only().header("x-env"), None);
}
