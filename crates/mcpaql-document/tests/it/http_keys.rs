//! The keys of HTTP requests: bodies, styles, cookies, pages, credentials, URLs.

use crate::support::{Expected, HEAD, assert_one, check, document, problems};
use mcpaql_core::adapter::{Adapter, Auth, KeyLocation, OAuth2, TargetConfig};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::operation::{
    Binding, BodyForm, HttpBinding, Operation, PageKind, Pagination, ParamLocation, StyleForm,
};
use mcpaql_document::load;
use mcpaql_document::source::Source;

/// Returns the adapter of a text, and asserts that the text has no problems.
fn adapter(source: &Source) -> Adapter {
    let loaded = load::load(&source.parse().expect("a document").value);
    assert_eq!(loaded.diagnostics, [], "{}", source.text);
    loaded.adapter.expect("an adapter")
}

fn one(text: &str) -> Operation {
    let source = document(&format!("operations:\n  create:\n    - {{ name: send_it, {text} }}\n"));
    adapter(&source).operations.remove(0)
}

fn http(operation: &Operation) -> &HttpBinding {
    match &operation.binding {
        Binding::Http(binding) => binding,
        other => panic!("{other:?}"),
    }
}

fn wrong(text: &str, expected: &Expected<'_>) {
    assert_one(&problems(&format!("operations:\n  create:\n    - {{ name: send_it, {text} }}\n")), expected);
}

fn auth_of(text: &str) -> Auth {
    adapter(&document(&format!("auth: {text}\noperations: {{ read: [] }}\n"))).auth
}

fn auth_problem(text: &str) -> (Code, String, Severity) {
    let found = problems(&format!("auth: {text}\noperations: {{ read: [] }}\n"));
    assert_eq!(found.len(), 1, "{found:#?}");
    (found[0].code, format!("{} {}", found[0].pointer, found[0].message), found[0].severity)
}

#[test]
fn an_idempotency_header_is_that_of_the_operation_or_of_the_target() {
    let text = "name: api\ntype: adapter\nversion: \"1.0.0\"\ndescription: A\ntarget: { base_url: \"https://a.example\", idempotency_header: X-Key }\n\
                operations:\n  create:\n    - { name: create_a, maps_to: POST /a }\n    \
                - { name: create_b, maps_to: POST /b, idempotency_header: Idempotency-Key }\n  \
                read:\n    - { name: get_a, maps_to: GET /a }\n";
    let adapter = adapter(&Source::new("a.yaml", text));
    let headers: Vec<_> = adapter.operations.iter().map(Operation::idempotency_header).collect();
    assert_eq!(headers, [Some("X-Key"), Some("Idempotency-Key"), None]);
    for (name, code) in [
        ("two words", Code::SchemaInvalidName),
        ("Authorization", Code::SchemaInvalidValue),
        ("Content-Length", Code::SchemaInvalidValue),
        ("Content-Type", Code::SchemaInvalidValue),
    ] {
        let found = problems(&format!(
            "operations:\n  create:\n    - {{ name: send_it, maps_to: POST /a, idempotency_header: {name} }}\n"
        ));
        assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), [code], "{name}");
    }
}

#[test]
fn every_form_of_body_and_its_media_type() {
    for (word, form) in [
        ("json", BodyForm::Json),
        ("form", BodyForm::Form),
        ("multipart", BodyForm::Multipart),
        ("text", BodyForm::Text),
        ("binary", BodyForm::Binary),
    ] {
        let operation = one(&format!("maps_to: POST /a, body: {word}, params: {{ data: string }}"));
        assert_eq!(http(&operation).body, form);
        let whole = matches!(form, BodyForm::Text | BodyForm::Binary);
        assert_eq!(http(&operation).body_param.as_deref(), whole.then_some("data"), "{word}");
    }
    let own = one("maps_to: POST /a, content_type: application/vnd.api+json, params: { data: string }");
    assert_eq!(http(&own).content_type.as_deref(), Some("application/vnd.api+json"));
    let nested =
        one("http: { method: POST, path: /a, body: text, content_type: text/csv }, params: { data: string }");
    assert_eq!(
        (http(&nested).body, http(&nested).content_type.as_deref()),
        (BodyForm::Text, Some("text/csv"))
    );
}

