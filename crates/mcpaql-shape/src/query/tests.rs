//! Properties that hold for every answer and every query, and answers of common forms.

use super::*;
use crate::tokens;
use mcpaql_schema::schema::strategies::any_json;
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;

fn controls(params: Value) -> QueryControls {
    let Value::Object(params) = params else { unreachable!() };
    QueryControls::read(params, &mut Vec::new()).unwrap()
}

fn shaped(data: Value, params: Value) -> (Value, Vec<Warning>) {
    let controls = controls(params);
    let shaped = shape(data.into(), &ShapeRequest::new(&controls)).unwrap();
    (shaped.data.into_value(), shaped.warnings)
}

fn raw(value: &Value) -> Payload {
    RawValue::from_string(value.to_string()).unwrap().into()
}

fn fitted(data: Value, budget: usize) -> (Value, Vec<Warning>) {
    let controls = QueryControls::default();
    let shaped = fit(ShapedData::from(raw(&data)), budget, &ShapeRequest::new(&controls));
    (shaped.data.into_value(), shaped.warnings)
}

/// Returns whether each value of `part` is in `whole`, in the same place or, in a list, in the same order.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|whole| is_part(value, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            let mut rest = whole.iter();
            part.iter().all(|value| rest.any(|whole| is_part(value, whole)))
        }
        _ => part == whole,
    }
}

/// Returns whether a path leads to a value from anywhere in a value.
fn has_path(value: &Value, path: &[&str]) -> bool {
    let inside = |value: &Value| match value {
        Value::Object(members) => members.values().any(|member| has_path(member, path)),
        Value::Array(items) => items.iter().any(|item| has_path(item, path)),
        _ => false,
    };
    let dotted = FieldPath::parse(&path.join(".")).unwrap();
    dotted.first(value).is_some() || inside(value)
}

/// Items with few names and few values, so that queries match.
fn items() -> impl Strategy<Value = Vec<Value>> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        (-6i32..7).prop_map(|n| json!(f64::from(n) / 2.0)),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    let list = prop::collection::vec(scalar.clone(), 0..3).prop_map(Value::from);
    let inner = prop::collection::hash_map("[xy]", scalar.clone(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    let member = prop_oneof![4 => scalar, 1 => list, 1 => inner];
    let item = prop::collection::hash_map("[abcd]", member, 0..5)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    prop::collection::vec(item, 0..12)
}

fn condition() -> impl Strategy<Value = Value> {
    let operand = prop_oneof![(-3i64..4).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from)];
    prop_oneof![
        operand.clone(),
        prop::collection::vec(operand.clone(), 0..3).prop_map(Value::from),
        (prop::sample::select(vec!["gt", "gte", "lt", "lte", "contains"]), operand)
            .prop_map(|(operator, operand)| json!({operator: operand})),
        any::<bool>().prop_map(|exists| json!({"exists": exists})),
    ]
}

