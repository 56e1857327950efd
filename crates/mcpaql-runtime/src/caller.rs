//! The client that makes a call. Targets report progress to it, and upstreams ask it questions.
//!
//! ```
//! use mcpaql_runtime::caller::{Ability, Caller, Progress};
//! use mcpaql_runtime::prelude::*;
//! use serde_json::{Value, json};
//!
//! async fn delete_everything(caller: Caller) -> Result<Value, OpError> {
//!     if caller.is_able(Ability::Elicitation) {
//!         let question = json!({"message": "Delete everything?", "requestedSchema": {"type": "object", "properties": {}}});
//!         let answer = caller.ask(Ability::Elicitation, question).await;
//!         if !answer.is_ok_and(|answer| answer["action"] == "accept") {
//!             return Ok(json!({"deleted": 0}));
//!         }
//!     }
//!     caller.report_progress(Progress::new(1.0).of(2.0).with_message("Deleting"));
//!     Ok(json!({"deleted": 2}))
//! }
//! # let _ = operation("delete_everything").handle::<(), _, _>(delete_everything);
//! ```
//!
//! A caller is independent of the transport: each transport implements `ClientConnection` for its clients. A caller
//! that cannot be reached is not an error: progress is dropped, and a question is refused so that the upstream can
//! continue without an answer.

mod entry;
mod name;
mod session;
mod share;

pub use entry::EntryPoint;
pub use name::CallerName;
pub use session::{Session, SessionEnd, SessionWork};
pub(crate) use share::CallerShare;

use crate::protocol::{LOG_MESSAGE, LogFilter};
#[cfg(feature = "http")]
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::any::Any;
#[cfg(not(feature = "http"))]
use std::convert::Infallible as HeaderMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// The progress of a call, as its target reports it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Increases while the call runs.
    pub done: f64,
    /// The value of `done` at the end, if it is known.
    pub total: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
    /// Clients get exactly these numbers. Other progress is shown as a percentage.
    pub is_exact: bool,
}

impl Progress {
    /// Creates a report of progress without a total and without a message.
    #[must_use]
    pub fn new(done: f64) -> Progress {
        Progress { done, ..Progress::default() }
    }

    /// Returns this progress with the value of `done` at the end.
    #[must_use]
    pub fn of(self, total: f64) -> Progress {
        Progress { total: Some(total), ..self }
    }

    /// Returns this progress as numbers that clients get unchanged.
    #[must_use]
    pub fn exact(self) -> Progress {
        Progress { is_exact: true, ..self }
    }

    /// Returns this progress with a message for people.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Progress {
        Progress { message: Some(message.into()), ..self }
    }
}

/// A request that a client may support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// `elicitation/create`: a question to the user.
    Elicitation,
    /// `elicitation/create` with a page for the user to open.
    UrlElicitation,
    /// `sampling/createMessage`: a question to the user's model.
    Sampling,
}

impl Ability {
    /// Returns the ability that a method needs.
    #[must_use]
    pub fn from_method(method: &str) -> Option<Ability> {
        [Ability::Elicitation, Ability::Sampling].into_iter().find(|ability| ability.method() == method)
    }

    /// Returns the method that asks the client.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Ability::Elicitation | Ability::UrlElicitation => "elicitation/create",
            Ability::Sampling => "sampling/createMessage",
        }
    }
}

/// Why a question was not answered.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The client does not support the request.
    #[error("the client does not support {}", .0.method())]
    Unable(Ability),
    /// The client answered with an error.
    #[error("{message}")]
    Error {
        /// The JSON-RPC error code.
        code: i32,
        /// The client's message.
        message: String,
        /// The client's additional data.
        data: Option<Value>,
    },
    /// The client disconnected.
    #[error("the client did not answer")]
    Gone,
}

/// The connection to a client, implemented by each transport.
pub(crate) trait ClientConnection: Any + Send + Sync {
    /// Returns whether the client supports this request.
    fn is_able(&self, ability: Ability) -> bool;

