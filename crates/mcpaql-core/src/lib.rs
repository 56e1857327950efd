//! The MCP-AQL protocol as pure functions over data: no clock, no file, no network, no environment.
//!
//! An adapter document goes in (`source`, `adapter`), a catalog of operations is compiled from it once (`catalog`), and
//! everything a client sees is a view of that catalog: `surface`, `introspect`, `request`, `response`.

pub mod adapter;
pub mod diagnostic;
pub mod error;
pub mod facts;
pub mod operation;
pub mod policy;
pub mod response;
pub mod schema;
pub mod signature;
pub mod source;
pub mod suggest;
pub mod validate;
