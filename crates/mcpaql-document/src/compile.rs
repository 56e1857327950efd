//! Compiles a loaded adapter into a catalog. Problems point to the text that the author wrote.
//!
//! ```
//! use mcpaql_document::{compile, load, source::Source};
//!
//! let text = "{name: shop, type: adapter, version: 1.0.0, description: A shop, target: {base_url: 'https://shop.example'},
//!     operations: {read: [{name: list_items, maps_to: GET /items}]}}";
//! let loaded = load::load(&Source::new("shop.yaml", text).parse().unwrap().value);
//! let compiled = compile::compile(loaded.adapter.unwrap(), &loaded.origins, &Default::default());
//! assert_eq!(compiled.catalog.unwrap().tools[0].name, "shop_mcpaql_read");
//! ```

use crate::load::{Origins, default_target, load_targets, redact};
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::compile::{self, CompileOutput};
use mcpaql_core::diagnostic::{Diagnostic, Severity, Span};
use mcpaql_core::library::Library;
use mcpaql_core::reader::DocumentReader;
use serde_json::Value;
use std::sync::Arc;

/// Compiles an adapter; `origins` has the positions of its parts in the document.
#[must_use]
pub fn compile(mut adapter: Adapter, origins: &Origins, settings: &AdapterSettings) -> CompileOutput {
    let problems = apply_configured_targets(&mut adapter, settings);
    resolve_pointers(problems, compile::compile(adapter, settings), origins)
}

/// Compiles an adapter whose operations are heads; `library` returns the rest of each operation on demand.
#[must_use]
pub fn compile_deferred(
    mut adapter: Adapter,
    library: Arc<dyn Library>,
    settings: &AdapterSettings,
) -> CompileOutput {
    let problems = apply_configured_targets(&mut adapter, settings);
    resolve_pointers(problems, compile::compile_deferred(adapter, library, settings), &Origins::default())
}

/// Replaces pointers into the model by pointers into the document, and masks credentials. `problems` are those of configured
/// targets; an error among them rejects the adapter.
fn resolve_pointers(problems: Vec<Diagnostic>, compiled: CompileOutput, origins: &Origins) -> CompileOutput {
    let is_rejected = problems.iter().any(|problem| problem.severity == Severity::Error);
    let mut diagnostics = problems;
    diagnostics.extend(compiled.diagnostics);
    for diagnostic in &mut diagnostics {
        diagnostic.pointer = origins.resolve(&diagnostic.pointer);
        redact(diagnostic);
    }
    CompileOutput { catalog: compiled.catalog.filter(|_| !is_rejected), diagnostics }
}

/// Replaces the targets of the document by those of the configuration, if it has any.
fn apply_configured_targets(adapter: &mut Adapter, settings: &AdapterSettings) -> Vec<Diagnostic> {
    let Some(targets) = &settings.targets else { return Vec::new() };
    let mut reader = DocumentReader::default();
    let value = Value::Object(targets.clone());
    if let Some(object) = reader.object(&value, "") {
        adapter.targets = load_targets(&mut reader, &object, &adapter.target, &adapter.auth);
        adapter.default_target = default_target(&mut reader, &object, &adapter.targets);
    }
    // These targets are not in the document, so their problems have no position in it.
    let unlocated =
        |diagnostic| Diagnostic { pointer: String::new(), span: Some(Span::NOWHERE), ..diagnostic };
    reader.diagnostics.into_iter().map(unlocated).collect()
}
