//! Descriptions of APIs → adapters, as pure functions: what has to be fetched or read is asked from the caller.

pub mod emit;
pub mod mcp;
mod naming;
pub mod openapi;
pub mod report;
pub mod select;
