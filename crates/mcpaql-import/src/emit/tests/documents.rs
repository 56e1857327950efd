//! The content of documents, and what they never contain.

use super::super::schema::ORDER;
use super::strategies::{adapter, http_target};
use super::{Provenance, in_order, markdown, read, seen, write};
use indexmap::IndexMap;
use mcpaql_core::adapter::{Adapter, Auth, HttpTarget, KeyLocation, OAuth2, TargetConfig};
use mcpaql_core::facts::{self, Declared, Effect, Facts, Guard, Reach, Repeat};
use mcpaql_core::lifecycle::Lifecycle;
use mcpaql_core::naming::title_of;
use mcpaql_core::operation::{
    Binding, BodyForm, Category, Danger, Example, HttpBinding, Operation, PageKind, Pagination, Param,
    ParamLocation, ParamStyle, Returns, Segment, StyleForm,
};
use mcpaql_core::policy::HintOverrides;
use mcpaql_document::load::{SCHEMA_KEYS, guard_of};
use serde_json::{Value, json};

fn path(text: &str) -> Vec<Segment> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap();
        pieces.extend([Segment::Literal(literal.into()), Segment::Param(name.into())]);
        rest = after;
    }
    pieces.extend((!rest.is_empty()).then(|| Segment::Literal(rest.into())));
    pieces
}

/// Returns an operation for a request such as `GET /pets/{id}`, with default values.
fn operation(name: &str, category: Category, maps_to: &str, params: Vec<Param>) -> Operation {
    let (method, path_text) = maps_to.split_once(' ').unwrap();
    let binding = Binding::Http(HttpBinding::new(method, path(path_text)));
    let danger = facts::danger_of(name, category);
    let facts = facts::infer(&Declared {
        category,
        effect: None,
        idempotent: None,
        danger,
        guard: guard_of(&params),
        reach: Reach::Open,
        binding: &binding,
    });
    Operation { title: title_of(name), danger, params, ..Operation::new(name, category, facts, binding) }
}

fn http(operation: &mut Operation) -> &mut HttpBinding {
    match &mut operation.binding {
        Binding::Http(http) => http,
        other => panic!("{other:?}"),
    }
}

fn param(name: &str, place: ParamLocation, schema: Value, description: &str) -> Param {
    Param {
        description: description.into(),
        required: place == ParamLocation::Path,
        ..Param::new(name, place, schema)
    }
}

fn id() -> Param {
    param("pet_id", ParamLocation::Path, json!({"type": "integer", "minimum": 1}), "Which pet")
}

