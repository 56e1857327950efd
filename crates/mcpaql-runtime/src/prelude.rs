//! The names that a program needs to define an adapter and to serve it: `use mcpaql_runtime::prelude::*;`
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Name {
//!     name: String,
//! }
//!
//! async fn get_greeting(given: Name) -> Result<String, OpError> {
//!     Ok(format!("Hello, {}", given.name))
//! }
//!
//! let greeter = Native::new("greeter").operation(operation("get_greeting").handle(get_greeting));
//! # let _ = greeter;
//! ```
//!
//! The derive macros of `serde` and `schemars` are included. The program needs both crates as dependencies, because the code that the
//! macros generate refers to them.

pub use crate::document::{Answer, Document, DocumentError, HandlerCall, Handlers, Params, given};
pub use crate::gateway::Gateway;
pub use crate::native::{
    AdapterSettings, Caller, Category, Code, Effect, Native, NativeError, NativeOperation, NoParams, OpError,
    Progress, State, operation,
};
pub use crate::run::RunError;
pub use mcpaql_core::gate::trust::TrustLevel;
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
