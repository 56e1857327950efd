//! The GitHub adapter with an upstream that records requests.

use super::{call, example, served};
use crate::http::upstream::{Seen, Upstream, answer, json};
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use mcpaql_runtime::dispatch::ServedAdapter;
use serde_json::{Value, json};

const BASE_URL: &str = "base_url: https://api.github.com\n";

async fn github(upstream: &Upstream) -> ServedAdapter {
    let source = example("github-api");
    assert!(source.text.contains(BASE_URL), "the document names GitHub");
    let text = source.text.replace(BASE_URL, &format!("base_url: {}\n", upstream.url));
    served(&Source::new(source.name, text), &[("GITHUB_TOKEN", "token-of-the-test")]).await
}

/// Operation, parameters → method, path and query, body.
fn rows() -> Vec<(&'static str, Value, &'static str, &'static str, Option<Value>)> {
    let repo = |more: Value| {
        let mut params = json!({"owner": "octo", "repo": "hello"});
        let map = params.as_object_mut().expect("an object");
        map.extend(more.as_object().expect("an object").clone());
        params
    };
    vec![
        ("get_authenticated_user", json!({}), "GET", "/user", None),
        (
            "list_repositories",
            json!({"affiliation": ["owner", "collaborator"], "per_page": 5}),
            "GET",
            "/user/repos?affiliation=owner,collaborator&per_page=5&page=1",
            None,
        ),
        (
            "list_issues",
            repo(json!({"labels": ["bug", "help wanted"], "since": "2026-01-31T00:00:00Z"})),
            "GET",
            "/repos/octo/hello/issues?state=open&labels=bug,help%20wanted&since=2026-01-31T00%3A00%3A00Z&per_page=30&page=1",
            None,
        ),
        (
            "search_issues",
            json!({"query": "repo:octo/hello is:open", "order": "asc"}),
            "GET",
            "/search/issues?q=repo%3Aocto%2Fhello%20is%3Aopen&order=asc&per_page=30&page=1",
            None,
        ),
        (
            "list_commits",
            repo(json!({"ref": "main", "page": 2})),
            "GET",
            "/repos/octo/hello/commits?sha=main&per_page=30&page=2",
            None,
        ),
        (
            "get_file",
            repo(json!({"path": "docs/a b.md", "ref": "v1"})),
            "GET",
            "/repos/octo/hello/contents/docs%2Fa%20b.md?ref=v1",
            None,
        ),
        (
            "create_issue",
            repo(json!({"title": "Login fails", "labels": ["bug"]})),
            "POST",
            "/repos/octo/hello/issues",
            Some(json!({"title": "Login fails", "labels": ["bug"]})),
        ),
        (
            "create_branch",
            repo(json!({"ref": "refs/heads/x", "sha": "a".repeat(40)})),
            "POST",
            "/repos/octo/hello/git/refs",
            Some(json!({"ref": "refs/heads/x", "sha": "a".repeat(40)})),
        ),
        (
            "update_issue",
            repo(json!({"issue_number": 42, "state": "closed", "milestone": null})),
            "PATCH",
            "/repos/octo/hello/issues/42",
            Some(json!({"state": "closed", "milestone": null})),
        ),
        (
            "create_or_update_file",
            repo(json!({"path": "a.md", "message": "Add a", "content": "SGkK"})),
            "PUT",
            "/repos/octo/hello/contents/a.md",
            Some(json!({"message": "Add a", "content": "SGkK"})),
        ),
        ("star_repository", repo(json!({})), "PUT", "/user/starred/octo/hello", None),
        ("mark_notifications_read", json!({}), "PUT", "/notifications", Some(json!({}))),
        (
            "remove_issue_label",
            repo(json!({"issue_number": 42, "name": "needs triage"})),
            "DELETE",
            "/repos/octo/hello/issues/42/labels/needs%20triage",
            None,
        ),
        (
            "delete_branch",
            repo(json!({"branch": "fix-login"})),
            "DELETE",
            "/repos/octo/hello/git/refs/heads/fix-login",
            None,
        ),
        (
            "delete_file",
            repo(json!({"path": "a.md", "message": "Drop a", "sha": "abc"})),
            "DELETE",
            "/repos/octo/hello/contents/a.md",
            Some(json!({"message": "Drop a", "sha": "abc"})),
        ),
        (
            "merge_pull_request",
            repo(json!({"pull_number": 7, "merge_method": "squash"})),
            "PUT",
            "/repos/octo/hello/pulls/7/merge",
            Some(json!({"merge_method": "squash"})),
        ),
        (
            "dispatch_workflow",
            repo(json!({"workflow_id": "release.yml", "ref": "main", "inputs": {"dry_run": "true"}})),
            "POST",
            "/repos/octo/hello/actions/workflows/release.yml/dispatches",
            Some(json!({"ref": "main", "inputs": {"dry_run": "true"}})),
        ),
    ]
}

