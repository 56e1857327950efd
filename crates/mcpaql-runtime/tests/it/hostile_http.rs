//! Clients over HTTP that take too long, too much, or send what two programs read differently. After each of them, a
//! normal call is answered.

use crate::fixture::{Fixture, Serving, call, http, in_time, initialize, loopback};
use crate::serve_http::{body, post};
use mcpaql_runtime::serve::HttpLimits;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const SECOND: Duration = Duration::from_secs(1);
const MINUTES: Duration = Duration::from_secs(600);

/// Only the timeouts that a test sets end a connection.
fn patient() -> HttpLimits {
    let mut limits = HttpLimits::default();
    limits.head_timeout = MINUTES;
    limits.body_timeout = MINUTES;
    limits.idle_timeout = MINUTES;
    limits.write_timeout = MINUTES;
    limits
}

async fn server(limits: HttpLimits) -> (SocketAddr, Serving, Arc<Fixture>) {
    let service = Fixture::new();
    let (addr, serving) = http(&service, loopback().with_connections(limits)).await;
    (addr, serving, service)
}

/// A connection whose client buffers little.
async fn connect(addr: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(addr).await.unwrap()
}

fn head(more: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
        Content-Type: application/json\r\n{more}\r\n"
    )
}

fn raw_post(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("{}{body}", head(&format!("Content-Length: {}\r\n", body.len()))).into_bytes()
}

/// Everything that the server sends before it closes the connection.
async fn rest(connection: &mut TcpStream) -> String {
    let mut received = Vec::new();
    // A reset is an end as well.
    let _ = in_time(connection.read_to_end(&mut received)).await;
    String::from_utf8_lossy(&received).into_owned()
}

