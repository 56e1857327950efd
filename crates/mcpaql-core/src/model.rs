//! Adapters and their operations as plain data: the result of loading a document.

pub mod adapter;
pub mod exchange;
pub mod facts;
pub mod hints;
pub mod library;
pub mod lifecycle;
pub mod operation;
pub mod selection;
