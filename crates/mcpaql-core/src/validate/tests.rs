use super::fixtures::{operation, param};
use super::*;
use crate::error::{Code, looks_internal};
use crate::operation::{Arg, CommandBinding, Output, Stdin};
use crate::schema::strategies::{any_json, fitting, schema};
use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::json;

/// `update_issue`, with a parameter of every kind.
fn update_issue(category: Category) -> Operation {
    let label = json!({"type": "object", "properties": {"name": {"type": "string"}, "color": {"type": "string"}},
        "required": ["name"], "additionalProperties": false});
    let mut op = operation("update_issue", category);
    op.params = vec![
        Param {
            description: "repository owner. Not the committer.".into(),
            ..param("owner", ParamLocation::Path, true, json!({"type": "string", "minLength": 1}))
        },
        param("number", ParamLocation::Path, true, json!({"type": "integer", "minimum": 1})),
        Param { wire: "body".into(), ..param("text", ParamLocation::Body, false, json!({"type": "string"})) },
        Param {
            default: Some(json!("open")),
            ..param("state", ParamLocation::Body, false, json!({"enum": ["open", "closed"]}))
        },
        Param {
            default: Some(json!(30)),
            ..param("per_page", ParamLocation::Query, false, json!({"type": "integer", "maximum": 100}))
        },
        param("labels", ParamLocation::Body, false, json!({"type": "array", "items": label, "maxItems": 3})),
        param("draft", ParamLocation::Body, false, json!({"type": "boolean"})),
        param("x_trace", ParamLocation::Header, false, json!({"type": "string"})),
        Param {
            sensitive: true,
            ..param(
                "token",
                ParamLocation::Body,
                false,
                json!({"oneOf": [{"type": "string", "pattern": "^tok_"},
                {"type": "object", "additionalProperties": {"type": "integer"}}]}),
            )
        },
    ];
    op
}

fn validate_with(op: &Operation, params: Value, limits: &SizeLimits) -> Result<Value, OpError> {
    let mut schemas = SchemaSet::default();
    let (compiled, problems) = CompiledParams::compile(op, &mut schemas, "/operations/0/params");
    assert_eq!(problems, []);
    let Value::Object(params) = params else { panic!("{params}") };
    compiled.validate(params, &schemas, limits).map(Value::Object)
}

fn validate(op: &Operation, params: Value) -> Result<Value, OpError> {
    validate_with(op, params, &SizeLimits::default())
}