    /// Asks the client. Called only for abilities that it supports.
    fn ask(&self, ability: Ability, params: Value) -> BoxFuture<'_, Result<Value, AskError>>;

    /// Sends a notification to the client; does nothing if the client has disconnected.
    fn notify(&self, method: &str, params: Value) -> BoxFuture<'_, ()>;

    /// Returns which log messages of upstreams the client wants.
    fn log_filter(&self) -> LogFilter;

    /// Returns the name that the client gave itself.
    fn name(&self) -> Option<String>;

    /// Returns whether both are the same client, on one connection or in one conversation.
    fn is_same(&self, other: &dyn ClientConnection) -> bool;
}

/// What a client of a revision without a handshake sends with a request. A server of such a revision needs it unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ClientInput {
    /// `inputResponses` and `requestState`, if the request answers questions.
    pub(crate) params: Map<String, Value>,
    /// The capabilities of the client.
    pub(crate) capabilities: Value,
}

/// The client that made a call, as targets see it.
#[derive(Clone, Default)]
pub struct Caller {
    client: Option<Arc<dyn ClientConnection>>,
    progress: Option<watch::Sender<Progress>>,
    session: Option<Session>,
    started: Arc<OnceLock<String>>,
    input: Option<Arc<ClientInput>>,
    name: Option<CallerName>,
    client_name: OnceLock<Option<String>>,
    headers: Option<Arc<HeaderMap>>,
}

impl Caller {
    /// Returns a caller without a client: it receives no progress and answers no questions. For the command line and
    /// tests.
    #[must_use]
    pub fn nobody() -> Caller {
        Caller::default()
    }

    /// Returns the caller for a client, and the receiver of its progress.
    pub(crate) fn for_client(
        client: Arc<dyn ClientConnection>,
        headers: Option<Arc<HeaderMap>>,
        session: Option<Session>,
    ) -> (Caller, watch::Receiver<Progress>) {
        let (caller, progress) = Caller::listener();
        (Caller { client: Some(client), headers, session, ..caller }, progress)
    }

    /// Returns a caller that answers no questions but receives progress. Background work uses it, because it has no
    /// client.
    #[must_use]
    pub fn listener() -> (Caller, watch::Receiver<Progress>) {
        let (sender, receiver) = watch::channel(Progress::default());
        (Caller { progress: Some(sender), ..Caller::default() }, receiver)
    }

    /// Returns this caller for one item of a batch. The batch reports the progress, and an item that continues in the background
    /// leaves the other items alone.
    pub(crate) fn for_batch_item(&self) -> Caller {
        Caller { progress: None, started: Arc::default(), input: None, ..self.clone() }
    }

    /// Returns this caller in a session. Its work stops when the session ends.
    #[must_use]
    pub fn in_session(self, session: Option<Session>) -> Caller {
        Caller { session, ..self }
    }

    /// Returns this caller with a client that answers the questions of servers itself, with its next request.
    pub(crate) fn with_input(self, input: ClientInput) -> Caller {
        Caller { input: Some(Arc::new(input)), ..self }
    }

    /// Returns this caller without input, for a server that may ask no questions.
    pub(crate) fn without_input(&self) -> Caller {
        Caller { input: None, ..self.clone() }
    }

    /// Returns the input of the client, if it answers the questions of servers itself.
    pub(crate) fn input(&self) -> Option<&ClientInput> {
        self.input.as_deref()
    }

    /// Returns the headers of the request; `None` for transports other than HTTP and for background work.
    #[cfg(feature = "http")]
    pub(crate) fn headers(&self) -> Option<&HeaderMap> {
        self.headers.as_deref()
    }

    /// Returns a caller without a client, with these headers.
    #[cfg(all(test, feature = "http"))]
    pub(crate) fn with_headers(headers: HeaderMap) -> Caller {
        Caller { headers: Some(Arc::new(headers)), ..Caller::default() }
    }

