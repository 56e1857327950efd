//! Tests that hold in every mode, over both transports and in both revisions of MCP.

use crate::fixture::{ALL_CONNECTIONS, TestClient, TestFolder, connect};
use rmcp::model::ErrorCode;
use rmcp::service::ServiceError;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Semantic,
    Single,
    All,
    Discrete,
}

impl Mode {
    fn flag(self) -> &'static str {
        match self {
            Mode::Semantic => "semantic",
            Mode::Single => "single",
            Mode::All => "all",
            Mode::Discrete => "discrete",
        }
    }

    fn names(self) -> Vec<String> {
        let families =
            ["create", "read", "update", "delete"].map(|family| format!("notebook_mcpaql_{family}"));
        let single = "notebook_mcpaql".to_owned();
        match self {
            Mode::Semantic => families.to_vec(),
            Mode::Single => vec![single],
            Mode::All => [families.as_slice(), &[single]].concat(),
            Mode::Discrete => ["note", "task"]
                .iter()
                .flat_map(|kind| {
                    [
                        format!("notebook_create_{kind}"),
                        format!("notebook_get_{kind}"),
                        format!("notebook_list_{kind}s"),
                        format!("notebook_search_{kind}s"),
                        format!("notebook_update_{kind}"),
                        format!("notebook_delete_{kind}"),
                    ]
                })
                .collect(),
        }
    }

    /// Returns the tool of an operation, and the arguments of a call.
    fn address(self, operation: &str, params: Value) -> (String, Value) {
        let family = match operation.split('_').next().unwrap() {
            family @ ("create" | "update" | "delete") => family,
            _ => "read",
        };
        let enveloped = json!({"operation": operation, "params": params});
        match self {
            Mode::Semantic | Mode::All => (format!("notebook_mcpaql_{family}"), enveloped),
            Mode::Single => ("notebook_mcpaql".to_owned(), enveloped),
            Mode::Discrete => (format!("notebook_{operation}"), params),
        }
    }
}

/// A client, and the mode of its server.
struct Session {
    client: TestClient,
    mode: Mode,
}

impl Session {
    async fn call(&self, operation: &str, params: Value) -> (Value, bool) {
        let (tool, arguments) = self.mode.address(operation, params);
        self.client.call_confirmed(&tool, arguments).await
    }

    /// Makes a call that must succeed, and returns its data.
    async fn data(&self, operation: &str, params: Value) -> Value {
        let (mut envelope, is_error) = self.call(operation, params).await;
        assert_eq!((&envelope["success"], is_error), (&json!(true), false), "{operation}: {envelope}");
        envelope["data"].take()
    }

    /// Makes a call that must fail with an error that an agent can fix, and returns the error.
    async fn error(&self, operation: &str, params: Value) -> Value {
        let (mut envelope, is_error) = self.call(operation, params).await;
        assert_eq!((&envelope["success"], is_error), (&json!(false), false), "{operation}: {envelope}");
        let keys: Vec<&String> = envelope.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["success", "error"]);
        envelope["error"].take()
    }
}

async fn standard_assertions(mode: Mode) {
    let mut seen: Option<Vec<Value>> = None;
    for (wire, revision) in ALL_CONNECTIONS {
        println!("{mode:?} {wire:?} {revision:?}");
        let place = TestFolder::new();
        let args = ["--mode", mode.flag(), "--data", "data"];
        let client = connect(&place, &args, wire, revision).await;
        let session = Session { client, mode };
        let tools = session.client.tools().await;
        assert_surface(mode, &tools);
        assert_eq!(session.client.tools().await, tools, "a second list differs");
        // The list is the same in another process, over another transport and in another revision.
        assert_eq!(seen.get_or_insert_with(|| tools.clone()), &tools);

        a_record_is_created_read_updated_and_deleted(&session).await;
        wrong_parameters_are_explained(&session).await;
        a_batch_runs_in_order(&session).await;
        a_dry_run_changes_nothing(&session).await;
        an_unknown_tool_is_a_protocol_error(&session).await;
        if mode != Mode::Discrete {
            introspection_describes_all_operations(&session).await;
            wrong_envelopes_are_explained(&session).await;
        }
        if matches!(mode, Mode::Semantic | Mode::All) {
            the_wrong_endpoint_names_the_right_one(&session).await;
        }
    }
}