#[test]
fn a_text_body_with_several_parameters_needs_body_param() {
    wrong(
        "maps_to: POST /a, body: binary, params: { a: string, b: string }",
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "8:48",
            message: "A binary body is one parameter, but the operation has several: a, b",
            expected: None,
            found: None,
            suggestion: Some("choose one with `body_param`, and give the others another `in`"),
        },
    );
    let named = one(
        "maps_to: POST /a, body: binary, body_param: b, params: { a: { type: string, in: query }, b: string }",
    );
    assert_eq!(http(&named).body_param.as_deref(), Some("b"));
}

#[test]
fn a_media_type_that_does_not_match_the_body() {
    for (text, place, expected, suggestion) in [
        ("content_type: json", "8:68", "a media type such as application/vnd.api+json", None),
        ("content_type: multipart/mixed", "8:68", "another media type", Some("write `body: multipart`")),
    ] {
        let found = text.strip_prefix("content_type: ").unwrap();
        wrong(
            &format!("maps_to: POST /a, params: {{}}, {text}"),
            &Expected {
                code: Code::SchemaInvalidValue,
                place,
                message: &format!("'{found}' is not a valid media type for this body"),
                expected: Some(expected),
                found: Some(found),
                suggestion,
            },
        );
    }
}

#[test]
fn every_style_and_location_is_read() {
    let operation = one("maps_to: \"POST /a/{l}/{m}/{j}/{s}\", params: { \
         l: { type: array, style: label, required: true }, \
         m: { type: array, style: matrix, explode: true, required: true }, \
         j: { type: object, style: json, required: true }, \
         s: { type: string, style: segments, required: true }, \
         c: { type: string, in: cookie, as: Theme }, \
         q: { type: string, in: query, allow_reserved: true } }");
    let styles: Vec<_> = operation
        .params
        .iter()
        .map(|param| (param.location, param.style.form, param.style.explode, param.style.reserved))
        .collect();
    assert_eq!(
        styles,
        [
            (ParamLocation::Path, StyleForm::Label, false, false),
            (ParamLocation::Path, StyleForm::Matrix, true, false),
            (ParamLocation::Path, StyleForm::Json, false, false),
            (ParamLocation::Path, StyleForm::Segments, false, false),
            (ParamLocation::Cookie, StyleForm::Form, true, false),
            (ParamLocation::Query, StyleForm::Form, true, true),
        ]
    );
    assert_eq!(operation.params[4].wire, "Theme");
}

#[test]
fn a_style_that_does_not_match_its_location_is_a_warning() {
    let found = problems(
        "operations:\n  read:\n    - { name: get_it, maps_to: GET /a, params: { q: { type: array, style: matrix } } }\n",
    );
    assert_eq!((found.len(), found[0].severity), (1, Severity::Warning), "{found:#?}");
    assert_eq!(found[0].message, "Parameter 'q' cannot have the style 'matrix' in this location");
}

#[test]
fn methods_of_webdav_carry_their_parameters_in_the_body() {
    for method in ["PROPFIND", "proppatch", "REPORT", "SEARCH", "MKCOL", "MKCALENDAR", "COPY", "MOVE"] {
        let operation = one(&format!("maps_to: {method} /a, body: text, params: {{ data: string }}"));
        assert_eq!(http(&operation).method, method.to_uppercase());
        assert_eq!(operation.params[0].location, ParamLocation::Body);
    }
}

#[test]
fn a_cookie_needs_a_valid_name() {
    wrong(
        "maps_to: POST /a, params: { c: { type: string, in: cookie, as: 'a;b' } }",
        &Expected {
            code: Code::SchemaInvalidName,
            place: "8:87",
            message: "'a;b' is not a valid name of a cookie",
            expected: Some("letters, digits and hyphens, such as session_id"),
            found: Some("a;b"),
            suggestion: None,
        },
    );
}

#[test]
fn pages_and_the_original_name_are_kept() {
    let operation =
        one("maps_to: POST /a, source_id: things/list-all, params: { page: integer, per_page: integer }, \
         pagination: { kind: page, at: page, size: per_page, next: links.next, items: data.items }");
    assert_eq!(operation.source_id.as_deref(), Some("things/list-all"));
    let expected = Pagination {
        kind: PageKind::Page,
        at: Some("page".into()),
        size: Some("per_page".into()),
        next: Some("links.next".into()),
        items: Some("data.items".into()),
    };
    assert_eq!(operation.pagination, Some(expected));
}

