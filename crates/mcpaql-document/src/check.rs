//! text → catalog and every problem on the way, each with its place in the text.

use crate::compile;
use crate::load;
use crate::source::Source;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::{Diagnostic, Severity, field_path};
use mcpaql_core::error::Code;
use std::collections::HashSet;

/// A document that was read, loaded and compiled as far as it goes.
#[derive(Debug)]
pub struct CheckOutput {
    /// The catalog, unless the document is too broken.
    pub catalog: Option<Catalog>,
    /// Every problem, located and in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl CheckOutput {
    /// How many problems are errors.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }
}

/// Reads, loads and compiles one document.
#[must_use]
pub fn check(source: &Source, settings: &AdapterSettings) -> CheckOutput {
    check_with(source, settings, |_| {})
}

/// The same; `decide` may change the adapter before it is compiled.
#[must_use]
pub fn check_with(
    source: &Source,
    settings: &AdapterSettings,
    decide: impl FnOnce(&mut Adapter),
) -> CheckOutput {
    let parsed = match source.parse() {
        Ok(parsed) => parsed,
        Err(diagnostics) => return CheckOutput { catalog: None, diagnostics },
    };
    let mut diagnostics = parsed.diagnostics;
    let draft = load::read(&parsed.value);
    diagnostics.extend(draft.diagnostics);
    // A document without a usable name or target is compiled too: its author wants to know everything at once.
    let catalog = draft.adapter.and_then(|mut adapter| {
        decide(&mut adapter);
        let compiled = compile::compile(adapter, &draft.origins, settings);
        diagnostics.extend(compiled.diagnostics);
        compiled.catalog.filter(|_| draft.usable)
    });
    source.locate(&mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map_or(0, |span| span.start));
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert(dedup_key(diagnostic)));
    CheckOutput { catalog, diagnostics }
}

/// What makes two diagnostics one: a mistake behind a YAML anchor is met once per alias, but it was made once.
fn dedup_key(diagnostic: &Diagnostic) -> (Code, Severity, Option<(usize, usize)>, String) {
    let span = diagnostic.span.map(|span| (span.start, span.end));
    let mut message = diagnostic.message.clone();
    if span.is_some() {
        // The path to it is the only thing that differs from alias to alias, and the place says as much.
        let parent = diagnostic.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let path = field_path(parent);
        if path.contains('.') {
            message = message.replace(&path, "");
        }
    } else {
        message.push_str(&diagnostic.pointer);
    }
    (diagnostic.code, diagnostic.severity, span, message)
}
