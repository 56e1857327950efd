//! Adapters and their operations as plain data: what a document means once it was loaded.

pub mod adapter;
pub mod facts;
pub mod hints;
pub mod library;
pub mod lifecycle;
pub mod operation;
