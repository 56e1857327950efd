//! Arbitrary texts, values and adapters.

use indexmap::IndexMap;
use mcpaql_core::adapter::{Adapter, Auth, HttpTarget, KeyLocation, TargetConfig};
use mcpaql_core::facts::{self, Declared, Effect, Reach};
use mcpaql_core::header;
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{
    Binding, BodyForm, Category, Danger, Example, HttpBinding, Operation, Param, ParamLocation, ParamStyle,
    Returns, Segment, StyleForm,
};
use mcpaql_core::policy::HintOverrides;
use mcpaql_document::load::guard_of;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Parts of texts that YAML parsers easily misread.
const ODD: &[&str] = &[
    "\n",
    "\n\n",
    " ",
    "  ",
    "\t",
    "\r",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\0",
    "\u{1b}",
    "\u{7f}",
    "#",
    " #",
    ":",
    ": ",
    "-",
    "- ",
    "? ",
    "'",
    "\"",
    "\\",
    "---",
    "...",
    "|",
    ">",
    "~",
    "yes",
    "null",
    "012",
    "1e3",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a",
    "*a",
    "!t",
    "%",
    "@",
    "`",
    "<<",
    "=",
    "word",
    "two words",
    "a sentence that ends. And another one",
    "é",
    "𝄞",
    "•",
    "\u{202e}",
    "\u{fffe}",
    "\u{a0}",
    "0",
    ".",
    "+",
];

pub(super) fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::collection::vec(select(ODD), 0..12).prop_map(|pieces| pieces.concat()),
        1 => ".{0,40}",
        1 => "(?s).{0,200}",
        1 => "[ -~]{0,160}",
    ]
}

/// Text as in descriptions.
fn prose() -> impl Strategy<Value = String> {
    texts().prop_map(|text| super::super::prose(&text).into_owned())
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO).prop_map(Value::from),
        texts().prop_map(Value::from),
    ]
}

pub(super) fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((prop_oneof![texts(), "[a-z]{1,8}".boxed()], inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        select(vec!["string", "integer", "number", "boolean", "object", "array"])
            .prop_map(|name| json!({"type": name})),
        select(vec!["Pet", "Owner", "yes"]).prop_map(|name| json!({"$ref": format!("#/types/{name}")})),
        Just(json!({"type": ["string", "null"], "pattern": "^\\d+: [a-z]#$"})),
        Just(json!({"type": "integer", "minimum": -1, "maximum": 1e21, "nullable": true})),
        prop::collection::vec(texts(), 1..6).prop_map(|words| json!({"type": "string", "enum": words})),
        values().prop_map(|value| json!({"type": "object", "example": value})),
        Just(json!({"type": "string", "format": "date-time", "x-own": {"a": [1]}})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let named = prop::collection::vec(("[a-zA-Z_ -]{1,10}", inner.clone()), 0..4);
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(|items| json!({"items": items, "maxItems": 3, "type": "array"})),
            (named, any::<bool>(), prose()).prop_map(|(fields, all, about)| {
                let fields: Map<String, Value> = fields.into_iter().collect();
                let mut schema = json!({"type": "object"});
                if all && !fields.is_empty() {
                    schema["required"] = fields.keys().cloned().collect();
                }
                schema["properties"] = Value::Object(fields);
                if !about.is_empty() {
                    schema["description"] = about.into();
                }
                schema
            }),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|variants| json!({"anyOf": variants})),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|parts| json!({"allOf": parts, "title": "Both"})),
            inner.prop_map(|values| json!({"type": "object", "additionalProperties": values})),
        ]
    })
}

fn styles(place: ParamLocation) -> BoxedStrategy<ParamStyle> {
    let usual = ParamStyle::default_for(place);
    let forms = match place {
        ParamLocation::Query => vec![
            (StyleForm::Form, true),
            (StyleForm::Form, false),
            (StyleForm::SpaceDelimited, false),
            (StyleForm::PipeDelimited, true),
            (StyleForm::DeepObject, true),
        ],
        ParamLocation::Path | ParamLocation::Header => {
            vec![(StyleForm::Simple, false), (StyleForm::Simple, true)]
        }
        ParamLocation::Body | ParamLocation::Cookie | ParamLocation::Target => {
            vec![(usual.form, usual.explode)]
        }
    };
    select(forms).prop_map(|(form, explode)| ParamStyle { form, explode, reserved: false }).boxed()
}

