//! Bodies of requests, byte by byte as they arrive.

use super::fixture::{http, operation, param};
use super::upstream::{Bare, Upstream, answer, json};
use super::{call, client, target};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::adapter::Auth;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{BodyForm, Operation, Param, ParamLocation};
use mcpaql_runtime::target::http::HttpClient;
use serde_json::json;

fn fixed_boundary(client: HttpClient) -> HttpClient {
    client.with_boundary(|| "frontier".into())
}

fn file(name: &str) -> Param {
    let data = json!({"type": "string", "format": "byte"});
    let object = json!({"type": "object", "properties": {"data": data}, "required": ["data"]});
    Param { schema: json!({"anyOf": [data, object]}), ..param(name, ParamLocation::Body) }
}

fn files(name: &str) -> Param {
    Param { schema: json!({"type": "array", "items": file(name).schema}), ..param(name, ParamLocation::Body) }
}

fn with_body(form: BodyForm, params: Vec<Param>) -> Operation {
    let mut operation = operation("POST", "/upload", params);
    http(&mut operation).body = form;
    operation
}

#[tokio::test]
async fn a_multipart_body_arrives_byte_by_byte() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = fixed_boundary(client(&target(&upstream.url), &Auth::None));
    let params = vec![
        param("title", ParamLocation::Body),
        param("meta", ParamLocation::Body),
        file("photo"),
        files("more"),
    ];
    let args = json!({
        "title": "Käse",
        "meta": {"tags": ["a"]},
        "photo": {"data": STANDARD.encode([0, 255, 13, 10, 45, 45]), "filename": "p \"1\".png", "content_type": "image/png"},
        "more": [STANDARD.encode("one"), {"data": STANDARD.encode("two"), "filename": "../../2.txt"}],
    });
    call(&client, &with_body(BodyForm::Multipart, params), args).await.unwrap();
    let seen = upstream.only();
    let mut expected = Vec::new();
    for piece in [
        &b"--frontier\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nK\xc3\xa4se\r\n"[..],
        b"--frontier\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"tags\":[\"a\"]}\r\n",
        b"--frontier\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"p %221%22.png\"\r\nContent-Type: image/png\r\n\r\n\x00\xff\r\n--\r\n",
        b"--frontier\r\nContent-Disposition: form-data; name=\"more\"; filename=\"more\"\r\nContent-Type: application/octet-stream\r\n\r\none\r\n",
        b"--frontier\r\nContent-Disposition: form-data; name=\"more\"; filename=\"2.txt\"\r\nContent-Type: application/octet-stream\r\n\r\ntwo\r\n",
        b"--frontier--\r\n",
    ] {
        expected.extend_from_slice(piece);
    }
    assert_eq!(seen.bytes, expected, "{}", seen.body);
    assert_eq!(seen.header("content-type"), Some("multipart/form-data; boundary=frontier"));
    assert_eq!(seen.header("content-length"), Some(expected.len().to_string().as_str()));
    assert_eq!(seen.header("transfer-encoding"), None);
}

#[tokio::test]
async fn every_call_has_its_own_boundary() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let operation = with_body(BodyForm::Multipart, vec![param("a", ParamLocation::Body)]);
    for _ in 0..2 {
        call(&client, &operation, json!({"a": "x"})).await.unwrap();
    }
    let kinds: Vec<_> =
        upstream.seen().iter().map(|seen| seen.header("content-type").unwrap().to_owned()).collect();
    assert_ne!(kinds[0], kinds[1]);
    for seen in upstream.seen() {
        let boundary = seen.header("content-type").unwrap().split_once("boundary=").unwrap().1.to_owned();
        assert!(seen.body.ends_with(&format!("\r\n--{boundary}--\r\n")), "{}", seen.body);
    }
}

#[tokio::test]
async fn text_and_binary_arrive_unchanged() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let bytes: Vec<u8> = (0..=255).collect();
    let rows = [
        (BodyForm::Text, None, json!("a&b=ü\r\n"), "a&b=ü\r\n".into(), "text/plain; charset=utf-8"),
        (BodyForm::Text, Some("text/csv"), json!("a,b\n"), "a,b\n".into(), "text/csv"),
        (BodyForm::Binary, None, json!(STANDARD.encode(&bytes)), bytes.clone(), "application/octet-stream"),
        (BodyForm::Binary, Some("image/png"), json!(""), vec![], "image/png"),
        (
            BodyForm::Json,
            Some("application/vnd.api+json"),
            json!("x"),
            br#"{"data":"x"}"#.to_vec(),
            "application/vnd.api+json",
        ),
    ];
    for (form, content_type, value, expected, kind) in rows {
        let mut operation = with_body(form, vec![param("data", ParamLocation::Body)]);
        http(&mut operation).content_type = content_type.map(Into::into);
        call(&client, &operation, json!({"data": value})).await.unwrap();
        let seen = upstream.seen().pop().unwrap();
        assert_eq!((seen.bytes, seen.headers["content-type"].to_str().unwrap()), (expected.clone(), kind));
        assert_eq!(seen.headers["content-length"].to_str().unwrap(), expected.len().to_string());
    }
}

#[tokio::test]
async fn a_large_file_arrives_whole_and_again_on_a_retry() {
    let upstream = Upstream::start(|before, _| answer(if before == 0 { 503 } else { 200 }, &[], "")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let bytes: Vec<u8> = (0..400_001_u32).map(|n| (n % 251) as u8).collect();
    let mut put = operation("PUT", "/upload", vec![param("data", ParamLocation::Body)]);
    http(&mut put).body = BodyForm::Binary;
    call(&client, &put, json!({"data": STANDARD.encode(&bytes)})).await.unwrap();
    let seen = upstream.seen();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|seen| seen.bytes == bytes), "both attempts send the whole file");
}

#[tokio::test]
async fn invalid_base64_is_not_sent() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let late = format!("{}!", "AAAA".repeat(50_000));
    for bad in ["not base64!", "aGk=aGk=", "\0", &late] {
        let error = call(
            &client,
            &with_body(BodyForm::Binary, vec![param("data", ParamLocation::Body)]),
            json!({"data": bad}),
        )
        .await
        .unwrap_err();
        assert_eq!((error.code, &error.details["param_name"]), (Code::InvalidEncoding, &json!("data")));
        let error = call(
            &client,
            &with_body(BodyForm::Multipart, vec![file("photo")]),
            json!({"photo": {"data": bad}}),
        )
        .await
        .unwrap_err();
        assert_eq!((error.code, &error.details["param_name"]), (Code::InvalidEncoding, &json!("photo")));
    }
    assert!(upstream.seen().is_empty());
}

#[tokio::test]
async fn an_answer_before_the_end_of_the_file_ends_the_call() {
    use tokio::io::AsyncWriteExt;
    let upstream = Bare::start(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        // The rest of the file is never read. The connection stays open until the client closes it.
        std::future::pending::<()>().await;
    })
    .await;
    let client = client(&target(&upstream.url), &Auth::None);
    let data = "AAAA".repeat(2_000_000);
    let operation = with_body(BodyForm::Binary, vec![param("data", ParamLocation::Body)]);
    let error = call(&client, &operation, json!({"data": data})).await.unwrap_err();
    assert_eq!(error.code, Code::PayloadTooLarge);
}