proptest! {
    #[test]
    fn no_answer_and_no_query_causes_a_panic(data in any_json(), query in any_json(), budget in 100usize..400) {
        for name in ["fields", "filter", "sort", "aggregate", "part", "first", "page"] {
            let given = Map::from_iter([(name.to_owned(), query.clone())]);
            if let Ok(controls) = QueryControls::read(given, &mut Vec::new()) {
                let request = ShapeRequest::new(&controls);
                let one = shape(data.clone().into(), &request).map(|shaped| shaped.data.into_value());
                let other = shape(raw(&data), &request).map(|shaped| shaped.data.into_value());
                prop_assert_eq!(one.ok(), other.ok());
            }
        }
        let (value, warnings) = fitted(data.clone(), budget);
        prop_assert!(tokens::fits(&value.to_string(), budget));
        prop_assert!(!warnings.is_empty() || value == data);
    }

    #[test]
    fn hidden_fields_are_nowhere_in_the_result(
        data in any_json(),
        items in items(),
        names in prop::collection::vec("[abcd](\\.[xy])?", 1..4),
        query in any_json(),
    ) {
        for data in [data, json!({"items": items, "a": {"x": 1, "b": [[{"c": 2, "x": 3}]]}})] {
            let hidden = HiddenFields::new(names.iter().filter_map(|name| FieldPath::parse(name)));
            let parsed = hidden.remove_from(data.clone().into()).into_value();
            prop_assert_eq!(hidden.remove_from(raw(&data)).into_value(), parsed.clone());
            if !data.is_string() && data.as_array().is_none_or(|items| !items.iter().any(Value::is_string)) {
                prop_assert!(is_part(&parsed, &data), "{} of {}", parsed, data);
            }
            for name in &names {
                prop_assert!(!has_path(&parsed, &name.split('.').collect::<Vec<_>>()), "{} in {}", name, parsed);
            }
            // Hiding twice hides no more.
            prop_assert_eq!(hidden.remove_from(parsed.clone().into()).into_value(), parsed.clone());
            let mut computed = ComputedFields::default();
            let _ = computed.add("x", &query);
            let mut item = parsed;
            computed.add_to(&mut item);
        }
    }

    #[test]
    fn selected_fields_are_part_of_the_input(
        data in any_json(),
        items in items(),
        paths in prop::collection::vec("[abcd](\\.[xy])?", 1..4),
        preset in prop::sample::select(vec!["minimal", "standard", "full"]),
    ) {
        for data in [data, json!({"items": items, "total": 3})] {
            for fields in [json!({"fields": paths}), json!({"fields": preset}), json!({"fields": paths, "preset": preset})] {
                let (parsed, _) = shaped(data.clone(), fields.clone());
                prop_assert!(is_part(&parsed, &data), "{parsed} of {data}");
                let controls = controls(fields);
                let text = shape(raw(&data), &ShapeRequest::new(&controls)).unwrap();
                prop_assert_eq!(text.data.into_value(), parsed);
            }
        }
    }

    #[test]
    fn a_filter_keeps_the_order_and_sorting_is_stable(
        items in items(),
        name in "[abcd]",
        condition in condition(),
        descending in any::<bool>(),
    ) {
        let numbered: Vec<Value> = items.iter().enumerate().map(|(number, item)| {
            let mut item = item.clone();
            item["number"] = number.into();
            item
        }).collect();
        let number = |item: &Value| item["number"].as_u64().unwrap();
        let (kept, _) = shaped(numbered.clone().into(), json!({"filter": {name.as_str(): condition.clone()}}));
        let kept = kept.as_array().unwrap().clone();
        prop_assert!(kept.windows(2).all(|pair| number(&pair[0]) < number(&pair[1])));
        let filter = ItemFilter::read(&json!({name.as_str(): condition})).unwrap();
        let naive: Vec<Value> = numbered.iter().filter(|item| filter.matches(item)).cloned().collect();
        prop_assert_eq!(&kept, &naive);

        let order = if descending { "desc" } else { "asc" };
        let (sorted, _) = shaped(numbered.clone().into(), json!({"sort": {"field": name, "order": order}}));
        let sorted = sorted.as_array().unwrap().clone();
        prop_assert_eq!(sorted.len(), numbered.len());
        let value = |item: &Value| item.get(&name).filter(|value| !value.is_null()).cloned();
        for pair in sorted.windows(2) {
            match (value(&pair[0]), value(&pair[1])) {
                (Some(a), Some(b)) => {
                    let order = compare::compare(&a, &b);
                    let order = if descending { order.reverse() } else { order };
                    prop_assert!(order.is_lt() || order.is_eq() && number(&pair[0]) < number(&pair[1]));
                }
                (None, Some(_)) => prop_assert!(false, "missing values come last"),
                (None, None) => prop_assert!(number(&pair[0]) < number(&pair[1])),
                (Some(_), None) => {}
            }
        }
    }

    #[test]
    fn an_aggregate_equals_a_naive_fold(numbers in prop::collection::vec((any::<bool>(), -1000i64..1000), 0..30)) {
        let items: Vec<Value> = numbers.iter().map(|(group, n)| json!({"g": group, "n": n})).collect();
        let aggregate = json!({"all": {"count": true, "sum": "n", "avg": "n", "min": "n", "max": "n"},
            "groups": {"group_by": "g", "sum": "n"}});
        let (value, _) = shaped(json!(items), json!({"aggregate": aggregate}));
        let all = &value["aggregations"]["all"];
        let sum: i64 = numbers.iter().map(|(_, n)| n).sum();
        prop_assert_eq!(&all["count"], &json!(numbers.len()));
        prop_assert_eq!(&all["sum"], &json!(sum));
        prop_assert_eq!(&all["min"], &json!(numbers.iter().map(|(_, n)| n).min()));
        prop_assert_eq!(&all["max"], &json!(numbers.iter().map(|(_, n)| n).max()));
        if !numbers.is_empty() {
            prop_assert_eq!(&all["avg"], &json!(sum as f64 / numbers.len() as f64));
        }
        let mut groups: HashMap<String, i64> = HashMap::new();
        for (group, n) in &numbers {
            *groups.entry(group.to_string()).or_default() += n;
        }
        prop_assert_eq!(&value["aggregations"]["groups"], &json!(groups));
    }

    #[test]
    fn pages_of_any_size_have_every_item_once(items in items(), size in 1usize..5) {
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut params = json!({"first": size, "sort": {"field": "a"}});
            if let Some(after) = &after {
                params["after"] = after.as_str().into();
            }
            let (page, _) = shaped(json!({"items": items}), params);
            let on_page = page["items"].as_array().unwrap();
            prop_assert!(on_page.len() <= size);
            seen.extend(on_page.iter().cloned());
            if page["pageInfo"]["hasNextPage"] != json!(true) {
                break;
            }
            after = page["pageInfo"]["endCursor"].as_str().map(str::to_owned);
        }
        let (all, _) = shaped(json!({"items": items}), json!({"sort": {"field": "a"}}));
        prop_assert_eq!(Value::from(seen), all["items"].clone());
    }

    #[test]
    fn pages_that_a_budget_cuts_have_every_item_once(count in 1usize..60, words in 1usize..40, budget in 400usize..1500) {
        let items: Vec<Value> = (0..count).map(|n| json!({"id": n, "text": "word ".repeat(words)})).collect();
        let mut seen = Vec::new();
        let mut params = json!({"first": 100});
        loop {
            let controls = controls(params.clone());
            let request = ShapeRequest::new(&controls);
            let page = fit(shape(raw(&json!(items)), &request).unwrap(), budget, &request).data.into_value();
            prop_assert!(tokens::fits(&page.to_string(), budget));
            seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()));
            if page["pageInfo"]["hasNextPage"] != json!(true) {
                break;
            }
            params["after"] = page["pageInfo"]["endCursor"].clone();
        }
        prop_assert_eq!(seen, (0..count).map(Value::from).collect::<Vec<_>>());
    }
}

