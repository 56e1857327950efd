//! Requests as they arrive at the upstream.

use super::fixture::{http, operation, param};
use super::upstream::{Upstream, json};
use super::{call, client, target};
use mcpaql_core::adapter::Auth;
use mcpaql_core::operation::{BodyForm, ParamLocation};
use serde_json::json;

#[tokio::test]
async fn parameters_arrive_in_their_locations() {
    let upstream = Upstream::start(|_, _| json(r#"{"ok":true}"#)).await;
    let mut target = target(&format!("{}/v1/", upstream.url));
    target.headers.insert("X-Api-Version".into(), "7".into());
    let client = client(&target, &Auth::None);
    let params = vec![
        param("owner", ParamLocation::Path),
        param("labels", ParamLocation::Query),
        param("draft", ParamLocation::Query),
        param("X-Trace", ParamLocation::Header),
        param("title", ParamLocation::Body),
        param("assignee", ParamLocation::Body),
        param("count", ParamLocation::Body),
    ];
    let args = json!({"owner": "a/../b", "labels": ["x y", "z"], "draft": false, "X-Trace": "t1", "title": "T", "assignee": null});
    let answer = call(&client, &operation("POST", "/repos/{owner}/issues", params), args).await.unwrap();
    assert_eq!(answer.data.into_value(), json!({"ok": true}));

    let seen = upstream.only();
    assert_eq!(seen.method, "POST");
    assert_eq!(seen.uri, "/v1/repos/a%2F..%2Fb/issues?labels=x%20y&labels=z&draft=false");
    assert_eq!(seen.body, r#"{"title":"T","assignee":null}"#);
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("x-trace"), Some("t1"));
    assert_eq!(seen.header("x-api-version"), Some("7"));
    assert_eq!(seen.header("user-agent"), Some(concat!("mcpaql/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(seen.header("accept-encoding"), Some("gzip"));
    assert_eq!(seen.header("authorization"), None);
}

#[tokio::test]
async fn a_form_arrives_as_a_form_and_a_whole_body_unchanged() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let mut form =
        operation("POST", "/", vec![param("card", ParamLocation::Body), param("tags", ParamLocation::Body)]);
    http(&mut form).body = BodyForm::Form;
    call(&client, &form, json!({"card": {"no": "4 2"}, "tags": ["a&b", "c"]})).await.unwrap();
    let mut whole = operation("PUT", "/", vec![param("rows", ParamLocation::Body)]);
    http(&mut whole).body_param = Some("rows".into());
    call(&client, &whole, json!({"rows": [{"a": null}]})).await.unwrap();
    call(&client, &operation("POST", "/", vec![]), json!({})).await.unwrap();

    let sent: Vec<_> = upstream
        .seen()
        .into_iter()
        .map(|seen| (seen.header("content-type").map(str::to_owned), seen.body))
        .collect();
    let form = "card%5Bno%5D=4%202&tags=a%26b&tags=c".to_owned();
    assert_eq!(sent[0], (Some("application/x-www-form-urlencoded".into()), form));
    assert_eq!(sent[1], (Some("application/json".into()), r#"[{"a":null}]"#.into()));
    assert_eq!(sent[2], (None, String::new()));
}

#[tokio::test]
async fn a_read_has_no_body() {
    let upstream = Upstream::start(|_, _| json("[]")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let params = vec![param("filter", ParamLocation::Body)];
    call(&client, &operation("GET", "/things", params), json!({})).await.unwrap();
    let seen = upstream.only();
    assert_eq!(
        (seen.body.as_str(), seen.header("content-type"), seen.header("content-length")),
        ("", None, None)
    );
}

#[tokio::test]
async fn a_document_s_own_header_can_be_a_default_of_a_parameter() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let mut target = target(&upstream.url);
    target.headers.insert("Accept".into(), "application/vnd.x+json".into());
    let client = client(&target, &Auth::None);
    let operation = operation("GET", "/", vec![param("Accept", ParamLocation::Header)]);
    call(&client, &operation, json!({})).await.unwrap();
    call(&client, &operation, json!({"Accept": "text/csv"})).await.unwrap();
    let accepts: Vec<_> =
        upstream.seen().iter().map(|seen| seen.header("accept").unwrap().to_owned()).collect();
    assert_eq!(accepts, ["application/vnd.x+json", "text/csv"]);
}

#[tokio::test]
async fn connections_are_reused() {
    use super::upstream::Bare;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let upstream = Bare::start(|mut stream| async move {
        loop {
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { return };
                head.push(byte);
            }
        }
    })
    .await;
    let client = client(&target(&upstream.url), &Auth::None);
    for _ in 0..3 {
        call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap();
    }
    assert_eq!(upstream.connections(), 1);
}
