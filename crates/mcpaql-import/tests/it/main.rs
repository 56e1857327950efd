//! Imports of valid and broken descriptions of APIs and MCP servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod broken;
mod effects;
mod full_adapter;
mod heads;
mod mcp;
mod mutilated;
mod references;
mod security;
mod servers;
mod written;

use mcpaql_core::adapter::{HttpTarget, TargetConfig};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::operation::{Binding, HttpBinding, Operation};
use mcpaql_import::openapi::{
    ImportedApi, LoadedReference, NoLoader, OpenApiImportOptions, ReferenceLoader, open,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Imports a document that must be valid.
fn import(document: &Value) -> ImportedApi {
    open_text(&document.to_string())
}

fn open_text(text: &str) -> ImportedApi {
    match open(text.to_owned(), &OpenApiImportOptions::default(), Arc::new(NoLoader)) {
        Ok(import) => import,
        Err(faults) => panic!("the document was rejected: {faults:?}"),
    }
}

fn rejected(text: &str) -> Diagnostic {
    match open(text.to_owned(), &OpenApiImportOptions::default(), Arc::new(NoLoader)) {
        Ok(import) => panic!("the text was accepted as {}", import.adapter.name),
        Err(faults) => faults.into_iter().next().expect("a reason"),
    }
}

/// Returns a minimal document with these paths.
fn with_paths(paths: Value) -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "1.2.3"},
        "servers": [{"url": "https://pets.example/v1"}],
        "paths": paths
    })
}

fn operation<'i>(import: &'i ImportedApi, source_id: &str) -> &'i Operation {
    let mut all = import.adapter.operations.iter();
    all.find(|operation| operation.source_id.as_deref() == Some(source_id)).expect("the operation exists")
}

fn http(operation: &Operation) -> &HttpBinding {
    match &operation.binding {
        Binding::Http(http) => http,
        other => panic!("{other:?}"),
    }
}

fn target(import: &ImportedApi) -> &HttpTarget {
    match &import.adapter.target {
        TargetConfig::Http(target) => target,
        other => panic!("{other:?}"),
    }
}

fn messages(import: &ImportedApi) -> Vec<&str> {
    import.report.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect()
}

/// Files by name; references are not relative.
struct Files(HashMap<&'static str, &'static str>);

impl Files {
    fn of<const N: usize>(files: [(&'static str, &'static str); N]) -> Arc<Files> {
        Arc::new(Files(files.into_iter().collect()))
    }
}

impl ReferenceLoader for Files {
    fn load(&self, _: &str, reference: &str) -> Result<LoadedReference, String> {
        let name = reference.trim_start_matches("./");
        let text = self.0.get(name).ok_or("there is no such file")?;
        Ok(LoadedReference { id: name.to_owned(), text: (*text).to_owned() })
    }
}
