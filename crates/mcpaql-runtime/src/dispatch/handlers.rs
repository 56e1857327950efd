//! Functions in place of operations, and the calls that they make themselves.

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

/// The parameters of one operation: a struct whose fields, as JSON, are what callers send.
pub trait Params: Serialize {
    /// The operation that takes them.
    const OPERATION: &'static str;
}

impl<P: Params> Params for &P {
    const OPERATION: &'static str = P::OPERATION;
}

/// Reads a value that was given, null included: for fields whose absence is not null. Together with `default`, a field of type
/// `Option<Option<T>>` is nothing where the caller left it out, and `Some(None)` where the caller sent null.
///
/// # Errors
/// As the value's own type.
pub fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub(super) type Handler =
    Arc<dyn Fn(Args, HandlerCall) -> BoxFuture<'static, Result<Answer, OpError>> + Send + Sync>;

/// Functions that stand in for operations of a document.
#[derive(Clone, Default)]
pub struct Handlers(HashMap<String, Handler>);

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Handlers {
    /// None yet: every operation makes the call that the document describes.
    #[must_use]
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// The function that answers the operation whose parameters it takes. They are validated and completed with defaults; what goes
    /// wrong is an [`OpError`], whose message the model reads. Dropping the function's future cancels it.
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
                Ok(given) => function(given, call).boxed(),
                // What was given may be a secret, and the reader's error would repeat it.
                Err(_) => std::future::ready(Err(unsupported_values(P::OPERATION))).boxed(),
            }),
        )
    }

    /// The function that answers the operation of that name; the parameters come as they are.
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

    /// The operations that they answer.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn unsupported_values(operation: &str) -> OpError {
    OpError::new(
        Code::InvalidValue,
        format!(
            "The values for '{operation}' are valid, but more than this server can take; send simpler ones."
        ),
    )
}

/// One call of an operation, as the function in its place sees it: who calls, and the way to the document's own target.
#[derive(Debug, Clone)]
pub struct HandlerCall {
    adapter: Arc<Dispatcher>,
    caller: Caller,
}

impl HandlerCall {
    pub(super) fn new(adapter: Arc<Dispatcher>, caller: Caller) -> HandlerCall {
        HandlerCall { adapter, caller }
    }

    /// Makes the call that the document describes for these parameters, whichever of its operations they belong to. They are
    /// validated and completed with defaults first; functions in place of operations are not asked.
    ///
    /// # Errors
    /// What is wrong with the parameters, or what the target had against the call.
    pub async fn send<P: Params>(&self, params: P) -> Result<Answer, OpError> {
        match serde_json::to_value(params) {
            Ok(Value::Object(args)) => self.send_args(P::OPERATION, args).await,
            Ok(_) | Err(_) => {
                let message = format!("The call of '{}' could not be written; tell the user.", P::OPERATION);
                Err(OpError::new(Code::Internal, message))
            }
        }
    }

    /// The same by name.
    ///
    /// # Errors
    /// What is wrong with the call, or what the target had against it.
    pub async fn send_args(&self, operation: &str, args: Args) -> Result<Answer, OpError> {
        let recording = self.adapter.stats.begin(EntryPoint::Handler);
        let outcome = match request::prepare_operation(&self.adapter.catalog, operation, args) {
            Ok(call) => self.adapter.run(EntryPoint::Handler, call, None, &self.caller).await,
            Err(error) => Err(error),
        };
        recording.end(outcome.as_ref().err().map(|error| error.code));
        outcome
    }

    /// Who called, to report progress or to ask something back.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }
}
