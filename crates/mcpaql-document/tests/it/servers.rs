//! MCP servers as targets: how they are reached, and which headers of callers are forwarded.

use mcpaql_core::adapter::{McpTarget, TargetConfig};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_document::check::{CheckOutput, check};
use mcpaql_document::config;
use mcpaql_document::source::Source;
use serde_json::json;

fn checked(target: &str, more: &str) -> CheckOutput {
    let document = format!(
        "
name: far
type: adapter
version: 1.0.0
description: A server far away.
target: {{transport: mcp, {target}}}
operations:
  execute:
    - name: run_job
      description: Runs a job.
{more}"
    );
    check(&Source::new("far.yaml", document), &AdapterSettings::default())
}

fn server(checked: CheckOutput) -> McpTarget {
    assert_eq!(checked.diagnostics, []);
    match checked.catalog.expect("a catalog").adapter.target.clone() {
        TargetConfig::Mcp(server) => server,
        other => panic!("{other:?}"),
    }
}

fn only(diagnostics: &[Diagnostic]) -> &Diagnostic {
    match diagnostics {
        [one] => one,
        several => panic!("{several:?}"),
    }
}

const URL: &str = "url: 'https://example.com/mcp'";

#[test]
fn caller_headers_are_a_list_or_one_name() {
    for (written, expected) in [
        ("[X-Github-Token, x-team]", &["X-Github-Token", "x-team"][..]),
        ("X-Github-Token", &["X-Github-Token"]),
        ("[]", &[]),
    ] {
        let server = server(checked(&format!("{URL}, caller_headers: {written}"), ""));
        assert_eq!(server.caller_headers, expected);
    }
}

#[test]
fn headers_about_the_request_are_not_forwarded() {
    for name in [
        "Host",
        "connection",
        "Transfer-Encoding",
        "Content-Type",
        "content-foo",
        "Accept",
        "Accept-Language",
        "Origin",
        "Cookie",
        "Mcp-Session-Id",
        "MCP-Protocol-Version",
        "Last-Event-ID",
        "Proxy-Authorization",
        "Sec-Fetch-Site",
        "X-Forwarded-For",
        "a b",
        "x:y",
        "",
        "ä",
    ] {
        let checked = checked(&format!("{URL}, caller_headers: [X-Fine, '{name}']"), "");
        let problem = only(&checked.diagnostics);
        assert_eq!(
            (problem.severity, problem.pointer.as_str()),
            (Severity::Error, "/target/caller_headers/1"),
            "{name}"
        );
    }
    let twice = checked(&format!("{URL}, caller_headers: [X-Fine, x-fine]"), "");
    assert!(only(&twice.diagnostics).message.contains("twice"));
}

#[test]
fn forwarding_authorization_is_a_warning() {
    let checked = checked(&format!("{URL}, caller_headers: [Authorization]"), "");
    let problem = only(&checked.diagnostics);
    assert_eq!(problem.severity, Severity::Warning);
    assert!(problem.message.contains("issued for the upstream server"), "{}", problem.message);
    assert!(checked.catalog.is_some());
}

#[test]
fn a_program_has_no_headers() {
    let alone = checked("command: [far], caller_headers: [X-Token]", "");
    assert!(only(&alone.diagnostics).message.contains("has no headers"));
    let among = "targets:\n  one: {url: 'https://one.example.com/mcp'}\n  two: {command: [far]}\n";
    let among = checked(&format!("{URL}, caller_headers: [X-Token]"), among);
    assert_eq!(only(&among.diagnostics).pointer, "/targets/two/command");
}

#[test]
fn an_operation_with_the_caller_s_credentials_cannot_run_in_the_background() {
    let checked = checked(&format!("{URL}, caller_headers: [X-Token]"), "      lifecycle: true\n");
    assert_eq!(only(&checked.diagnostics).pointer, "/operations/execute/0/lifecycle");
}

#[test]
fn a_configuration_has_the_same_keys() {
    let entry = |mcp| config::load(&json!({"adapters": [{"mcp": mcp}]}));
    let (read, problems) = entry(json!({"url": "https://example.com/mcp", "caller_headers": ["X-Token"]}));
    assert_eq!(problems, []);
    let config::AdapterOrigin::Mcp(server) = &read.adapters[0].origin else { panic!("{read:?}") };
    assert_eq!(server.caller_headers, ["X-Token"]);
    let (_, problems) = entry(json!({"command": ["far"], "caller_headers": ["X-Token"]}));
    assert_eq!(only(&problems).pointer, "/adapters/0/mcp/caller_headers");
}

#[test]
fn a_command_line_is_refused_and_the_list_is_suggested() {
    let checked = checked("command: npx -y foo", "");
    let problem = only(&checked.diagnostics);
    assert_eq!(problem.pointer, "/target/command");
    assert_eq!(problem.suggestion.as_deref(), Some(r#"write `command: ["npx", "-y", "foo"]`"#));
    let (_, problems) = config::load(&json!({"adapters": [{"mcp": {"command": "npx foo"}}]}));
    assert_eq!(only(&problems).pointer, "/adapters/0/mcp/command");
    // A program without arguments needs no list.
    server(self::checked("command: far", ""));
}

#[test]
fn a_limit_of_zero_is_refused() {
    for (target, pointer) in [
        (format!("{URL}, max_response_bytes: 0"), "/target/max_response_bytes"),
        (format!("{URL}, timeout: 0"), "/target/timeout"),
    ] {
        assert_eq!(only(&checked(&target, "").diagnostics).pointer, pointer);
    }
    let limits =
        json!({"adapters": [{"builtin": "notebook", "limits": {"max_response_bytes": 0, "timeout": 0}}]});
    let (config, problems) = config::load(&limits);
    let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/adapters/0/limits/timeout", "/adapters/0/limits/max_response_bytes"]);
    assert_eq!(config.adapters[0].limits.max_response_bytes, None, "the usual limit stays");
}