#[test]
fn pages_by_an_unknown_parameter() {
    wrong(
        "maps_to: POST /a, params: { page: integer }, pagination: { kind: page, at: pages }",
        &Expected {
            code: Code::SchemaUnresolvedRef,
            place: "8:99",
            message: "'pages' is not a declared parameter",
            expected: Some("a parameter under params"),
            found: Some("pages"),
            suggestion: Some("did you mean `page`?"),
        },
    );
    wrong(
        "maps_to: POST /a, pagination: { kind: pages }",
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "8:62",
            message: "Field 'operations.create[0].pagination.kind' has the unknown value 'pages'",
            expected: Some("one of link, page, cursor, offset"),
            found: Some("pages"),
            suggestion: Some("did you mean `page`?"),
        },
    );
}

#[test]
fn producers_that_do_not_exist_are_warned_about_and_left_out() {
    let text = "operations:\n  read:\n    - { name: list_people, maps_to: GET /people }\n    - { name: get_person, maps_to: \"GET /people/{id}\", \
                params: { id: { type: string, required: true, from: [list_people, list_peple] } } }\n";
    let found = problems(text);
    assert_eq!((found.len(), found[0].severity), (1, Severity::Warning), "{found:#?}");
    assert_eq!(found[0].message, "'list_peple' is not an operation of this document");
    assert_eq!(found[0].suggestion.as_deref(), Some("did you mean `list_people`?"));
    assert_eq!(found[0].pointer, "/operations/read/1/params/id/from");
    let adapter = adapter(&document(&text.replace(", list_peple", "")));
    assert_eq!(adapter.operations[1].params[0].from, ["list_people"]);
}

#[test]
fn every_way_of_authentication() {
    assert_eq!(
        auth_of("{ type: api_key, key_env: KEY, cookie: sid }"),
        Auth::ApiKey {
            key_env: "KEY".into(),
            location: KeyLocation::Cookie("sid".into()),
            prefix: String::new()
        }
    );
    let oauth = OAuth2 {
        token_url: "https://login.example.com/${env:TENANT:-common}/token".into(),
        client_id_env: "ID".into(),
        client_secret_env: Some("SECRET".into()),
        refresh_token_env: None,
        scopes: vec!["read".into(), "write".into()],
    };
    let keys = "token_url: \"https://login.example.com/${env:TENANT:-common}/token\", client_id_env: ID, \
                client_secret_env: SECRET, scopes: [read, write]";
    assert_eq!(auth_of(&format!("{{ type: oauth2, {keys} }}")), Auth::OAuth2(oauth.clone()));
    assert_eq!(auth_of(&format!("{{ type: oauth2, config: {{ {keys} }} }}")), Auth::OAuth2(oauth.clone()));
    let bearer =
        Auth::Bearer { token_env: "T".into(), header: "Authorization".into(), prefix: "Bearer ".into() };
    let key = Auth::ApiKey {
        key_env: "K".into(),
        location: KeyLocation::Header("X-K".into()),
        prefix: String::new(),
    };
    assert_eq!(
        auth_of(
            "{ type: any, schemes: [{ type: all, schemes: [{ type: bearer, token_env: T }, { type: api_key, key_env: K, header: X-K }] }, { type: none }] }"
        ),
        Auth::Any(vec![Auth::All(vec![bearer.clone(), key]), Auth::None])
    );
    let operation = one("maps_to: POST /a, auth: { type: bearer, token_env: T }");
    assert_eq!(http(&operation).auth, Some(bearer));
    assert_eq!(http(&one("maps_to: POST /a, auth: { type: none }")).auth, Some(Auth::None));
    assert_eq!(http(&one("maps_to: POST /a")).auth, None);
}

