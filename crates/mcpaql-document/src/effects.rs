//! Compares the category that a document gives an operation with its words.
//!
//! ```
//! use mcpaql_core::operation::Binding;
//! use mcpaql_document::effects::contradicts_read;
//!
//! assert!(contradicts_read("delete_note", "Deletes a note.", &Binding::Code).is_some());
//! assert!(contradicts_read("list_notes", "Lists notes.", &Binding::Code).is_none());
//! ```
//!
//! Clients run reads without asking, so a write that is listed as a read must be reported.

use mcpaql_core::operation::Binding;
use mcpaql_lexicon::classify::{self, Evidence};

/// Returns what contradicts the listing of an operation under `read`, as a fragment such as "'create' in its name".
///
/// Methods that always write are not covered: the loader reports them with the category that fits.
#[must_use]
pub fn contradicts_read(name: &str, description: &str, binding: &Binding) -> Option<String> {
    let evidence = match binding {
        Binding::Http(http) if !matches!(http.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "POST") => {
            return None;
        }
        Binding::Http(http) => {
            Evidence { name, description, method: Some(&http.method), ..Evidence::default() }
        }
        // The import has classified the tool with its schema; its description may be about more than this operation.
        Binding::Mcp(_) => Evidence { name, ..Evidence::default() },
        _ => Evidence { name, description, ..Evidence::default() },
    };
    classify::contradicts_read(&evidence)
}