    /// Returns this caller with the name of the token that it sent.
    #[must_use]
    pub fn named(self, name: CallerName) -> Caller {
        Caller { name: Some(name), ..self }
    }

    /// Returns the name of the token that the caller sent; `None` for callers without a token, for tokens without a name,
    /// and for transports other than HTTP.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(CallerName::as_str)
    }

    /// Returns who the caller is, for decisions, approvals and records: the name of its token, or for the command line and
    /// standard streams the operating-system user.
    #[must_use]
    pub fn identity(&self) -> &str {
        match &self.name {
            Some(name) => name.as_str(),
            None if self.headers.is_some() => name::UNNAMED,
            None => name::system_user().as_str(),
        }
    }

    /// Returns the name that the client gave itself. It is a claim, so it only narrows what a caller may do, or is shown.
    #[must_use]
    pub fn client_name(&self) -> Option<&str> {
        self.client_name.get_or_init(|| self.client.as_ref()?.name()).as_deref()
    }

    /// Returns this caller without its client, for work in the background. `listener` gets its progress.
    pub(crate) fn for_background(&self, listener: Caller) -> Caller {
        let name = self.name.clone().or_else(|| CallerName::new(self.identity()));
        Caller { name, ..listener }
    }

    /// Returns the caller in limits.
    pub(crate) fn share(&self) -> CallerShare {
        match (&self.name, &self.session) {
            (Some(name), _) => CallerShare::Named(name.clone()),
            (None, Some(session)) => CallerShare::Session(session.clone()),
            (None, None) => CallerShare::Unknown,
        }
    }

    /// Returns the session of the call; `None` if the call is in no session that can end.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Records that the call continues in the background as this execution.
    pub fn record_execution(&self, execution: &str) {
        // One call starts one execution.
        let _ = self.started.set(execution.to_owned());
    }

    /// Returns the execution that the call continues as.
    #[must_use]
    pub fn execution(&self) -> Option<&str> {
        self.started.get().map(String::as_str)
    }

    /// Returns which log messages of upstreams the client wants.
    pub(crate) fn log_filter(&self) -> LogFilter {
        self.client.as_ref().map(|client| client.log_filter()).unwrap_or_default()
    }

    /// Returns whether the client supports this request.
    #[must_use]
    pub fn is_able(&self, ability: Ability) -> bool {
        self.client.as_ref().is_some_and(|client| client.is_able(ability))
    }

    /// Returns whether both are the same client, on the same connection or in the same conversation.
    #[must_use]
    pub fn is_same_client(&self, other: &Caller) -> bool {
        let (Some(one), Some(another)) = (&self.client, &other.client) else { return false };
        // Protocol revisions without a handshake identify a connection only by its session.
        let is_same_session = self.session.is_some() && self.session == other.session;
        is_same_session || one.is_same(&**another)
    }

    /// Reports progress. A slow client receives only the latest report.
    pub fn report_progress(&self, progress: Progress) {
        if let Some(sender) = &self.progress {
            sender.send_replace(progress);
        }
    }

    /// Asks the client and waits for its answer. Parameters and answer are those of the protocol's method.
    ///
    /// # Errors
    /// When the client does not support the request, answers with an error or disconnects.
    pub async fn ask(&self, ability: Ability, params: Value) -> Result<Value, AskError> {
        match self.client.as_ref().filter(|client| client.is_able(ability)) {
            Some(client) => client.ask(ability, params).await,
            None => Err(AskError::Unable(ability)),
        }
    }

    /// Sends a notification to the client. Log messages (`notifications/message`) are sent only if the client's
    /// filter includes them.
    pub async fn notify(&self, method: &str, params: Value) {
        let is_wanted = || method != LOG_MESSAGE || self.log_filter().includes(&params);
        if let Some(client) = self.client.as_ref().filter(|_| is_wanted()) {
            client.notify(method, params).await;
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.client.is_some() { "Caller" } else { "Caller(nobody)" })
    }
}