async fn assert_serves(addr: SocketAddr) {
    let answer = in_time(post(addr, &call(1, "echo", json!({"it": "x"}))).send()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(body(answer).await["result"]["isError"], false);
}

#[tokio::test]
async fn a_slow_head_and_a_silent_client_are_disconnected() {
    let mut limits = patient();
    limits.head_timeout = SECOND;
    let (addr, _serving, _service) = server(limits).await;
    let mut silent = connect(addr).await;
    let slow = connect(addr).await;
    let (mut reader, mut writer) = slow.into_split();
    let dripping = tokio::spawn(async move {
        for byte in head(&"X-Slow: 1\r\n".repeat(10_000)).into_bytes() {
            if writer.write_all(&[byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let mut received = Vec::new();
    let _ = in_time(reader.read_to_end(&mut received)).await;
    assert_eq!(rest(&mut silent).await, "");
    dripping.abort();
    assert_serves(addr).await;
}

#[tokio::test]
async fn a_slow_body_gets_status_408() {
    let mut limits = patient();
    limits.body_timeout = SECOND;
    let (addr, _serving, _service) = server(limits).await;
    let mut slow = connect(addr).await;
    slow.write_all(head("Content-Length: 100\r\n").as_bytes()).await.unwrap();
    slow.write_all(b"{").await.unwrap();
    let mut status = [0; 12];
    in_time(slow.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 408");
    assert_serves(addr).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_stream_of_events_is_not() {
    let mut limits = patient();
    limits.idle_timeout = SECOND;
    let (addr, _serving, service) = server(limits).await;
    let mut events = connect(addr).await;
    events
        .write_all(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        .await
        .unwrap();
    let mut idle = connect(addr).await;
    idle.write_all(&raw_post(&initialize())).await.unwrap();
    let answer = rest(&mut idle).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("2025-11-25"), "{answer}");
    // By now the stream has been open for longer than the timeout.
    service.swap([]);
    let mut received = String::new();
    while !received.contains("list_changed") {
        let mut part = [0; 1024];
        let read = in_time(events.read(&mut part)).await.unwrap();
        assert_ne!(read, 0, "the stream was closed: {received}");
        received.push_str(&String::from_utf8_lossy(&part[..read]));
    }
}

/// Asks for answers of 900 kB each and reads none of them.
async fn ask_and_never_read(addr: SocketAddr) -> TcpStream {
    let mut client = connect(addr).await;
    let message = raw_post(&call(1, "echo", json!({"it": "x".repeat(900_000)})));
    for _ in 0..16 {
        // The server stops reading when the client does.
        if tokio::time::timeout(SECOND / 10, client.write_all(&message)).await.is_err() {
            break;
        }
    }
    client
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let mut limits = patient();
    limits.write_timeout = SECOND;
    limits.total = 1;
    let (addr, _serving, _service) = server(limits).await;
    let _deaf = ask_and_never_read(addr).await;
    in_time(async {
        while !post(addr, &initialize()).send().await.is_ok_and(|answer| answer.status() == StatusCode::OK) {
            tokio::time::sleep(SECOND / 10).await;
        }
    })
    .await;
}

#[tokio::test]
async fn many_clients_that_do_not_read_make_room_for_one_that_reads() {
    let mut limits = patient();
    limits.unsent_bytes = 1_000_000;
    let (addr, _serving, _service) = server(limits).await;
    let mut deaf = Vec::new();
    for _ in 0..6 {
        deaf.push(ask_and_never_read(addr).await);
    }
    in_time(async {
        while !post(addr, &initialize()).send().await.is_ok_and(|answer| answer.status() == StatusCode::OK) {
            tokio::time::sleep(SECOND / 10).await;
        }
    })
    .await;
    assert_serves(addr).await;
}

#[tokio::test]
async fn connections_over_a_limit_are_refused_with_a_reason() {
    for (total, per_address, status) in [(2, 9, "HTTP/1.1 503"), (9, 2, "HTTP/1.1 429")] {
        let mut limits = patient();
        (limits.total, limits.per_address) = (total, per_address);
        let (addr, _serving, _service) = server(limits).await;
        let mut open = Vec::new();
        for _ in 0..2 {
            let mut connection = connect(addr).await;
            connection.write_all(&raw_post(&initialize())).await.unwrap();
            let mut part = [0; 12];
            in_time(connection.read_exact(&mut part)).await.unwrap();
            assert_eq!(&part, b"HTTP/1.1 200");
            open.push(connection);
        }
        let mut refused = connect(addr).await;
        refused.write_all(&raw_post(&initialize())).await.unwrap();
        let answer = rest(&mut refused).await;
        assert!(answer.starts_with(status) && answer.contains("retry-after"), "{answer}");
        assert!(answer.contains("oo many connections"), "{answer}");
        drop(open);
        in_time(async {
            while !post(addr, &initialize())
                .send()
                .await
                .is_ok_and(|answer| answer.status() == StatusCode::OK)
            {
                tokio::time::sleep(SECOND / 10).await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let (addr, _serving, _service) = server(patient()).await;
    // Nothing of this body is ever sent.
    let mut declared = connect(addr).await;
    declared.write_all(head("Content-Length: 4000000000\r\n").as_bytes()).await.unwrap();
    let mut status = [0; 12];
    in_time(declared.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");

    let chunked = connect(addr).await;
    let (mut reader, mut writer) = chunked.into_split();
    writer.write_all(head("Transfer-Encoding: chunked\r\n").as_bytes()).await.unwrap();
    let endless = tokio::spawn(async move {
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        while writer.write_all(chunk.as_bytes()).await.is_ok() {}
    });
    in_time(reader.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
    in_time(endless).await.unwrap();
    assert_serves(addr).await;
}

#[tokio::test]
async fn requests_that_two_programs_would_read_differently_are_refused() {
    let (addr, _serving, _service) = server(patient()).await;
    for (target, headers) in [
        ("/mcp", "Host: localhost\r\nHost: evil.example.com\r\n"),
        ("/mcp", "Host: localhost\r\nHost: localhost\r\n"),
        ("/mcp", "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example.com\r\n"),
        ("/mcp", "Host: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n"),
        ("/mcp", "Host: localhost\r\nMcp-Session-Id: a\r\nMcp-Session-Id: b\r\n"),
        ("http://evil.example.com/mcp", "Host: localhost\r\n"),
        ("/healthz", "Host: localhost\r\nHost: evil.example.com\r\n"),
    ] {
        let mut connection = connect(addr).await;
        let request = format!("GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        connection.write_all(request.as_bytes()).await.unwrap();
        let answer = rest(&mut connection).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{headers}: {answer}");
    }
    assert_serves(addr).await;
}

#[tokio::test]
async fn a_message_with_too_many_values_is_refused_before_it_is_parsed() {
    let (addr, _serving, _service) = server(patient()).await;
    let many = call(7, "echo", json!({"it": "@"}))
        .to_string()
        .replace(r#""@""#, &format!("[{}0]", "{},".repeat(200_000)));
    let answer = post(addr, &json!({})).body(many).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let answer = body(answer).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("100000"), "{answer}");
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// `POST http://localhost/mcp`, without its body.
fn open_stream(stream: u32) -> Vec<u8> {
    let mut headers = vec![0x83, 0x86, 0x04, 4];
    headers.extend(b"/mcp");
    headers.extend([0x01, 9]);
    headers.extend(b"localhost");
    frame(1, 0x4, stream, &headers)
}

async fn connect_http2(addr: SocketAddr) -> TcpStream {
    let mut connection = connect(addr).await;
    connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    connection.write_all(&frame(4, 0, 0, &[])).await.unwrap();
    connection
}

/// Returns the payload of the next frame of this kind; `None` if the connection ends before.
async fn next_frame(connection: &mut (impl AsyncReadExt + Unpin), kind: u8) -> Option<Vec<u8>> {
    loop {
        let mut head = [0; 9];
        in_time(connection.read_exact(&mut head)).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        in_time(connection.read_exact(&mut payload)).await.ok()?;
        if head[3] == kind {
            return Some(payload);
        }
    }
}

#[tokio::test]
async fn a_flood_of_reset_streams_ends_its_connection() {
    let (addr, _serving, _service) = server(patient()).await;
    let (mut reader, mut writer) = connect_http2(addr).await.into_split();
    let flood = tokio::spawn(async move {
        for batch in 0..1000_u32 {
            let mut frames = Vec::new();
            for stream in batch * 100..(batch + 1) * 100 {
                frames.extend(open_stream(stream * 2 + 1));
                frames.extend(frame(3, 0, stream * 2 + 1, &8_u32.to_be_bytes()));
            }
            if writer.write_all(&frames).await.is_err() {
                return true;
            }
        }
        false
    });
    let goodbye = next_frame(&mut reader, 7).await;
    if let Some(payload) = goodbye {
        // ENHANCE_YOUR_CALM
        assert_eq!(payload[4..8], 11_u32.to_be_bytes());
    }
    drop(reader);
    in_time(flood).await.unwrap();
    assert_serves(addr).await;
}

#[tokio::test]
async fn a_connection_has_a_limited_number_of_streams() {
    let mut limits = patient();
    limits.streams = 4;
    let (addr, _serving, _service) = server(limits).await;
    let mut connection = connect_http2(addr).await;
    // The server has sent its settings.
    next_frame(&mut connection, 4).await.unwrap();
    for stream in 0..8 {
        connection.write_all(&open_stream(stream * 2 + 1)).await.unwrap();
    }
    // REFUSED_STREAM
    assert_eq!(next_frame(&mut connection, 3).await.unwrap(), 7_u32.to_be_bytes());
    assert_serves(addr).await;
}
