//! Functions as handlers of operations: their arguments, and the traits that accept them.
//!
//! A function is a handler if each of its arguments is a [`HandlerArgument`] and it returns a `Result` with an [`OpError`]. Both
//! traits are sealed: they exist so that the compiler checks a function against the state of its adapter.

use crate::caller::Caller;
use crate::target::Args;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::Answer;
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The state of an adapter, as an argument of a handler.
///
/// The value comes from [`Native::with_state`](super::Native::with_state). All calls share it, and cloning a `State` does not copy
/// the value. Use a mutex or an atomic inside for data that handlers change.
///
/// ```
/// use mcpaql_runtime::prelude::*;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(Default)]
/// struct Counter(AtomicU64);
///
/// async fn add_one(State(counter): State<Counter>) -> Result<u64, OpError> {
///     Ok(counter.0.fetch_add(1, Ordering::Relaxed) + 1)
/// }
///
/// let adapter = Native::new("counter").with_state(Counter::default()).operation(operation("add_one").handle(add_one));
/// # let _ = adapter;
/// ```
///
/// A handler for another state does not compile:
///
/// ```compile_fail,E0308
/// use mcpaql_runtime::prelude::*;
///
/// async fn get_length(text: State<String>) -> Result<usize, OpError> {
///     Ok(text.len())
/// }
///
/// let adapter = Native::new("counter").with_state(7_u32).operation(operation("get_length").handle(get_length));
/// ```
pub struct State<S>(
    /// The shared value.
    pub Arc<S>,
);

impl<S> Clone for State<S> {
    fn clone(&self) -> State<S> {
        State(Arc::clone(&self.0))
    }
}

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: fmt::Debug> fmt::Debug for State<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.0).finish()
    }
}

/// One call, from which the arguments of a handler are taken.
#[expect(missing_debug_implementations, reason = "hidden, and its state need not be printable")]
pub struct NativeCall<S> {
    /// `None` once a parameter struct has taken them.
    args: Option<Args>,
    caller: Caller,
    state: Arc<S>,
}

/// A type that a handler may have as an argument.
///
/// | argument | value |
/// |---|---|
/// | a struct that derives `Deserialize` and `JsonSchema` | the parameters of the call, validated and with defaults filled in |
/// | [`State<S>`](State) | the state of the adapter |
/// | [`Caller`] | reports progress to the client and asks it questions |
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a handler",
    label = "not an argument of a handler",
    note = "a handler takes `State<S>`, `Caller`, and one struct with `serde::Deserialize` and `schemars::JsonSchema`",
    note = "the state of an adapter is set with `Native::with_state`, before the operations that use it"
)]
pub trait HandlerArgument<S>: Sized + Send {
    /// The schema of the parameters, if this argument is the parameters.
    #[doc(hidden)]
    fn schema(types: &mut SchemaGenerator) -> Option<Schema>;

    /// Takes this argument from a call.
    #[doc(hidden)]
    fn take(call: &mut NativeCall<S>) -> Result<Self, OpError>;
}

impl<S: Send + Sync> HandlerArgument<S> for State<S> {
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    fn take(call: &mut NativeCall<S>) -> Result<Self, OpError> {
        Ok(State(Arc::clone(&call.state)))
    }
}

impl<S> HandlerArgument<S> for Caller {
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    fn take(call: &mut NativeCall<S>) -> Result<Self, OpError> {
        Ok(call.caller.clone())
    }
}

impl<S, P: DeserializeOwned + JsonSchema + Send> HandlerArgument<S> for P {
    fn schema(types: &mut SchemaGenerator) -> Option<Schema> {
        Some(P::json_schema(types))
    }

    fn take(call: &mut NativeCall<S>) -> Result<Self, OpError> {
        let args = call.args.take().unwrap_or_default();
        // The schema has accepted them. What remains are conditions that a schema cannot express.
        serde_json::from_value(Value::Object(args)).map_err(|error| {
            OpError::new(Code::InvalidValue, format!("The parameters cannot be used: {error}."))
        })
    }
}

/// An async function or closure that answers an operation of an adapter with the state `S`.
///
/// It takes up to three [arguments](HandlerArgument), in any order, and returns `Result<R, OpError>`. `R` derives `Serialize` and
/// `JsonSchema`, or is a [`serde_json::Value`]. `A` is the tuple of the arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot answer an operation",
    label = "not a handler",
    note = "a handler is an async function with up to three arguments: `State<S>`, `Caller`, and one struct with \
            `serde::Deserialize` and `schemars::JsonSchema`",
    note = "it returns `Result<R, OpError>`, where `R` derives `serde::Serialize` and `schemars::JsonSchema`",
    note = "its future is `Send`: it holds no `MutexGuard` of the standard library across an `.await`"
)]
pub trait NativeHandler<S, A>: Send + Sync + 'static {
    /// The schemas of the arguments that are parameters; more than one is an error of the adapter.
    #[doc(hidden)]
    fn params(types: &mut SchemaGenerator) -> Vec<Schema>;

    /// The schema of the result.
    #[doc(hidden)]
    fn returns(types: &mut SchemaGenerator) -> Schema;

    /// Answers a call.
    #[doc(hidden)]
    fn answer(&self, call: NativeCall<S>) -> BoxFuture<'static, Result<Answer, OpError>>;
}

macro_rules! handlers {
    ($($argument:ident)*) => {
        impl<S, F, Fut, R, $($argument,)*> NativeHandler<S, ($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<R, OpError>> + Send + 'static,
            R: Serialize + JsonSchema,
            $($argument: HandlerArgument<S>,)*
        {
            fn params(_types: &mut SchemaGenerator) -> Vec<Schema> {
                let schemas: [Option<Schema>; _] = [$($argument::schema(_types)),*];
                schemas.into_iter().flatten().collect()
            }

            fn returns(types: &mut SchemaGenerator) -> Schema {
                types.subschema_for::<R>()
            }

            fn answer(&self, _call: NativeCall<S>) -> BoxFuture<'static, Result<Answer, OpError>> {
                let mut _call = _call;
                let begun: Result<Fut, OpError> = begin(|| Ok(self($($argument::take(&mut _call)?),*)));
                async move { to_answer(begun?.await?) }.boxed()
            }
        }
    };
}

handlers!();
handlers!(A1);
handlers!(A1 A2);
handlers!(A1 A2 A3);

/// Calls a closure, so that `?` inside it returns from the closure only.
fn begin<T>(closure: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    closure()
}

fn to_answer(result: impl Serialize) -> Result<Answer, OpError> {
    serde_json::to_value(result).map(Answer::new).map_err(|error| {
        OpError::new(Code::Internal, "The answer could not be written; tell the user.").with_cause(error)
    })
}

/// Connects a handler with the state of its adapter.
pub(super) fn bind<S, A, H>(handler: H) -> BindFn<S>
where
    S: Send + Sync + 'static,
    A: 'static,
    H: NativeHandler<S, A>,
{
    Box::new(move |state| {
        Arc::new(move |args, caller| {
            handler.answer(NativeCall { args: Some(args), caller, state: Arc::clone(&state) })
        })
    })
}

/// A handler that still needs the state of its adapter.
pub(super) type BindFn<S> = Box<dyn FnOnce(Arc<S>) -> crate::target::code::Function + Send>;