/// Returns the two required parameters and `more`.
fn with(more: Value) -> Value {
    let mut params = json!({"owner": "o", "number": 1});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

fn failure(op: &Operation, params: Value) -> OpError {
    let error = validate(op, params).unwrap_err();
    assert!(!looks_internal(&error.message), "{}", error.message);
    assert_eq!(error.details["operation"], op.name.as_str());
    assert_eq!(error.details["signature"], signature::line(op));
    assert!(error.cause.is_none());
    error
}

#[test]
fn a_right_call_comes_back_with_defaults() {
    let op = update_issue(Category::Create);
    let given = json!({"owner": "o", "number": 1.0, "labels": [{"name": "bug"}]});
    let expected =
        json!({"owner": "o", "number": 1, "labels": [{"name": "bug"}], "state": "open", "per_page": 30});
    assert_eq!(validate(&op, given).unwrap(), expected);
}

#[test]
fn an_update_body_gets_no_default_that_the_caller_never_sent() {
    let op = update_issue(Category::Update);
    assert_eq!(validate(&op, with(json!({}))).unwrap(), with(json!({"per_page": 30})));
}

#[test]
fn a_required_parameter_with_a_default_may_be_left_out() {
    let mut op = operation("list", Category::Read);
    op.params = vec![Param {
        default: Some(json!(1)),
        ..param("page", ParamLocation::Query, true, json!({"type": "integer"}))
    }];
    assert_eq!(validate(&op, json!({})).unwrap(), json!({"page": 1}));
    assert_eq!(signature::line(&op), "list(page?: integer = 1)");
}

#[test]
fn other_spellings_are_normalised_and_the_exact_name_wins() {
    let op = update_issue(Category::Create);
    let page = |params: Value| validate(&op, with(params)).unwrap()["per_page"].clone();
    assert_eq!(page(json!({"perPage": 5})), 5);
    assert_eq!(page(json!({"per-page": 5})), 5);
    assert_eq!(page(json!({"perPage": 5, "per_page": 6})), 6);
    assert_eq!(validate(&op, with(json!({"body": "x"}))).unwrap()["text"], "x");
    assert_eq!(validate(&op, with(json!({"xTrace": "x"}))).unwrap()["x_trace"], "x");
}

#[test]
fn a_wire_name_that_two_parameters_share_is_not_guessed() {
    let mut op = operation("move_item", Category::Update);
    op.params = vec![
        Param {
            wire: "id".into(),
            ..param("from_id", ParamLocation::Path, false, json!({"type": "string"}))
        },
        Param { wire: "id".into(), ..param("to_id", ParamLocation::Body, false, json!({"type": "string"})) },
    ];
    assert_eq!(failure(&op, json!({"id": "x"})).code, Code::UnknownParam);
}

#[test]
fn names_of_the_protocol_are_dropped_unless_declared() {
    let mut op = update_issue(Category::Create);
    let given = with(json!({"_meta": {"progressToken": 1}, "_confirmation": "conf_x", "_per_page": 7}));
    let clean = validate(&op, given.clone()).unwrap();
    assert!(clean.as_object().unwrap().keys().all(|name| !name.starts_with('_')), "{clean}");
    assert_eq!(clean["per_page"], 30);
    op.params.push(param("_meta", ParamLocation::Body, false, json!({})));
    assert_eq!(validate(&op, given).unwrap()["_meta"], json!({"progressToken": 1}));
}

#[test]
fn unknown_parameters_come_before_everything_else() {
    let op = update_issue(Category::Create);
    let error = failure(&op, json!({"perpage": 5, "zzz": 1, "number": "x"}));
    assert_eq!(error.code, Code::UnknownParam);
    assert_eq!(
        error.message,
        "Unknown parameter(s) for operation 'update_issue': zzz. Did you mean 'per_page' for 'perpage'?"
            .replace("zzz.", "perpage, zzz.")
    );
    assert_eq!(error.details["unknown_params"], json!(["perpage", "zzz"]));
    assert_eq!(error.details["valid_params"][0], "owner");
    assert_eq!(error.details["did_you_mean"], json!({"perpage": "per_page"}));
    let error = failure(&op, json!({"onwer": "o"}));
    assert_eq!(
        error.message,
        "Unknown parameter(s) for operation 'update_issue': onwer. Did you mean 'owner'?"
    );
    let error = failure(&operation("ping", Category::Read), json!({"x": 1}));
    assert_eq!(error.message, "Unknown parameter(s) for operation 'ping': x. It takes no parameters");
}

#[test]
fn a_flood_of_unknown_names_is_cut() {
    let many: Map<String, Value> = (0..5_000).map(|n| ("k".repeat(100) + &n.to_string(), json!(1))).collect();
    let error = failure(&update_issue(Category::Create), many.into());
    assert!(error.message.len() < 1_000 && error.message.contains("and 4990 more"), "{}", error.message);
    assert_eq!(error.details["unknown_params"].as_array().unwrap().len(), 10);
}

#[test]
fn missing_parameters_are_named_with_what_is_expected() {
    let op = update_issue(Category::Create);
    let error = failure(&op, json!({"number": 1}));
    assert_eq!(error.code, Code::MissingParam);
    assert_eq!(error.message, "Missing required parameter 'owner'. Expected: string (repository owner)");
    assert_eq!(error.details["param_name"], "owner");
    let error = failure(&op, json!({"per_page": "wrong too"}));
    assert_eq!(
        error.message,
        "Missing required parameter 'owner' (and 1 more: 'number'). Expected: string (repository owner)"
    );
    assert_eq!(error.details["missing_params"], json!(["owner", "number"]));
}

#[test]
fn a_description_that_would_trip_a_leak_check_is_left_out() {
    for description in ["Time at start", "Date format to use", "What the log says"] {
        let mut op = operation("log", Category::Create);
        op.params = vec![Param {
            description: description.into(),
            ..param("start", ParamLocation::Body, true, json!({"type": "string"}))
        }];
        let message = failure(&op, json!({})).message;
        assert_eq!(message, "Missing required parameter 'start'. Expected: string", "{description}");
    }
}

#[test]
fn types_say_what_to_send_instead() {
    let op = update_issue(Category::Create);
    for (more, message, value) in [
        (
            json!({"per_page": "50"}),
            "Parameter 'per_page' expected 'integer', got 'string'. Send it unquoted: 50",
            json!("50"),
        ),
        (json!({"per_page": "many"}), "Parameter 'per_page' expected 'integer', got 'string'", json!("many")),
        (json!({"per_page": 1.5}), "Parameter 'per_page' expected 'integer', got 'number'", json!(1.5)),
        (
            json!({"draft": "True"}),
            "Parameter 'draft' expected 'boolean', got 'string'. Send it unquoted: true",
            json!("True"),
        ),
        (
            json!({"text": 50}),
            "Parameter 'text' expected 'string', got 'integer'. Send it quoted: \"50\"",
            json!(50),
        ),
        (
            json!({"text": null}),
            "Parameter 'text' expected 'string', got 'null'. Leave it out instead of sending null",
            Value::Null,
        ),
        (
            json!({"labels": "bug, help"}),
            "Parameter 'labels' expected 'array', got 'string'. Send a list such as [\"a\", \"b\"]",
            Value::Null,
        ),
        (json!({"labels": {}}), "Parameter 'labels' expected 'array', got 'object'", Value::Null),
        (json!({"text": {"a": [1]}}), "Parameter 'text' expected 'string', got 'object'", Value::Null),
    ] {
        let error = failure(&op, with(more));
        assert_eq!((error.code, error.message.as_str()), (Code::InvalidType, message));
        assert_eq!(error.details.get("value").cloned().unwrap_or_default(), value, "{message}");
        assert!(error.details.contains_key("expected_type") && error.details.contains_key("actual_type"));
    }
    let error = failure(&op, with(json!({"draft": "é".repeat(10_000)})));
    assert_eq!(error.details["value"].as_str().unwrap().chars().count(), 201);
}

#[test]
fn nested_problems_are_named_by_their_path() {
    let op = update_issue(Category::Create);
    for (labels, code, message, name) in [
        (
            json!([{"name": "a"}, {"name": 5}]),
            Code::InvalidType,
            "Parameter 'labels[1].name' expected 'string', got 'integer'. Send it quoted: \"5\"",
            "labels[1].name",
        ),
        (
            json!([{"color": "red"}]),
            Code::MissingParam,
            "Missing required field 'name' in 'labels[0]'",
            "labels[0].name",
        ),
        (
            json!([{"name": "a", "colour": "red"}]),
            Code::UnknownField,
            "Unknown field in 'labels[0]': colour. Did you mean 'color'?",
            "labels[0]",
        ),
        (
            json!([{"name": "a", "zzz": "red"}]),
            Code::UnknownField,
            "Unknown field in 'labels[0]': zzz. Its fields are: name, color",
            "labels[0]",
        ),
    ] {
        let error = failure(&op, with(json!({"labels": labels})));
        assert_eq!((error.code, error.message.as_str()), (code, message));
        assert_eq!(error.details["param_name"], name);
    }
    let error = failure(&op, with(json!({"labels": [{"name": "a", "colour": "red"}]})));
    assert_eq!(error.details["valid_fields"], json!(["name", "color"]));
    assert_eq!(error.details["did_you_mean"], json!({"colour": "color"}));
}

#[test]
fn constraints_come_after_types_and_say_what_is_allowed() {
    let op = update_issue(Category::Create);
    for (more, message, allowed) in [
        (
            json!({"state": "Closed"}),
            "Parameter 'state' must be one of 'open', 'closed'. Did you mean 'closed'?",
            json!({"enum": ["open", "closed"]}),
        ),
        (json!({"per_page": 101}), "Parameter 'per_page' must be 100 or less", json!({"maximum": 100})),
        (json!({"number": 0}), "Parameter 'number' must be 1 or more", json!({"minimum": 1})),
        (
            json!({"owner": ""}),
            "Parameter 'owner' must have 1 character or more, has 0",
            json!({"minLength": 1}),
        ),
    ] {
        let error = failure(&op, with(more));
        assert_eq!((error.code, error.message.as_str()), (Code::InvalidValue, message));
        assert_eq!(error.details["allowed"], allowed);
    }
    let error = failure(&op, with(json!({"per_page": 101, "draft": "x", "state": "gone"})));
    assert_eq!(error.code, Code::InvalidType);
    assert_eq!(error.details["param_name"], "draft");
    assert_eq!(
        error.details["also"],
        json!([
            "Parameter 'per_page' must be 100 or less",
            "Parameter 'state' must be one of 'open', 'closed'"
        ])
    );
}

#[test]
fn an_update_takes_its_fields_flat_or_in_input() {
    let op = update_issue(Category::Update);
    let expected = with(json!({"text": "t", "state": "closed", "per_page": 30}));
    let given = with(json!({"text": "t", "input": {"state": "closed", "body": "t", "_note": 1}}));
    assert_eq!(validate(&op, given).unwrap(), expected);
    for (input, code, message) in [
        (
            json!({"input": {"owner": "x"}}),
            Code::UnknownField,
            "'owner' identifies the resource to update. Move it out of 'input'",
        ),
        (
            json!({"input": {"stat": "open"}}),
            Code::UnknownField,
            "Unknown field(s) in 'input' of operation 'update_issue': stat. Did you mean 'state'?",
        ),
        (
            json!({"text": "a", "input": {"text": "b"}}),
            Code::InvalidValue,
            "Parameter 'text' has two different values, one of them inside 'input'. Send it once",
        ),
        (
            json!({"input": []}),
            Code::InvalidType,
            "Parameter 'input' expected 'object', got 'array'. Send the fields to change as an object, or as top-level parameters",
        ),
        (
            json!({"input": {"state": "x"}}),
            Code::InvalidValue,
            "Parameter 'state' must be one of 'open', 'closed'",
        ),
    ] {
        let error = failure(&op, with(input));
        assert_eq!((error.code, error.message.as_str()), (code, message));
    }
    let valid = failure(&op, with(json!({"input": {"zzz": 1}}))).details["valid_fields"].clone();
    assert_eq!(valid, json!(["text", "state", "per_page", "labels", "draft", "x_trace", "token"]));
}

#[test]
fn input_is_nothing_special_elsewhere() {
    assert_eq!(failure(&update_issue(Category::Create), with(json!({"input": {}}))).code, Code::UnknownParam);
    let mut op = update_issue(Category::Update);
    op.params.push(param("input", ParamLocation::Body, false, json!({"type": "string"})));
    assert_eq!(validate(&op, with(json!({"input": "x"}))).unwrap()["input"], "x");
}

#[test]
fn limits_name_themselves() {
    let mut op = operation("put", Category::Create);
    op.params = vec![
        param("a", ParamLocation::Body, false, json!({})),
        param("b", ParamLocation::Body, false, json!({"type": "string"})),
    ];
    let limits =
        SizeLimits { request_bytes: 100, response_bytes: 100, string_bytes: 20, array_items: 5, depth: 3 };
    for (params, limit, actual, maximum) in [
        (json!({"a": "x".repeat(21)}), "string_length", json!(21), 20),
        (json!({"a": {"k".repeat(21): 1}}), "string_length", json!(21), 20),
        (json!({"a": [1, 2, 3, 4, 5, 6]}), "array_elements", json!(6), 5),
        (json!({"a": [[[1]]]}), "nesting_depth", Value::Null, 3),
        (json!({"a": vec!["x".repeat(20); 5]}), "request_size", json!(122), 100),
        // The type is wrong, too, but a value that is too large is not checked further.
        (json!({"b": [1, 2, 3, 4, 5, 6]}), "array_elements", json!(6), 5),
    ] {
        let error = validate_with(&op, params.clone(), &limits).unwrap_err();
        assert_eq!(error.code, Code::PayloadTooLarge, "{params}");
        assert_eq!(error.details["limit_type"], limit);
        assert_eq!(error.details.get("actual_value").cloned().unwrap_or_default(), actual, "{params}");
        assert_eq!(error.details["limit_value"], maximum);
        assert_eq!(error.details["operation"], "put");
        assert!(error.message.contains(&maximum.to_string()), "{}", error.message);
    }
    for params in [json!({"a": [[1, 2, 3, 4, 5]]}), json!({"a": "x".repeat(20)}), json!({"a": {"b": "c"}})] {
        assert!(validate_with(&op, params, &limits).is_ok());
    }
}

#[test]
fn u0000_is_refused_everywhere_and_control_characters_in_headers() {
    let op = update_issue(Category::Create);
    for params in [
        json!({"owner": "a\0b"}),
        json!({"text": "a\0b"}),
        json!({"labels": [{"name": "\0"}]}),
        json!({"x_trace": "a\r\nSet-Cookie: x"}),
        json!({"x_trace": "\u{7f}"}),
    ] {
        assert_eq!(failure(&op, with(params)).code, Code::InvalidEncoding);
    }
    for params in [json!({"text": "a\nb"}), json!({"owner": "a\nb"}), json!({"x_trace": "a\tb"})] {
        assert!(validate(&op, with(params)).is_ok());
    }
    let mut command = operation("say", Category::Execute);
    command.params = vec![param("text", ParamLocation::Body, false, json!({"type": "string"}))];
    command.binding = Binding::Command(CommandBinding {
        argv: vec![Arg::Template(Vec::new())],
        stdin: Stdin::Closed,
        output: Output::Text,
        timeout_ms: None,
        exit: IndexMap::new(),
    });
    assert_eq!(failure(&command, json!({"text": "a\0b"})).code, Code::InvalidEncoding);
}

#[test]
fn problems_of_a_schema_point_to_the_parameter() {
    let mut op = operation("list", Category::Read);
    op.params = vec![param("page", ParamLocation::Query, false, json!({"type": "int"}))];
    let (_, problems) = CompiledParams::compile(&op, &mut SchemaSet::default(), "/operations/read/0/params");
    assert_eq!(problems[0].pointer, "/operations/read/0/params/page/type");
}

#[test]
fn a_secret_is_refused_without_being_repeated() {
    let op = update_issue(Category::Create);
    for (token, message) in [
        (json!("hunter2hunter2"), "Parameter 'token' must match the pattern ^tok_"),
        (json!(123_456_789), "Parameter 'token' expected 'string | object', got 'integer'"),
        (json!({"hunter2hunter2": "x"}), "Parameter 'token' expected 'integer', got 'string'"),
    ] {
        let error = failure(&op, with(json!({"token": token})));
        assert_eq!(error.message, message);
        let text = format!("{error:?}");
        assert!(!text.contains("hunter2") && !text.contains("123456789"), "{text}");
    }
}

/// Generates values that contain `secret` in some or all places.
fn value_with_secret(secret: String) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!(secret)),
        Just(json!(format!("x{secret}y"))),
        Just(json!(1)),
        Just(Value::Null)
    ];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let key = prop_oneof![
            Just(secret.clone()),
            Just("name".to_owned()),
            Just("a".to_owned()),
            Just("b".to_owned())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
    .boxed()
}

