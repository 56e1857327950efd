//! Dry runs of every kind of target: what would be sent, without sending it and without secrets.

use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::{Code, OpError};
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::{HandlerCall, Handlers, ServedAdapter};
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::open::open;
use mcpaql_runtime::target::Args;
use serde_json::{Value, json};
use std::sync::Arc;

const SECRETS: [&str; 4] = ["t0ken-of-the-api", "hidden-host", "p4ssword", "cDRzc3dvcmQ"];

fn environment() -> Environment {
    Arc::new(|name: &str| match name {
        "API_TOKEN" => Some("t0ken-of-the-api".to_owned()),
        "API_URL" => Some("http://127.0.0.1:9/hidden-host".to_owned()),
        "PATH" => std::env::var("PATH").ok(),
        _ => None,
    })
}

async fn served(target: &Value, operations: &Value) -> ServedAdapter {
    crate::fixture::crypto();
    let document = json!({
        "name": "dry", "type": "adapter", "version": "1.0.0", "description": "A target.", "target": target,
        "auth": {"type": "bearer", "token_env": "API_TOKEN"}, "operations": operations,
    });
    let mut document = document;
    if target["transport"] != "http" {
        document.as_object_mut().unwrap().remove("auth");
    }
    let checked = check::check(&Source::new("dry.json", document.to_string()), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    open(catalog, "dry.json", None, &environment()).await.expect("an open target")
}

async fn dry_run(served: &ServedAdapter, operation: &str, params: Value) -> Result<Value, OpError> {
    let mut params: Args = params.as_object().cloned().unwrap();
    params.insert("dry_run".into(), true.into());
    let answer = served.call_operation(operation, params, &Caller::nobody()).await?;
    let data = answer.data.into_value();
    let text = data.to_string();
    assert!(!SECRETS.iter().any(|secret| text.contains(secret)), "{text}");
    assert_eq!(data["dry_run"], true);
    assert!(["allow", "confirm"].contains(&data["decision"].as_str().unwrap()), "{text}");
    Ok(data["request"].clone())
}

#[tokio::test]
async fn an_http_request_is_shown_without_credentials() {
    let operations = json!({
        "create": [{"name": "create_user", "maps_to": "POST /teams/{team}/users", "params": {
            "team": {"type": "string", "required": true},
            "notify": {"type": "boolean", "in": "query"},
            "name": {"type": "string", "required": true},
            "password": {"type": "string", "sensitive": true},
        }}],
        "delete": [{"name": "delete_user", "maps_to": "DELETE /users/{id}", "params": {"id": {"type": "string", "required": true}}}],
    });
    let target = |url: &str| json!({"transport": "http", "protocol": "rest", "base_url": url, "headers": {"x-key": "${env:API_TOKEN}"}});
    // Nothing listens there, so a call would fail.
    let fixed = served(&target("http://127.0.0.1:9/v1"), &operations).await;
    let params = json!({"team": "a b", "notify": true, "name": "ada", "password": "p4ssword"});
    let request = dry_run(&fixed, "create_user", params.clone()).await.unwrap();
    assert_eq!(
        (&request["method"], &request["url"]),
        (&json!("POST"), &json!("http://127.0.0.1:9/v1/teams/a%20b/users?notify=true"))
    );
    assert_eq!(request["body"], json!({"name": "ada", "password": "[redacted]"}));
    let headers = &request["headers"];
    assert_eq!((&headers["authorization"], &headers["x-key"]), (&json!("[redacted]"), &json!("[redacted]")));
    assert_eq!(headers["content-type"], "application/json");
    let request = dry_run(&fixed, "delete_user", json!({"id": "7"})).await.unwrap();
    assert!(request.get("body").is_none() && request["method"] == "DELETE", "{request}");

    let variable = served(&target("${env:API_URL}"), &operations).await;
    let request = dry_run(&variable, "create_user", params).await.unwrap();
    assert_eq!(request["url"], "${env:API_URL}/teams/a%20b/users?notify=true");
    let wrong = dry_run(&variable, "create_user", json!({"team": "a"})).await.unwrap_err();
    assert_eq!(wrong.code, Code::MissingParam, "a dry run is validated like a call");
    let refused = dry_run(&variable, "create_user", json!({"team": "..", "name": "ada"})).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidValue);
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_is_shown_and_not_run() {
    let operations = json!({"execute": [{
        "name": "run_it", "command": ["/no/such/program", "--user={user}", "--pass={pass}"], "stdin": "params",
        "params": {"user": "string", "pass": {"type": "string", "sensitive": true}},
    }]});
    let target = json!({"transport": "native", "protocol": "command", "env": ["API_TOKEN"]});
    let served = served(&target, &operations).await;
    let request = dry_run(&served, "run_it", json!({"user": "ada", "pass": "p4ssword"})).await.unwrap();
    assert_eq!(request["argv"], json!(["/no/such/program", "--user=ada", "--pass=[redacted]"]));
    assert_eq!(request["stdin"], json!({"user": "ada", "pass": "[redacted]"}));
    assert!(request["env"].as_array().unwrap().contains(&json!("API_TOKEN")), "{request}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_tool_of_a_server_is_shown_and_the_server_is_not_started() {
    let operations = json!({"execute": [{
        "name": "send_mail", "tool": "sendMail", "params": {"to": {"type": "string", "as": "toAddress"}, "key": {"type": "string", "sensitive": true}},
    }]});
    let target = json!({"transport": "mcp", "command": ["/no/such/program"]});
    let served = served(&target, &operations).await;
    let request = dry_run(&served, "send_mail", json!({"to": "ada", "key": "p4ssword"})).await.unwrap();
    assert_eq!(request, json!({"tool": "sendMail", "arguments": {"toAddress": "ada", "key": "[redacted]"}}));
}

#[tokio::test]
async fn a_handler_does_not_run_and_a_parameter_of_the_operation_keeps_its_name() {
    let operations = json!({"create": [
        {"name": "create_a", "maps_to": "POST /a", "params": {"x": "string"}},
        {"name": "create_b", "maps_to": "POST /b", "params": {"dry_run": "boolean"}},
    ]});
    let target = json!({"transport": "http", "protocol": "rest", "base_url": "http://127.0.0.1:9"});
    let never = async |_: Args, _: HandlerCall| panic!("a dry run calls no handler");
    let served =
        served(&target, &operations).await.with_handlers(Handlers::new().on_operation("create_a", never));
    let request = dry_run(&served, "create_a", json!({"x": "y"})).await.unwrap();
    assert_eq!(request, json!({"arguments": {"x": "y"}}));
    // The API has a dry run of its own; ours is reached with an underscore.
    let own = json!({"dry_run": true, "_dry_run": true}).as_object().cloned().unwrap();
    let answer = served.call_operation("create_b", own, &Caller::nobody()).await.unwrap();
    assert_eq!(answer.data.into_value()["request"]["body"], json!({"dry_run": true}));
    for wrong in [json!("yes"), json!(1), json!([true])] {
        let params = json!({"_dry_run": wrong}).as_object().cloned().unwrap();
        let error = served.call_operation("create_a", params, &Caller::nobody()).await.unwrap_err();
        assert_eq!(error.code, Code::InvalidType);
    }
}
