//! Mistakes of other bridges from OpenAPI to MCP. Each test is named after a mistake, and checks that it is not made here.

use super::ServedApi;
use serde_json::{Map, Value, json};

fn issue(number: u16) -> Value {
    json!({"owner": "o", "repo": "r", "issue_number": number})
}

async fn tracker() -> ServedApi {
    ServedApi::of_fixture("tracker.json").await
}

#[tokio::test]
async fn parameters_behind_references_are_left_unresolved() {
    let api = tracker().await;
    let data = api.introspect(json!({"query": "operations", "name": api.name("issues/get")})).await;
    let params = data["operation"]["parameters"].as_array().unwrap();
    let named = params.iter().map(|one| (one["name"].as_str().unwrap(), one["required"] == true));
    // The query controls follow.
    let own: Vec<_> = named.take_while(|(name, _)| *name != "fields").collect();
    assert_eq!(own, [("owner", true), ("repo", true), ("issue_number", true)]);
    assert_eq!(params[0]["type"], "string");
    assert_eq!(params[0]["description"], "Who owns the repository.");
    assert_eq!(
        api.call_and_record("issues/get", issue(1)).await.request_line(),
        "GET /api/repos/o/r/issues/1"
    );
}

#[tokio::test]
async fn missing_path_parameters_are_sent_as_placeholders() {
    let api = tracker().await;
    let (envelope, _) = api.call("issues/get", json!({"owner": "o", "issue_number": 1})).await;
    assert_eq!(envelope["error"]["code"], "VALIDATION_MISSING_PARAM");
    assert!(envelope["error"]["message"].as_str().unwrap().contains("'repo'"), "{envelope}");
    assert!(api.received_requests().is_empty(), "{:?}", api.received_requests());
}