/// Computed fields, and the shaped answer.
fn with_computed(data: Value, params: Value) -> (Value, Vec<Warning>) {
    let mut computed = ComputedFields::default();
    computed.add("total", &json!({"multiply": ["price", "count"]})).unwrap();
    computed.add("label", &json!({"concat": ["name", {"value": "!"}]})).unwrap();
    let controls = controls(params);
    let request = ShapeRequest { computed: Some(&computed), ..ShapeRequest::new(&controls) };
    let parsed = shape(data.clone().into(), &request).unwrap();
    let text = shape(raw(&data), &request).unwrap();
    let parsed_data = parsed.data.into_value();
    assert_eq!(text.data.into_value(), parsed_data);
    (parsed_data, parsed.warnings)
}

#[test]
fn computed_fields_work_in_every_control_and_only_on_request() {
    let data = json!({"items": [{"name": "a", "price": 2, "count": 3, "x": null}, {"name": "b", "price": 5, "count": 1}]});
    let (value, warnings) = with_computed(data.clone(), json!({"fields": ["name", "_computed.total"]}));
    assert_eq!(
        value,
        json!({"items": [{"name": "a", "_computed": {"total": 6}}, {"name": "b", "_computed": {"total": 5}}]})
    );
    assert!(warnings.is_empty());
    let (value, _) = with_computed(data.clone(), json!({"filter": {"_computed.total": {"gt": 5}}}));
    assert_eq!(value, json!({"items": [data["items"][0]]}));
    let (value, _) =
        with_computed(data.clone(), json!({"sort": {"field": "_computed.total"}, "fields": ["name"]}));
    assert_eq!(value, json!({"items": [{"name": "b"}, {"name": "a"}]}));
    let (value, _) = with_computed(data.clone(), json!({"aggregate": {"all": {"sum": "_computed.total"}}}));
    assert_eq!(value, json!({"aggregations": {"all": 11}}));
    let (value, _) =
        with_computed(data.clone(), json!({"preset": "standard", "fields": ["_computed.label"], "first": 1}));
    assert_eq!(value["items"], json!([{"name": "a", "price": 2, "count": 3, "_computed": {"label": "a!"}}]));
    let (_, warnings) = with_computed(data.clone(), json!({"fields": ["_computed.totl"]}));
    assert!(warnings[0].message.contains("_computed.total"), "{}", warnings[0].message);
    assert_eq!(with_computed(data.clone(), json!({"fields": "full"})).0, data);
    let one = json!({"id": 1, "name": "n", "price": 1, "count": 1});
    assert_eq!(
        with_computed(one, json!({"fields": ["_computed"]})).0,
        json!({"_computed": {"total": 1, "label": "n!"}})
    );
}

