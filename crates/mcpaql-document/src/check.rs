//! Checks a document: text → catalog and all problems, each with its position in the text.
//!
//! ```
//! use mcpaql_document::check::check;
//! use mcpaql_document::source::Source;
//!
//! let checked = check(&Source::new("shop.yaml", "name: shop\ntype: adaptor\n"), &Default::default());
//! assert!(checked.catalog.is_none());
//! let problem = checked.diagnostics.iter().find(|problem| problem.pointer == "/type").unwrap();
//! assert_eq!(problem.span.unwrap().line, 2);
//! ```
//!
//! What always holds: all problems are reported at once, and an operation with an error does not affect the others.

use crate::compile;
use crate::load;
use crate::source::Source;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::{AdapterSettings, Catalog, Tool};
use mcpaql_core::diagnostic::{Diagnostic, Severity, field_path};
use mcpaql_core::error::Code;
use std::collections::HashSet;

/// The result of checking a document.
#[derive(Debug)]
pub struct CheckOutput {
    /// The catalog without the operations that have errors; `None` if the document has an error outside its operations.
    pub catalog: Option<Catalog>,
    /// All problems with their positions, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl CheckOutput {
    /// The number of problems that are errors.
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

/// Like [`check`]; `change` may modify the adapter before it is compiled.
#[must_use]
pub fn check_with(
    source: &Source,
    settings: &AdapterSettings,
    change: impl FnOnce(&mut Adapter),
) -> CheckOutput {
    let parsed = match source.parse() {
        Ok(parsed) => parsed,
        Err(diagnostics) => return CheckOutput { catalog: None, diagnostics },
    };
    let mut diagnostics = parsed.diagnostics;
    let mut draft = load::read(&parsed.value);
    diagnostics.append(&mut draft.diagnostics);
    draft.remove_broken_operations(&diagnostics);
    // A rejected document is compiled, too, so that its author sees all problems at once.
    let catalog = draft.adapter.take().and_then(|mut adapter| {
        change(&mut adapter);
        draft.remove_unused_aliases(&mut adapter);
        let compiled = compile::compile(adapter, &draft.origins, settings);
        diagnostics.extend(compiled.diagnostics);
        compiled.catalog
    });
    let is_rejected = diagnostics.iter().any(|diagnostic| draft.is_rejected_by(diagnostic));
    source.locate(&mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map_or(0, |span| span.start));
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert(dedup_key(diagnostic)));
    CheckOutput { catalog: catalog.filter(|_| !is_rejected), diagnostics }
}

/// Warns about tools that write no `destructiveHint` and are not read-only: by MCP's defaults they are destructive. A policy
/// that reproduces the tools of another project may want that, so only the command `check` says it.
#[must_use]
pub fn undeclared_destruction(catalog: &Catalog) -> Option<Diagnostic> {
    let is_unsaid = |tool: &&Tool| tool.hints.destructive.is_none() && tool.hints.read_only != Some(true);
    let names: Vec<&str> = catalog.tools.iter().filter(is_unsaid).map(|tool| tool.name.as_str()).collect();
    let first = names.first()?;
    let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    let message = format!("{first}{more}: no destructiveHint, which clients take as destructive");
    Some(
        Diagnostic::warning(Code::SchemaInvalidValue, "/policy", message)
            .suggest("use a policy with `destructiveHint`, such as `mcpaql`, if that is not intended"),
    )
}

/// Diagnostics with the same key are reported once. A mistake behind a YAML anchor is found once per alias, although the
/// author made it once.
fn dedup_key(diagnostic: &Diagnostic) -> (Code, Severity, Option<(usize, usize)>, String) {
    let span = diagnostic.span.map(|span| (span.start, span.end));
    let mut message = diagnostic.message.clone();
    if span.is_some() {
        // Only the path differs between aliases, and the span already identifies the position.
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
