//! An adapter in Rust, called by a real client.

use crate::fixture::in_time;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Category;
use mcpaql_core::policy::HintOverrides;
use mcpaql_runtime::caller::Progress;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::environment;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::native::{Caller, Native, NativeError, NoParams, State, operation};
use mcpaql_runtime::open::open;
use mcpaql_runtime::serve::serve_stream;
use mcpaql_runtime::target::code::NotEmbedded;
use rmcp::model::CallToolRequestParams;
use rmcp::{RoleClient, ServiceExt, service::RunningService};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Metre,
    Foot,
}

#[derive(Deserialize, JsonSchema)]
struct Measure {
    /// The value.
    #[schemars(range(min = 0))]
    amount: f64,
    /// The unit of the value.
    unit: Unit,
    /// Number of decimal places.
    #[serde(default = "two")]
    digits: u8,
    note: Option<String>,
}

fn two() -> u8 {
    2
}

#[derive(Serialize, JsonSchema)]
struct Length {
    metres: f64,
}

fn ruler() -> Native {
    Native::new("ruler")
        .with("display_name", "Ruler")
        .describe("Lengths in other units.")
        .operation(operation("convert_length").in_category(Category::Read).handle(
            |given: Measure| async move {
                let metres = match given.unit {
                    Unit::Metre => given.amount,
                    Unit::Foot => given.amount * 0.3048,
                };
                let scale = 10_f64.powi(given.digits.into());
                if given.note.as_deref() == Some("fail") {
                    return Err(OpError::new(Code::NotFoundResource, "There is no such ruler."));
                }
                Ok(Length { metres: (metres * scale).round() / scale })
            },
        ))
        .operation(operation("delete_marks").handle(|_: NoParams, caller: Caller| async move {
            caller.report_progress(Progress::new(1.0).of(2.0));
            Ok(json!({"deleted": 3}))
        }))
        .operation(
            operation("frobnicate")
                .title("Turn the screw")
                .hints(HintOverrides { destructive: Some(false), ..HintOverrides::default() })
                .handle(|_: NoParams| async { Ok(Value::Null) }),
        )
}

async fn served<S: Send + Sync + 'static>(native: Native<S>, mode: Mode) -> ServedAdapter {
    native.open(&AdapterSettings { mode: Some(mode), ..AdapterSettings::default() }, None).await.unwrap()
}

async fn client(gateway: Gateway) -> RunningService<RoleClient, ()> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve_stream(
        Arc::new(gateway),
        reader,
        writer,
        ServerLimits::default(),
        CancellationToken::new(),
    ));
    in_time(().serve(near)).await.unwrap()
}

/// Calls a tool, and confirms the call if it needs a confirmation.
async fn call(client: &RunningService<RoleClient, ()>, tool: &'static str, mut arguments: Value) -> Value {
    let answer = call_once(client, tool, &arguments).await;
    if answer["error"]["code"] != "CONFIRMATION_REQUIRED" {
        return answer;
    }
    arguments["params"]["_confirmation"] = answer["error"]["details"]["confirmation_token"].clone();
    call_once(client, tool, &arguments).await
}

