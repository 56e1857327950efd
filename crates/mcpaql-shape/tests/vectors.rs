//! The test vectors of query controls, which this crate and the generated TypeScript and Python projects share.
//!
//! A case has `data` and `calls` on it, in order. `own` are the parameters of the operation, `items` and `more` are what its
//! document says about the list. In a call, `$end` and `$start` mean the last cursors that a call returned. An expected
//! warning is its code and the name of its parameter or step; a cursor is `#`. Messages may differ between languages.
//!
//! `BLESS=1 cargo test -p mcpaql-shape --test vectors` writes the answers of this crate into the files.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]

use mcpaql_schema::error::OpError;
use mcpaql_shape::{
    CONTROLS, CursorSigner, DEFAULT_ANSWER_BUDGET, QueryControls, ShapeRequest, ShapedData, Warning,
    answer_tokens, fit, shape,
};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::{env, fs};

fn file(name: &str) -> (PathBuf, Vec<Value>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(format!("{name}.json"));
    let text = fs::read_to_string(&path).unwrap();
    (path, serde_json::from_str(&text).unwrap())
}

/// Compares the expected answers with the actual ones, or writes them. One case per line.
fn check(name: &str, answer: impl Fn(&mut Value)) {
    let (path, expected) = file(name);
    let mut actual = expected.clone();
    actual.iter_mut().for_each(answer);
    if env::var_os("BLESS").is_some() {
        let lines: Vec<String> = actual.iter().map(Value::to_string).collect();
        fs::write(path, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
        return;
    }
    assert!(!expected.is_empty());
    for (expected, actual) in expected.iter().zip(&actual) {
        assert_eq!(actual, expected, "{name}: {}", expected["name"]);
    }
}

/// Writes into each call of a case what it answers.
fn answer_calls(case: &mut Value) {
    let whole = case.clone();
    let mut cursors: Vec<(&str, Value)> = Vec::new();
    for call in case["calls"].as_array_mut().unwrap() {
        let mut params = call["params"].as_object().unwrap().clone();
        for value in params.values_mut() {
            if let Some((_, cursor)) = cursors.iter().find(|(name, _)| *value == *name) {
                *value = cursor.clone();
            }
        }
        let operation = call.get("operation").and_then(Value::as_str).unwrap_or("list").to_owned();
        let told = match answer_call(&whole, &operation, params) {
            Ok((mut data, warnings, args)) => {
                if let Some(info) = page_info(&mut data) {
                    for (name, meant) in [("endCursor", "$end"), ("startCursor", "$start")] {
                        if let Some(cursor) = info.get_mut(name) {
                            cursors.retain(|(known, _)| *known != meant);
                            cursors.push((meant, std::mem::replace(cursor, "#".into())));
                        }
                    }
                }
                let mut told = json!({"data": data});
                let warnings: Vec<Value> = warnings.iter().map(named).collect();
                if !warnings.is_empty() {
                    told["warnings"] = warnings.into();
                }
                if !args.is_empty() {
                    told["args"] = args.into();
                }
                told
            }
            Err(error) => json!({"error": [error.code.as_str(), error.details.get("param_name")]}),
        };
        call["expect"] = told;
    }
}

/// The description of a page that this crate wrote: its cursors are not the upstream's.
fn page_info(data: &mut Value) -> Option<&mut Map<String, Value>> {
    let is_ours = data.get("items").is_some() && data.pointer("/pageInfo/hasPreviousPage").is_some();
    data.get_mut("pageInfo").filter(|_| is_ours)?.as_object_mut()
}

fn named(warning: &Warning) -> Value {
    let about = warning.details.get("param_name").or_else(|| warning.details.get("step"));
    json!([warning.code, about])
}

type Told = (Value, Vec<Warning>, Map<String, Value>);

fn answer_call(case: &Value, operation: &str, mut params: Map<String, Value>) -> Result<Told, OpError> {
    let own: Vec<&str> =
        case.get("own").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut warnings = Vec::new();
    let taken = QueryControls::take(&mut params, None, |name| own.contains(&name), &mut warnings)?;
    let is_asked = taken.is_some();
    let controls = taken.map(|controls| *controls).unwrap_or_default();
    let scope = params.iter().map(|(name, value)| (name.as_str(), value)).chain(controls.scope());
    let request = ShapeRequest {
        items_path: case.get("items").and_then(Value::as_str),
        may_have_more: case.get("more").is_some(),
        own_names: CONTROLS.iter().map(|(name, _)| *name).filter(|name| own.contains(name)).collect(),
        signer: CursorSigner::new("vectors", operation, scope),
        ..ShapeRequest::new(&controls)
    };
    let raw = serde_json::value::to_raw_value(&case["data"]).unwrap();
    let mut shaped = ShapedData::from(mcpaql_shape::Payload::from(raw));
    if is_asked {
        shaped = shape(shaped.data, &request)?;
    }
    let shaped = fit(shaped, controls.answer_budget.unwrap_or(DEFAULT_ANSWER_BUDGET), &request);
    warnings.extend(shaped.warnings);
    Ok((shaped.data.into_value(), warnings, params))
}

#[test]
fn controls_answer_as_the_vectors_say() {
    for name in
        ["budget", "errors", "fields", "filter", "lists", "names", "pages", "random", "sort", "warnings"]
    {
        check(name, answer_calls);
    }
}

#[test]
fn token_estimates_are_those_of_the_vectors() {
    check("tokens", |case| {
        let tokens = answer_tokens(case["text"].as_str().unwrap());
        case["tokens"] = tokens.into();
    });
}
