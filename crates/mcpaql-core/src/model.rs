//! Adapters and their operations as plain data: the meaning of a loaded document.

pub mod adapter;
pub mod facts;
pub mod hints;
pub mod library;
pub mod lifecycle;
pub mod operation;