fn body(seen: &Seen) -> Option<Value> {
    (!seen.body.is_empty()).then(|| serde_json::from_str(&seen.body).expect("a JSON body"))
}

#[tokio::test]
async fn calls_become_the_requests_that_github_documents() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let github = github(&upstream).await;
    for (index, (operation, params, method, uri, expected)) in rows().into_iter().enumerate() {
        call(&github, operation, params).await.unwrap_or_else(|error| panic!("{operation}: {error:?}"));
        let seen = upstream.seen().swap_remove(index);
        assert_eq!((seen.method.as_str(), seen.uri.as_str()), (method, uri), "{operation}");
        assert_eq!(body(&seen), expected, "{operation}");
        assert_eq!(seen.header("authorization"), Some("Bearer token-of-the-test"), "{operation}");
        assert_eq!(seen.header("accept"), Some("application/vnd.github+json"), "{operation}");
        assert_eq!(seen.header("x-github-api-version"), Some("2022-11-28"), "{operation}");
        assert!(seen.header("user-agent").is_some_and(|agent| agent.starts_with("mcpaql")), "{operation}");
    }
}

#[tokio::test]
async fn every_example_call_of_the_document_is_sent() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let github = github(&upstream).await;
    let mut sent = 0;
    for entry in &github.catalog().operations {
        for example in entry.operation.examples.iter().filter(|_| entry.operation.name != "introspect") {
            call(&github, &entry.operation.name, Value::Object(example.params.clone())).await.unwrap();
            sent += 1;
        }
    }
    assert!(sent >= 12, "only {sent} examples");
    assert_eq!(upstream.seen().len(), sent);
}

#[tokio::test]
async fn errors_of_github_keep_its_message() {
    let body = r#"{"message":"Not Found","status":"404"}"#;
    let upstream =
        Upstream::start(move |_, _| answer(404, &[("content-type", "application/json")], body)).await;
    let github = github(&upstream).await;
    let error = call(&github, "get_repository", json!({"owner": "octo", "repo": "gone"})).await.unwrap_err();
    assert_eq!(error.code, Code::NotFoundResource);
    assert!(Value::Object(error.details.clone()).to_string().contains("Not Found"), "{error:?}");
}

#[tokio::test]
async fn a_wrong_call_never_reaches_github() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let github = github(&upstream).await;
    let rows = [
        ("get_issue", json!({"owner": "octo", "repo": "hello", "issue_number": 0})),
        ("list_issues", json!({"owner": "octo", "repo": "hello", "state": "done"})),
        ("list_issues", json!({"owner": "octo", "repo": "hello", "per_page": 101})),
        ("create_branch", json!({"owner": "octo", "repo": "hello", "ref": "x", "sha": "a"})),
        ("get_repository", json!({"owner": "octo", "repo": ".."})),
    ];
    for (operation, params) in rows {
        let error = call(&github, operation, params).await.unwrap_err();
        assert!(error.code.as_str().starts_with("VALIDATION_"), "{operation}: {error:?}");
    }
    assert_eq!(upstream.seen().len(), 0);
}
