//! Imports arbitrary JSON as the tools of an MCP server, with arbitrary selection rules. It must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_import::mcp::{McpImportOptions, import};
use mcpaql_import::select::Selection;

fuzz_target!(|input: (&str, &str, bool)| {
    let (text, rule, keep_input_schemas) = input;
    let Some(capture) = serde_json::from_str(text).ok().and_then(Capture::from_json) else { return };
    let link = McpLink::Url {
        url: "https://api.example/mcp".into(),
        headers: Default::default(),
        allow_http: false,
    };
    let selection = Selection::parse(&[], &[rule.to_owned()]).unwrap_or_default();
    let features = selection.features();
    let _ = (features.takes_prompt(text), features.takes_resource([text]));
    let options = McpImportOptions { selection, keep_input_schemas, ..McpImportOptions::default() };
    let _ = import(&capture, McpTarget::new(link), Auth::None, &options);
});