#[test]
fn a_query_over_all_pages_knows_its_total() {
    let controls = controls(json!({"first": 1, "filter": {"id": {"gt": 0}}, "all_pages": true}));
    let data = json!({"total_count": 90, "items": [{"id": 1}, {"id": 2}]});
    for is_complete in [true, false] {
        let request = ShapeRequest {
            all_pages: Some(is_complete),
            may_have_more: true,
            ..ShapeRequest::new(&controls)
        };
        let shaped = shape(data.clone().into(), &request).unwrap();
        assert!(shaped.warnings.is_empty(), "{:?}", shaped.warnings);
        let total = shaped.data.into_value()["pageInfo"].get("totalCount").cloned();
        assert_eq!(total, is_complete.then(|| json!(2)));
    }
}

#[test]
fn declared_fields_cause_no_warning() {
    let path = |name: &str| FieldPath::parse(name).unwrap();
    let selection =
        FieldSelection { declared: vec![path("id"), path("absent")], ..FieldSelection::default() };
    let controls = QueryControls { fields: Some(selection), ..QueryControls::default() };
    for data in [raw(&json!([{"id": 1, "x": 2}])), json!([{"id": 1, "x": 2}]).into()] {
        let shaped = shape(data, &ShapeRequest::new(&controls)).unwrap();
        assert_eq!((shaped.data.into_value(), shaped.warnings.len()), (json!([{"id": 1}]), 0));
    }
}

#[test]
fn what_is_beside_a_page_stays() {
    let data = json!({"total_count": 3, "items": [{"id": 1}, {"id": 2}, {"id": 3}]});
    let (page, warnings) = shaped(data, json!({"limit": 1, "offset": 1}));
    assert_eq!(
        page,
        json!({
            "items": [{"id": 2}],
            "pagination": {"limit": 1, "offset": 1, "returned": 1, "total_items": 3, "has_more": true},
            "total_count": 3,
        })
    );
    assert!(warnings.is_empty());
    let nested = json!({"ok": true, "data": {"rows": [1, 2], "took": 5}});
    let (page, _) = shaped(nested, json!({"page": 2, "page_size": 1}));
    assert_eq!(
        page,
        json!({
            "items": [2],
            "pagination": {"page": 2, "page_size": 1, "total_items": 2, "total_pages": 2, "has_more": false},
            "ok": true,
            "took": 5,
        })
    );
}

