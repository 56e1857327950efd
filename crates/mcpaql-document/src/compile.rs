//! A loaded adapter → catalog, with every problem where its author wrote it.

use crate::load::{Origins, default_target, load_targets, redact};
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::Settings;
use mcpaql_core::compile::{self, Compiled};
use mcpaql_core::diagnostic::{Diagnostic, Span};
use mcpaql_core::library::Library;
use mcpaql_core::reader::Reader;
use serde_json::Value;
use std::sync::Arc;

/// Compiles an adapter; `origins` says where its parts stand in the document.
#[must_use]
pub fn compile(mut adapter: Adapter, origins: &Origins, settings: &Settings) -> Compiled {
    let problems = configured_targets(&mut adapter, settings);
    reported(problems, compile::compile(adapter, settings), origins)
}

/// Compiles an adapter whose operations are heads; `library` has the rest of them.
#[must_use]
pub fn compile_deferred(mut adapter: Adapter, library: Arc<dyn Library>, settings: &Settings) -> Compiled {
    let problems = configured_targets(&mut adapter, settings);
    reported(problems, compile::compile_deferred(adapter, library, settings), &Origins::default())
}

fn reported(problems: Vec<Diagnostic>, compiled: Compiled, origins: &Origins) -> Compiled {
    let mut diagnostics = problems;
    diagnostics.extend(compiled.diagnostics);
    for diagnostic in &mut diagnostics {
        diagnostic.pointer = origins.resolve(&diagnostic.pointer);
        redact(diagnostic);
    }
    Compiled { diagnostics, ..compiled }
}

/// The upstreams that a configuration names take the place of the document's own.
fn configured_targets(adapter: &mut Adapter, settings: &Settings) -> Vec<Diagnostic> {
    let Some(given) = &settings.targets else { return Vec::new() };
    let mut reader = Reader::default();
    let value = Value::Object(given.clone());
    if let Some(object) = reader.object(&value, "") {
        adapter.targets = load_targets(&mut reader, &object, &adapter.target, &adapter.auth);
        adapter.default_target = default_target(&mut reader, &object, &adapter.targets);
    }
    let outside = |diagnostic| Diagnostic { pointer: String::new(), span: Some(Span::NOWHERE), ..diagnostic };
    reader.diagnostics.into_iter().map(outside).collect()
}