fn assert_surface(mode: Mode, tools: &[Value]) {
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, mode.names());
    for tool in tools {
        let title = tool["title"].as_str().unwrap();
        assert!(title.starts_with("Notebook") || mode == Mode::Discrete, "{title}");
        assert_eq!(tool["annotations"]["title"], title);
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
        }
        assert_eq!(tool["annotations"]["openWorldHint"], false, "a store on this machine: {tool}");
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(!tool["description"].as_str().unwrap().is_empty());
        let reads = ["read", "get_", "list_", "search_"].iter().any(|word| {
            let name = tool["name"].as_str().unwrap();
            name.ends_with(word) || name.contains(&format!("notebook_{word}"))
        });
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
    }
}

async fn a_record_is_created_read_updated_and_deleted(session: &Session) {
    let created =
        session.data("create_note", json!({"title": "Tea", "body": "Earl Grey", "tags": ["drink"]})).await;
    let id = created["id"].as_str().unwrap().to_owned();
    assert_eq!(session.data("get_note", json!({"id": id})).await, created);

    let changed = session.data("update_note", json!({"id": id, "input": {"body": "Oolong"}})).await;
    assert_eq!((&changed["title"], &changed["body"]), (&json!("Tea"), &json!("Oolong")));
    let flat = session.data("update_note", json!({"id": id, "body": "Sencha"})).await;
    assert_eq!(flat["body"], "Sencha");

    let stale =
        session.error("update_note", json!({"id": id, "body": "x", "if_match": created["_etag"]})).await;
    assert_eq!(stale["code"], "CONFLICT_VERSION_MISMATCH", "{stale}");

    let listed = session.data("list_notes", json!({})).await;
    assert_eq!(listed["items"], json!([flat]));
    let found = session.data("search_notes", json!({"query": "sencha drink"})).await;
    assert_eq!(found["items"][0]["id"], json!(id), "{found}");
    assert_eq!(session.data("search_notes", json!({"query": "coffee"})).await["items"], json!([]));

    session.data("delete_note", json!({"id": id})).await;
    let gone = session.error("get_note", json!({"id": id})).await;
    assert_eq!(gone["code"], "NOT_FOUND_RESOURCE", "{gone}");
    assert_eq!(session.data("list_notes", json!({})).await["items"], json!([]));
}

async fn wrong_parameters_are_explained(session: &Session) {
    let rows = [
        ("VALIDATION_MISSING_PARAM", json!({"body": "no title"}), "title"),
        ("VALIDATION_UNKNOWN_PARAM", json!({"title": "t", "bodi": "x"}), "bodi"),
        ("VALIDATION_INVALID_TYPE", json!({"title": 7}), "title"),
        ("VALIDATION_INVALID_VALUE", json!({"title": ""}), "title"),
    ];
    for (code, params, named) in rows {
        let error = session.error("create_note", params).await;
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(named), "{error}");
        let signature = error["details"]["signature"].as_str().unwrap();
        assert!(signature.starts_with("create_note(title: string"), "{signature}");
    }
    let task = session.data("create_task", json!({"title": "Sweep"})).await;
    let id = &task["id"];
    let moved =
        session.data("update_task", json!({"id": id, "status": "done", "ifMatch": task["_etag"]})).await;
    assert_eq!(moved["status"], "done");
    let refused = session.error("delete_task", json!({"id": id, "ifMatch": task["_etag"]})).await;
    assert_eq!(
        refused["code"], "CONFLICT_VERSION_MISMATCH",
        "a camelCase name must mean the same: {refused}"
    );
}