proptest! {
    #[test]
    fn what_fits_the_schema_passes_unchanged(schema in schema(), mut seed in any::<u64>()) {
        let value = fitting(&schema, &mut seed);
        let mut op = operation("any", Category::Create);
        op.params = vec![param("p", ParamLocation::Body, true, schema)];
        let params = json!({"p": value});
        prop_assert_eq!(validate(&op, params.clone()).map_err(|error| error.message), Ok(params));
    }

    #[test]
    fn nothing_panics(
        schemas in proptest::collection::vec(any_json(), 1..3),
        values in proptest::collection::vec(("(a|b|p0|p1|_x|input|\\PC{0,4})", any_json()), 0..5),
        update in any::<bool>(),
    ) {
        let mut op = operation("any", if update { Category::Update } else { Category::Create });
        op.params = schemas
            .into_iter()
            .enumerate()
            .map(|(n, schema)| param(&format!("p{n}"), ParamLocation::Query, n == 0, schema))
            .collect();
        let mut compiled_schemas = SchemaSet::default();
        let (compiled, _) = CompiledParams::compile(&op, &mut compiled_schemas, "");
        let params: Map<String, Value> = values.into_iter().collect();
        if let Err(error) = compiled.validate(params, &compiled_schemas, &SizeLimits::default()) {
            prop_assert!(!error.message.is_empty());
            prop_assert_eq!(&error.details["signature"], &json!(compiled.signature()));
        }
    }

    #[test]
    fn no_error_repeats_a_secret(
        schema in prop_oneof![schema(), any_json()],
        (secret, value) in "[A-Z]{16}".prop_flat_map(|secret| (Just(secret.clone()), value_with_secret(secret))),
        nested in any::<bool>(),
    ) {
        let mut op = operation("login", Category::Update);
        op.params = if nested {
            // The secret is a part of a parameter that is not a secret itself.
            let mut schema = if schema.is_object() { schema } else { json!({}) };
            schema["sensitive"] = json!(true);
            vec![param("p", ParamLocation::Query, true, json!({"type": "object", "properties": {"q": schema}}))]
        } else {
            vec![Param { sensitive: true, ..param("p", ParamLocation::Query, true, schema) }]
        };
        let value = if nested { json!({"q": value}) } else { value };
        let mut schemas = SchemaSet::default();
        let (compiled, _) = CompiledParams::compile(&op, &mut schemas, "");
        let spelled = value.to_string();
        for given in [json!({"p": spelled}), json!({"p": value}), json!({"input": {"p": value}}), json!({"p": value, "zzz": value})] {
            let Value::Object(given) = given else { unreachable!() };
            if let Err(error) = compiled.validate(given, &schemas, &SizeLimits { array_items: 2, ..SizeLimits::default() }) {
                let text = format!("{error:?} {} {}", error, Value::Object(error.details.clone()));
                prop_assert!(!text.contains(&secret), "{}", text);
            }
        }
    }
}

