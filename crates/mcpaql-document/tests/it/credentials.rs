//! A credential in a document is reported, and no output format shows it.

use crate::support::{Expected, HEAD, assert_says, check};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_document::render::DiagnosticFormat;
use mcpaql_document::source::Source;

const SECRET: &str = "hunter2hunter2hunter2";
const TOKEN: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

/// Returns the only diagnostic about a credential, and asserts that no output format shows the credential.
#[track_caller]
fn credential(text: &str, secret: &str) -> Diagnostic {
    let source = Source::new("a.yaml", text);
    let diagnostics = check(&source).diagnostics;
    for format in DiagnosticFormat::ALL {
        for color in [false, true] {
            let shown = format.render(&[(&source, &diagnostics)], color);
            assert!(!shown.contains(secret), "{format:?} shows it:\n{shown}");
        }
    }
    let mut found: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|diagnostic| diagnostic.code == Code::SchemaEmbeddedCredential)
        .collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

fn in_document(rest: &str) -> String {
    format!("{HEAD}{rest}operations: {{ read: [] }}\n")
}

#[test]
fn a_token_written_under_auth() {
    for secret in [SECRET, TOKEN] {
        let found = credential(&in_document(&format!("auth: {{ type: bearer, token: {secret} }}\n")), secret);
        assert_says(
            &found,
            &Expected {
                code: Code::SchemaEmbeddedCredential,
                place: "6:30",
                message: "Field 'auth.token' contains a credential",
                expected: Some("the name of an environment variable"),
                found: None,
                suggestion: Some("use `token_env: NAME_OF_A_VARIABLE` and revoke this credential"),
            },
        );
    }
}

#[test]
fn a_credential_where_the_name_of_a_variable_belongs() {
    let secret = "s3cr3t-with-hyphens";
    let found = credential(&in_document(&format!("auth: {{ type: bearer, token_env: {secret} }}\n")), secret);
    assert_eq!(found.suggestion.as_deref(), Some("write the name of the variable, such as `API_TOKEN`"));
}

#[test]
fn a_credential_in_a_header() {
    for name in ["Authorization", "X-API-Key", "Private-Token", "Cookie"] {
        let text = in_document("").replace("base_url", &format!("headers: {{ {name}: {SECRET} }}, base_url"));
        let found = credential(&text, SECRET);
        assert_eq!(found.pointer, format!("/target/headers/{name}"));
        assert_eq!(found.suggestion.as_deref(), Some("write `${env:NAME}` instead, or use `auth`"));
    }
}

#[test]
fn a_password_in_the_base_url() {
    let text = in_document("").replace("https://", &format!("https://ada:{SECRET}@"));
    let found = credential(&text, SECRET);
    assert_eq!(found.pointer, "/target/base_url");
    assert_eq!(
        found.suggestion.as_deref(),
        Some("remove the user and password and use `auth: { type: basic, … }`")
    );
}

#[test]
fn a_token_anywhere_is_recognised_by_its_pattern() {
    let places = [
        format!("display_name: {TOKEN}\n"),
        format!("tags: [a, {TOKEN}]\n"),
        format!("x-note: {{ deep: [{TOKEN}] }}\n"),
        // The value has another problem, too, and that diagnostic does not show it either.
        format!("mode: {TOKEN}\n"),
        format!("errors: {TOKEN}\n"),
        format!("profile: {TOKEN}\n"),
    ];
    for rest in places {
        let found = credential(&in_document(&rest), TOKEN);
        assert_eq!(
            found.suggestion.as_deref(),
            Some(
                "put it in an environment variable, write the name of the variable under `auth`, and revoke the credential"
            )
        );
    }
    let header = format!("headers: {{ X-Note: {TOKEN} }}, base_url");
    let found = credential(&(HEAD.replace("base_url", &header) + "operations: { read: [] }\n"), TOKEN);
    assert_eq!(
        found.suggestion.as_deref(),
        Some("move it to an environment variable and write `${env:NAME}` here; then revoke it")
    );
    let default = format!(
        "{HEAD}operations: {{ read: [{{ name: get_a, maps_to: GET /a, params: {{ a: {{ type: integer, default: {TOKEN} }} }} }}] }}\n"
    );
    credential(&default, TOKEN);
    let name = HEAD.replace("name: demo", &format!("name: {TOKEN}")) + "operations: { read: [] }\n";
    credential(&name, TOKEN);
}

#[test]
fn a_secret_in_set_env_of_a_command() {
    let text = format!(
        "name: demo\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\ntarget: {{ transport: native, protocol: command, set_env: {{ GH_TOKEN: {SECRET} }} }}\noperations: {{ read: [] }}\n"
    );
    assert_eq!(
        credential(&text, SECRET).suggestion.as_deref(),
        Some("list the variable under `env` instead")
    );
}

#[test]
fn names_of_variables_are_no_credentials() {
    let text = in_document("auth: { type: basic, username_env: USER_NAME, password_env: PASSWORD }\n")
        .replace("base_url", "headers: { Authorization: \"Bearer ${env:TOKEN}\" }, base_url");
    assert_eq!(check(&Source::new("a.yaml", text)).diagnostics, []);
}

#[test]
fn a_key_in_the_query_of_a_path() {
    for (query, shown) in [("api_key", "api_key"), ("key", "key"), ("q=1&access_token", "q, access_token")] {
        let text = format!(
            "{HEAD}operations:\n  read:\n    - {{ name: get_it, maps_to: \"GET /it?{query}={SECRET}\" }}\n"
        );
        let found = credential(&text, SECRET);
        let advice = "put it in an environment variable, write the name of the variable under `auth`, and revoke the credential";
        assert_eq!(found.suggestion.as_deref(), Some(advice));
        let all = check(&Source::new("a.yaml", text)).diagnostics;
        let message = format!("The path contains a query ({shown}), which belongs under params");
        assert!(all.iter().any(|found| found.message == message), "{all:#?}");
    }
}

#[test]
fn a_secret_as_the_default_of_a_sensitive_parameter() {
    for key in ["default", "api_default"] {
        let params = format!("params: {{ pin: {{ type: string, sensitive: true, {key}: {SECRET} }} }}");
        let text =
            format!("{HEAD}operations:\n  read:\n    - {{ name: get_it, maps_to: GET /it, {params} }}\n");
        assert_eq!(
            credential(&text, SECRET).message,
            format!("Field 'operations.read[0].params.pin.{key}' contains a credential")
        );
    }
}

#[test]
fn examples_of_a_sensitive_parameter_are_not_published() {
    let rest = format!(
        "operations:\n  read:\n    - name: get_it\n      maps_to: GET /it\n      params:\n        pin: {{ type: string, sensitive: true, required: true, examples: [{SECRET}] }}\n      examples: [{{ params: {{ pin: {SECRET} }} }}]\n"
    );
    let catalog = crate::support::catalog(&rest);
    let shown = format!("{:?}{}", catalog.tools, crate::support::details(&catalog, "get_it"));
    assert!(!shown.contains(SECRET), "{shown}");
}
