//! value → Adapter, collecting diagnostics.
use crate::adapter::Adapter;
use crate::diagnostic::Diagnostic;
/// The outcome of loading.
#[derive(Debug)]
pub struct Loaded {
    /// The adapter, unless the document is too broken to name one.
    pub adapter: Option<Adapter>,
    /// Every problem, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}
/// Loads.
pub fn load(_value: &serde_json::Value) -> Loaded {
    Loaded { adapter: None, diagnostics: Vec::new() }
}
