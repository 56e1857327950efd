//! Shapes arbitrary JSON with arbitrary controls, hidden fields and computed fields. It must not panic, hidden fields must not
//! be in the result, and parsed and unparsed JSON must give the same result.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::response::Payload;
use mcpaql_core::shape::{
    ComputedFields, FieldPath, HiddenFields, JoinedPages, QueryControls, ShapeRequest, fit, shape,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Returns whether a value has a member with this name.
fn has(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => members.contains_key(name) || members.values().any(|member| has(member, name)),
        Value::Array(items) => items.iter().any(|item| has(item, name)),
        _ => false,
    }
}

fuzz_target!(|input: (&str, &str, &str, usize)| {
    let (data, given, expression, budget) = input;
    let Ok(data) = serde_json::from_str::<Value>(data) else { return };
    let given: Map<String, Value> = serde_json::from_str(given).unwrap_or_default();
    let mut computed = ComputedFields::default();
    if let Ok(expression) = serde_json::from_str(expression) {
        let _ = computed.add("x", &expression);
    }
    let hidden = HiddenFields::new(["a", "b.c"].into_iter().filter_map(FieldPath::parse));
    let Ok(text) = RawValue::from_string(data.to_string()) else { return };
    let parsed = hidden.remove_from(Payload::Value(data.clone())).into_value();
    let unparsed = hidden.remove_from(Payload::Raw(text));
    assert!(!has(&parsed, "a"));
    let Ok(controls) = QueryControls::read(given, &mut Vec::new()) else { return };
    let request = ShapeRequest { computed: Some(&computed), ..ShapeRequest::new(&controls) };
    let one = shape(parsed.clone().into(), &request);
    let other = shape(unparsed, &request);
    let value = |shaped: &mcpaql_core::shape::ShapedData| shaped.data.clone().into_value();
    assert_eq!(one.as_ref().ok().map(value), other.as_ref().ok().map(value));
    if let Ok(shaped) = one {
        let _ = fit(shaped, budget.clamp(100, 5000), &request);
    }
    if let Ok(mut pages) = JoinedPages::new(parsed.clone(), None) {
        pages.add(parsed);
        let _ = pages.into_data();
    }
});
