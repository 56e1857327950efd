//! Adapters that ship with the program.

use mcpaql_document::source::Source;

/// Name and document of every built-in adapter.
const BUILTINS: &[(&str, &str)] = &[("notebook", include_str!("../../../examples/notebook-adapter.md"))];

/// The built-in adapter that is served when nothing is configured.
pub const DEFAULT_ADAPTER: &str = "notebook";

/// The document of a built-in adapter.
#[must_use]
pub fn document(name: &str) -> Option<Source> {
    let (name, text) = BUILTINS.iter().find(|(known, _)| *known == name)?;
    Some(Source::new(format!("builtin:{name}"), *text))
}

/// Returns the names of all built-in adapters.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|(name, _)| *name)
}
