//! Handlers: functions that answer operations of a document, and the calls that they make themselves.

use super::Dispatcher;
use crate::caller::{Caller, EntryPoint};
use crate::target::Args;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::request;
use mcpaql_core::response::Answer;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The parameters of one operation: a struct whose fields are the JSON that callers send.
pub trait Params: Serialize {
    /// The operation that has these parameters.
    const OPERATION: &'static str;
}

impl<P: Params> Params for &P {
    const OPERATION: &'static str = P::OPERATION;
}

/// Deserializes a field that is present, even if it is null. Use it with `default` to tell an absent field from null:
/// a field of type `Option<Option<T>>` is `None` if the caller left it out, and `Some(None)` if the caller sent null.
///
/// # Errors
/// When the value does not match its type.
pub fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub(super) type Handler =
    Arc<dyn Fn(Args, HandlerCall) -> BoxFuture<'static, Result<Answer, OpError>> + Send + Sync>;

/// Functions that replace operations of a document.
#[derive(Clone, Default)]
pub struct Handlers(HashMap<String, Handler>);

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Handlers {
    /// Returns an empty set: every operation makes the call that the document describes.
    #[must_use]
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// Adds the handler of the operation whose parameters it takes. The parameters are validated and completed with
    /// defaults. The handler fails with an [`OpError`], whose message the model reads. A call is cancelled by
    /// dropping the handler's future.
    #[must_use]
    pub fn on<P, F, Fut>(self, function: F) -> Handlers
    where
        P: Params + DeserializeOwned,
        F: Fn(P, HandlerCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer, OpError>> + Send + 'static,
    {
        self.insert(
            P::OPERATION,
            Arc::new(move |args, call| match serde_json::from_value::<P>(Value::Object(args)) {
                Ok(params) => function(params, call).boxed(),
                // The error would repeat the value, which may be a secret.
                Err(_) => std::future::ready(Err(unsupported_values(P::OPERATION))).boxed(),
            }),
        )
    }

    /// Adds the handler of the operation with this name. It gets the parameters as JSON.
    #[must_use]
    pub fn on_operation<F, Fut>(self, operation: &str, function: F) -> Handlers
    where
        F: Fn(Args, HandlerCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer, OpError>> + Send + 'static,
    {
        self.insert(operation, Arc::new(move |args, call| function(args, call).boxed()))
    }

    fn insert(mut self, operation: &str, handler: Handler) -> Handlers {
        self.0.insert(operation.to_owned(), handler);
        self
    }

    pub(super) fn get(&self, operation: &str) -> Option<&Handler> {
        self.0.get(operation)
    }

    /// The names of the operations that have a handler.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns whether no operation has a handler.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn unsupported_values(operation: &str) -> OpError {
    OpError::new(
        Code::InvalidValue,
        format!(
            "The values for '{operation}' are valid, but not supported by this server; send simpler ones."
        ),
    )
}

/// One call of an operation, as its handler sees it: the caller, and access to the document's own target.
#[derive(Debug, Clone)]
pub struct HandlerCall {
    adapter: Arc<Dispatcher>,
    caller: Caller,
}

impl HandlerCall {
    pub(super) fn new(adapter: Arc<Dispatcher>, caller: Caller) -> HandlerCall {
        HandlerCall { adapter, caller }
    }

    /// Makes the call that the document describes for these parameters. They can belong to any of its operations.
    /// They are validated and completed with defaults; handlers are skipped.
    ///
    /// # Errors
    /// When the parameters are invalid or the target fails.
    pub async fn send<P: Params>(&self, params: P) -> Result<Answer, OpError> {
        match serde_json::to_value(params) {
            Ok(Value::Object(args)) => self.send_args(P::OPERATION, args).await,
            Ok(_) | Err(_) => {
                let message =
                    format!("The call of '{}' could not be serialized; tell the user.", P::OPERATION);
                Err(OpError::new(Code::Internal, message))
            }
        }
    }

    /// Calls an operation by name, with parameters as JSON.
    ///
    /// # Errors
    /// When the call is invalid or the target fails.
    pub async fn send_args(&self, operation: &str, args: Args) -> Result<Answer, OpError> {
        let recording = self.adapter.stats.begin(EntryPoint::Handler);
        let outcome = match request::prepare_operation(&self.adapter.catalog, operation, args) {
            Ok(call) => self.adapter.run(EntryPoint::Handler, call, None, &self.caller).await,
            Err(error) => Err(error),
        };
        recording.end(outcome.as_ref().err().map(|error| error.code));
        outcome
    }

    /// The caller, to report progress or to ask a question.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }
}