fn param(index: usize) -> impl Strategy<Value = Param> {
    let places =
        select(vec![ParamLocation::Path, ParamLocation::Query, ParamLocation::Header, ParamLocation::Body]);
    let name = select(vec!["id", "on", "page_size", "version", "filter"]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let default = option::of((any::<bool>(), values()));
    (name, places, schemas(), prose(), default, flags)
        .prop_flat_map(|(name, place, schema, about, default, flags)| {
            (Just((name, place, schema, about, default, flags)), styles(place))
        })
        .prop_map(move |((name, place, schema, about, default, (required, renamed, sensitive)), style)| {
            let mut param = Param::new(format!("{name}_{index}"), place, without_prose(schema));
            if renamed {
                param.wire = format!("X-{name}-{index}");
            }
            param.required = required || place == ParamLocation::Path;
            param.sensitive = sensitive;
            param.description = about;
            let default = default.filter(|(_, default)| !default.is_null() && !sensitive);
            match default {
                Some((true, sent)) => param.default = Some(sent),
                Some((false, assumed)) => param.api_default = Some(assumed),
                None => {}
            }
            if sensitive && let Some(map) = param.schema.as_object_mut() {
                map.shift_remove("example");
            }
            param.style = style;
            param
        })
}

/// Removes the description, because a parameter has it outside of its schema.
fn without_prose(mut schema: Value) -> Value {
    if let Some(map) = schema.as_object_mut() {
        map.shift_remove("description");
    }
    schema
}

fn params() -> impl Strategy<Value = Vec<Param>> {
    (0usize..5).prop_flat_map(|count| (0..count).map(param).collect::<Vec<_>>())
}

fn operation(index: usize) -> impl Strategy<Value = Operation> {
    let kinds = select(vec![
        (Category::Read, "GET"),
        (Category::Read, "POST"),
        (Category::Create, "POST"),
        (Category::Create, "PUT"),
        (Category::Update, "PUT"),
        (Category::Update, "PATCH"),
        (Category::Delete, "DELETE"),
        (Category::Delete, "POST"),
        (Category::Execute, "POST"),
    ]);
    let verbs = select(vec!["list", "purge", "create", "reset"]);
    let words = (option::of(prose()), prose(), prop::collection::vec(texts(), 0..3), option::of(prose()));
    let said = (option::of(select(Effect::ALL.to_vec())), option::of(select(Danger::ALL.to_vec())));
    let answer = option::of((schemas(), prose()));
    let hints = (option::of(any::<bool>()), option::of(any::<bool>()));
    let rest = (
        answer,
        option::of(any::<bool>()),
        any::<bool>(),
        hints,
        prop::collection::vec((prose(), values()), 0..2),
    );
    (kinds, verbs, params(), words, said, rest).prop_map(move |(kind, verb, params, words, said, rest)| {
        build(format!("{verb}_{index}"), kind, params, words, said, rest)
    })
}

type TextParts = (Option<String>, String, Vec<String>, Option<String>);
type EffectParts = (Option<Effect>, Option<Danger>);
type OtherParts =
    (Option<(Value, String)>, Option<bool>, bool, (Option<bool>, Option<bool>), Vec<(String, Value)>);

fn build(
    name: String,
    (category, method): (Category, &str),
    params: Vec<Param>,
    (title, description, tags, deprecated): TextParts,
    (effect, danger): EffectParts,
    (answer, idempotent, form, (read_only, destructive), examples): OtherParts,
) -> Operation {
    let mut path = Vec::new();
    let mut literal = format!("/{name}");
    for param in params.iter().filter(|param| param.location == ParamLocation::Path) {
        literal.push('/');
        path.extend([Segment::Literal(std::mem::take(&mut literal)), Segment::Param(param.name.clone())]);
    }
    path.extend((!literal.is_empty()).then_some(Segment::Literal(literal)));
    let mut http = HttpBinding::new(method, path);
    http.body = if form { BodyForm::Form } else { BodyForm::Json };
    http.body_param =
        params.iter().find(|param| param.location == ParamLocation::Body && form).map(|p| p.name.clone());
    let binding = Binding::Http(http);
    let reads = category == Category::Read;
    let effect = effect.filter(|effect| !reads || effect.category() == Category::Read);
    let danger = danger.filter(|_| !reads).unwrap_or_else(|| facts::danger_of(&name, category));
    let guard = guard_of(&params);
    let declared =
        Declared { category, effect, idempotent, danger, guard, reach: Reach::Open, binding: &binding };
    let secret = |name: &str| params.iter().any(|param| param.sensitive && param.name == name);
    let examples = examples.into_iter().map(|(description, value)| Example {
        description,
        params: params.iter().filter(|p| !secret(&p.name)).map(|p| (p.name.clone(), value.clone())).collect(),
    });
    let returns = answer.map(|(schema, description)| {
        let mut schema = without_prose(schema);
        if let Some(map) = schema.as_object_mut().filter(|_| !description.is_empty()) {
            map.insert("description".into(), description.clone().into());
        }
        Returns { schema, description }
    });
    Operation {
        title: title.filter(|title| !title.is_empty()).unwrap_or_else(|| title_of(&name)),
        description,
        tags,
        deprecated,
        danger,
        returns,
        examples: examples.collect(),
        hints: HintOverrides {
            read_only: read_only.filter(|flag| !flag),
            destructive,
            ..HintOverrides::default()
        },
        aliases: if form { vec![format!("old_{name}")] } else { Vec::new() },
        params,
        ..Operation::new(name, category, facts::infer(&declared), binding.clone())
    }
}

fn auths() -> impl Strategy<Value = Auth> {
    let key = |place| Auth::ApiKey { key_env: "KEY".into(), location: place, prefix: String::new() };
    let bearer = |header: &str, prefix: &str| Auth::Bearer {
        token_env: "T".into(),
        header: header.into(),
        prefix: prefix.into(),
    };
    select(vec![
        Auth::None,
        bearer("Authorization", "Bearer "),
        bearer("X-Token", "token: "),
        key(KeyLocation::Header("X-API-Key".into())),
        key(KeyLocation::Header("on".into())),
        key(KeyLocation::Query("key".into())),
        key(KeyLocation::Cookie("session".into())),
        Auth::Basic { username_env: "USER_NAME".into(), password_env: "PASS".into() },
    ])
}

pub(super) fn http_target() -> HttpTarget {
    HttpTarget {
        base_url: "https://api.example.com/v1".into(),
        headers: IndexMap::new(),
        serialization: BodyForm::Json,
        allow_http: false,
        connect_timeout_ms: 10_000,
        timeout_ms: 60_000,
        retries: 2,
        max_response_bytes: 10 << 20,
        idempotency_header: None,
        access: mcpaql_core::host::NetworkAccess::default(),
    }
}

fn targets() -> impl Strategy<Value = HttpTarget> {
    // A document with a header that cannot be sent is rejected.
    let header = ("[A-Z][a-z]{1,8}", texts())
        .prop_filter("a header that can be sent", |(name, value)| header::problem(name, value).is_none());
    let headers = prop::collection::vec(header, 0..3);
    (headers, any::<bool>(), 1u64..86_400_000, 0u32..5).prop_map(|(headers, form, timeout_ms, retries)| {
        HttpTarget {
            headers: headers.into_iter().collect(),
            serialization: if form { BodyForm::Form } else { BodyForm::Json },
            timeout_ms,
            retries,
            ..http_target()
        }
    })
}

pub(super) fn adapter(operations: Vec<Operation>, types: IndexMap<String, Value>) -> Adapter {
    Adapter {
        display_name: "Pet Store".into(),
        version: "1.0.0".into(),
        description: "Pets and their owners.".into(),
        types,
        operations,
        ..Adapter::new("pet-store", TargetConfig::Http(http_target()))
    }
}

pub(super) fn adapters() -> impl Strategy<Value = Adapter> {
    let operations = (1usize..5).prop_flat_map(|count| (0..count).map(operation).collect::<Vec<_>>());
    let object = || schemas().prop_map(|inner| json!({"type": "object", "properties": {"inner": inner}}));
    let types = (object(), object(), schemas().prop_map(|items| json!({"type": "array", "items": items})));
    let named = |((pet, owner, yes), prefix): ((Value, Value, Value), &str)| {
        IndexMap::from_iter(
            [("yes", yes), ("Pet", pet), ("Owner", owner)]
                .map(|(name, schema)| (format!("{prefix}{name}"), schema)),
        )
    };
    (operations, types, auths(), targets(), prose(), texts()).prop_map(
        move |(operations, types, auth, target, description, tag)| {
            let mut adapter = adapter(operations, named((types, "")));
            adapter.auth = auth;
            adapter.target = TargetConfig::Http(target);
            adapter.description = description;
            adapter.tags = vec![tag];
            adapter
        },
    )
}