fn types() -> IndexMap<String, Value> {
    IndexMap::from_iter([
        (
            "Pet".to_owned(),
            json!({
                "properties": {
                    "id": {"format": "int64", "type": "integer"},
                    "name": {"type": "string"},
                    "born": {"type": ["string", "null"], "format": "date"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "friends": {"type": "array", "items": {"$ref": "#/types/Pet"}, "maxItems": 10},
                    "owner": {"$ref": "#/types/Owner"},
                    "no": {"description": "Number of the collar", "type": "string"},
                    "extra": {}
                },
                "required": ["id", "name"],
                "type": "object"
            }),
        ),
        ("Owner".to_owned(), json!({"type": "object", "additionalProperties": {"type": "string"}})),
    ])
}

fn pet_store() -> Adapter {
    let mut list = operation(
        "list_pets",
        Category::Read,
        "GET /pets",
        vec![
            param(
                "page_size",
                ParamLocation::Query,
                json!({"type": "integer", "minimum": 1, "maximum": 100}),
                "Pets per page",
            ),
            Param {
                style: ParamStyle { form: StyleForm::Form, explode: false, reserved: false },
                ..param(
                    "status",
                    ParamLocation::Query,
                    json!({"type": "array", "items": {"type": "string", "enum": ["yes", "no", "sold"]}}),
                    "",
                )
            },
            Param {
                wire: "X-Trace".into(),
                ..param("trace", ParamLocation::Header, json!({"type": "string"}), "")
            },
            param("after", ParamLocation::Query, json!({"type": "string"}), ""),
        ],
    );
    list.params[0].default = Some(json!(20));
    list.description =
        "The pets of the store, newest first. Pets that were sold are among them unless the status says \
                        otherwise, because people ask for them by name years later."
            .into();
    list.tags = vec!["pets".into()];
    list.returns = Some(Returns {
        schema: json!({"type": "array", "items": {"$ref": "#/types/Pet"}}),
        description: String::new(),
    });
    let mut get = operation("get_pet", Category::Read, "GET /pets/{pet_id}", vec![id()]);
    get.returns =
        Some(Returns { schema: json!({"$ref": "#/types/Pet"}), description: "The pet as it is now.".into() });
    get.examples = vec![Example {
        description: "The first one".into(),
        params: json!({"pet_id": 1}).as_object().unwrap().clone(),
    }];
    let mut create = operation(
        "create_pet",
        Category::Create,
        "POST /pets",
        vec![
            Param {
                required: true,
                ..param(
                    "name",
                    ParamLocation::Body,
                    json!({"type": "string", "minLength": 1, "pattern": "^\\w+$"}),
                    "Its name: short",
                )
            },
            Param {
                required: true,
                ..param(
                    "home",
                    ParamLocation::Body,
                    json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}),
                    "Where it lives",
                )
            },
            Param {
                sensitive: true,
                default: Some(json!("hunter2")),
                ..param("pin", ParamLocation::Body, json!({"type": "string"}), "")
            },
        ],
    );
    create.title = "Add a Pet".into();
    create.description = "Adds a pet.\n\nIts name must be free:\n\n    GET /pets?name=…".into();
    let mut replace = operation("replace_pet", Category::Update, "PUT /pets/{pet_id}", vec![id()]);
    replace.facts.repeat = Repeat::Accumulates;
    replace.deprecated = Some("use update_pet".into());
    let mut release = operation("release_pet", Category::Delete, "POST /pets/{pet_id}/release", vec![id()]);
    release.facts = Facts { effect: Effect::Unlink, ..release.facts };
    release.danger = Danger::Reversible;
    release.hints = HintOverrides { idempotent: Some(true), ..HintOverrides::default() };
    let mut adapter = adapter(vec![release, get, list, create, replace], types());
    adapter.auth = Auth::ApiKey {
        key_env: "PET_KEY".into(),
        location: KeyLocation::Query("key".into()),
        prefix: String::new(),
    };
    adapter.target = TargetConfig::Http(HttpTarget {
        headers: IndexMap::from_iter([("X-Tenant".to_owned(), "${env:PET_TENANT:-main}".to_owned())]),
        timeout_ms: 30_500,
        ..http_target()
    });
    adapter
}

#[test]
fn a_document_reads_well() {
    insta::assert_snapshot!(write(&pet_store()));
}

#[test]
fn a_document_loads_as_the_same_adapter() {
    let mut adapter = pet_store();
    let again = read(&write(&adapter));
    assert_eq!(write(&again), write(&adapter));
    adapter.operations[3].params[2].default = None;
    adapter.operations[0].facts.reversible = true;
    assert_eq!(seen(again), seen(in_order(&adapter)));
}

#[test]
fn the_order_of_the_source_makes_no_difference() {
    let adapter = pet_store();
    let mut turned = adapter.clone();
    turned.operations.reverse();
    turned.types.reverse();
    assert_eq!(write(&turned), write(&adapter));
}

#[test]
fn a_new_operation_adds_lines_and_moves_none() {
    let adapter = pet_store();
    let mut grown = adapter.clone();
    grown.operations.insert(
        0,
        operation(
            "get_owner",
            Category::Read,
            "GET /owners/{id}",
            vec![param("id", ParamLocation::Path, json!({"type": "string"}), "")],
        ),
    );
    let (before, after) = (write(&adapter), write(&grown));
    let mut left = after.lines();
    let counts = ["5 operations:", "- 2 read"];
    for line in before.lines().filter(|line| !counts.contains(line)) {
        assert!(left.any(|other| other == line), "{line}");
    }
}

