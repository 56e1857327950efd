//! Sends arbitrary bytes to a server on standard input and output. It must not panic, and must end when the input ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::prelude::*;
use mcpaql_runtime::serve::serve_stream;
use std::io::Cursor;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));

static GATEWAY: LazyLock<Arc<Gateway>> = LazyLock::new(|| {
    let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
    let clock = RUNTIME.block_on(clock.open(&AdapterSettings::default(), None)).expect("it opens");
    Arc::new(Gateway::new(vec![clock]).expect("one adapter"))
});

/// The handshake, so that the messages after it are requests.
const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"0"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n"
);

fuzz_target!(|input: (bool, &[u8])| {
    let (greets, bytes) = input;
    let greeting = if greets { HANDSHAKE.as_bytes() } else { &[] };
    let reader = Cursor::new([greeting, bytes].concat());
    let limits = ServerLimits::default().with_grace(Duration::ZERO);
    let gateway = Arc::clone(&GATEWAY);
    let serving = serve_stream(gateway, reader, tokio::io::sink(), limits, CancellationToken::new());
    let _ = RUNTIME.block_on(async { tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it ends") });
});
