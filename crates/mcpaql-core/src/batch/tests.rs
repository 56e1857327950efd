use super::*;
use proptest::prelude::*;
use serde_json::json;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn read(operations: Value) -> Result<Batch, OpError> {
    Batch::read(object(json!({"operations": operations})))
}

/// Returns the arguments of the last item, after these results.
fn resolved(params: Value, results: &[Option<Value>]) -> Result<Value, OpError> {
    let mut items: Vec<Value> = results.iter().map(|_| json!({"operation": "get_a"})).collect();
    items.push(json!({"operation": "get_b", "params": params}));
    let batch = read(items.into()).expect("a valid batch");
    batch
        .items
        .last()
        .unwrap()
        .resolve(results, 1000)
        .map(|mut arguments| arguments.remove("params").unwrap())
}

#[test]
fn only_operations_without_an_operation_are_a_batch() {
    assert!(is_batch(&object(json!({"operations": []}))));
    assert!(is_batch(&object(json!({"operations": [], "operation": null}))));
    assert!(!is_batch(&object(json!({"operations": [], "operation": "run_all"}))));
    assert!(!is_batch(&object(json!({"operation": "run_all"}))));
}

#[test]
fn malformed_batches_are_refused_as_a_whole() {
    let item = || json!({"operation": "get_a"});
    for (operations, code) in [
        (json!(5), Code::InvalidType),
        (json!("text"), Code::InvalidType),
        (json!([]), Code::InvalidValue),
        (json!(vec![item(); MAX_BATCH_ITEMS + 1]), Code::InvalidValue),
        (json!(["get_a"]), Code::InvalidType),
        (json!([{"params": {}}]), Code::MissingParam),
        (json!([{"operation": 5}]), Code::MissingParam),
        (json!([{"operations": [item()]}]), Code::MissingParam),
    ] {
        let error = read(operations.clone()).unwrap_err();
        assert_eq!((error.code, error.undispatched), (code, true), "{operations}");
    }
    let beside = Batch::read(object(json!({"operations": [item()], "params": {}}))).unwrap_err();
    assert_eq!(beside.code, Code::UnknownParam);
    assert!(read(json!(vec![item(); MAX_BATCH_ITEMS])).is_ok());
}

#[test]
fn text_in_place_of_json_is_read_and_fields_with_an_underscore_are_allowed() {
    let text = r#"[{"operation":"get_a","params":"{\"id\":1}"}]"#;
    let batch = Batch::read(object(json!({"operations": text, "_meta": {}, "answer_budget": 500}))).unwrap();
    assert_eq!(batch.items[0].arguments["params"], json!({"id": 1}));
    assert_eq!(batch.answer_budget, Some(500));
}

#[test]
fn an_adapter_beside_the_items_is_the_default_of_each() {
    let operations = json!([{"operation": "a"}, {"operation": "b", "adapter": "two"}]);
    let batch = Batch::read(object(json!({"operations": operations, "adapter": "one"}))).unwrap();
    let adapters: Vec<&Value> = batch.items.iter().map(|item| &item.arguments["adapter"]).collect();
    assert_eq!(adapters, ["one", "two"]);
}

#[test]
fn references_are_checked_before_anything_runs() {
    for (reference, part) in [
        (json!(5), "invalid reference in 'params.a.0'"),
        (json!("data.id"), "invalid reference"),
        (json!("0.id"), "invalid reference"),
        (json!("0"), "invalid reference"),
        (json!("-1.data"), "invalid reference"),
        (json!("0.data..id"), "invalid reference"),
        (json!("99999999999999999999.data"), "invalid reference"),
        (json!("1.data.id"), "refers to item 1 in 'params.a.0', which does not run before it; use item 0"),
        (json!("7.data"), "refers to item 7"),
    ] {
        let item = json!({"operation": "get_b", "params": {"a": [{"$result": reference}]}});
        let error = read(json!([{"operation": "get_a"}, item])).unwrap_err();
        assert!(error.message.contains(part), "{}", error.message);
        assert_eq!((error.code, &error.details["index"]), (Code::InvalidValue, &json!(1)));
    }
    let first = read(json!([{"operation": "get_a", "params": {"id": {"$result": "0.data"}}}])).unwrap_err();
    assert!(first.message.contains("the first item has no earlier one"), "{}", first.message);
}

