//! A document inside a program, with handlers for some of its operations.

use crate::fixture::crypto;
use crate::http::upstream::Upstream;
use axum::body::Body;
use axum::response::Response;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::document::{
    AdapterSettings, Answer, Caller, Code, Document, DocumentError, HandlerCall, Handlers, Mode, OpError,
    Params, given,
};
use mcpaql_runtime::environment::Environment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const SHOP: &str = r#"
name: shop
type: adapter
version: "1.0.0"
description: A shop.
target: { transport: http, protocol: rest, base_url: BASE }
operations:
  read:
    - name: get_item
      maps_to: GET /items/{id}
      params: { id: { type: integer, required: true } }
  update:
    - name: change_item
      maps_to: PATCH /items/{id}
      deprecated: Use something else.
      params:
        id: { type: integer, required: true }
        note: { type: string, nullable: true }
        price: { type: number }
        extra: { type: object, properties: { a: { type: string } } }
  execute:
    - name: pack_items
      maps_to: POST /packages
      lifecycle: true
      params: { size: { type: integer, default: 3 } }
"#;

#[derive(Serialize, Deserialize)]
struct GetItemParams {
    id: i64,
}

impl Params for GetItemParams {
    const OPERATION: &'static str = "get_item";
}

#[derive(Debug, Serialize, Deserialize)]
struct ChangeItemParams {
    id: i64,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    note: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<serde_json::Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra: Option<Extra>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Extra {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    a: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Params for ChangeItemParams {
    const OPERATION: &'static str = "change_item";
}

fn no_environment() -> Environment {
    Arc::new(|_| None)
}

/// An upstream that answers with the method, the path and the body of each request.
async fn echo() -> Upstream {
    crypto();
    Upstream::start(|_, seen| {
        let body: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        let answer = json!({"asked": format!("{} {}", seen.method, seen.uri), "body": body}).to_string();
        Response::builder().header("content-type", "application/json").body(Body::from(answer)).unwrap()
    })
    .await
}

async fn shop(upstream: &Upstream, handlers: Handlers) -> ServedAdapter {
    let text = SHOP.replace("BASE", &upstream.url);
    Document::new("shop.yaml", text).with_handlers(handlers).open(None, &no_environment()).await.unwrap()
}

async fn ask(served: &ServedAdapter, tool: &str, operation: &str, params: Value) -> Value {
    let arguments = json!({"operation": operation, "params": params}).as_object().unwrap().clone();
    let reply = served.call(tool, arguments, &Caller::nobody()).await;
    serde_json::from_str(&reply.text).unwrap()
}

#[tokio::test]
async fn operations_without_a_handler_make_the_documents_call() {
    let upstream = echo().await;
    let served =
        shop(&upstream, Handlers::new().on(async |_: GetItemParams, _| Ok(Answer::new(json!(7))))).await;
    let answer = ask(&served, "shop_mcpaql_update", "change_item", json!({"id": 1, "note": "x"})).await;
    assert_eq!(answer["data"], json!({"asked": "PATCH /items/1", "body": {"note": "x"}}));
    let answer = ask(&served, "shop_mcpaql_read", "get_item", json!({"id": 1})).await;
    assert_eq!(answer["data"], 7);
}

#[tokio::test]
async fn parameters_are_unchanged_after_a_handlers_types() {
    let upstream = echo().await;
    let handlers =
        Handlers::new().on(async |params: ChangeItemParams, call: HandlerCall| call.send(params).await);
    let served = shop(&upstream, handlers).await;
    for (params, body) in [
        (json!({"id": 1}), json!({})),
        (json!({"id": 1, "note": null}), json!({"note": null})),
        (json!({"id": 1, "price": 5}), json!({"price": 5})),
        (json!({"id": 1, "price": 5.25}), json!({"price": 5.25})),
        (json!({"id": 1, "input": {"extra": {"b": [1]}}}), json!({"extra": {"b": [1]}})),
        (json!({"id": 1, "extra": {"a": "x", "b": null}}), json!({"extra": {"a": "x", "b": null}})),
    ] {
        let answer = ask(&served, "shop_mcpaql_update", "change_item", params.clone()).await;
        assert_eq!(answer["data"]["body"], body, "{params}");
        assert_eq!(
            answer["warnings"].as_array().map(Vec::len),
            Some(1),
            "the deprecation warning appears once"
        );
    }
}

#[tokio::test]
async fn a_handler_gets_only_valid_parameters_and_may_call_any_operation() {
    let upstream = echo().await;
    let handlers = Handlers::new().on(async |params: ChangeItemParams, call: HandlerCall| {
        let before = call.send(GetItemParams { id: params.id }).await?.data.into_value();
        let wrong = call.send_args("get_item", Map::new()).await.unwrap_err();
        assert_eq!(wrong.code, Code::MissingParam);
        if params.note == Some(None) {
            return Err(OpError::new(Code::NotFoundResource, "There is no note to remove."));
        }
        let after = call.send(&params).await?.data.into_value();
        Ok(Answer::new(json!([before["asked"], after["asked"], params.id])))
    });
    let served = shop(&upstream, handlers).await;
    let answer = ask(&served, "shop_mcpaql_update", "change_item", json!({"id": 4})).await;
    assert_eq!(answer["data"], json!(["GET /items/4", "PATCH /items/4", 4]));
    let answer = ask(&served, "shop_mcpaql_update", "change_item", json!({"id": 4, "note": null})).await;
    assert_eq!(answer["error"]["message"], "There is no note to remove.");
    let answer = ask(&served, "shop_mcpaql_update", "change_item", json!({"id": "four"})).await;
    assert_eq!(answer["error"]["code"], "VALIDATION_INVALID_TYPE");
}

#[tokio::test]
async fn values_that_the_types_cannot_hold_are_not_repeated() {
    let upstream = echo().await;
    let served = shop(
        &upstream,
        Handlers::new().on(async |params: GetItemParams, call: HandlerCall| call.send(params).await),
    )
    .await;
    let large = 18_446_744_073_709_551_615_u64;
    let answer = ask(&served, "shop_mcpaql_read", "get_item", json!({"id": large})).await;
    assert_eq!(answer["error"]["code"], "VALIDATION_INVALID_VALUE");
    assert!(!answer.to_string().contains("18446"), "{answer}");
}

#[tokio::test]
async fn a_handler_answers_in_the_background_too() {
    let upstream = echo().await;
    let handlers =
        Handlers::new().on_operation("pack_items", async |args, _| Ok(Answer::new(args["size"].clone())));
    let served = shop(&upstream, handlers).await;
    let started = ask(&served, "shop_mcpaql_execute", "pack_items", json!({})).await;
    let id = started["data"]["execution_id"].as_str().unwrap().to_owned();
    let done = crate::fixture::in_time(async {
        loop {
            let seen = ask(&served, "shop_mcpaql_read", "get_execution", json!({"execution_id": id})).await;
            if seen["data"]["status"] != "running" && seen["data"]["status"] != "pending" {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!((&done["data"]["status"], &done["data"]["result"]), (&json!("completed"), &json!(3)));
}

#[tokio::test]
async fn the_environment_overrides_the_program_which_overrides_the_document() {
    let open = |environment: Environment| {
        let settings = AdapterSettings {
            mode: Some(Mode::Single),
            prefix: Some("my_".into()),
            ..AdapterSettings::default()
        };
        let document = Document::new("shop.yaml", SHOP.replace("BASE", "https://shop.example"));
        async move { document.with_settings(settings).open(None, &environment).await }
    };
    crypto();
    let served = open(no_environment()).await.unwrap();
    assert_eq!(served.catalog().tools[0].name, "my_mcpaql");
    let served =
        open(Arc::new(|name| (name == "MCP_AQL_TOOL_PREFIX").then(|| "your_".into()))).await.unwrap();
    assert_eq!(served.catalog().tools[0].name, "your_mcpaql");
    let error =
        open(Arc::new(|name| (name == "MCP_AQL_ENDPOINT_MODE").then(|| "odd".into()))).await.unwrap_err();
    assert!(matches!(error, DocumentError::Environment(_)), "{error}");
}

#[tokio::test]
async fn invalid_documents_and_handlers_are_errors() {
    let broken =
        Document::new("shop.yaml", "name: shop\ntype: adapter\n").open(None, &no_environment()).await;
    let error = broken.unwrap_err().to_string();
    assert!(error.starts_with("shop.yaml: ") && error.contains("target"), "{error}");
    for operation in ["get_thing", "introspect", "get_execution"] {
        let handlers = Handlers::new().on_operation(operation, async |_, _| Ok(Answer::new(Value::Null)));
        let document = Document::new("shop.yaml", SHOP.replace("BASE", "https://shop.example"));
        let error = document.with_handlers(handlers).open(None, &no_environment()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("shop.yaml has no operation {operation}, for which there is a handler")
        );
    }
}