#[test]
fn warnings_name_what_is_near() {
    let data = json!([{"created_at": "2026", "state": "open", "user": {"login": "ada"}}]);
    let codes = |params: Value| -> Vec<(String, String)> {
        let (_, warnings) = shaped(data.clone(), params);
        warnings.into_iter().map(|warning| (warning.code.to_owned(), warning.message)).collect()
    };
    let [(code, message)] = codes(json!({"fields": ["createdAt", "state"]})).try_into().unwrap();
    assert_eq!(code, "FIELD_NOT_FOUND");
    assert!(message.contains("Nearest: created_at"), "{message}");
    let raw_warnings = {
        let controls = controls(json!({"fields": ["createdAt", "state"]}));
        shape(raw(&data), &ShapeRequest::new(&controls)).unwrap().warnings
    };
    assert!(raw_warnings[0].message.contains("Nearest: created_at"));
    let found = codes(json!({"filter": {"state": "opened"}}));
    assert_eq!(
        found,
        [("EMPTY_RESULT".into(), "No item matches the filter; 1 item(s) were checked.".into())]
    );
    let found = codes(json!({"filter": {"state": {"starts_wit": "o"}}}));
    assert!(found[0].1.contains("Did you mean the operator 'starts_with'?"), "{found:?}");
    assert_eq!(codes(json!({"sort": {"field": "sate"}}))[0].0, "FIELD_NOT_FOUND");
    let (_, warnings) = shaped(json!({"id": 1}), json!({"filter": {"a": 1}, "first": 2}));
    assert_eq!(
        warnings[0].message,
        "Ignored: filter, page parameters. The answer is one item and not a list."
    );
}

#[test]
fn a_query_over_one_page_of_a_longer_list_says_so() {
    let data = json!({"total_count": 90, "items": [{"id": 1}]});
    let (value, warnings) = shaped(data, json!({"first": 5}));
    assert_eq!(warnings[0].code, "PARTIAL_LIST");
    assert_eq!(value["pageInfo"].get("totalCount"), None);
}

#[test]
fn an_aggregate_returns_items_only_on_request() {
    let data = json!({"items": [{"s": "a", "x": 1}, {"s": "b", "x": 2}]});
    let (value, _) = shaped(data.clone(), json!({"aggregate": {"n": {"count": true}}, "fields": ["s"]}));
    assert_eq!(value, json!({"aggregations": {"n": 2}}));
    let params = json!({"aggregate": {"n": {"count": true}}, "include_items": true, "fields": ["s"]});
    assert_eq!(shaped(data, params).0, json!({"aggregations": {"n": 2}, "items": [{"s": "a"}, {"s": "b"}]}));
}

#[test]
fn fields_work_inside_envelopes_and_on_one_item() {
    let one = json!({"data": {"id": 1, "name": "x", "big": [1, 2]}, "ok": true});
    assert_eq!(shaped(one, json!({"fields": ["id"]})).0, json!({"data": {"id": 1}, "ok": true}));
    let list = json!({"items": [{"id": 1, "name": "x"}], "total": 1});
    assert_eq!(shaped(list, json!({"fields": ["items.id"]})).0, json!({"items": [{"id": 1}], "total": 1}));
    assert_eq!(shaped(json!([1, "a"]), json!({"fields": ["id"]})).0, json!([1, "a"]));
}

#[test]
fn a_long_answer_is_reduced_step_by_step() {
    let noisy: Vec<Value> = (0..40).map(|n| json!({"id": n, "a_url": "https://api.example.com/some/long/path", "b_url": "https://api.example.com/x", "none": null})).collect();
    let (value, warnings) = fitted(json!(noisy), 700);
    assert_eq!(value, json!((0..40).map(|n| json!({"id": n})).collect::<Vec<_>>()));
    assert_eq!(warnings.len(), 1);

    let long: Vec<Value> = (0..400).map(|n| json!({"id": n, "text": "some words of a text"})).collect();
    let (value, warnings) = fitted(json!(long), 1000);
    let count = value["items"].as_array().unwrap().len();
    assert!((40..120).contains(&count), "{count}");
    assert_eq!(value["pageInfo"]["totalCount"], json!(400));
    assert!(
        warnings[0].message.contains(&format!("the first {count} of 400 items")),
        "{}",
        warnings[0].message
    );

    let (value, warnings) = fitted(json!({"id": 1, "body": "long text ".repeat(9000)}), 1000);
    assert!(value["body"].as_str().unwrap().ends_with("… (90000 characters)"));
    assert!(warnings[0].message.contains("'body' to 2000 of 90000 characters"), "{}", warnings[0].message);
}

#[test]
fn an_answer_within_its_budget_is_not_touched() {
    let data = json!([{"url": "https://a/1", "b_url": "https://a/2", "none": null}]);
    assert_eq!(fitted(data.clone(), 8000), (data, Vec::new()));
}