#[test]
fn a_whole_float_reaches_the_target_as_the_integer_it_is() {
    let mut op = operation("get", Category::Read);
    let nested =
        json!({"type": "object", "properties": {"at": {"type": "integer"}, "of": {"type": "number"}}});
    op.params = vec![
        param("id", ParamLocation::Query, false, json!({"type": ["integer", "null"]})),
        param("ids", ParamLocation::Query, false, json!({"type": "array", "items": {"type": "integer"}})),
        param("ratio", ParamLocation::Query, false, json!({"type": "number"})),
        param(
            "either",
            ParamLocation::Query,
            false,
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ),
        param("nested", ParamLocation::Query, false, nested),
    ];
    let given = json!({"id": 1.0, "ids": [1e3, 2, -0.0], "ratio": 2.0, "either": 5.0, "nested": {"at": 7.0, "of": 7.0}});
    let sent = validate(&op, given).unwrap().to_string();
    assert_eq!(sent, r#"{"id":1,"ids":[1000,2,0],"ratio":2.0,"either":5,"nested":{"at":7,"of":7.0}}"#);
}

#[test]
fn an_integer_that_was_not_kept_exactly_is_refused() {
    let mut op = operation("get", Category::Read);
    op.params = vec![
        param("id", ParamLocation::Query, false, json!({"type": "integer"})),
        param("ids", ParamLocation::Query, false, json!({"type": "array", "items": {"type": "integer"}})),
        param("ratio", ParamLocation::Query, false, json!({"type": "number"})),
    ];
    let huge: Value = serde_json::from_str("123456789012345678901").unwrap();
    for params in [json!({"id": huge}), json!({"ids": [1, huge]}), json!({"id": 9_007_199_254_740_992.0})] {
        let error = validate(&op, params).unwrap_err();
        assert_eq!(error.code, Code::InvalidValue, "{error:?}");
        assert!(error.message.contains("too large to be kept exactly"), "{}", error.message);
    }
    for kept in [json!({"id": u64::MAX}), json!({"id": i64::MIN}), json!({"ratio": huge})] {
        assert_eq!(validate(&op, kept.clone()).unwrap(), kept);
    }
}
