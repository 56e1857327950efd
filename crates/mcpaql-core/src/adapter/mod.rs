//! The adapter document: what was written, loaded into what it means.
//!
//! Loading goes text → value → diagnostics → types. Every problem is collected with its JSON pointer; one bad operation is
//! diagnosed and left out, the rest of the document still loads.

mod load;
mod model;
mod store_operations;

pub use load::{
    Loaded, Origins, SCHEMA_KEYS, guard_of, is_credential_name, load, title_of, without_credentials,
};
pub(crate) use load::{adapter_name, mcp_target, origins, read, read_auth, redact};
pub use model::*;
pub use store_operations::{
    PAGE, PAGE_LIMIT, RECORD_KEYS, is_filter, is_flat, operations as store_operations, search_fields,
};

/// The JSON Schema of documents, for editors.
pub const DOCUMENT_SCHEMA: &str = include_str!("document.schema.json");