async fn call_once(client: &RunningService<RoleClient, ()>, tool: &'static str, arguments: &Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone());
    let result = serde_json::to_value(in_time(client.call_tool(params)).await.unwrap()).unwrap();
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn names_titles_and_hints_follow_from_the_code() {
    let served = served(ruler(), Mode::Discrete).await;
    let tools: Vec<Value> = served.catalog().tools.iter().map(|tool| tool.to_json()).collect();
    let shown = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    let convert = shown("ruler_convert_length");
    assert_eq!(convert["title"], "Convert Length");
    assert_eq!(convert["annotations"]["readOnlyHint"], true);
    assert_eq!(convert["annotations"]["openWorldHint"], false);
    assert_eq!(convert["inputSchema"]["required"], json!(["amount", "unit"]));
    assert_eq!(convert["inputSchema"]["properties"]["amount"]["description"], "The value.");
    assert_eq!(convert["inputSchema"]["properties"]["digits"]["default"], 2);
    let delete = shown("ruler_delete_marks");
    assert_eq!(delete["annotations"]["destructiveHint"], true, "inferred from the verb");
    let turn = shown("ruler_frobnicate");
    assert_eq!(turn["title"], "Turn the screw");
    assert_eq!(turn["annotations"]["readOnlyHint"], false, "not declared as reading");
    assert_eq!(turn["annotations"]["destructiveHint"], false, "declared by the author");
}

#[tokio::test]
async fn the_verb_of_a_name_sets_the_effect() {
    let native =
        ["get_balance", "list_accounts", "get_or_create_account", "list_and_delete", "create_account"]
            .into_iter()
            .fold(Native::new("bank"), |native, name| {
                let all = operation(name).describe("All of the account, in cents.");
                native.operation(all.handle(|_: NoParams| async { Ok(1) }))
            });
    let served = served(native, Mode::Discrete).await;
    let hints = |name: &str| {
        let tools = &served.catalog().tools;
        let tool = tools.iter().find(|tool| tool.name == format!("bank_{name}")).unwrap().to_json();
        let hint = |key: &str| tool["annotations"][key].as_bool().unwrap();
        (hint("readOnlyHint"), hint("destructiveHint"))
    };
    assert_eq!(hints("get_balance"), (true, false));
    assert_eq!(hints("list_accounts"), (true, false));
    assert_eq!(hints("create_account"), (false, false));
    assert!(!hints("get_or_create_account").0);
    assert_eq!(hints("list_and_delete"), (false, true));
}

#[tokio::test]
async fn parameters_that_are_not_a_struct_are_an_error_at_start() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        _One { _a: String },
        _Two { _b: String },
    }
    #[derive(Deserialize, JsonSchema)]
    struct Wrapped(#[expect(dead_code, reason = "only its type matters")] Measure);
    let native = Native::new("odd")
        .operation(operation("get_text").handle(|_: String| async { Ok(1) }))
        .operation(operation("get_list").handle(|_: Vec<u8>| async { Ok(1) }))
        .operation(operation("get_either").handle(|_: Either| async { Ok(1) }))
        .operation(operation("get_wrapped").handle(|_: Wrapped| async { Ok(1) }))
        .operation(operation("get_nothing").handle(|_: NoParams| async { Ok(1) }))
        .operation(operation("get_optional").handle(|_: Option<String>| async { Ok(1) }));
    let error = native.open(&AdapterSettings::default(), None).await.unwrap_err().to_string();
    for name in ["get_text", "get_list", "get_either", "get_optional"] {
        let told = format!("The parameters of '{name}' are not a struct");
        assert!(error.contains(&told), "{name}: {error}");
    }
    assert!(error.contains("take a struct with a field for each parameter"), "{error}");
    assert!(!error.contains("get_nothing") && !error.contains("get_wrapped"), "{error}");
}

