//! What this server does in its own way. This file is yours: generating again leaves it as it is.
//!
//! The type of a function's first argument says which operation it answers. `call.send(…)` makes the call that the document
//! describes, for this or for any other operation; `Answer::new(…)` answers with something else, and an `OpError` says what
//! went wrong, both of `mcpaql_runtime::document`:
//!
//! ```ignore
//! Handlers::new().on(async |params: crate::operations::ExampleParams, call| {
//!     let answer = call.send(params).await?;
//!     Ok(answer)
//! })
//! ```

use mcpaql_runtime::document::Handlers;

/// The functions that take the place of operations.
#[must_use]
pub fn handlers() -> Handlers {
    Handlers::new()
}