#[test]
fn a_renamed_operation_keeps_its_position() {
    let mut adapter = pet_store();
    let before = write(&adapter);
    let list = adapter.operations.iter_mut().find(|operation| operation.name == "list_pets").unwrap();
    list.name = "all_pets".into();
    list.title = "All Pets".into();
    assert_eq!(write(&adapter), before.replace("name: list_pets", "name: all_pets"));
}

#[test]
fn no_value_of_a_secret_is_written() {
    let secret = |name: &str, schema: Value| Param {
        sensitive: true,
        default: Some(json!("hunter2")),
        ..param(name, ParamLocation::Body, schema, "")
    };
    let mut login = operation(
        "log_in",
        Category::Execute,
        "POST /login",
        vec![
            Param {
                required: true,
                ..secret("password", json!({"type": "string", "example": "hunter2", "examples": ["hunter2"]}))
            },
            secret("pin", json!({"type": "string"})),
            param(
                "inner",
                ParamLocation::Body,
                json!({"type": "object", "properties": {"p": {"type": "string", "format": "password", "default": "hunter2", "example": "hunter2"}}}),
                "",
            ),
            Param {
                default: Some(json!("hunter2")),
                ..param("word", ParamLocation::Body, json!({"type": "string", "format": "password"}), "")
            },
            param("user", ParamLocation::Body, json!({"type": "string"}), ""),
        ],
    );
    let example =
        |params: Value| Example { description: String::new(), params: params.as_object().unwrap().clone() };
    login.examples = vec![
        example(json!({"password": "hunter2", "user": "anna"})),
        example(json!({"pin": "hunter2", "user": "bert"})),
    ];
    let written = write(&adapter(vec![login], IndexMap::new()));
    assert!(!written.contains("hunter2"), "{written}");
    assert!(!written.contains("anna"), "an example without its password is incomplete");
    assert!(written.contains("params: { user: bert }"), "{written}");
}

#[test]
fn a_text_that_looks_like_a_credential_is_masked() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let mut get = operation(
        "get_pet",
        Category::Read,
        "GET /pets/{pet_id}",
        vec![
            id(),
            param("path", ParamLocation::Query, json!({"type": "string", "example": "/a?token=abcdef"}), ""),
        ],
    );
    get.description = format!("Send `Authorization: Bearer {token}` or use https://user:pass@example.com/.");
    get.params[0].schema["examples"] = json!([token]);
    let mut adapter = adapter(
        vec![get],
        IndexMap::from_iter([("Token".to_owned(), json!({"type": "string", "example": token}))]),
    );
    adapter.description = format!("Try {token} first.");
    let written = write(&adapter);
    assert!(!written.contains(&token) && !written.contains("user:pass"), "{written}");
    read(&written);
}

#[test]
fn the_source_is_named_without_credentials_and_folders() {
    let line = |source: &str| {
        let provenance = Provenance { source: source.into(), ..Provenance::default() };
        let written = markdown(&adapter(Vec::new(), IndexMap::new()), &provenance);
        written.lines().find(|line| line.starts_with("Imported")).unwrap().to_owned()
    };
    assert_eq!(
        line("https://me:secret@example.com/a/api.json?token=secret#x"),
        "Imported from `https://example.com/a/api.json`."
    );
    assert_eq!(line("https://example.com?token=secret"), "Imported from `https://example.com`.");
    assert_eq!(line("/home/me/apis/pets.yaml"), "Imported from `pets.yaml`.");
    assert_eq!(line("C:\\apis\\pets.yaml"), "Imported from `pets.yaml`.");
}