#[tokio::test]
async fn a_client_calls_functions_beside_documents() {
    let document = mcpaql_runtime::builtin::document("notebook").unwrap();
    let data = tempfile::tempdir().unwrap();
    let catalog = mcpaql_document::check::check(&document, &AdapterSettings::default()).catalog.unwrap();
    let notebook = open(catalog, "notebook", Some(data.path()), &environment::process()).await.unwrap();
    let ruler = served(ruler(), Mode::Semantic).await;
    let client = client(Gateway::new(vec![ruler, notebook]).unwrap()).await;
    let names: Vec<String> =
        client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.into_owned()).collect();
    assert!(names.contains(&"ruler_mcpaql_read".into()) && names.contains(&"notebook_mcpaql_read".into()));

    let convert = |params: Value| json!({"operation": "convert_length", "params": params});
    let answer = call(&client, "ruler_mcpaql_read", convert(json!({"amount": 10, "unit": "foot"}))).await;
    assert_eq!(answer, json!({"success": true, "data": {"metres": 3.05}}));
    let answer = call(&client, "ruler_mcpaql_read", convert(json!({"amount": -1, "unit": "foot"}))).await;
    assert_eq!(answer["error"]["code"], "VALIDATION_INVALID_VALUE");
    let answer = call(&client, "ruler_mcpaql_read", convert(json!({"unit": "mile", "amount": 1}))).await;
    assert_eq!(answer["error"]["code"], "VALIDATION_INVALID_VALUE");
    let note = json!({"amount": 1, "unit": "metre", "note": "fail"});
    let answer = call(&client, "ruler_mcpaql_read", convert(note)).await;
    assert_eq!(answer["error"]["message"], "There is no such ruler.");
    let answer = call(&client, "ruler_mcpaql_delete", json!({"operation": "delete_marks"})).await;
    assert_eq!(answer["data"]["deleted"], 3);
    let asked =
        json!({"operation": "introspect", "params": {"query": "operations", "name": "convert_length"}});
    let answer = call(&client, "ruler_mcpaql_read", asked).await;
    let own = answer["data"]["operation"]["parameters"].as_array().unwrap().iter().take(5);
    let names: Vec<&str> = own.map(|param| param["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["amount", "unit", "digits", "note", "fields"]);
}

#[tokio::test]
async fn all_problems_of_an_adapter_are_reported_together() {
    #[derive(Deserialize, JsonSchema)]
    struct Odd {
        #[serde(rename = "Not Snake")]
        _odd: String,
    }
    let native = Native::new("odd")
        .with("mode", "everything")
        .operation(operation("Bad Name").handle(|_: NoParams| async { Ok(1) }))
        .operation(operation("get_it").handle(|_: Odd| async { Ok(1) }));
    let NativeError::Invalid { problems, .. } =
        native.open(&AdapterSettings::default(), None).await.unwrap_err()
    else {
        panic!("it was opened")
    };
    let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    for part in ["/mode", "/name", "Not Snake"] {
        assert!(pointers.iter().any(|pointer| pointer.contains(part)), "{part} in {pointers:?}");
    }
}

#[tokio::test]
async fn a_document_without_its_program_is_an_error() {
    let text = ruler().document().to_string();
    let source = mcpaql_document::source::Source::new("ruler.json", text);
    let checked = mcpaql_document::check::check(&source, &AdapterSettings::default());
    assert_eq!(checked.errors(), 0, "{:?}", checked.diagnostics);
    let error =
        open(checked.catalog.unwrap(), "ruler.json", None, &environment::process()).await.unwrap_err();
    assert!(error.reason::<NotEmbedded>().is_some(), "{error}");
    assert!(error.to_string().contains("another program"));
}

#[derive(Default)]
struct Marks(Mutex<Vec<String>>);

#[derive(Deserialize, JsonSchema)]
struct Mark {
    label: String,
}

#[derive(Deserialize, JsonSchema)]
struct Position {
    index: usize,
}

async fn create_point(mark: Mark, State(marks): State<Marks>) -> Result<usize, OpError> {
    let mut marks = marks.0.lock().unwrap();
    marks.push(mark.label);
    Ok(marks.len())
}

async fn get_point(caller: Caller, at: Position, State(marks): State<Marks>) -> Result<MarkView, OpError> {
    caller.report_progress(Progress::new(1.0));
    let label = marks.0.lock().unwrap().get(at.index).cloned();
    label.map(|label| MarkView { label }).ok_or_else(|| OpError::new(Code::NotFoundResource, "No such mark."))
}

async fn list_points(State(marks): State<Marks>) -> Result<Vec<String>, OpError> {
    Ok(marks.0.lock().unwrap().clone())
}

async fn get_version() -> Result<Value, OpError> {
    Ok(json!("1.2.3"))
}

async fn delete_everything() -> Result<(), OpError> {
    panic!("a secret path")
}

#[derive(Serialize, JsonSchema)]
struct MarkView {
    label: String,
}

fn marks() -> Native<Marks> {
    Native::new("points")
        // This one was added before the state, and uses none.
        .operation(operation("get_version").handle(get_version))
        .with_state(Marks::default())
        .operation(operation("create_point").handle(create_point))
        .operation(operation("get_point").handle(get_point))
        .operation(operation("list_points").handle(list_points))
        .operation(operation("delete_everything").handle(delete_everything))
}

#[tokio::test]
async fn handlers_share_a_state_and_take_their_arguments_in_any_order() {
    let client = client(Gateway::new(vec![served(marks(), Mode::Semantic).await]).unwrap()).await;
    let ask = |tool: &'static str, operation: &str, params: Value| {
        call(&client, tool, json!({"operation": operation, "params": params}))
    };
    for (label, count) in [("one", 1), ("two", 2)] {
        let answer = ask("points_mcpaql_create", "create_point", json!({"label": label})).await;
        assert_eq!(answer, json!({"success": true, "data": count}));
    }
    let answer = ask("points_mcpaql_read", "list_points", json!({})).await;
    assert_eq!(answer["data"], json!(["one", "two"]));
    let answer = ask("points_mcpaql_read", "get_point", json!({"index": 1})).await;
    assert_eq!(answer["data"], json!({"label": "two"}));
    let answer = ask("points_mcpaql_read", "get_version", json!({})).await;
    assert_eq!(answer["data"], "1.2.3");

    let answer = ask("points_mcpaql_read", "get_point", json!({"index": 7})).await;
    assert_eq!(answer["error"]["code"], "NOT_FOUND_RESOURCE");
    let answer = ask("points_mcpaql_read", "get_point", json!({"index": -1})).await;
    assert_eq!(answer["error"]["code"], "VALIDATION_INVALID_VALUE", "the schema says that it is unsigned");
    let answer = ask("points_mcpaql_read", "list_points", json!({"label": "one"})).await;
    assert_eq!(answer["success"], false, "a handler without parameters takes none: {answer}");
}