/// The tasks are those of this function, because the others delete theirs or use notes.
async fn a_batch_runs_in_order(session: &Session) {
    let create = session.mode.address("create_task", json!({})).0;
    let items = json!([
        {"operation": "create_task", "params": {"title": "First"}},
        {"operation": "create_task", "params": {"title": {"$result": "0.data.id"}}},
        {"operation": "create_task", "params": {}},
        {"operation": "get_task", "params": {"id": {"$result": "1.data.id"}}},
        {"operation": "create_task", "params": {"title": {"$result": "2.data.id"}}},
    ]);
    let (envelope, is_error) = session.client.call(&create, json!({"operations": items})).await;
    if session.mode == Mode::Discrete {
        assert!(is_error, "{envelope}");
        assert_eq!(envelope["error"]["code"], "VALIDATION_UNKNOWN_PARAM", "{envelope}");
        let message = envelope["error"]["message"].as_str().unwrap();
        assert!(message.contains("takes no batch"), "{message}");
        return;
    }
    assert_eq!(
        (&envelope["success"], &envelope["data"], is_error),
        (&json!(true), &Value::Null, false),
        "{envelope}"
    );
    let results = envelope["results"].as_array().unwrap();
    let shown: Vec<(&Value, &Value)> = results.iter().map(|one| (&one["index"], &one["operation"])).collect();
    let operations = items.as_array().unwrap().iter().map(|item| &item["operation"]);
    let positions: Vec<Value> = (0..5).map(Value::from).collect();
    assert_eq!(shown, positions.iter().zip(operations).collect::<Vec<_>>());
    let (first, second) = (&results[0]["result"]["data"], &results[1]["result"]["data"]);
    assert_eq!(second["title"], first["id"]);
    assert_eq!(results[2]["result"]["error"]["code"], "VALIDATION_MISSING_PARAM");
    assert_eq!(results[4]["result"]["error"]["code"], "VALIDATION_INVALID_VALUE", "{envelope}");
    let succeeded = if session.mode == Mode::Single {
        assert_eq!(&results[3]["result"]["data"], second);
        3
    } else {
        assert_eq!(results[3]["result"]["error"]["code"], "VALIDATION_ENDPOINT_MISMATCH", "{envelope}");
        2
    };
    let summary = json!({"total": 5, "succeeded": succeeded, "failed": 5 - succeeded});
    assert_eq!(envelope["summary"], summary);
    let late =
        json!({"operations": [{"operation": "create_task", "params": {"title": {"$result": "0.data.id"}}}]});
    let (refused, is_error) = session.client.call(&create, late).await;
    assert_eq!(
        (&refused["error"]["code"], is_error),
        (&json!("VALIDATION_INVALID_VALUE"), true),
        "{refused}"
    );
}

async fn a_dry_run_changes_nothing(session: &Session) {
    let before = session.data("list_tasks", json!({})).await;
    let task = &before["items"][0];
    let shown = session.data("create_task", json!({"title": "Never", "dry_run": true})).await;
    assert_eq!((&shown["dry_run"], &shown["decision"]), (&json!(true), &json!("allow")));
    assert_eq!(shown["request"]["record"]["title"], "Never", "{shown}");
    let change = json!({"id": task["id"], "input": {"title": "Other"}, "_dry_run": true});
    let shown = session.data("update_task", change).await;
    assert_eq!(shown["request"]["record"]["title"], "Other", "{shown}");
    session.data("delete_task", json!({"id": task["id"], "dryRun": true})).await;
    let stale = json!({"id": task["id"], "if_match": "no", "dry_run": true});
    assert_eq!(session.error("delete_task", stale).await["code"], "CONFLICT_VERSION_MISMATCH");
    assert_eq!(session.data("list_tasks", json!({})).await, before);
    let error = session.error("get_task", json!({"id": task["id"], "_dry_run": true})).await;
    assert_eq!(error["code"], "VALIDATION_UNKNOWN_PARAM");
    assert!(error["message"].as_str().unwrap().contains("only reads"), "{error}");
}