#[test]
fn invalid_authentication_is_reported_with_the_reason() {
    let missing = auth_problem("{ type: oauth2, token_url: \"https://a.example/t\", client_id_env: ID }");
    assert_eq!(missing.0, Code::SchemaMissingField);
    assert!(missing.1.contains("needs a client secret, a refresh token, or both"), "{}", missing.1);
    let plain = auth_problem(
        "{ type: oauth2, token_url: \"http://a.example/t\", client_id_env: ID, refresh_token_env: R }",
    );
    assert!(plain.1.starts_with("/auth/token_url `token_url` uses http://"), "{}", plain.1);
    let written = auth_problem(
        "{ type: oauth2, token_url: \"https://a.example/t\", client_id_env: ID, refresh_token_env: R, client_secret: hunter22 }",
    );
    assert_eq!(written.0, Code::SchemaEmbeddedCredential);
    assert_eq!(auth_problem("{ type: any }").0, Code::SchemaMissingField);
    assert_eq!(auth_problem("{ type: all, schemes: [] }").0, Code::SchemaInvalidValue);
    let inner = auth_problem("{ type: any, schemes: [{ type: none }, { type: bearr, token_env: T }] }");
    assert!(inner.1.starts_with("/auth/schemes/1/type"), "{}", inner.1);
    let both = auth_problem(
        "{ type: all, schemes: [{ type: bearer, token_env: T }, { type: basic, username_env: U, password_env: P }] }",
    );
    assert_eq!((both.0, both.2), (Code::SchemaInvalidValue, Severity::Warning));
    assert!(both.1.contains("both write the header 'authorization'"), "{}", both.1);
}

fn with_base(base_url: &str, rest: &str) -> Source {
    let head = HEAD.replace("https://api.example.com", base_url);
    Source::new("demo-adapter.yaml", format!("{head}{rest}operations: {{ read: [] }}\n"))
}

fn base_of(adapter: &Adapter) -> &str {
    match &adapter.target {
        TargetConfig::Http(target) => &target.base_url,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_url_may_contain_variables() {
    for base_url in [
        "${env:API_URL}",
        "${env:API_URL:-https://api.example.com/v1}",
        "https://${env:REGION:-eu}.example.com/${env:VERSION}",
        "http://${env:HOST}:8080",
        "http://${env:HOST:-localhost}:8080",
    ] {
        let source = with_base(base_url, "");
        assert_eq!(base_of(&adapter(&source)), base_url);
    }
    let operation = one("maps_to: POST /a, base_url: \"https://uploads.${env:REGION:-eu}.example.com\"");
    assert_eq!(http(&operation).base_url.as_deref(), Some("https://uploads.${env:REGION:-eu}.example.com"));
}

#[test]
fn an_invalid_url_is_reported_with_the_reason() {
    for (base_url, message) in [
        ("${API_URL}", "`base_url` contains an invalid variable"),
        ("https://${env:1}", "`base_url` contains an invalid variable"),
        ("https://${env:A", "`base_url` contains an invalid variable"),
        ("${env:A:-api.example.com}", "`base_url` is not a URL"),
        (
            "${env:A:-http://api.example.com}",
            "`base_url` uses http://, which is allowed only for this machine",
        ),
        ("https://{region}.example.com", "`base_url` must be a scheme, a host and an optional path"),
        ("https://a.example/b\\tc", "`base_url` contains a control character; remove it"),
        (
            "https://a.example\\\\b",
            "`base_url` contains a backslash; write `/`, or `%5C` for the character itself",
        ),
        (
            "https://a.example/b/../c",
            "`base_url` contains `.` or `..` as a segment; write the path without it",
        ),
        ("${env:A}/%2E%2e", "`base_url` contains `.` or `..` as a segment; write the path without it"),
        (
            "${env:A:-https://b.example/.}",
            "`base_url` contains `.` or `..` as a segment; write the path without it",
        ),
    ] {
        let found = crate::support::check(&with_base(base_url, "")).diagnostics;
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].message, message, "{base_url}");
    }
    wrong(
        "maps_to: POST /a, base_url: uploads.example.com",
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "8:52",
            message: "`base_url` is not a URL",
            expected: Some("https://host/optional/path"),
            found: None,
            suggestion: Some("start it with https://"),
        },
    );
}

