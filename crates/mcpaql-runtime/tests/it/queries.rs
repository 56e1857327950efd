//! Query controls through every entry point, and over a store.

use indexmap::IndexMap;
use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::error::{Code, OpError};
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::prelude::*;
use mcpaql_runtime::target::store::Store;
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn catalog(document: &Value) -> Catalog {
    let checked = check::check(&Source::new("a.json", document.to_string()), &AdapterSettings::default());
    checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
}

async fn tasks() -> ServedAdapter {
    store_adapter(json!({"task": {"fields": {
        "title": {"type": "string", "required": true},
        "status": {"type": "string", "enum": ["open", "closed", "late"]},
        "points": {"type": "number"},
        "done": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }}}))
    .await
}

/// A store with these resources.
pub(crate) async fn store_adapter(resources: Value) -> ServedAdapter {
    let catalog = catalog(&json!({
        "name": "tasks", "type": "adapter", "version": "1.0.0", "description": "Tasks to do.",
        "target": {"transport": "native", "protocol": "store", "resources": resources},
    }));
    let TargetConfig::Store(target) = &catalog.adapter.target else { panic!("a store") };
    let store = Store::in_memory("tasks", target, &IndexMap::new()).await.expect("a store in memory");
    ServedAdapter::new(catalog, Arc::new(store), "a.json")
}

pub(crate) async fn ask(served: &ServedAdapter, operation: &str, params: Value) -> Result<Value, OpError> {
    let answer = served.call_operation(operation, object(params), &Caller::nobody()).await;
    answer.map(|answer| answer.data.into_value())
}

/// Random numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// A second implementation of filters, for the fields of this test.
fn naive_match(item: &Value, field: &str, condition: &Value) -> bool {
    let Some(value) = item.get(field) else { return condition == &json!({"exists": false}) };
    let holds = |value: &Value| match condition {
        Value::Object(test) => test.iter().all(|(operator, operand)| match operator.as_str() {
            "gt" => number(value) > number(operand) && number(value).is_some(),
            "lte" => number(value) <= number(operand) && number(value).is_some(),
            "exists" => operand == &json!(true),
            "contains" => value.as_str().is_some_and(|text| text.contains(operand.as_str().unwrap())),
            "not" => value != operand,
            other => panic!("{other}"),
        }),
        Value::Array(any) => any.contains(value),
        scalar => value == scalar || number(value).is_some() && number(value) == number(scalar),
    };
    match (value, condition.get("not")) {
        (Value::Array(items), Some(_)) => items.iter().all(holds),
        (Value::Array(items), None) => items.iter().any(holds) || condition == &json!({"exists": true}),
        _ => holds(value),
    }
}