async fn an_unknown_tool_is_a_protocol_error(session: &Session) {
    let error = session.client.try_call("notebook_nope", json!({})).await.unwrap_err();
    let ServiceError::McpError(error) = error else { panic!("{error}") };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(error.message.contains("'notebook_nope'"), "{error:?}");
}

async fn introspection_describes_all_operations(session: &Session) {
    let all = session.data("introspect", json!({"query": "operations"})).await;
    let protocol = &all["_protocol"];
    assert_eq!(protocol["mode"], session.mode.flag());
    assert_eq!((&protocol["adapter"], &protocol["profile"]), (&json!("notebook"), &json!("crude")));
    let names: Vec<&str> =
        all["operations"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 13, "{names:?}");
    assert!(names.contains(&"introspect") && names.contains(&"search_tasks"));

    let one = session.data("introspect", json!({"name": "create_note"})).await;
    let operation = &one["operation"];
    assert_eq!(operation["mcpTool"], session.mode.address("create_note", json!({})).0);
    assert_eq!(
        (&operation["parameters"][0]["name"], &operation["parameters"][0]["required"]),
        (&json!("title"), &json!(true))
    );

    let several = session.data("introspect", json!({"name": ["get_note", "delete_task"]})).await;
    assert_eq!(several["operations"].as_array().unwrap().len(), 2);

    let (unknown, is_error) = session.call("introspect", json!({"name": "create_nota"})).await;
    assert_eq!(
        (&unknown["success"], &unknown["data"]["operation"], is_error),
        (&json!(true), &Value::Null, false)
    );
    assert!(unknown["warnings"][0]["message"].as_str().unwrap().contains("create_note"), "{unknown}");

    let types = session.data("introspect", json!({"query": "types", "name": "UpdateNoteInput"})).await;
    assert!(types["type"].is_object(), "{types}");
}

async fn wrong_envelopes_are_explained(session: &Session) {
    let tool = session.mode.address("get_note", json!({})).0;
    let error = session.error("get_nota", json!({})).await;
    assert_eq!(error["code"], "NOT_FOUND_OPERATION");
    assert_eq!(error["details"]["suggestions"][0], "get_note", "{error}");
    // Arguments that are not an envelope never reach an operation, so `isError` is set for the host.
    for arguments in [json!({}), json!({"operation": 7}), json!({"operation": "get_note", "params": []})] {
        let (envelope, is_error) = session.client.call(&tool, arguments).await;
        assert!(is_error, "{envelope}");
        assert!(envelope["error"]["code"].as_str().unwrap().starts_with("VALIDATION_"), "{envelope}");
    }
    let (beside, _) = session.client.call(&tool, json!({"operation": "list_notes", "first": 1})).await;
    assert_eq!(beside["success"], true, "parameters may be next to the operation: {beside}");
}

async fn the_wrong_endpoint_names_the_right_one(session: &Session) {
    let arguments = json!({"operation": "delete_note", "params": {"id": "x"}});
    let (envelope, is_error) = session.client.call("notebook_mcpaql_read", arguments).await;
    let error = &envelope["error"];
    assert_eq!((&error["code"], is_error), (&json!("VALIDATION_ENDPOINT_MISMATCH"), false), "{envelope}");
    assert_eq!(error["details"]["expected_tool"], "notebook_mcpaql_delete");
    assert_eq!(
        (&error["details"]["expected_endpoint"], &error["details"]["actual_endpoint"]),
        (&json!("delete"), &json!("read"))
    );
}

#[tokio::test]
async fn semantic_mode_has_a_tool_per_endpoint() {
    standard_assertions(Mode::Semantic).await;
}

#[tokio::test]
async fn single_mode_has_one_tool() {
    standard_assertions(Mode::Single).await;
}

#[tokio::test]
async fn all_mode_has_both() {
    standard_assertions(Mode::All).await;
}

#[tokio::test]
async fn discrete_mode_has_a_tool_per_operation() {
    standard_assertions(Mode::Discrete).await;
}