#[test]
fn a_target_that_the_server_cannot_open_is_reported_with_its_location() {
    let rest =
        "version: \"1.0.0\"\nname: demo\ntype: adapter\ndescription: A demo\noperations: { read: [] }\n";
    let http = "base_url: \"https://api.example.com\"";
    for (target, pointer) in [
        (format!("{{ {http}, headers: {{ X-Open: \"a ${{env:A\" }} }}"), "/target/headers/X-Open"),
        (format!("{{ {http}, headers: {{ X-Other: \"${{A}}\" }} }}"), "/target/headers/X-Other"),
        (format!("{{ {http}, headers: {{ \"X Y\": a }} }}"), "/target/headers/X Y"),
        (format!("{{ {http}, headers: {{ Host: a }} }}"), "/target/headers/Host"),
        (format!("{{ {http}, headers: {{ X-Line: \"a\\nb\" }} }}"), "/target/headers/X-Line"),
        ("{ base_url: \"https://api.example.com:99999\" }".to_owned(), "/target/base_url"),
        ("{ base_url: \"https://a|b\" }".to_owned(), "/target/base_url"),
        ("{ transport: native, protocol: command, cwd: \"${env:A\" }".to_owned(), "/target/cwd"),
        ("{ transport: native, protocol: command, cwd: \"a\\0\" }".to_owned(), "/target/cwd"),
        ("{ transport: native, protocol: command, env: [A, A=B] }".to_owned(), "/target/env/1"),
        ("{ transport: native, protocol: command, env: A=B }".to_owned(), "/target/env"),
        ("{ transport: native, protocol: command, env: [\"\"] }".to_owned(), "/target/env/0"),
        ("{ transport: mcp, command: [run], env: [\"A\\0\"] }".to_owned(), "/target/env/0"),
        ("{ transport: mcp, command: [\" \"] }".to_owned(), "/target/command"),
        ("{ transport: mcp, command: [run, \"a\\0b\"] }".to_owned(), "/target/command/1"),
        ("{ transport: mcp, url: \"https://a.example/b/../mcp\" }".to_owned(), "/target/url"),
        (
            "{ transport: native, protocol: command, set_env: { \"A=B\": x } }".to_owned(),
            "/target/set_env/A=B",
        ),
        ("{ transport: mcp, command: [run, \"${env:A\"] }".to_owned(), "/target/command/1"),
        ("{ transport: mcp, command: [run], set_env: { A: \"${B}\" } }".to_owned(), "/target/set_env/A"),
        (
            "{ transport: mcp, url: \"https://a.example/mcp\", headers: { X: \"${env:A\" } }".to_owned(),
            "/target/headers/X",
        ),
    ] {
        let found = check(&Source::new("demo-adapter.yaml", format!("target: {target}\n{rest}"))).diagnostics;
        let errors = found.iter().filter(|problem| problem.severity == Severity::Error);
        assert_eq!(
            errors.map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(),
            [pointer],
            "{found:#?}"
        );
    }
    let (code, problem, _) = auth_problem("{ type: api_key, key_env: KEY, header: \"X Key\" }");
    assert_eq!(code, Code::SchemaInvalidName);
    assert!(problem.starts_with("/auth/header "), "{problem}");
}

#[test]
fn credentials_that_cannot_be_sent_are_reported() {
    for (auth, expected) in [
        (
            "{ type: bearer, token_env: T, prefix: \"a\\nb\" }",
            "/auth/prefix The prefix contains a line break",
        ),
        ("{ type: api_key, key_env: K, prefix: \"a\\0\" }", "/auth/prefix The prefix contains a line break"),
        (
            "{ type: bearer, token_env: T, header_name: Host }",
            "/auth/header_name The header 'Host' belongs to",
        ),
        (
            "{ type: api_key, key_env: K, header: content-length }",
            "/auth/header The header 'content-length' belongs to",
        ),
        (
            "{ type: api_key, key_env: K, header_name: Transfer-Encoding }",
            "/auth/header_name The header 'Transfer-Encoding' belongs to",
        ),
        (
            "{ type: api_key, key_env: K, query_name: \"\" }",
            "/auth/query_name The name of the query parameter is empty",
        ),
        (
            "{ type: api_key, key_env: K, query: \"\" }",
            "/auth/query The name of the query parameter is empty",
        ),
        (
            "{ type: api_key, key_env: K, cookie_name: \"\" }",
            "/auth/cookie_name '' is not a valid name of a cookie",
        ),
        (
            "{ type: oauth2, token_url: \"https://a.example/../t\", client_id_env: A, client_secret_env: B }",
            "/auth/token_url `token_url` contains `.` or `..` as a segment",
        ),
    ] {
        let (_, problem, _) = auth_problem(auth);
        assert!(problem.starts_with(expected), "{auth}: {problem}");
    }
    for auth in [
        "{ type: bearer, token_env: T, prefix: \"\" }",
        "{ type: api_key, key_env: K, prefix: \"Token\\t\", header_name: X-Host }",
        "{ type: api_key, key_env: K, query_name: \"key[a]\" }",
    ] {
        let found = problems(&format!("auth: {auth}\noperations: {{ read: [] }}\n"));
        assert_eq!(found, [], "{auth}");
    }
}

