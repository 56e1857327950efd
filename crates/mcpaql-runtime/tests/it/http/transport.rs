//! Upstreams that are slow, broken or hostile.

use super::fixture::{operation, param};
use super::upstream::{Bare, Upstream, answer, json};
use super::{call, client, get, target};
use axum::body::{Body, Bytes};
use futures_util::stream;
use mcpaql_core::adapter::{Auth, HttpTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::facts::Repeat;
use mcpaql_core::operation::{Operation, ParamLocation};
use serde_json::json;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Fails a test that would otherwise hang.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it happens")
}

/// Sends a text and closes the connection.
async fn says(text: &'static str) -> Bare {
    Bare::start(move |mut stream: TcpStream| async move {
        stream.write_all(text.as_bytes()).await.unwrap();
    })
    .await
}

/// Sends a text and keeps the connection open.
async fn stalls_after(text: &'static str) -> Bare {
    Bare::start(move |mut stream: TcpStream| async move {
        stream.write_all(text.as_bytes()).await.unwrap();
        let _ = stream.read_u8().await;
    })
    .await
}

fn hasty(url: &str, timeout_ms: u64) -> HttpTarget {
    HttpTarget { timeout_ms, ..target(url) }
}

async fn get_from(target: &HttpTarget) -> Result<mcpaql_core::response::Answer, OpError> {
    call(&client(target, &Auth::None), &operation("GET", "/thing", vec![]), json!({})).await
}

#[tokio::test]
async fn silence_and_a_stalled_body_are_timeouts() {
    for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"] {
        let upstream = stalls_after(text).await;
        let error = get_from(&hasty(&upstream.url, 100)).await.unwrap_err();
        assert_eq!(error.code, Code::TransportTimeout, "{text:?}");
        assert!(error.message.contains("100 ms"), "{error}");
    }
}

#[tokio::test]
async fn an_error_with_a_stalled_body_keeps_its_status() {
    let upstream = stalls_after("HTTP/1.1 404 Not Found\r\ncontent-length: 99\r\n\r\nno such thing").await;
    let error = get_from(&hasty(&upstream.url, 1_000)).await.unwrap_err();
    assert_eq!(error.code, Code::NotFoundResource);
    assert_eq!(error.details["upstream"], json!({"status": 404, "body": "no such thing"}));
}

#[tokio::test]
async fn an_address_without_a_server_cannot_be_reached() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = get(&url).await.unwrap_err();
    assert_eq!(error.code, Code::TransportConnection);
    assert!(!error.message.contains("127.0.0.1"), "{error}");
    assert!(error.cause.is_some(), "the operator gets the cause");
}

#[tokio::test]
async fn a_broken_connection_is_retried_only_for_reads() {
    for (method, connections) in [("GET", 3), ("POST", 1)] {
        let upstream = says("").await;
        let client = client(&target(&upstream.url), &Auth::None);
        let error = call(&client, &operation(method, "/", vec![]), json!({})).await.unwrap_err();
        assert_eq!(
            (error.code, upstream.connections()),
            (Code::TransportConnection, connections),
            "{method}"
        );
    }
}

#[tokio::test]
async fn invalid_and_incomplete_answers_are_connection_errors() {
    for text in [
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"a\":",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
    ] {
        let upstream = says(text).await;
        let error = get(&upstream.url).await.unwrap_err();
        assert_eq!(error.code, Code::TransportConnection, "{text}");
    }
}

#[tokio::test]
async fn a_wrong_content_length_is_not_trusted() {
    let upstream = stalls_after("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\n{}").await;
    let error = get(&upstream.url).await.unwrap_err();
    assert_eq!(error.code, Code::PayloadTooLarge);
    let short =
        says("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n[1]garbage")
            .await;
    assert_eq!(get(&short.url).await.unwrap().data.into_value(), json!([1]));
}

/// Counts the chunks that are read, and reports when the body is dropped.
struct Source {
    chunks: Arc<AtomicUsize>,
    gone: Arc<Notify>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.gone.notify_one();
    }
}