#[tokio::test]
async fn defaults_of_the_schema_are_injected_into_a_patch() {
    let api = tracker().await;
    let mut params = issue(1);
    params["title"] = json!("New");
    let sent = api.call_and_record("issues/update", params).await;
    assert_eq!(
        (sent.request_line().as_str(), sent.text()),
        ("PATCH /api/repos/o/r/issues/1", r#"{"title":"New"}"#)
    );
    let sent = api.call_and_record("issues/list", json!({"owner": "o", "repo": "r"})).await;
    assert_eq!(sent.target, "/api/repos/o/r/issues", "the API fills in its own defaults");
}

#[tokio::test]
async fn a_field_named_body_is_spread_into_characters() {
    let api = tracker().await;
    let params = json!({"owner": "o", "repo": "r", "title": "T", "body": "Text", "milestone": null});
    let sent = api.call_and_record("issues/create", params).await;
    assert_eq!(sent.text(), r#"{"title":"T","body":"Text","milestone":null}"#);
}

#[tokio::test]
async fn form_and_text_bodies_are_dropped() {
    let api = tracker().await;
    let sent = api.call_and_record("oauth/token", json!({"grant_type": "password", "scope": "a"})).await;
    assert_eq!(sent.text(), "grant_type=password&scope=a");
    assert_eq!(sent.header("content-type"), Some("application/x-www-form-urlencoded"));
    let sent = api.call_and_record("markdown/render-raw", json!({"body": "# Title"})).await;
    assert_eq!(sent.text(), "# Title");
}

#[tokio::test]
async fn what_the_api_says_about_an_error_is_dropped() {
    let api = tracker().await;
    for (status, code) in
        [(404, "NOT_FOUND_RESOURCE"), (409, "CONFLICT_ALREADY_EXISTS"), (500, "INTERNAL_ERROR")]
    {
        let (envelope, _) = api.call("issues/delete", issue(status)).await;
        let error = &envelope["error"];
        assert_eq!(error["code"], code, "{envelope}");
        assert_eq!(error["details"]["upstream"]["status"], status, "{envelope}");
        assert!(error["details"]["upstream"].to_string().contains("The title is taken"), "{envelope}");
    }
}

#[tokio::test]
async fn an_error_of_the_api_looks_like_success() {
    let api = tracker().await;
    for status in [400, 401, 403, 404, 409, 422, 429, 500, 503] {
        let (envelope, flagged) = api.call("issues/delete", issue(status)).await;
        assert_eq!(envelope["success"], false, "{status}: {envelope}");
        assert!(envelope.get("data").is_none(), "{status}: {envelope}");
        assert!(envelope["error"]["code"].is_string(), "{status}: {envelope}");
        assert_eq!(flagged, status >= 500, "an agent can fix {status}: {envelope}");
    }
}

#[tokio::test]
async fn when_to_try_again_is_lost() {
    let api = tracker().await;
    let (envelope, _) = api.call("issues/delete", issue(429)).await;
    assert_eq!(envelope["error"]["code"], "RATE_LIMIT_EXCEEDED", "{envelope}");
    assert_eq!(envelope["error"]["details"]["retry_after_seconds"], 7, "{envelope}");
}

#[tokio::test]
async fn ids_with_slashes_are_glued_together_so_that_search_misses_them() {
    let api = tracker().await;
    for (question, id) in [
        ("create an issue", "issues/create"),
        ("list issues", "issues/list"),
        ("upload an asset", "repos/upload-asset"),
    ] {
        let data = api.introspect(json!({"query": "operations", "search": question})).await;
        let first = &data["operations"][0]["name"];
        assert_eq!(first, api.name(id), "{question}: {data}");
        let name = first.as_str().unwrap();
        let glued: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        assert_ne!(name, glued);
        assert!(name.contains('_') && !name.contains('/'), "{name}");
    }
}

#[tokio::test]
async fn every_hit_of_a_search_brings_its_whole_schema() {
    let api = tracker().await;
    let data = api.introspect(json!({"query": "operations", "search": "issues"})).await;
    let hits = data["operations"].as_array().unwrap();
    assert!(hits.len() >= 3, "{data}");
    for hit in hits {
        assert!(hit.get("parameters").is_none() && hit.get("returns").is_none(), "{hit}");
        assert!(hit.to_string().len() < 600, "{hit}");
    }
}

/// Returns a description with this many operations.
fn large(count: usize) -> String {
    let path = |number: usize| {
        let get = json!({"operationId": format!("things/get-{number}"), "tags": [format!("group{}", number % 40)],
            "summary": format!("Get the thing of kind {number}"), "responses": {"200": {"description": "A thing"}}});
        (format!("/things{number}"), json!({"get": get}))
    };
    let paths: Map<String, Value> = (0..count).map(path).collect();
    json!({"openapi": "3.0.0", "info": {"title": "Large", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": paths})
    .to_string()
}

#[tokio::test]
async fn lists_of_operations_have_no_pages() {
    let api = ServedApi::of_text("large.json", &large(1500)).await;
    let data = api.introspect(json!({"query": "operations"})).await;
    assert!(data.to_string().len() < 20_000, "{} bytes", data.to_string().len());
    assert!(data["_protocol"]["pageInfo"].to_string().contains("true"), "{data}");
    let tools = serde_json::to_string(&api.client.tools().await).unwrap();
    assert!(tools.len() < 6_000, "the tools grow with the operations: {} bytes", tools.len());
}

#[tokio::test]
async fn every_answer_comes_twice_as_content_and_structured_content() {
    let api = tracker().await;
    let arguments = json!({"operation": api.name("issues/get"), "params": issue(1)});
    let result = api.client.try_call("tracker_mcpaql", arguments).await.unwrap();
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
}

#[tokio::test]
async fn a_tool_can_be_called_that_is_not_listed() {
    let api = tracker().await;
    let listed = api.client.tools().await;
    assert_eq!(listed.len(), 1);
    for name in [api.name("issues/get"), "tracker_mcpaql_read", "search", "call_tool", "execute"] {
        let answer = api.client.try_call(name, json!({"params": issue(1)})).await;
        assert!(answer.is_err(), "{name}: {answer:?}");
    }
    assert!(api.received_requests().is_empty());
}

#[tokio::test]
async fn circular_schemas_kill_the_start() {
    let api = tracker().await;
    let nested = json!({"text": "a", "and": [{"text": "b", "not": {"text": "c"}}]});
    let sent = api.call_and_record("search/issues", nested.clone()).await;
    assert_eq!(sent.json(), nested);
    let data = api
        .introspect(json!({"query": "operations", "name": api.name("search/issues"), "detail": "full"}))
        .await;
    assert!(data["operation"]["signature"].as_str().unwrap().len() < 2_000, "{data}");

    let selfish = json!({"openapi": "3.1.0", "info": {"title": "Selfish", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {"/a": {"$ref": "#/paths/~1a"}, "/b": {"get": {"operationId": "getB",
            "parameters": [{"$ref": "#/components/parameters/p"}], "responses": {"200": {"$ref": "#/components/responses/r"}}}}},
        "components": {
            "parameters": {"p": {"$ref": "#/components/parameters/p"}},
            "responses": {"r": {"$ref": "#/components/responses/r"}},
            "schemas": {"s": {"$ref": "#/components/schemas/s"}}}});
    let api = ServedApi::of_text("selfish.json", &selfish.to_string()).await;
    let data = api.introspect(json!({"query": "operations", "name": api.name("getB")})).await;
    assert_eq!(data["operation"]["parameters"][0]["name"], "fields", "only query controls: {data}");
}
