//! Your own handlers. This file is yours: generating again does not change it.
//!
//! The type of a function's first argument selects the operation. `call.send(…)` makes the call that the document describes,
//! for this or any other operation. `Answer::new(…)` returns another answer, and `OpError` an error; both are in
//! `mcpaql_runtime::document`:
//!
//! ```ignore
//! Handlers::new().on(async |params: crate::operations::ExampleParams, call| {
//!     let answer = call.send(params).await?;
//!     Ok(answer)
//! })
//! ```

use mcpaql_runtime::document::Handlers;

/// Returns the functions that replace operations.
#[must_use]
pub fn handlers() -> Handlers {
    Handlers::new()
}
