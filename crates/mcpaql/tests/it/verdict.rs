//! `check`, `generate` and `serve` accept the same documents.

use crate::fixture::{RunOutput, TestFolder};

const HEAD: &str = "name: demo\ntype: adapter\nversion: '1.0.0'\ndescription: A demo\n";
const HTTP: &str = "{ base_url: 'https://api.example.com' }";

/// Returns a document; its `target` is line 5 and `more` starts in line 7.
fn document(target: &str, more: &str) -> String {
    format!(
        "{HEAD}target: {target}\n\
         operations: {{ read: [{{ name: get_thing, maps_to: GET /things, tool: get_thing, command: ['true'] }}] }}\n{more}\n"
    )
}

/// Runs `check`, `generate` and `serve`, and asserts that each reports exactly these lines.
async fn outcomes(text: &str, lines: &[usize]) -> [Option<i32>; 3] {
    let place = TestFolder::new();
    place.file("demo.yaml", text);
    let check = place.run(&["check", "demo.yaml"]).await;
    let generate = place.run(&["generate", "-s", "demo.yaml", "-t", "rust", "-o", "out"]).await;
    let serve = place.run(&["serve", "demo.yaml"]).await;
    for (command, ran) in [("check", &check), ("generate", &generate), ("serve", &serve)] {
        assert_eq!(reported_lines(ran), lines, "{command} {text}\n{}{}", ran.stdout, ran.stderr);
    }
    [check.status, generate.status, serve.status]
}

fn reported_lines(ran: &RunOutput) -> Vec<usize> {
    let places =
        ran.stdout.lines().chain(ran.stderr.lines()).filter_map(|line| line.split_once("--> demo.yaml:"));
    places.filter_map(|(_, place)| place.split(':').next()?.parse().ok()).collect()
}

#[tokio::test]
async fn an_error_outside_operations_is_rejected_by_every_command() {
    let command = |keys: &str| document(&format!("{{ transport: native, protocol: command, {keys} }}"), "");
    let server = |keys: &str| document(&format!("{{ transport: mcp, {keys} }}"), "");
    for (text, line) in [
        (document(HTTP, "targets: { a: { base_url: 'https://${' } }"), 7),
        (document("{ base_url: 'https://api.example.com', headers: { X: 1 } }", ""), 5),
        (document(HTTP, "auth: { type: bearer, token_env: sk-0123456789abcdefghijklmn }"), 7),
        (document(HTTP, "auth: { type: bearer, token_env: T, prefix: \"a\\nb\" }"), 7),
        (document(HTTP, "auth: { type: api_key, key_env: K, header_name: Content-Length }"), 7),
        (document(HTTP, "auth: { type: api_key, key_env: K, query_name: '' }"), 7),
        (document("{ base_url: 'https://api.example.com/a/../b' }", ""), 5),
        (document("{ base_url: \"https://api.example.com/\\a\" }", ""), 5),
        (command("env: [A=B]"), 5),
        (server("command: ['']"), 5),
        (server("command: [a, \"b\\0\"]"), 5),
        (document(HTTP, "polcy: mcp"), 7),
    ] {
        assert_eq!(outcomes(&text, &[line]).await, [Some(1), Some(2), Some(1)], "{text}");
    }
}

#[tokio::test]
async fn an_error_in_an_operation_removes_only_that_operation() {
    let operations = |target: &str, good: &str, bad: &str| {
        format!(
            "{HEAD}target: {target}\noperations:\n  read:\n    - {{ name: good, {good} }}\n    - {{ name: bad, {bad} }}\n"
        )
    };
    let http = |bad: &str| operations(HTTP, "maps_to: GET /a", bad);
    let command =
        |bad: &str| operations("{ transport: native, protocol: command }", "command: ['true']", bad);
    for text in [
        http("maps_to: 'GET /a/id}'"),
        http("maps_to: GET /a/../b"),
        http("maps_to: GET /a, auth: { type: bearer, token_env: T, header_name: Host }"),
        command("command: ['']"),
        command("command: [a, \"b\\0\"]"),
        command("command: [a], exit: { 300: success }"),
    ] {
        assert_eq!(outcomes(&text, &[9]).await, [Some(1), Some(2), Some(0)], "{text}");
    }
}

#[tokio::test]
async fn a_rejected_document_does_not_stop_the_others() {
    let place = TestFolder::new();
    place.file("good.yaml", &document(HTTP, "").replace("demo", "good"));
    place.file("demo.yaml", &document(HTTP, "auth: { type: bearer, token_env: A=B }"));
    place.file(
        "mcpaql.yaml",
        "adapters: [good.yaml, { document: good.yaml, name: other, targets: { a: { base_url: x } } }]\n",
    );
    place.trust();
    let both = place.run(&["serve", "good.yaml", "demo.yaml"]).await;
    assert_eq!((both.status, reported_lines(&both)), (Some(0), vec![7]), "{both:?}");
    assert!(both.stderr.contains("demo.yaml cannot be served"), "{both:?}");
    // Targets of the configuration belong to their entry.
    let configured = place.run(&["serve"]).await;
    assert_eq!(configured.status, Some(0), "{configured:?}");
    assert!(configured.stderr.contains("`base_url` is not a URL"), "{configured:?}");
    assert!(configured.stderr.contains("good.yaml cannot be served"), "{configured:?}");
}