fn chunks_of_64_kib(count: usize, source: Source) -> Body {
    let chunk = Bytes::from(vec![b'a'; 64 * 1024]);
    Body::from_stream(stream::unfold((0, source), move |(n, source)| {
        let chunk = chunk.clone();
        async move {
            source.chunks.fetch_add(1, Ordering::SeqCst);
            (n < count).then(|| (Ok::<_, std::io::Error>(chunk), (n + 1, source)))
        }
    }))
}

#[tokio::test]
async fn a_gigabyte_and_an_endless_body_are_dropped_past_the_limit() {
    for count in [16 * 1024, usize::MAX] {
        let (chunks, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (made, left) = (Arc::clone(&chunks), Arc::clone(&gone));
        let upstream = Upstream::start(move |_, _| {
            let source = Source { chunks: Arc::clone(&made), gone: Arc::clone(&left) };
            answer(200, &[("content-type", "text/plain")], chunks_of_64_kib(count, source))
        })
        .await;
        let error = get(&upstream.url).await.unwrap_err();
        assert_eq!(error.code, Code::PayloadTooLarge);
        assert_eq!(error.details["limit_value"], 1024 * 1024);
        assert!(error.message.contains("1048576 bytes"), "{error}");
        soon(gone.notified()).await;
        assert!(chunks.load(Ordering::SeqCst) < 2_000, "the upstream was stopped early");
    }
}

#[tokio::test]
async fn a_body_exactly_as_large_as_the_limit_is_read() {
    for (limit, fits) in [(10, true), (9, false)] {
        let upstream = Upstream::start(|_, _| {
            let body = Body::from_stream(stream::iter(["12345", "67890"].map(Ok::<_, std::io::Error>)));
            answer(200, &[("content-type", "text/plain")], body)
        })
        .await;
        let outcome = get_from(&HttpTarget { max_response_bytes: limit, ..target(&upstream.url) }).await;
        assert_eq!(outcome.is_ok(), fits, "{limit}");
    }
}

fn gzip(bytes: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bytes.for_each(|piece| encoder.write_all(&piece).unwrap());
    encoder.finish().unwrap()
}

#[tokio::test]
async fn gzip_is_unpacked_and_a_bomb_is_defused() {
    let small = gzip([b"{\"zipped\":true}".to_vec()].into_iter());
    let members =
        [gzip([b"{\"zip".to_vec()].into_iter()), gzip([b"ped\":true}".to_vec()].into_iter())].concat();
    let bomb = gzip((0..64).map(|_| vec![b' '; 1024 * 1024]));
    assert!(bomb.len() < 1024 * 1024);
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let bodies = [small, members, bomb];
    let upstream = Upstream::start(move |n, _| answer(200, &headers, bodies[n].clone())).await;
    for _ in 0..2 {
        assert_eq!(get(&upstream.url).await.unwrap().data.into_value(), json!({"zipped": true}));
    }
    assert_eq!(get(&upstream.url).await.unwrap_err().code, Code::PayloadTooLarge);
}

/// Fails with `status` this many times, then succeeds. Returns the number of requests and the outcome.
async fn failing(
    times: usize,
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    operation: &Operation,
) -> (usize, Result<(), Code>) {
    let upstream =
        Upstream::start(move |n, _| if n < times { answer(status, headers, "") } else { json("{}") }).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let outcome = call(&client, operation, json!({})).await;
    (upstream.seen().len(), outcome.map(drop).map_err(|error| error.code))
}

#[tokio::test]
async fn reads_are_retried_as_often_as_configured() {
    let get = operation("GET", "/", vec![]);
    for status in [502, 503, 504] {
        assert_eq!(failing(1, status, &[], &get).await, (2, Ok(())));
        assert_eq!(failing(2, status, &[], &get).await, (3, Ok(())));
        assert_eq!(failing(3, status, &[], &get).await, (3, Err(Code::Internal)));
    }
    assert_eq!(failing(1, 500, &[], &get).await, (1, Err(Code::Internal)));
    assert_eq!(failing(1, 404, &[], &get).await, (1, Err(Code::NotFoundResource)));
}

#[tokio::test]
async fn only_operations_that_are_safe_to_repeat_are_retried() {
    let mut searching = operation("POST", "/search", vec![param("q", ParamLocation::Body)]);
    searching.category = mcpaql_core::operation::Category::Read;
    searching.facts.repeat = Repeat::NoEffect;
    let mut counting = operation("GET", "/next-number", vec![]);
    counting.facts.repeat = Repeat::Accumulates;
    for (operation, requests) in [
        (operation("PUT", "/", vec![]), 2),
        (operation("DELETE", "/", vec![]), 2),
        (searching, 2),
        (operation("POST", "/", vec![]), 1),
        (operation("PATCH", "/", vec![]), 1),
        (counting, 1),
    ] {
        assert_eq!(failing(1, 503, &[], &operation).await.0, requests, "{:?}", operation.binding);
    }
}

#[tokio::test]
async fn a_requested_delay_is_used_if_it_ends_before_the_deadline() {
    let get = operation("GET", "/", vec![]);
    let past = &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")];
    for (status, error) in [(429, Code::RateLimitExceeded), (503, Code::Internal)] {
        assert_eq!(failing(1, status, &[("retry-after", "0")], &get).await, (2, Ok(())));
        assert_eq!(failing(1, status, past, &get).await, (2, Ok(())));
        assert_eq!(failing(1, status, &[("retry-after", "31")], &get).await, (1, Err(error)));
    }
    assert_eq!(failing(1, 429, &[], &get).await, (1, Err(Code::RateLimitExceeded)));
}

#[tokio::test]
async fn a_caller_is_told_about_a_long_wait() {
    let upstream = Upstream::fixed(429, &[("retry-after", "25")], "slow down").await;
    let client = client(&target(&upstream.url), &Auth::None);
    let operation = operation("GET", "/", vec![]);
    let (caller, mut progress) = mcpaql_runtime::caller::Caller::listener();
    let args = serde_json::Map::new();
    tokio::select! {
        outcome = mcpaql_runtime::dispatch::call_target(&client, &operation, &args, &caller) => panic!("{outcome:?}"),
        changed = progress.changed() => changed.unwrap(),
    }
    let message = progress.borrow().message.clone().unwrap();
    assert!(message.starts_with("Waiting 25 s") && message.contains("429"), "{message}");
}

#[tokio::test]
async fn a_retried_delete_says_that_an_earlier_attempt_may_have_worked() {
    let upstream = Upstream::start(|n, _| answer(if n == 0 { 504 } else { 404 }, &[], "")).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let error = call(&client, &operation("DELETE", "/1", vec![]), json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::NotFoundResource);
    assert!(error.message.contains("An earlier attempt"), "{error}");
}

#[tokio::test]
async fn dropping_the_call_aborts_the_request() {
    let (arrived, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (received, left) = (Arc::clone(&arrived), Arc::clone(&gone));
    let upstream = Bare::start(move |mut stream: TcpStream| {
        let (received, left) = (Arc::clone(&received), Arc::clone(&left));
        async move {
            received.notify_one();
            assert!(!matches!(stream.read(&mut [0]).await, Ok(1..)), "nothing more is sent");
            left.notify_one();
        }
    })
    .await;
    let url = upstream.url.clone();
    let running = tokio::spawn(async move { get(&url).await });
    soon(arrived.notified()).await;
    running.abort();
    soon(gone.notified()).await;
}

#[tokio::test]
async fn many_clients_share_the_process() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let clients: Vec<_> = (0..4).map(|_| client(&target(&upstream.url), &Auth::None)).collect();
    let operation = operation("GET", "/", vec![]);
    for client in &clients {
        call(client, &operation, json!({})).await.unwrap();
    }
    assert_eq!(upstream.seen().len(), 4);
}