fn naive_order(a: &Value, b: &Value, field: &str, descending: bool) -> Ordering {
    match (a.get(field), b.get(field)) {
        (Some(a), Some(b)) => {
            let order = match (a, b) {
                (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
                (Value::String(a), Value::String(b)) => a.cmp(b),
                _ => number(a).partial_cmp(&number(b)).unwrap(),
            };
            if descending { order.reverse() } else { order }
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// Creates 60 tasks with random fields.
async fn fill(served: &ServedAdapter, numbers: &mut Numbers) {
    for index in 0..60 {
        let tags = &["a", "b", "c"][..index % 4];
        let mut task = json!({"title": format!("task {}", index % 7), "tags": tags});
        if numbers.below(4) > 0 {
            task["status"] = json!(numbers.pick(&["open", "closed", "late"]));
        }
        if numbers.below(4) > 0 {
            task["points"] = json!(f64::from(u32::try_from(numbers.below(10)).unwrap()) / 2.0);
        }
        if numbers.below(3) > 0 {
            task["done"] = json!(numbers.below(2) == 0);
        }
        ask(served, "create_task", task).await.expect("a new task");
    }
}

/// How many random queries the store answers.
const QUERIES: usize = 500;

#[tokio::test]
async fn a_store_answers_random_queries_like_a_second_implementation() {
    let served = tasks().await;
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    fill(&served, &mut numbers).await;
    let mut all = Vec::new();
    let mut params = json!({"first": 50});
    while all.len() < 60 {
        let page = ask(&served, "list_tasks", params.clone()).await.expect("a page");
        all.extend(page["items"].as_array().unwrap().clone());
        params["after"] = page["pageInfo"]["endCursor"].clone();
    }
    let conditions = [
        ("status", json!("open")),
        ("status", json!(["open", "late"])),
        ("status", json!({"not": "late"})),
        ("status", json!({"exists": false})),
        ("points", json!(2)),
        ("points", json!({"gt": 1, "lte": 3.5})),
        ("done", json!(true)),
        ("tags", json!("b")),
        ("tags", json!({"not": "b"})),
        ("tags", json!({"exists": true})),
        ("title", json!({"contains": "3"})),
    ];
    for _ in 0..QUERIES {
        let mut filter = Map::new();
        for _ in 0..numbers.below(3) {
            let (field, condition) = numbers.pick(&conditions);
            filter.insert((*field).to_owned(), condition.clone());
        }
        let (field, descending) =
            (*numbers.pick(&["points", "title", "status", "done"]), numbers.below(2) == 0);
        let (limit, offset) = (numbers.below(20), numbers.below(40));
        let mut expected: Vec<Value> = all
            .iter()
            .filter(|item| filter.iter().all(|(field, condition)| naive_match(item, field, condition)))
            .cloned()
            .collect();
        expected.sort_by(|a, b| naive_order(a, b, field, descending));
        let total = expected.len();
        let window = expected.into_iter().skip(offset as usize).take(limit as usize);
        let expected: Vec<Value> = window.map(|item| json!({"id": item["id"]})).collect();
        let order = if descending { "desc" } else { "asc" };
        let query = json!({"filter": filter, "sort": {"field": field, "order": order}, "limit": limit,
            "offset": offset, "fields": ["id"]});
        let answer = ask(&served, "list_tasks", query.clone()).await.expect("an answer");
        assert_eq!(answer["items"], json!(expected), "{query}");
        assert_eq!(answer["pagination"]["total_items"], json!(total), "{query}");
    }
    // The store's own parameter, in SQL, and the control agree.
    for status in ["open", "closed", "late"] {
        let own = ask(&served, "list_tasks", json!({"status": status, "first": 100})).await.unwrap();
        let control =
            ask(&served, "list_tasks", json!({"filter": {"status": status}, "first": 100})).await.unwrap();
        assert_eq!(own["items"], control["items"]);
    }
}

#[tokio::test]
async fn pages_of_a_query_over_a_store_have_every_record_once() {
    let served = tasks().await;
    for index in 0..30 {
        let status = if index % 3 == 0 { "open" } else { "closed" };
        ask(&served, "create_task", json!({"title": format!("t{index:02}"), "status": status}))
            .await
            .unwrap();
    }
    let mut titles = Vec::new();
    let mut params = json!({"filter": {"status": "open"}, "sort": {"field": "title"}, "first": 4});
    loop {
        let page = ask(&served, "list_tasks", params.clone()).await.unwrap();
        let on_page = page["items"].as_array().unwrap();
        titles.extend(on_page.iter().map(|item| item["title"].as_str().unwrap().to_owned()));
        params["after"] = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            assert_eq!(page["pageInfo"]["totalCount"], 10);
            break;
        }
    }
    assert_eq!(titles, (0..30).step_by(3).map(|index| format!("t{index:02}")).collect::<Vec<_>>());

    let cursor = params["after"].clone();
    let foreign =
        json!({"filter": {"status": "closed"}, "sort": {"field": "title"}, "first": 4, "after": cursor});
    let error = ask(&served, "list_tasks", foreign).await.unwrap_err();
    assert_eq!(error.code, Code::InvalidValue);

    let plain = ask(&served, "list_tasks", json!({"first": 2, "fields": ["title"]})).await.unwrap();
    assert_eq!(plain["items"], json!([{"title": "t29"}, {"title": "t28"}]));
    let aggregate = json!({"aggregate": {"by": {"group_by": "status", "count": true}}});
    let counted = ask(&served, "list_tasks", aggregate).await.unwrap();
    assert_eq!(counted, json!({"aggregations": {"by": {"closed": 20, "open": 10}}}));
}

/// How many random queries are answered by SQL and by the evaluator.
const EQUALITY_QUERIES: usize = 10_000;

#[tokio::test]
async fn sql_and_the_evaluator_agree_about_equal_values() {
    let served = tasks().await;
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    fill(&served, &mut numbers).await;
    let mut answers: HashMap<String, (Value, Value)> = HashMap::new();
    let mut found = 0;
    for _ in 0..EQUALITY_QUERIES {
        let mut params = Map::new();
        for field in ["status", "points", "done", "title"] {
            let value = match field {
                _ if numbers.below(2) == 0 => continue,
                "status" => json!(numbers.pick(&["open", "closed", "late"])),
                "points" if numbers.below(2) == 0 => json!(numbers.below(5)),
                "points" => json!(f64::from(u32::try_from(numbers.below(10)).unwrap()) / 2.0),
                "done" => json!(numbers.below(2) == 0),
                _ => json!(format!("task {}", numbers.below(8))),
            };
            params.insert(field.to_owned(), value);
        }
        let query = Value::Object(params.clone()).to_string();
        let (by_sql, by_filter) = match answers.get(&query) {
            Some(known) => known.clone(),
            None => {
                let by_filter = json!({"_filter": params, "first": 100, "fields": ["title", "id"]});
                params.extend(object(json!({"first": 100, "fields": ["title", "id"]})));
                let by_sql =
                    ask(&served, "list_tasks", Value::Object(params)).await.expect("an answer of SQL");
                let by_filter =
                    ask(&served, "list_tasks", by_filter).await.expect("an answer of the evaluator");
                answers.insert(query.clone(), (by_sql.clone(), by_filter.clone()));
                (by_sql, by_filter)
            }
        };
        found += by_sql["items"].as_array().unwrap().len();
        assert_eq!(by_sql["items"], by_filter["items"], "{query}");
    }
    assert!(found > EQUALITY_QUERIES && answers.len() > 500, "{found} {}", answers.len());
}

async fn list_issues() -> Result<Vec<Value>, OpError> {
    let state = |n: i32| if n % 2 == 0 { "open" } else { "closed" };
    Ok((0..900).map(|n| json!({"id": n, "state": state(n), "body": "some words of text "})).collect())
}

/// Issues behind a function of this program.
async fn issues() -> ServedAdapter {
    let issues = Native::new("issues").operation(operation("list_issues").handle(list_issues));
    issues.open(&AdapterSettings::default(), None).await.expect("an adapter")
}

pub(crate) async fn tool(served: &ServedAdapter, arguments: Value) -> Value {
    let name = served.catalog().tools.first().expect("a tool").name.clone();
    let reply = served.call(&name, object(arguments), &Caller::nobody()).await;
    serde_json::from_str(&reply.text).expect("JSON")
}

#[tokio::test]
async fn controls_work_the_same_through_tools_and_by_name() {
    let served = issues().await;
    let query = json!({"filter": {"state": "open"}, "sort": {"field": "id", "order": "desc"}, "limit": 2, "fields": ["id"]});
    let by_name = ask(&served, "list_issues", query.clone()).await.unwrap();
    assert_eq!(by_name["items"], json!([{"id": 898}, {"id": 896}]));
    let through_tool = tool(&served, json!({"operation": "list_issues", "params": query})).await;
    assert_eq!(through_tool["data"], by_name);
    let beside = json!({"operation": "list_issues", "_filter": {"id": 3}, "_trace": "x"});
    assert_eq!(tool(&served, beside).await["data"][0]["id"], 3);
}

#[tokio::test]
async fn only_answers_of_tools_have_a_budget() {
    let served = issues().await;
    assert_eq!(ask(&served, "list_issues", json!({})).await.unwrap().as_array().unwrap().len(), 900);
    let reply = tool(&served, json!({"operation": "list_issues"})).await;
    let shown = reply["data"]["items"].as_array().unwrap().len();
    assert!((200..500).contains(&shown), "{shown}");
    assert_eq!(reply["warnings"][0]["code"], "ANSWER_REDUCED");
    let cursor = &reply["data"]["pageInfo"]["endCursor"];
    let next = json!({"operation": "list_issues", "params": {"first": 1, "after": cursor}});
    assert_eq!(tool(&served, next).await["data"]["items"][0]["id"], json!(shown));
    let small = tool(&served, json!({"operation": "list_issues", "params": {"answer_budget": 500}})).await;
    assert!(small["data"]["items"].as_array().unwrap().len() < 30);
}

#[tokio::test]
async fn wrong_controls_are_refused_with_a_reason() {
    let served = issues().await;
    for (params, code, part) in [
        (json!({"filter": "open"}), "VALIDATION_INVALID_TYPE", "must be an object"),
        (json!({"first": 2, "limit": 3}), "VALIDATION_INVALID_TYPE", "do not go together"),
        (json!({"_fileds": ["id"]}), "VALIDATION_UNKNOWN_PARAM", "'_fields'"),
        (json!({"fileds": ["id"]}), "VALIDATION_UNKNOWN_PARAM", "'fields'"),
        (json!({"first": 2, "after": "1-abc"}), "VALIDATION_INVALID_VALUE", "cursor"),
    ] {
        let reply = tool(&served, json!({"operation": "list_issues", "params": params})).await;
        assert_eq!(reply["error"]["code"], code, "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(part), "{reply}");
    }
}
