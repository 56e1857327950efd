//! text → catalog and every problem on the way, each with its place in the text.

use crate::adapter;
use crate::catalog::{self, Catalog, Settings};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Source;

/// A document that was read, loaded and compiled as far as it goes.
#[derive(Debug)]
pub struct Checked {
    /// The catalog, unless the document is too broken.
    pub catalog: Option<Catalog>,
    /// Every problem, located and in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// How many problems are errors.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }
}

/// Reads, loads and compiles one document.
#[must_use]
pub fn check(source: &Source, settings: &Settings) -> Checked {
    let parsed = match source.parse() {
        Ok(parsed) => parsed,
        Err(diagnostics) => return Checked { catalog: None, diagnostics },
    };
    let mut diagnostics = parsed.diagnostics;
    let draft = adapter::read(&parsed.value);
    diagnostics.extend(draft.diagnostics);
    // A document without a usable name or target is compiled too: its author wants to know everything at once.
    let catalog = draft.adapter.and_then(|adapter| {
        let compiled = catalog::compile(adapter, &draft.origins, settings);
        diagnostics.extend(compiled.diagnostics);
        compiled.catalog.filter(|_| draft.usable)
    });
    source.locate(&mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map_or(0, |span| span.start));
    diagnostics.dedup();
    Checked { catalog, diagnostics }
}