#[test]
fn keywords_that_documents_do_not_know_are_left_out() {
    let schema = json!({"type": "object", "xml": {"name": "p"}, "patternProperties": {}, "required": true, "allOf": {}, "properties": {
        "a": {"type": "array", "items": {"type": "string", "xml": {}}}
    }});
    let pet = operation(
        "add_pet",
        Category::Create,
        "POST /pets",
        vec![param("pet", ParamLocation::Body, schema, "")],
    );
    let written = write(&adapter(vec![pet], IndexMap::new()));
    assert!(written.contains("a: string[]\n"), "{written}");
    assert_eq!(write(&read(&written)), written);
}

#[test]
fn every_keyword_of_documents_has_a_position() {
    let mut known: Vec<&str> = SCHEMA_KEYS.iter().copied().filter(|key| *key != "ref").collect();
    let mut ordered = ORDER.to_vec();
    known.sort_unstable();
    ordered.sort_unstable();
    assert_eq!(ordered, known);
}

#[test]
fn a_placeholder_is_a_name_before_it_is_a_wire_name() {
    let body = Param {
        wire: "pet_id".into(),
        ..param("new_pet_id", ParamLocation::Body, json!({"type": "integer"}), "")
    };
    let update = operation("renumber_pet", Category::Update, "PUT /pets/{pet_id}", vec![body, id()]);
    let adapter = adapter(vec![update], IndexMap::new());
    assert_eq!(seen(read(&write(&adapter))), seen(adapter));
}

#[test]
fn repeats_that_a_document_cannot_express_are_written_as_not_idempotent() {
    let mut put = operation("set_pet", Category::Update, "PUT /pets/{pet_id}", vec![id()]);
    put.facts = Facts { repeat: Repeat::Unknown, guard: Guard::None, ..put.facts };
    let again = read(&write(&adapter(vec![put], IndexMap::new())));
    assert_eq!(again.operations[0].facts.repeat, Repeat::Accumulates);
}

#[test]
fn an_adapter_without_operations_is_a_document() {
    assert!(read(&write(&adapter(Vec::new(), IndexMap::new()))).operations.is_empty());
}

/// Returns an adapter with features that only imported descriptions have.
fn imported() -> Adapter {
    let style = |form, explode, reserved| ParamStyle { form, explode, reserved };
    let mut upload = operation(
        "upload_photo",
        Category::Create,
        "POST /pets/{pet_id}/photos",
        vec![
            Param {
                style: style(StyleForm::Matrix, true, false),
                from: vec!["list_pets".into()],
                wire: "petId".into(),
                ..id()
            },
            param("session", ParamLocation::Cookie, json!({"type": "string"}), ""),
            Param {
                required: true,
                ..param(
                    "photo",
                    ParamLocation::Body,
                    json!({"type": "string", "format": "byte"}),
                    "The photo",
                )
            },
        ],
    );
    upload.source_id = Some("Photos/Upload".into());
    *http(&mut upload) = HttpBinding {
        body: BodyForm::Multipart,
        base_url: Some("https://upload.example.com".into()),
        auth: Some(Auth::None),
        ..http(&mut upload).clone()
    };
    let mut list = operation(
        "list_pets",
        Category::Read,
        "GET /pets",
        vec![
            Param {
                style: style(StyleForm::Json, false, false),
                ..param("filter", ParamLocation::Query, json!({"type": "object"}), "")
            },
            Param {
                style: style(StyleForm::Form, true, true),
                ..param("under", ParamLocation::Query, json!({"type": "string"}), "")
            },
            param("cursor", ParamLocation::Query, json!({"type": "string"}), ""),
            param("limit", ParamLocation::Query, json!({"type": "integer"}), ""),
        ],
    );
    list.source_id = Some("listPets".into());
    list.pagination = Some(Pagination {
        kind: PageKind::Cursor,
        at: Some("cursor".into()),
        size: Some("limit".into()),
        next: Some("meta.next".into()),
        items: Some("data".into()),
    });
    let label = Param { style: style(StyleForm::Label, false, false), ..id() };
    let mut patch = operation(
        "patch_pet",
        Category::Update,
        "PATCH /pets/{pet_id}",
        vec![label, param("changes", ParamLocation::Body, json!({"type": "object"}), "")],
    );
    http(&mut patch).content_type = Some("application/merge-patch+json".into());
    http(&mut patch).body_param = Some("changes".into());
    let key = |name: &str| Auth::ApiKey {
        key_env: name.into(),
        location: KeyLocation::Header("X-API-Key".into()),
        prefix: String::new(),
    };
    http(&mut patch).auth = Some(key("PATCH_KEY"));
    let mut note = operation(
        "send_note",
        Category::Execute,
        "POST /note",
        vec![param("note", ParamLocation::Body, json!({"type": "string"}), "")],
    );
    note.lifecycle = Some(Lifecycle { survives: true, keep_seconds: 60, timeout_ms: Some(2500) });
    http(&mut note).body = BodyForm::Text;
    http(&mut note).body_param = Some("note".into());
    let mut adapter = adapter(vec![upload, list, patch, note], IndexMap::new());
    let oauth = Auth::OAuth2(OAuth2 {
        token_url: "https://auth.example.com/token".into(),
        client_id_env: "PET_CLIENT_ID".into(),
        client_secret_env: Some("PET_CLIENT_SECRET".into()),
        refresh_token_env: None,
        scopes: vec!["pets:read".into(), "pets:write".into()],
    });
    adapter.auth = Auth::Any(vec![
        oauth,
        Auth::All(vec![
            key("KEY_A"),
            Auth::Basic { username_env: "PET_USER".into(), password_env: "PET_PASSWORD".into() },
        ]),
    ]);
    adapter.target = TargetConfig::Http(HttpTarget {
        base_url: "https://${env:PET_REGION:-eu}.example.com/v1".into(),
        ..http_target()
    });
    adapter
}

