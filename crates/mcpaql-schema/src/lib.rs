//! JSON values: how a value must look, and the problem or error that says what is wrong with one.
//!
//! Documents, parameters of calls and tools of MCP servers are all untyped JSON first. This crate reads such values, compiles
//! JSON Schemas once, checks values in bounded time, and describes every problem as data.
//!
//! # Example
//!
//! ```
//! use mcpaql_schema::schema::type_name;
//! use mcpaql_schema::suggest::nearest;
//! use serde_json::json;
//!
//! assert_eq!(type_name(&json!(1.0)), "integer");
//! assert_eq!(nearest("titel", ["title", "body"]), Some("title"));
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`schema`] | JSON Schema, compiled into an arena; checks, formats, patterns, export |
//! | [`sample`] | a value that matches a schema |
//! | [`reader`], [`extends`] | typed access to untyped values, with a diagnostic for each unexpected one |
//! | [`diagnostic`] | problems of documents |
//! | [`error`] | the table of error codes, and the error of a call |
//! | [`suggest`] | the most similar name |
//! | [`syntax`] | HTML pages in place of documents; integers that do not fit a value; the white space of JSON |

pub mod diagnostic;
pub mod error;
pub mod extends;
pub mod reader;
pub mod sample;
pub mod schema;
pub mod suggest;
pub mod syntax;
