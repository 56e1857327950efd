//! Reads the files that users write: adapter documents, `mcpaql.yaml`, overrides and policies. Reports every problem with its
//! position in the text.
//!
//! `source` parses the text into an untyped value, `load` turns the value into an adapter, `compile` turns the adapter into a
//! catalog, and `check` does all three. Every problem is a diagnostic, and `render` prints diagnostics.
//!
//! The crate does no I/O: the caller reads the files.

pub mod check;
pub mod compile;
pub mod config;
pub mod effects;
pub mod load;
pub mod overrides;
pub mod policies;
pub mod render;
pub mod source;
