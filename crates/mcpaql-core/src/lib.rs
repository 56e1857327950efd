//! The MCP-AQL protocol as pure functions over data: no clock, no file, no network, no environment.
//!
//! An adapter document goes in (`source`, `adapter`), a catalog of operations is compiled from it once (`catalog`), and
//! everything a client sees is a view of that catalog: `surface`, `introspect`, `request`, `response`.

pub mod adapter;
pub mod audit;
pub mod capture;
pub mod catalog;
pub mod check;
pub mod classify;
pub mod config;
pub mod convention;
pub mod diagnostic;
pub mod error;
mod extends;
pub mod facts;
pub mod groups;
pub mod introspect;
pub mod library;
pub mod lifecycle;
pub mod links;
pub mod moment;
pub mod naming;
pub mod operation;
pub mod overrides;
pub mod policy;
mod reader;
pub mod request;
pub mod response;
pub mod sample;
pub mod schema;
pub mod search;
pub mod signature;
pub mod source;
pub mod suggest;
pub mod surface;
pub mod targets;
pub mod tokens;
pub mod unified;
pub mod validate;
