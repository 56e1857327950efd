//! An adapter as an MCP server: the document in `schema/`, and your own functions in `handlers`.
//!
//! Names, titles, hints, validation and introspection come from the document. An operation makes the call that the document
//! describes, unless a function in `handlers` replaces it.

pub mod handlers;
#[allow(
    clippy::doc_lazy_continuation,
    clippy::doc_nested_refdefs,
    clippy::doc_overindented_list_items,
    clippy::doc_suspicious_footnotes,
    clippy::enum_variant_names,
    clippy::module_inception,
    clippy::needless_doctest_main,
    clippy::test_attr_in_doctest,
    rustdoc::all,
    reason = "names and descriptions are those of the document"
)]
pub mod operations;
mod source;
#[allow(
    clippy::doc_lazy_continuation,
    clippy::doc_nested_refdefs,
    clippy::doc_overindented_list_items,
    clippy::doc_suspicious_footnotes,
    clippy::enum_variant_names,
    clippy::needless_doctest_main,
    clippy::test_attr_in_doctest,
    rustdoc::all,
    reason = "names and descriptions are those of the document"
)]
pub mod types;

use mcpaql_runtime::document::Document;

/// Returns the document that the server serves.
#[must_use]
pub fn document() -> Document {
    Document::new(source::FILE, source::TEXT)
        .with_settings(source::settings())
        .with_handlers(handlers::handlers())
}
