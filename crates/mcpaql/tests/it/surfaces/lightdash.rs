//! The Lightdash example: a constant prefix, short names, titles, and two hints (read-only, closed world).

use super::{FakeApi, Row, assert_passes, assert_shows, data, refusal, replies, serve};
use serde_json::{Value, json};

const PROJECT: &str = "21a6dbd4-8b2e-4d0e-9e4c-0c5f4b1f7d3a";
const OTHER: &str = "7c0e7f0a-52e4-4b8e-9d55-6f1f0a0f7b11";

#[tokio::test]
async fn ten_tools_have_titles_and_two_hints() {
    let (client, _place) = serve("lightdash-adapter.md", &[]).await;
    let titles = [
        ("lightdash_tools__list_projects", "List projects"),
        ("lightdash_tools__get_project", "Get project"),
        ("lightdash_tools__list_charts", "List charts"),
        ("lightdash_tools__list_dashboards", "List dashboards"),
        ("lightdash_tools__list_spaces", "List spaces"),
        ("lightdash_tools__get_space", "Get space"),
        ("lightdash_tools__list_organization_members", "List organization members"),
        ("lightdash_tools__get_member", "Get member"),
        ("lightdash_tools__list_groups", "List groups"),
        ("lightdash_tools__get_group", "Get group"),
    ];
    let hints = json!({"readOnlyHint": true, "openWorldHint": false});
    let rows: Vec<Row<'_>> = titles.iter().map(|(name, title)| (*name, *title, hints.clone())).collect();
    assert_shows(&client, &rows).await;
}

#[tokio::test]
async fn the_document_passes_its_convention() {
    assert_passes("lightdash-adapter.md", &["--convention", "lightdash"]).await;
}

#[tokio::test]
async fn every_tool_is_one_request() {
    let (api, url) = FakeApi::start(|_| replies(200, json!({"status": "ok", "results": []}))).await;
    let variables = [("LIGHTDASH_URL", url.as_str()), ("LIGHTDASH_API_KEY", "t0ken")];
    let (client, _place) = serve("lightdash-adapter.md", &variables).await;
    let rows: [(&str, Value, String); 12] = [
        ("list_projects", json!({}), "/org/projects".into()),
        ("get_project", json!({"project_uuid": PROJECT}), format!("/projects/{PROJECT}")),
        ("list_charts", json!({"project_uuid": PROJECT}), format!("/projects/{PROJECT}/charts")),
        ("list_dashboards", json!({"project_uuid": PROJECT}), format!("/projects/{PROJECT}/dashboards")),
        ("list_spaces", json!({"project_uuid": PROJECT}), format!("/projects/{PROJECT}/spaces")),
        (
            "get_space",
            json!({"project_uuid": PROJECT, "space_uuid": OTHER}),
            format!("/projects/{PROJECT}/spaces/{OTHER}"),
        ),
        ("list_organization_members", json!({}), "/org/users".into()),
        (
            "list_organization_members",
            json!({"search_query": "ada l", "page": 2, "page_size": 10}),
            "/org/users?page=2&pageSize=10&searchQuery=ada%20l".into(),
        ),
        ("get_member", json!({"user_uuid": OTHER}), format!("/org/users/{OTHER}")),
        ("list_groups", json!({"page": 1}), "/org/groups?page=1".into()),
        ("get_group", json!({"group_uuid": OTHER}), format!("/groups/{OTHER}")),
        (
            "get_group",
            json!({"group_uuid": OTHER, "include_members": 5}),
            format!("/groups/{OTHER}?includeMembers=5"),
        ),
    ];
    for (name, arguments, target) in rows {
        let found = data(&client, &format!("lightdash_tools__{name}"), arguments).await;
        assert_eq!(found, json!({"status": "ok", "results": []}));
        let sent = api.only_request();
        assert_eq!(sent.request_line(), format!("GET /api/v1{target}"));
        assert_eq!(sent.header("authorization"), Some("ApiKey t0ken"));
        assert_eq!(sent.body.len(), 0);
    }
}

#[tokio::test]
async fn errors_are_reported_before_or_after_the_request() {
    let (api, url) = FakeApi::start(|_| {
        replies(404, json!({"error": {"name": "NotFoundError", "message": "no project"}}))
    })
    .await;
    let variables = [("LIGHTDASH_URL", url.as_str()), ("LIGHTDASH_API_KEY", "t0ken")];
    let (client, _place) = serve("lightdash-adapter.md", &variables).await;
    let tool = "lightdash_tools__get_project";

    let (code, error) = refusal(&client, tool, json!({})).await;
    assert_eq!(code, "VALIDATION_MISSING_PARAM");
    assert!(error["message"].as_str().unwrap().contains("'project_uuid'"), "{error}");
    let (code, _) = refusal(&client, tool, json!({"project_uuid": "../../user"})).await;
    assert_eq!(code, "VALIDATION_INVALID_VALUE");
    let (code, error) = refusal(&client, tool, json!({"project_uuid": PROJECT, "expand": true})).await;
    assert_eq!(
        (code.as_str(), &error["details"]["unknown_params"]),
        ("VALIDATION_UNKNOWN_PARAM", &json!(["expand"]))
    );
    assert!(api.received_requests().is_empty(), "nothing of that is sent");

    let (code, error) = refusal(&client, tool, json!({"project_uuid": PROJECT})).await;
    assert_eq!((code.as_str(), &error["details"]["upstream"]["status"]), ("NOT_FOUND_RESOURCE", &json!(404)));
}

#[tokio::test]
async fn without_a_key_nothing_is_sent_and_the_variable_is_named() {
    let (api, url) = FakeApi::start(|_| replies(200, json!({}))).await;
    let (client, _place) = serve("lightdash-adapter.md", &[("LIGHTDASH_URL", url.as_str())]).await;
    let (_, error) = refusal(&client, "lightdash_tools__list_projects", json!({})).await;
    assert!(error["message"].as_str().unwrap().contains("LIGHTDASH_API_KEY"), "{error}");
    assert!(api.received_requests().is_empty());
}