#[test]
fn a_path_is_sent_as_it_is_written() {
    let id = "params: { p: { type: string, required: true } }";
    for (path, message) in [
        ("GET /a/{p", "A '{' is never closed"),
        ("GET /a/p}", "A '}' is never opened"),
        ("GET /a}/{p}", "A '}' is never opened"),
        ("GET /{p}}", "A '}' is never opened"),
        ("GET /a/../{p}", "The path contains `.` or `..` as a segment; write the path without it"),
        ("GET /{p}/%2e", "The path contains `.` or `..` as a segment; write the path without it"),
        ("GET /a\\\\{p}", "The path contains a backslash; write `/`, or `%5C` for the character itself"),
        ("GET /{p}/\\x07", "The path contains a control character; remove it"),
    ] {
        let rest = format!("operations: {{ read: [{{ name: get_it, maps_to: \"{path}\", {id} }}] }}\n");
        let found = problems(&rest);
        assert_eq!(found.first().map(|one| one.message.as_str()), Some(message), "{path}: {found:#?}");
        assert_eq!(found[0].pointer, "/operations/read/0/maps_to", "{path}");
    }
    for path in ["GET /a/.{p}", "GET /v1.0/..a/{p}", "GET /a%7D/%5C/{p}"] {
        let rest = format!("operations: {{ read: [{{ name: get_it, maps_to: \"{path}\", {id} }}] }}\n");
        assert_eq!(problems(&rest), [], "{path}");
    }
}

#[test]
fn programs_get_arguments_that_the_system_can_pass_on() {
    let problems = |keys: &str| {
        let text = format!(
            "name: demo\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\n\
             target: {{ transport: native, protocol: command }}\n\
             operations: {{ read: [{{ name: show_it, params: {{ p: {{ type: string, as: q }} }}, {keys} }}] }}\n"
        );
        let found = check(&Source::new("demo.yaml", text)).diagnostics;
        let line = |one: &Diagnostic| {
            assert_eq!(one.span.unwrap().line, 6, "{one:#?}");
            format!("{} {}", one.pointer.trim_start_matches("/operations/read/0/"), one.message)
        };
        found.iter().map(line).collect::<Vec<_>>()
    };
    let nul = "The value contains a NUL character, which no program accepts";
    for (keys, expected) in [
        ("command: ['']", "command/0 The program must be a fixed name".to_owned()),
        ("command: [' ']", "command/0 The program must be a fixed name".to_owned()),
        ("command: [\"a\\0\"]", format!("command/0 {nul}")),
        ("command: [a, \"b\\0\"]", format!("command/1 {nul}")),
        ("command: [a, [b, \"{p}\\0\"]]", format!("command/1/1 {nul}")),
        ("command: [a], stdin: '{p'", "stdin Placeholder '{{p}' is not a declared parameter".to_owned()),
        ("command: [a], stdin: 'p}'", "stdin Placeholder '{p}}' is not a declared parameter".to_owned()),
        ("command: [a], exit: { 300: success }", "exit/300 '300' is not an exit status".to_owned()),
        ("command: [a], exit: { '-1': success }", "exit/-1 '-1' is not an exit status".to_owned()),
        ("command: [a], exit: { '01': success }", "exit/01 '01' is not an exit status".to_owned()),
        ("command: [a], exit: { 1: fine }", "exit/1 The meaning of exit status 1 is invalid".to_owned()),
    ] {
        assert_eq!(problems(keys), [expected], "{keys}");
    }
    // Programs use braces themselves, so only a whole placeholder is one.
    let fine = "command: [git, 'HEAD@{1}', '{', '{p', 'p}', ''], exit: { 0: success, 255: INTERNAL_ERROR }, stdin: '{q}'";
    assert_eq!(problems(fine), [""; 0]);
}
