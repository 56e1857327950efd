//! Serves MCP-AQL adapters over MCP. This is the library behind the program `mcpaql`, and the library to embed.
//!
//! Use it to write an MCP server in Rust: async functions become operations, and clients see them as a few tools with names,
//! titles, hints, schemas and discovery. It also serves adapter documents, which describe HTTP APIs, programs, stores and other MCP
//! servers.
//!
//! # First example
//!
//! This program is a complete MCP server with shared state. It serves the client that starts it, over standard input and output.
//!
//! ```no_run
//! use mcpaql_runtime::prelude::*;
//! use tokio::sync::Mutex;
//!
//! type Tasks = Mutex<Vec<String>>;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Task {
//!     /// What to do.
//!     text: String,
//! }
//!
//! async fn list_tasks(tasks: State<Tasks>) -> Result<Vec<String>, OpError> {
//!     Ok(tasks.lock().await.clone())
//! }
//!
//! async fn create_task(tasks: State<Tasks>, task: Task) -> Result<usize, OpError> {
//!     let mut tasks = tasks.lock().await;
//!     tasks.push(task.text);
//!     Ok(tasks.len())
//! }
//!
//! fn main() -> Result<(), RunError> {
//!     Native::new("todo")
//!         .with_state(Tasks::default())
//!         .operation(operation("list_tasks").describe("Lists all tasks.").handle(list_tasks))
//!         .operation(operation("create_task").describe("Adds a task.").handle(create_task))
//!         .run()
//! }
//! ```
//!
//! Calls can be tested without a client:
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//! use serde_json::{Map, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let adapter = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
//! let served = adapter.open(&AdapterSettings::default(), None).await?;
//! let answer = served.call_operation("get_zone", Map::new(), &Caller::nobody()).await?;
//! assert_eq!(answer.data.into_value(), json!("UTC"));
//! # Ok(())
//! # }
//! ```
//!
//! # How the parts fit
//!
//! ```text
//! Native   ──┐
//!            ├─▶ catalog ─▶ ServedAdapter ─▶ Gateway ─▶ serve
//! Document ──┘   operations  + target         several    standard streams, HTTP, byte streams
//!                and tools                    adapters
//! ```
//!
//! 1. An adapter is written in code ([`native::Native`]) or in a document ([`document::Document`]).
//! 2. `open` compiles it to a catalog and opens the target of its calls. The result is a [`dispatch::ServedAdapter`].
//! 3. A [`gateway::Gateway`] combines one or more served adapters.
//! 4. A function of [`serve`] serves the gateway until the client disconnects or a token is cancelled.
//!
//! `Native::run` and `Document::run` do all of that for one adapter. The steps one by one:
//!
//! ```no_run
//! use mcpaql_runtime::mcp::ServerLimits;
//! use mcpaql_runtime::prelude::*;
//! use mcpaql_runtime::{environment, serve};
//! use std::sync::Arc;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
//! let clock = clock.open(&AdapterSettings::default(), None).await?;
//! let shop = Document::new("shop-adapter.yaml", std::fs::read_to_string("shop-adapter.yaml")?);
//! let shop = shop.open(None, &environment::process()).await?;
//! let gateway = Gateway::new(vec![clock, shop])?;
//! serve::serve_stdio(Arc::new(gateway), ServerLimits::default(), CancellationToken::new()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Where to read on
//!
//! - [`prelude`]: the names that most programs need
//! - [`native`]: handlers, their arguments and results
//! - [`document`]: documents with functions of your own for some operations
//! - [`caller`]: progress, and questions to the client
//! - [`target`]: your own kinds of targets, with [`open::open_with`]
//! - [`mcpaql_core::error`]: error codes
//! - the guide `docs/guides/embed.md` and the project `examples/embed` in the repository
//!
//! # Features
//!
//! All are enabled by default. A program with a native adapter does not need them.
//!
//! | feature | adds | without it |
//! |---|---|---|
//! | `http` | HTTP targets with OAuth, MCP servers behind a URL, the HTTP server | documents that need it are rejected |
//! | `store` | the store target, executions that survive a restart | documents with a store are rejected, executions are kept in memory |
//! | `log` | the log of `run` on standard error | set a `tracing` subscriber yourself |
//!
//! # Versions
//!
//! Until 1.0, minor versions may change this API; patch versions do not. The API consists of the modules in this documentation.
//! Errors are non-exhaustive: match them with a wildcard arm. Settings, options and limits can get more fields in any version: build
//! them with `..Default::default()`. The crates `schemars`, `serde`,
//! `serde_json` and `tokio-util` are part of the API; `rmcp`, `axum`, `reqwest` and `sqlx` are not.

#[doc(hidden)]
pub mod builtin;
pub mod caller;
pub mod dispatch;
pub mod document;
pub mod environment;
pub mod execution;
#[cfg(feature = "http")]
#[doc(hidden)]
pub mod fetch;
pub mod gate;
pub mod gateway;
pub mod health;
mod limits;
pub mod mcp;
pub mod native;
pub mod open;
pub mod operator;
#[cfg(feature = "http")]
pub mod outgoing;
pub mod prelude;
#[doc(hidden)]
pub mod process;
pub mod protocol;
pub mod record;
pub mod run;
pub mod secret;
pub mod serve;
pub mod service;
mod state;
pub mod target;
