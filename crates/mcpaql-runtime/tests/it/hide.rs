//! Hidden fields, through every entry point and every control.

use crate::queries::{ask, object, store_adapter, tool};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::OpError;
use mcpaql_core::shape::{FieldPath, HiddenFields};
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::prelude::*;
use serde_json::{Value, json};

const SECRET: &str = "123-45-6789";

async fn list_people() -> Result<Value, OpError> {
    let person = |n: u32| json!({"id": n, "ssn": SECRET, "home": {"city": "Bern", "phone": SECRET}, "logs": [[{"ssn": SECRET, "ok": true}]]});
    Ok(json!({"items": (0..5).map(person).collect::<Vec<_>>(), "home.phone": SECRET, "total": 5}))
}

async fn get_report() -> Result<Value, OpError> {
    Ok(json!(format!("{{\"ssn\": \"{SECRET}\", \"id\": 1}}")))
}

async fn get_page() -> Result<Value, OpError> {
    Ok(json!(format!("Name: Ada\nSSN: {SECRET}")))
}

async fn get_missing() -> Result<Value, OpError> {
    let body = json!({"status": 404, "body": {"ssn": SECRET, "message": "gone"}});
    Err(OpError::new(mcpaql_core::error::Code::NotFoundResource, "No such person.")
        .with_detail("upstream", body))
}

/// People behind functions of this program; the operator hides two fields.
async fn people() -> ServedAdapter {
    let people = Native::new("people")
        .operation(operation("list_people").handle(list_people))
        .operation(operation("get_report").handle(get_report))
        .operation(operation("get_page").handle(get_page))
        .operation(operation("get_missing").handle(get_missing));
    let hide = HiddenFields::new(["ssn", "home.phone"].into_iter().filter_map(FieldPath::parse));
    let settings = AdapterSettings { hide, ..AdapterSettings::default() };
    people.open(&settings, None).await.expect("an adapter")
}

#[tokio::test]
async fn no_control_reveals_a_hidden_field() {
    let served = people().await;
    for params in [
        json!({}),
        json!({"fields": "full"}),
        json!({"fields": ["ssn", "id"]}),
        json!({"fields": ["home", "logs"]}),
        json!({"fields": ["home.phone"]}),
        json!({"preset": "minimal", "fields": ["ssn"]}),
        json!({"filter": {"ssn": {"starts_with": "1"}}}),
        json!({"filter": {"ssn": {"exists": true}}}),
        json!({"sort": {"field": "ssn"}}),
        json!({"aggregate": {"a": {"group_by": "ssn", "max": "home.phone"}}, "include_items": true}),
        json!({"first": 1, "sort": {"field": "logs.ssn"}}),
        json!({"part": {"field": "items.0.ssn"}}),
        json!({"answer_budget": 100}),
    ] {
        let reply = tool(&served, json!({"operation": "list_people", "params": params})).await;
        assert!(!reply.to_string().contains(SECRET), "{params}: {reply}");
        let answer = served.call_operation("list_people", object(params.clone()), &Caller::nobody()).await;
        let shown = match answer {
            Ok(answer) => format!("{} {:?}", answer.data.into_value(), answer.warnings),
            Err(error) => format!("{} {:?}", error.message, error.details),
        };
        assert!(!shown.contains(SECRET), "{params}: {shown}");
    }
    let all = ask(&served, "list_people", json!({})).await.unwrap();
    assert_eq!(all["items"][0], json!({"id": 0, "home": {"city": "Bern"}, "logs": [[{"ok": true}]]}));
    assert_eq!(all["total"], 5);
    // A hidden field meets no condition, and no warning names it.
    let reply = tool(&served, json!({"operation": "list_people", "params": {"filter": {"sn": 1}}})).await;
    assert_eq!(reply["warnings"][0]["code"], "FIELD_NOT_FOUND");
    assert!(!reply["warnings"].to_string().contains("ssn"), "{reply}");
}

#[tokio::test]
async fn texts_and_errors_have_no_hidden_field() {
    let served = people().await;
    assert_eq!(ask(&served, "get_report", json!({})).await.unwrap(), json!("{\"id\":1}"));
    assert!(ask(&served, "get_page", json!({})).await.unwrap().as_str().unwrap().starts_with("(left out"));
    let error = ask(&served, "get_missing", json!({})).await.unwrap_err();
    assert_eq!(error.details["upstream"], json!({"status": 404, "body": {"message": "gone"}}));
}

#[tokio::test]
async fn a_store_hides_the_fields_of_a_resource() {
    let served = store_adapter(json!({"person": {"hide": ["ssn"], "fields": {
        "name": {"type": "string", "required": true}, "ssn": {"type": "string"},
    }}, "note": {"fields": {"ssn": {"type": "string"}}}}))
    .await;
    let made = ask(&served, "create_person", json!({"name": "Ada", "ssn": SECRET})).await.unwrap();
    assert!(made.get("ssn").is_none(), "{made}");
    let changed = json!({"id": made["id"], "input": {"ssn": "999"}});
    assert!(ask(&served, "update_person", changed).await.unwrap().get("ssn").is_none());
    let listed = json!({"sort": {"field": "ssn"}, "filter": {"ssn": {"exists": true}}});
    assert_eq!(ask(&served, "list_people", listed).await.unwrap()["items"], json!([]));
    let dry_run = json!({"id": made["id"], "input": {"name": "Bob"}, "dry_run": true});
    let preview = ask(&served, "update_person", dry_run).await.unwrap();
    assert!(!preview.to_string().contains("999") && preview["dry_run"] == true, "{preview}");
    for query in ["99", "999"] {
        let found = ask(&served, "search_people", json!({"query": query})).await.unwrap();
        assert_eq!(found["items"], json!([]), "{query}");
    }
    let found = ask(&served, "search_people", json!({"query": "ad"})).await.unwrap();
    assert_eq!(found["items"][0]["name"], "Ada");
    let note = ask(&served, "create_note", json!({"ssn": "5"})).await.unwrap();
    assert_eq!(note["ssn"], "5");
}
