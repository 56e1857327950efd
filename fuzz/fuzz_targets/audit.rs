//! Audits arbitrary JSON as the tools of two servers, with every convention. It must not panic, and must give the same result twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_audit::convention::Standard;
use mcpaql_audit::load::builtins;
use mcpaql_audit::{ServerTools, audit, parse_servers, scores};
use serde_json::Value;
use std::sync::LazyLock;

static ALL_CONVENTIONS: LazyLock<Standard> =
    LazyLock::new(|| Standard::from_conventions(builtins().to_vec()));

fuzz_target!(|input: (&str, &str)| {
    let read = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Array(tools)) => tools,
        Ok(tool) => vec![tool],
        // Use text that is not JSON as a description.
        Err(_) => vec![
            serde_json::json!({"name": "get_note", "description": text, "inputSchema": {"type": "object"}}),
        ],
    };
    let server = |name: &str, text: &str| ServerTools {
        name: name.to_owned(),
        tools: read(text),
        ..ServerTools::default()
    };
    let servers = [server("one", input.0), server("other", input.1)];
    let findings = audit(&servers, &ALL_CONVENTIONS);
    for server in parse_servers(&servers) {
        let _ = scores(&server, &findings);
    }
    assert_eq!(findings.len(), audit(&servers, &ALL_CONVENTIONS).len());
});