#[test]
fn a_page_by_the_operations_own_cursor_keeps_its_items_or_loses_its_cursor() {
    let page = |text: &str| {
        let items: Vec<Value> = (0..100).map(|id| json!({"id": id, "body": text})).collect();
        json!({"items": items, "pageInfo": {"hasNextPage": true, "endCursor": "own"}})
    };
    let fitted = |data: Value, budget: usize, own: &[&'static str]| {
        let controls = QueryControls::default();
        let request = ShapeRequest { own_names: own.to_vec(), ..ShapeRequest::new(&controls) };
        let shaped = fit(ShapedData::from(raw(&data)), budget, &request);
        (shaped.data.into_value(), shaped.warnings)
    };
    let own = ["first", "after"];
    let (long, warnings) = fitted(page(&"word ".repeat(1000)), 8000, &own);
    assert_eq!(long["items"].as_array().map(Vec::len), Some(100));
    assert_eq!(long["pageInfo"]["endCursor"], "own");
    assert!(tokens::fits(&long.to_string(), 8000));
    assert_eq!(warnings[0].details["step"], "shorten");

    for budget in [8000, 3000, 500] {
        let (cut, warnings) = fitted(page(&"word ".repeat(400)), budget / 2, &own);
        let kept = cut["items"].as_array().map(Vec::len).unwrap_or_default();
        assert!((1..100).contains(&kept), "{kept}");
        assert_eq!(cut.get("pageInfo"), None);
        assert!(tokens::fits(&cut.to_string(), budget / 2), "{budget}");
        assert_eq!(
            (&warnings[0].details["step"], &warnings[0].details["control"]),
            (&json!("page"), &json!("first"))
        );
        assert_eq!(
            (&warnings[0].details["returned"], &warnings[0].details["total"]),
            (&json!(kept), &json!(100))
        );
    }
    // Without a size of its own, the page is cut by the control.
    let list: Vec<Value> = (0..500).map(|id| json!({"id": id, "body": "word ".repeat(700)})).collect();
    let (cut, warnings) = fitted(list.into(), 8000, &["after"]);
    assert!(tokens::fits(&cut.to_string(), 8000));
    assert!(cut["pageInfo"]["endCursor"].is_string());
    assert_eq!(warnings[0].details["control"], "_after");
}

/// Follows the parts of a value to its end, within a budget for each.
fn read_in_parts(data: &Value, field: &str, budget: usize) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut offset = json!(0);
    loop {
        let controls = controls(json!({"part": {"field": field, "offset": offset}}));
        let request = ShapeRequest::new(&controls);
        let fitted = fit(shape(raw(data), &request).unwrap(), budget, &request);
        let part = fitted.data.into_value();
        assert!(tokens::fits(&part.to_string(), budget), "{part}");
        parts.push(part["part"].clone());
        match part.get("next_offset") {
            Some(next) => {
                assert!(next.as_u64() > offset.as_u64(), "{next}");
                offset = next.clone();
            }
            None => return parts,
        }
    }
}

#[test]
fn the_parts_of_a_value_are_the_whole_value_in_every_budget() {
    let text: String = (0..900).map(|number| format!("{number} \"\\\u{1}ä ")).collect();
    let rows: Vec<Value> = (0..300).map(|row| json!({"row": row, "text": "some words of a text"})).collect();
    let members: Map<String, Value> = (0..250).map(|name| (format!("f{name}"), json!([name, "x"]))).collect();
    let data = json!([{"id": 1, "text": text, "rows": rows, "members": members}]);
    for budget in [3000, 600] {
        let texts = read_in_parts(&data, "items.0.text", budget);
        let joined: String = texts.iter().filter_map(Value::as_str).collect();
        assert_eq!(joined, text);
        let lists = read_in_parts(&data, "items.0.rows", budget);
        assert_eq!(lists.iter().filter_map(Value::as_array).flatten().cloned().collect::<Vec<_>>(), rows);
        let objects = read_in_parts(&data, "items.0.members", budget);
        let read: Map<String, Value> = objects
            .iter()
            .filter_map(Value::as_object)
            .flatten()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        assert_eq!(read, members);
    }
}

