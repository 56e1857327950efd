//! Calls the tools of a real adapter with arbitrary JSON objects as arguments. It must not panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::batch::Batch;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::{introspect, request, response};
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use serde_json::Value;
use std::sync::LazyLock;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let source = Source::new("notebook-adapter.md", include_str!("../../examples/notebook-adapter.md"));
    check(&source, &AdapterSettings::default()).catalog.expect("the example compiles")
});

fuzz_target!(|input: (usize, &[u8])| {
    let (index, bytes) = input;
    let Ok(Value::Object(arguments)) = serde_json::from_slice(bytes) else { return };
    let Some(tool) = CATALOG.tools.get(index % CATALOG.tools.len()) else { return };
    if let Ok(batch) = Batch::read(arguments.clone()) {
        // Each item refers to the items before it, whose results are those items.
        let results: Vec<Option<Value>> =
            batch.items.iter().map(|item| Some(item.arguments.clone().into())).collect();
        for item in &batch.items {
            let _ = item.resolve(&results, 1 << 16);
        }
    }
    let outcome = request::prepare(&CATALOG, &tool.name, arguments)
        .and_then(|call| introspect::answer(&CATALOG, &call.args));
    let _ = response::envelope(&outcome, CATALOG.errors);
});