#[test]
fn features_of_imported_adapters_are_written() {
    insta::assert_snapshot!(write(&imported()));
}

#[test]
fn features_of_imported_adapters_load_unchanged() {
    let adapter = imported();
    let written = write(&adapter);
    let again = read(&written);
    let (left, right) = (again.clone(), in_order(&adapter));
    for (left, right) in left.operations.iter().zip(&right.operations) {
        assert_eq!(left.source_id, right.source_id);
        assert_eq!(left.pagination, right.pagination);
        assert_eq!(left.lifecycle, right.lifecycle);
        assert_eq!(left.params, right.params);
    }
    assert_eq!(seen(left), seen(right));
    assert_eq!(write(&again), written);
}

#[test]
fn mcp_servers_and_several_targets_load_unchanged() {
    for target in [
        "target: {transport: mcp, command: [npx, -y, server], cwd: /srv, env: [TOKEN], set_env: {LEVEL: info}, start: eager, timeout: 5}\n\
         targets: {one: {description: The first}, two: {set_env: {LEVEL: debug}}}\ndefault_target: one",
        "target: {transport: mcp, url: 'https://mcp.example.com/mcp?v=1', headers: {X-Team: blue}}\nauth: {type: bearer, token_env: A}\n\
         targets: {one: {url: 'https://one.example.com/mcp'}, two: {auth: {type: none}}}",
        "target: {base_url: 'https://api.example.com'}\ntargets: {stage: {base_url: 'https://stage.example.com', headers: {X: y}}}",
        "target: {transport: native, protocol: command}\ntargets: {here: {cwd: /srv}, there: {env: [HOME]}}",
    ] {
        let text = format!(
            "---\nname: several\ntype: adapter\nversion: 1.0.0\ndescription: Several.\n{target}\noperations: {{read: []}}\n---\n"
        );
        let before = read(&text);
        let after = read(&write(&before));
        assert_eq!(after.target, before.target, "{text}");
        assert_eq!(after.targets, before.targets, "{}", write(&before));
        assert_eq!(after.default_target, before.default_target);
        assert_eq!(after.auth, before.auth);
    }
}