#[test]
fn one_long_item_of_a_part_is_shortened_and_names_its_own_part() {
    let data = json!({"rows": [{"text": "short"}, {"text": "word ".repeat(20_000)}]});
    let controls = controls(json!({"part": {"field": "rows", "offset": 1}}));
    let request = ShapeRequest::new(&controls);
    let fitted = fit(shape(raw(&data), &request).unwrap(), 2000, &request);
    assert_eq!(fitted.warnings[0].details["shortened"][0]["field"], "rows.1.text");
    let part = fitted.data.into_value();
    assert_eq!((&part["total"], part.get("next_offset")), (&json!(2), None));
    assert!(tokens::fits(&part.to_string(), 2000));
}

/// Shapes JSON text, and returns the text of the result and the codes of its warnings.
fn shaped_text(json: &str, params: Value, budget: usize) -> (String, Vec<&'static str>) {
    let controls = controls(params);
    let request = ShapeRequest::new(&controls);
    let data = RawValue::from_string(json.to_owned()).unwrap();
    let shaped = fit(shape(data.into(), &request).unwrap(), budget, &request);
    let codes = shaped.warnings.iter().map(|warning| warning.code).collect();
    (serde_json::to_string(&shaped.data).unwrap(), codes)
}

#[test]
fn data_that_no_value_can_hold_is_shaped_in_another_form() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for (bad, form) in [("1e400", r#""1e400""#), (r#""\ud800""#, "\"\u{fffd}\""), (&deep, "[")] {
        let one = format!(r#"{{"id":1,"d":{bad}}}"#);
        let list = format!(r#"{{"items":[{{"id":1,"d":2}},{one}],"total":2}}"#);
        for params in [
            json!({"fields": ["d"]}),
            json!({"fields": "standard"}),
            json!({"filter": {"id": 1}}),
            json!({"sort": {"field": "id"}}),
            json!({"last": 1}),
        ] {
            let (text, codes) = shaped_text(&list, params.clone(), 8000);
            assert!(text.contains(&format!(r#""d":{form}"#)), "{params}: {text}");
            assert_eq!(codes, ["DATA_CONVERTED"], "{params}");
        }
        let long = format!("[{}{{}}]", format!("{one},").repeat(400));
        let (text, codes) = shaped_text(&long, json!({"fields": "full"}), 1000);
        assert!(text.contains(form) && text.len() < 5000, "{text}");
        assert_eq!(codes, ["ANSWER_REDUCED", "DATA_CONVERTED"]);
        assert_eq!(shaped_text(&one, json!({"fields": "full"}), 8000), (one.clone(), vec![]));
        // Other fields are selected without parsing it.
        assert_eq!(shaped_text(&one, json!({"fields": ["id"]}), 8000), (r#"{"id":1}"#.to_owned(), vec![]));
        let items = r#"{"items":[{"id":1},{"id":1}],"total":2}"#.to_owned();
        assert_eq!(shaped_text(&list, json!({"fields": ["id"]}), 8000), (items, vec![]));
    }
}

#[test]
fn integers_keep_their_digits() {
    let json = r#"[{"id":123456789012345678901234567890,"n":1}]"#;
    let shaped = |params| shaped_text(json, params, 8000);
    let id = r#"[{"id":"123456789012345678901234567890"}]"#.to_owned();
    assert_eq!(shaped(json!({"fields": ["id"]})), (id, vec!["DATA_CONVERTED"]));
    assert_eq!(shaped(json!({"fields": ["n"]})), (r#"[{"n":1}]"#.to_owned(), vec![]));
    assert_eq!(shaped(json!({"fields": "full"})), (json.to_owned(), vec![]));
}

#[test]
fn lists_of_raw_items_are_those_of_parsed_data() {
    for (json, expected) in [
        (r#"{"items":[1E5,"\ud800"],"total":2}"#, Some(vec!["1E5", r#""\ud800""#])),
        ("[[1e400],{}]", Some(vec!["[1e400]", "{}"])),
        (r#"{"id":1,"items":[1]}"#, None),
        ("1e400", None),
    ] {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let list = raw_list_in(&raw).map(|items| items.into_iter().map(RawValue::get).collect());
        assert_eq!(list, expected, "{json}");
    }
}
