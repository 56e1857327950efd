//! The keys for unusual HTTP APIs: templates, fixed values, results and failures.

use crate::support::{catalog, problems};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::exchange::{AnswerPath, ErrorTest};
use mcpaql_core::operation::{Binding, BodyForm, HttpBinding, ParamLocation};
use mcpaql_core::request;
use serde_json::{Value, json};

fn operation(text: &str) -> String {
    format!("operations:\n  create:\n    - {{ name: send_it, {text} }}\n")
}

fn http(catalog: &Catalog) -> &HttpBinding {
    match &catalog.get("send_it").expect("the operation").operation.binding {
        Binding::Http(binding) => binding,
        other => panic!("{other:?}"),
    }
}

/// The messages of all problems of one operation.
fn messages(text: &str) -> Vec<String> {
    problems(&operation(text)).into_iter().map(|problem| problem.message).collect()
}

#[test]
fn every_key_is_read() {
    let catalog = catalog(&operation(
        "maps_to: POST /a, params: { id: integer, q: { type: string, in: query } }, \
         body_template: { method: get, params: ['{id}'] }, \
         fixed: { X-Mode: { in: header, value: fast }, v: { in: query, value: 2 } }, \
         result: data.items, error: { path: ok, equals: false, message: /error/text }",
    ));
    let binding = http(&catalog);
    assert_eq!(binding.body_template.as_deref(), Some(&json!({"method": "get", "params": ["{id}"]})));
    let fixed: Vec<(&str, ParamLocation, &Value)> = binding
        .fixed
        .iter()
        .map(|fixed| (fixed.param.wire.as_str(), fixed.param.location, &fixed.value))
        .collect();
    assert_eq!(
        fixed,
        [("X-Mode", ParamLocation::Header, &json!("fast")), ("v", ParamLocation::Query, &json!(2))]
    );
    assert_eq!(binding.answer.result, AnswerPath::parse("data.items"));
    let rule = binding.answer.error.as_ref().expect("a rule");
    assert_eq!(
        (&rule.path, &rule.test),
        (&AnswerPath::parse("ok").unwrap(), &ErrorTest::Equals(json!(false)))
    );
    assert_eq!(rule.message, AnswerPath::parse("error.text"));
    let shown = catalog.get("send_it").unwrap();
    assert_eq!(shown.operation.params.len(), 2, "fixed values are not parameters");
}

#[test]
fn a_template_sends_its_parameters_in_the_body() {
    let text = "operations:\n  read:\n    - { name: send_it, effect: read, maps_to: GET /a, params: { id: integer }, body_template: '{id}' }\n";
    let catalog = catalog(text);
    assert_eq!(catalog.get("send_it").unwrap().operation.params[0].location, ParamLocation::Body);
    let xml = "maps_to: POST /a, params: { id: integer }, body: xml, body_template: { Get: '{id}' }";
    let catalog = crate::support::catalog(&operation(xml));
    assert_eq!(http(&catalog).body, BodyForm::Xml);
}

#[test]
fn a_constant_is_sent_without_the_caller() {
    let catalog = catalog(&operation(
        "maps_to: POST /a, params: { version: { const: 2, required: true }, flag: { const: true } }",
    ));
    let call = request::prepare_operation(&catalog, "send_it", serde_json::Map::new()).expect("a valid call");
    assert_eq!(Value::Object(call.args), json!({"version": 2}));
}

#[test]
fn mistakes_are_reported() {
    for (text, expected) in [
        (
            "maps_to: POST /a, params: { id: integer }, body_template: { x: '{ib}' }",
            vec![
                "Placeholder '{ib}' is not a declared parameter",
                "Parameter 'id' is not in the template, so it would not be sent",
            ],
        ),
        (
            "maps_to: POST /a, body: multipart, body_template: {}",
            vec!["A template is for bodies of the form json, form or xml"],
        ),
        ("maps_to: POST /a, body: form, body_template: []", vec!["The template of a form is an object"]),
        (
            "maps_to: POST /a, body: xml, body_template: { a: 1, b: 2 }",
            vec!["The template of an XML body is an object with one member: the root element"],
        ),
        (
            "maps_to: POST /a, body: xml",
            vec!["An XML body needs `body_template`: an object with the root element"],
        ),
        (
            "maps_to: POST /a, params: { x: string }, body_param: x, body_template: { y: 1 }",
            vec!["A body has either `body_template` or `body_param`"],
        ),
        (
            "maps_to: POST /a, params: { x: string }, fixed: { x: 1 }",
            vec!["'x' is both a fixed value and the parameter 'x'"],
        ),
        (
            "maps_to: POST /a, body_template: {}, fixed: { x: 1 }",
            vec!["A fixed part of the body belongs into `body_template`"],
        ),
        (
            "maps_to: POST /a, fixed: { x: { in: path, value: 1 } }",
            vec!["A fixed part of the path belongs into the path itself"],
        ),
        (
            "maps_to: POST /a, fixed: { Authorization: { in: header, value: x } }",
            vec!["The header 'Authorization' contains a credential and cannot be a parameter"],
        ),
        ("maps_to: POST /a, result: a..b", vec!["'a..b' is not a path in the answer"]),
        ("maps_to: POST /a, error: { equals: 1 }", vec!["Required field"]),
        (
            "maps_to: POST /a, error: { path: ok, equals: 1, not: 2 }",
            vec!["'equals' and 'not' contradict each other"],
        ),
    ] {
        let found = messages(text);
        assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }
    let program = "name: demo\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\ntarget: { transport: native, protocol: command }\noperations:\n  read: [{ name: get_it, command: [date], result: a }]\n";
    let checked = crate::support::check(&mcpaql_document::source::Source::new("a.yaml", program));
    assert_eq!(checked.diagnostics[0].message, "'result' is only for HTTP APIs");
}
