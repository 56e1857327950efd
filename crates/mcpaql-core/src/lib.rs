//! The MCP-AQL protocol as pure functions over data: no clock, no files, no network, no environment variables.
//!
//! An adapter describes an API: its operations, their parameters and effects. This crate compiles an adapter once into a catalog. From
//! the catalog it derives everything that an MCP client sees: tools with names, titles, hints and schemas, discovery, validation,
//! answers and errors. Running a call is the job of `mcpaql-runtime`; reading an adapter from a document is the job of
//! `mcpaql-document`.
//!
//! # Example
//!
//! ```
//! use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! use mcpaql_core::catalog::AdapterSettings;
//! use mcpaql_core::error::Code;
//! use mcpaql_core::facts::{self, Declared, Guard, Reach};
//! use mcpaql_core::operation::{Binding, Category, Danger, Operation, Param, ParamLocation};
//! use mcpaql_core::{compile, request, response};
//! use serde_json::json;
//!
//! // An adapter with one operation.
//! let mut adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! let facts = facts::infer(&Declared {
//!     category: Category::Read,
//!     effect: None,
//!     idempotent: None,
//!     danger: Danger::Safe,
//!     guard: Guard::None,
//!     reach: Reach::Process,
//!     binding: &Binding::Code,
//! });
//! let mut list = Operation::new("list_tasks", Category::Read, facts, Binding::Code);
//! list.params.push(Param::new("limit", ParamLocation::Body, json!({"type": "integer", "minimum": 1})));
//! adapter.operations.push(list);
//!
//! // Its catalog, and the tools that clients see.
//! let catalog = compile::compile(adapter, &AdapterSettings::default()).catalog.unwrap();
//! let tool = catalog.tools[0].to_json();
//! assert_eq!(tool["name"], "todo_mcpaql_read");
//! assert_eq!(tool["annotations"]["readOnlyHint"], true);
//!
//! // A call: arguments are validated before anything runs.
//! let arguments = |limit: i32| json!({"operation": "list_tasks", "params": {"limit": limit}}).as_object().unwrap().clone();
//! let call = request::prepare(&catalog, "todo_mcpaql_read", arguments(5)).unwrap();
//! assert_eq!(call.args["limit"], 5);
//! let error = request::prepare(&catalog, "todo_mcpaql_read", arguments(0)).unwrap_err();
//! assert_eq!(error.code, Code::InvalidValue);
//!
//! // An answer: the text that goes back to the client.
//! let reply = response::envelope(&Ok(response::Answer::new(json!(["write"]))), catalog.errors);
//! assert_eq!(reply.text, r#"{"success":true,"data":["write"]}"#);
//! ```
//!
//! # How the parts fit
//!
//! ```text
//! adapter, operation ─▶ compile ─▶ catalog ─┬─▶ surface     tools: names, titles, hints, descriptions, schemas
//!                                           ├─▶ introspect  lists, search, details, types
//!                                           └─▶ request ─▶ validate ─▶ (a target) ─▶ response
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`adapter`], [`operation`], [`facts`], [`hints`], [`lifecycle`] | the model: adapters and operations as plain data |
//! | [`library`] | operations that are read on demand, for large APIs |
//! | [`compile`](mod@compile), [`catalog`] | adapter → catalog |
//! | [`request`], [`response`], [`error`] | arguments → a validated call; outcome → answer; the table of error codes |
//! | [`batch`] | several calls in one |
//! | [`shape`] | query controls: the part of an answer that a call asks for |
//! | [`introspect`], [`search`] | discovery for agents |
//! | [`policy`], [`naming`] | hints and names of tools |
//! | [`diagnostic`] | problems of documents |
//! | [`flagged`] | poisoned texts, and operations that are withheld because of them |
//!
//! The other modules are shared by the crates of this workspace.
//!
//! # Versions
//!
//! Until 1.0, minor versions may change this API; patch versions do not. Modules without an entry in this documentation are not part
//! of the API.

pub mod batch;
pub mod capture;
pub mod catalog;
pub mod compile;
pub mod evidence;
pub mod failure_codes;
pub mod flagged;
#[doc(hidden)]
pub mod groups;
#[doc(hidden)]
pub mod header;
#[doc(hidden)]
pub mod host;
pub mod introspect;
#[doc(hidden)]
pub mod links;
mod model;
pub mod naming;
pub mod policy;
pub mod request;
pub mod response;
pub mod search;
#[doc(hidden)]
pub mod signature;
#[doc(hidden)]
pub mod surface;
#[doc(hidden)]
pub mod targets;
#[doc(hidden)]
pub mod template;
#[doc(hidden)]
pub mod timestamp;
#[doc(hidden)]
pub mod tokens;
pub mod unified;
pub mod validate;
#[doc(hidden)]
pub mod variables;

#[doc(inline)]
pub use mcpaql_schema::{diagnostic, error, schema};
#[doc(hidden)]
pub use mcpaql_schema::{extends, reader, sample, suggest, syntax};
#[doc(inline)]
pub use mcpaql_gate as gate;
#[doc(inline)]
pub use mcpaql_shape as shape;
pub use model::{adapter, exchange, facts, hints, library, lifecycle, operation};
