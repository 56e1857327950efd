//! The catalog as data that a runtime in another language interprets: surface, checks, introspection, search, texts.
//!
//! What always holds: it is a view of the same catalog that serves here, so whoever follows it answers as we do; the same catalog
//! gives the same data, byte for byte.

use crate::catalog::Catalog;
use serde_json::{Value, json};

/// The version of this shape; a runtime refuses another one.
pub const FORMAT: u32 = 1;

/// The catalog as data.
#[must_use]
pub fn catalog(catalog: &Catalog) -> Value {
    json!({"format": FORMAT, "tools": catalog.tools.iter().map(crate::surface::Tool::to_json).collect::<Vec<_>>()})
}
