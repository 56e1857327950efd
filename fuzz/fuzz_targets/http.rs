//! Sends arbitrary bytes to an HTTP server, as whole requests and as bodies. It must not panic, and must still answer afterwards.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_runtime::prelude::*;
use mcpaql_runtime::serve::{HttpOptions, serve_http};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock, mpsc};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

static SERVER: LazyLock<SocketAddr> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
            let clock = clock.open(&AdapterSettings::default(), None).await.expect("it opens");
            let gateway = Arc::new(Gateway::new(vec![clock]).expect("one adapter"));
            let options = HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0)));
            let bound = move |address| sender.send(address).expect("somebody waits");
            let _ = serve_http(gateway, options, CancellationToken::new(), bound).await;
        });
    });
    receiver.recv().expect("an address")
});

/// Sends bytes and returns the answer. `is_all` closes the sending side, which ends a request that is not complete; a complete one would
/// be cancelled.
fn exchange(bytes: &[u8], is_all: bool) -> Vec<u8> {
    let Ok(mut stream) = TcpStream::connect(*SERVER) else { return Vec::new() };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = stream.write_all(bytes);
    if is_all {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

fuzz_target!(|input: (bool, &[u8])| {
    let (is_body, bytes) = input;
    if is_body {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            *SERVER,
            bytes.len()
        );
        let answer = exchange(&[head.as_bytes(), bytes].concat(), false);
        assert!(answer.starts_with(b"HTTP/1.1 "), "{}", String::from_utf8_lossy(&answer));
    } else {
        exchange(bytes, true);
        let health = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", *SERVER);
        assert!(exchange(health.as_bytes(), false).starts_with(b"HTTP/1.1 200"));
    }
});