#[test]
fn references_stand_anywhere_in_the_parameters() {
    let results = [Some(json!({"id": 7, "items": [{"id": "x"}], "tags": ["a"]})), Some(json!("text"))];
    for (params, expected) in [
        (json!({"id": {"$result": "0.data.id"}}), json!({"id": 7})),
        (json!({"a": {"b": [1, {"$result": "0.data.items.0.id"}]}}), json!({"a": {"b": [1, "x"]}})),
        (json!({"all": {"$result": "1.data"}}), json!({"all": "text"})),
        (json!({"$result": "0.data"}), results[0].clone().unwrap()),
        // With another key, it is a value.
        (json!({"a": {"$result": "0.data.id", "b": 1}}), json!({"a": {"$result": "0.data.id", "b": 1}})),
    ] {
        assert_eq!(resolved(params.clone(), &results).unwrap(), expected, "{params}");
    }
}

#[test]
fn a_missing_value_names_the_nearest_path() {
    let results = [
        Some(
            json!({"id": 1, "title": "x", "items": [{"number": 5}, {"number": 6}], "none": [], "empty": null}),
        ),
        None,
    ];
    for (reference, message) in [
        ("0.data.titel", "The result of item 0 has no 'data.titel'. Nearest: data.title."),
        ("0.data.number", "The result of item 0 has no 'data.number'. Nearest: data.items.0.number."),
        (
            "0.data.items.numbers",
            "The result of item 0 has no 'data.items.numbers'. Nearest: data.items.0.number.",
        ),
        (
            "0.data.items.2.number",
            "The result of item 0 has no 'data.items.2.number'. Nearest: data.items.1.",
        ),
        ("0.data.none.0", "The result of item 0 has no 'data.none.0'. 'data.none' is an empty list."),
        ("0.data.empty.id", "The result of item 0 has no 'data.empty.id'. 'data.empty' is null."),
        ("0.data.title.x", "The result of item 0 has no 'data.title.x'. 'data.title' is a text."),
        (
            "1.data.id",
            "Item 2 needs the result of item 1, which has none because it failed; correct item 1 and send both again.",
        ),
    ] {
        let error = resolved(json!({"id": {"$result": reference}}), &results).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (Code::InvalidValue, message));
        assert_eq!(error.details["reference"], reference);
        assert!(!crate::error::looks_internal(&error.message), "{}", error.message);
    }
}

#[test]
fn inserted_values_have_a_limit() {
    let results = [Some(json!({"text": "x".repeat(400)}))];
    let reference = json!({"$result": "0.data.text"});
    assert!(resolved(json!({"a": reference, "b": reference}), &results).is_ok());
    let error = resolved(json!({"a": reference, "b": reference, "c": reference}), &results).unwrap_err();
    assert_eq!(error.code, Code::PayloadTooLarge);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
        Just(json!({"$result": "0.data.a"})),
        Just(json!({"$result": "7.data"})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

/// Returns the path of each scalar and each empty container.
fn leaves(value: &Value, path: &str, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.iter().for_each(|(name, member)| leaves(member, &format!("{path}.{name}"), out));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, &format!("{path}.{index}"), out));
        }
        other => out.push((path.to_owned(), other.clone())),
    }
}

proptest! {
    /// Every part of a result can be referred to, and is inserted unchanged, even if it looks like a reference itself.
    #[test]
    fn each_part_of_a_result_is_inserted_unchanged(data in any_json()) {
        let mut parts = vec![("0.data".to_owned(), data.clone())];
        leaves(&data, "0.data", &mut parts);
        for (path, expected) in parts {
            let inserted = resolved(json!({"a": [{"$result": path}]}), &[Some(data.clone())]);
            prop_assert_eq!(inserted.unwrap(), json!({"a": [expected]}));
        }
    }

    /// Parameters without references stay as they are, and no parameters cause a panic.
    #[test]
    fn parameters_are_read_or_refused(params in any_json(), data in any_json()) {
        let items = json!([{"operation": "a"}, {"operation": "b", "params": {"x": params}}]);
        match read(items) {
            Err(error) => prop_assert!(error.undispatched),
            Ok(batch) => {
                let item = &batch.items[1];
                let arguments = item.resolve(&[Some(data)], 10_000);
                if !batch.has_references() {
                    prop_assert_eq!(arguments.unwrap(), item.arguments.clone());
                }
            }
        }
    }

    #[test]
    fn shares_stay_within_the_budget_and_cut_only_long_answers(costs in prop::collection::vec(0_usize..3000, 0..20), budget in 0_usize..10_000) {
        let shares = shares(&costs, budget);
        prop_assert!(shares.iter().sum::<usize>() <= budget);
        for (share, cost) in shares.iter().zip(&costs) {
            prop_assert!(share <= cost);
            // An answer up to an equal part is never cut.
            prop_assert!(share == cost || *cost > budget / costs.len());
        }
    }
}
