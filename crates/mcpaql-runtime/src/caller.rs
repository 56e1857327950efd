//! Who calls: how far the work has come goes back to them, and what an upstream asks is put to them.
//!
//! A caller belongs to no transport: what its client can do is behind `Client`, which each transport implements. A caller
//! that cannot be reached is not an error: progress is dropped, and a question is refused so that the upstream can go on
//! without an answer.

mod entry;
mod session;

pub use entry::EntryPoint;
pub use session::{Session, SessionEnd, SessionWork};

use crate::protocol::{LOG_MESSAGE, LogFilter};
use axum::http::HeaderMap;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// How far the work has come, as its target reports it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Rises with the work.
    pub done: f64,
    /// Where it will end, where that is known.
    pub total: Option<f64>,
    /// For people.
    pub message: Option<String>,
}

/// What a client may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// `elicitation/create`: a question to the user.
    Elicitation,
    /// `sampling/createMessage`: a question to the user's model.
    Sampling,
}

impl Ability {
    /// What that method asks for.
    #[must_use]
    pub fn from_method(method: &str) -> Option<Ability> {
        [Ability::Elicitation, Ability::Sampling].into_iter().find(|ability| ability.method() == method)
    }

    /// The method that asks.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Ability::Elicitation => "elicitation/create",
            Ability::Sampling => "sampling/createMessage",
        }
    }
}

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The client cannot be asked for that.
    #[error("the client does not support {}", .0.method())]
    Unable(Ability),
    /// The client answered with an error.
    #[error("{message}")]
    Error {
        /// JSON-RPC's code.
        code: i32,
        /// The client's words.
        message: String,
        /// And what it added.
        data: Option<Value>,
    },
    /// It went away.
    #[error("the client did not answer")]
    Gone,
}

/// The program that the caller uses, as its transport reaches it.
pub(crate) trait ClientConnection: Any + Send + Sync {
    /// Whether it can be asked for that.
    fn is_able(&self, ability: Ability) -> bool;

    /// Puts a question to it; only called for what it is able to.
    fn ask(&self, ability: Ability, params: Value) -> BoxFuture<'_, Result<Value, AskError>>;

    /// Sends it a notification. A client that has gone away needs none.
    fn notify(&self, method: &str, params: Value) -> BoxFuture<'_, ()>;

    /// How much of what servers log it wants to hear.
    fn log_filter(&self) -> LogFilter;

    /// Whether both are one program, on one connection or in one conversation.
    fn is_same(&self, other: &dyn ClientConnection) -> bool;
}

/// Who called.
#[derive(Clone, Default)]
pub struct Caller {
    client: Option<Arc<dyn ClientConnection>>,
    progress: Option<watch::Sender<Progress>>,
    session: Option<Session>,
    started: Arc<OnceLock<String>>,
    headers: Option<Arc<HeaderMap>>,
}

impl Caller {
    /// A caller that cannot be told or asked anything: the command line, a test.
    #[must_use]
    pub fn nobody() -> Caller {
        Caller::default()
    }

    /// The caller behind a client, and where its progress is heard.
    pub(crate) fn for_client(
        client: Arc<dyn ClientConnection>,
        headers: Option<Arc<HeaderMap>>,
        session: Option<Session>,
    ) -> (Caller, watch::Receiver<Progress>) {
        let (caller, heard) = Caller::listener();
        (Caller { client: Some(client), headers, session, ..caller }, heard)
    }

    /// A caller that cannot be asked, but hears how far the work has come: background work has no client left.
    #[must_use]
    pub fn listener() -> (Caller, watch::Receiver<Progress>) {
        let (progress, heard) = watch::channel(Progress::default());
        (Caller { progress: Some(progress), ..Caller::default() }, heard)
    }

    /// The same, calling in a session that ends.
    #[must_use]
    pub fn in_session(self, session: Option<Session>) -> Caller {
        Caller { session, ..self }
    }

    /// The headers of its request; `None` where that did not come over HTTP, and for work in the background.
    pub(crate) fn headers(&self) -> Option<&HeaderMap> {
        self.headers.as_deref()
    }

    /// A caller that cannot be told or asked anything, with these headers.
    #[cfg(test)]
    pub(crate) fn with_headers(headers: HeaderMap) -> Caller {
        Caller { headers: Some(Arc::new(headers)), ..Caller::default() }
    }

    /// The session it calls in; `None` where there is none that could end.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Notes that the call goes on in the background, as this execution.
    pub fn record_execution(&self, execution: &str) {
        // One call starts one execution.
        let _ = self.started.set(execution.to_owned());
    }

    /// The execution that the call goes on as.
    #[must_use]
    pub fn execution(&self) -> Option<&str> {
        self.started.get().map(String::as_str)
    }

    /// How much of what servers log it wants to hear.
    pub(crate) fn log_filter(&self) -> LogFilter {
        self.client.as_ref().map(|client| client.log_filter()).unwrap_or_default()
    }

    /// Whether it can be asked for that.
    #[must_use]
    pub fn is_able(&self, ability: Ability) -> bool {
        self.client.as_ref().is_some_and(|client| client.is_able(ability))
    }

    /// Whether both are the same client, on the same connection or in the same conversation.
    #[must_use]
    pub fn is_same_client(&self, other: &Caller) -> bool {
        let (Some(one), Some(another)) = (&self.client, &other.client) else { return false };
        // A connection of the revisions without a handshake is known by its session alone.
        let is_session = self.session.is_some() && self.session == other.session;
        is_session || one.is_same(&**another)
    }

    /// Reports how far the work has come; a client that listens slowly hears only the latest.
    pub fn report_progress(&self, progress: Progress) {
        if let Some(heard) = &self.progress {
            heard.send_replace(progress);
        }
    }

    /// Puts a question to the client and waits for the answer, both as the protocol has them.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&self, ability: Ability, params: Value) -> Result<Value, AskError> {
        match self.client.as_ref().filter(|client| client.is_able(ability)) {
            Some(client) => client.ask(ability, params).await,
            None => Err(AskError::Unable(ability)),
        }
    }

    /// Passes a notification on; of what is logged, `notifications/message`, as much as the client wants to hear.
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
