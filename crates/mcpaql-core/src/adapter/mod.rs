//! The adapter document: what was written, loaded into what it means.
//!
//! Loading goes text → value → diagnostics → types. Every problem is collected with its JSON pointer; one bad operation is
//! diagnosed and left out, the rest of the document still loads.

mod load;
mod model;
mod store_operations;
mod store_samples;

pub use load::{Loaded, load};
pub(crate) use load::{introspect_params, title_of};
pub use model::*;
pub use store_operations::{
    PAGE, PAGE_LIMIT, RECORD_KEYS, is_filter, is_flat, operations as store_operations, search_fields,
};