#[tokio::test]
async fn a_handler_that_panics_fails_its_call_alone() {
    let client = client(Gateway::new(vec![served(marks(), Mode::Semantic).await]).unwrap()).await;
    let answer = call(&client, "points_mcpaql_delete", json!({"operation": "delete_everything"})).await;
    assert_eq!(answer["error"]["code"], "INTERNAL_ERROR");
    assert!(!answer.to_string().contains("secret"), "{answer}");
    let answer = call(&client, "points_mcpaql_read", json!({"operation": "list_points"})).await;
    assert_eq!(answer["data"], json!([]), "the server goes on");
}

#[test]
fn results_have_the_schemas_of_their_types() {
    let native = marks()
        .operation(operation("get_any").returns::<MarkView>().handle(get_version))
        .operation(operation("delete_nothing").handle(async || Ok(())));
    let document = native.document();
    let returns = |category: &str, name: &str| {
        let list = document["operations"][category].as_array().unwrap();
        list.iter().find(|operation| operation["name"] == name).unwrap()["returns"].clone()
    };
    assert_eq!(returns("read", "list_points"), json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(returns("read", "get_point"), json!({"$ref": "#/types/MarkView"}));
    assert_eq!(
        returns("read", "get_any"),
        json!({"$ref": "#/types/MarkView"}),
        "`returns` replaces the type"
    );
    assert_eq!(returns("create", "create_point")["type"], "integer");
    assert_eq!(returns("read", "get_version"), Value::Null, "it can be anything");
    assert_eq!(returns("delete", "delete_nothing"), Value::Null);
}

#[tokio::test]
async fn two_parameter_structs_are_an_error_at_once() {
    let both = async |_: Mark, _: Position| Ok(1);
    let native = Native::new("odd").operation(operation("get_both").handle(both));
    let error = native.open(&AdapterSettings::default(), None).await.unwrap_err().to_string();
    assert!(error.contains("takes several parameter structs"), "{error}");
}

#[tokio::test]
async fn work_in_the_background_needs_no_data_folder() {
    let slow = async |mark: Mark| Ok(format!("done: {}", mark.label));
    let native = Native::new("slow").operation(operation("run_it").with("lifecycle", true).handle(slow));
    let client = client(Gateway::new(vec![served(native, Mode::Semantic).await]).unwrap()).await;
    let started =
        call(&client, "slow_mcpaql_execute", json!({"operation": "run_it", "params": {"label": "a"}})).await;
    let id = started["data"]["execution_id"].as_str().unwrap();
    let asked = json!({"operation": "get_execution", "params": {"execution_id": id, "wait": 5}});
    let ended = call(&client, "slow_mcpaql_read", asked).await;
    assert_eq!(ended["data"]["result"], "done: a", "{ended}");
}
