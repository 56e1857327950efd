//! The MCP-AQL protocol as pure functions over data: no clock, no file, no network, no environment.
//!
//! An adapter goes in (`model`), a catalog of operations is compiled from it once (`compile`, `catalog`), and everything a client sees
//! is a view of that catalog: `surface`, `introspect`, `request`, `response`.

pub mod capture;
pub mod catalog;
pub mod compile;
pub mod diagnostic;
pub mod error;
pub mod extends;
pub mod groups;
pub mod header;
pub mod host;
pub mod introspect;
pub mod links;
mod model;
pub mod naming;
pub mod policy;
pub mod reader;
pub mod request;
pub mod response;
pub mod sample;
pub mod schema;
pub mod search;
pub mod signature;
pub mod suggest;
pub mod surface;
pub mod targets;
pub mod template;
pub mod timestamp;
pub mod tokens;
pub mod unified;
pub mod validate;

pub use model::{adapter, facts, hints, library, lifecycle, operation};
