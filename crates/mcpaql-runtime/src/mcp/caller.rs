//! Who called: news of the work go back to them, and what an upstream asks is put to them.
//!
//! Whoever cannot be reached is not an error: news are dropped, and a question is refused so that the upstream can go on
//! without an answer.

use super::conversation;
use super::logging::{Hearing, MESSAGE, Wish};
use super::questions::{Abilities, Line};
use super::session::Session;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use rmcp::model::{ClientResult, CustomNotification, CustomRequest, ServerNotification, ServerRequest};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceError};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tokio::sync::{mpsc, oneshot, watch};

/// How far the work has come, as whoever does it says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct News {
    /// Rises with the work.
    pub done: f64,
    /// What it will have risen to in the end, where that is known.
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
    pub fn of(method: &str) -> Option<Ability> {
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
pub enum Refused {
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

/// Who called.
#[derive(Clone, Default)]
pub struct Caller {
    client: Option<Arc<Client>>,
    hearing: Hearing,
    news: Option<watch::Sender<News>>,
    session: Option<Session>,
    started: Arc<OnceLock<String>>,
    headers: Option<Arc<HeaderMap>>,
}

/// A question that is put to a client by whoever answers its request.
pub(super) struct Question {
    pub(super) ability: Ability,
    pub(super) params: Value,
    pub(super) answer: oneshot::Sender<Result<Value, Refused>>,
}

struct Client {
    peer: Peer<RoleServer>,
    /// Where questions go that the connection does not carry by itself.
    mailbox: Option<mpsc::Sender<Question>>,
    abilities: Abilities,
    /// Tells clients apart that have no connection of their own.
    conversation: Option<String>,
}

impl Caller {
    /// Nobody who could be told or asked anything: the command line, a test.
    #[must_use]
    pub fn nobody() -> Caller {
        Caller::default()
    }

    /// The client behind a request, and where its progress is heard.
    pub(super) fn of(context: &RequestContext<RoleServer>, asks: bool) -> (Caller, watch::Receiver<News>) {
        Caller::reached(context, asks, None)
    }

    /// The same where questions go out with the answer to the request.
    pub(super) fn by_mail(
        context: &RequestContext<RoleServer>,
        mailbox: mpsc::Sender<Question>,
    ) -> (Caller, watch::Receiver<News>) {
        Caller::reached(context, true, Some(mailbox))
    }

    fn reached(
        context: &RequestContext<RoleServer>,
        asks: bool,
        mailbox: Option<mpsc::Sender<Question>>,
    ) -> (Caller, watch::Receiver<News>) {
        let (news, heard) = watch::channel(News::default());
        let line = Line::of(&context.extensions).filter(|_| asks && mailbox.is_none()).cloned();
        let (mailbox, abilities) = match line {
            Some(Line { mailbox, abilities }) => (Some(mailbox), abilities),
            None => {
                let declared = context.client_capabilities().filter(|_| asks).unwrap_or_default();
                (mailbox, Abilities::declared(&declared))
            }
        };
        let headers = context.extensions.get::<Parts>().map(|parts| Arc::new(parts.headers.clone()));
        let conversation = conversation::of(&context.extensions).filter(|_| asks).map(str::to_owned);
        let client = Client { peer: context.peer.clone(), mailbox, abilities, conversation };
        (Caller { client: Some(Arc::new(client)), news: Some(news), headers, ..Caller::default() }, heard)
    }

    /// Nobody who could be asked, but somebody who hears how far the work has come: background work has no caller left.
    #[must_use]
    pub fn listener() -> (Caller, watch::Receiver<News>) {
        let (news, heard) = watch::channel(News::default());
        (Caller { news: Some(news), ..Caller::default() }, heard)
    }

    /// The same, calling in a session that ends.
    #[must_use]
    pub fn within(self, session: Option<Session>) -> Caller {
        Caller { session, ..self }
    }

    /// The headers of its request; `None` where that did not come over HTTP, and for work in the background.
    pub(crate) fn headers(&self) -> Option<&HeaderMap> {
        self.headers.as_deref()
    }

    /// Nobody who could be told or asked anything, with these headers.
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
    pub fn note_started(&self, execution: &str) {
        // One call starts one execution.
        let _ = self.started.set(execution.to_owned());
    }

    /// The execution that the call goes on as.
    #[must_use]
    pub fn started(&self) -> Option<&str> {
        self.started.get().map(String::as_str)
    }

    /// The same, wanting to hear so much of what is logged.
    pub(super) fn hearing(self, hearing: Hearing) -> Caller {
        Caller { hearing, ..self }
    }

    /// What it wants to hear of what is logged.
    pub(crate) fn log_wish(&self) -> Wish {
        self.hearing.wish()
    }

    /// Whether it can be asked for that.
    #[must_use]
    pub fn is_able(&self, ability: Ability) -> bool {
        self.client.as_ref().is_some_and(|client| match ability {
            Ability::Elicitation => client.abilities.elicitation,
            Ability::Sampling => client.abilities.sampling,
        })
    }

    /// Whether both are the same client, on the same connection or in the same conversation.
    #[must_use]
    pub fn is_same_client(&self, other: &Caller) -> bool {
        let (Some(one), Some(another)) = (&self.client, &other.client) else { return false };
        let is_connection = matches!(
            (one.peer.peer_info(), another.peer.peer_info()),
            (Some(one), Some(another)) if Arc::ptr_eq(&one, &another)
        );
        // A connection of the revisions without a handshake has no greeting to tell it by.
        let is_session = self.session.is_some() && self.session == other.session;
        is_connection
            || is_session
            || (one.conversation.is_some() && one.conversation == another.conversation)
    }

    /// Tells how far the work has come; only the latest news reach a client that listens slowly.
    pub fn progress(&self, news: News) {
        if let Some(heard) = &self.news {
            heard.send_replace(news);
        }
    }

    /// Puts a question to the client and waits for the answer, both as the protocol has them.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&self, ability: Ability, params: Value) -> Result<Value, Refused> {
        let Some(client) = self.client.as_ref().filter(|_| self.is_able(ability)) else {
            return Err(Refused::Unable(ability));
        };
        if let Some(mailbox) = &client.mailbox {
            let (answer, answered) = oneshot::channel();
            mailbox.send(Question { ability, params, answer }).await.map_err(|_| Refused::Gone)?;
            return answered.await.unwrap_or(Err(Refused::Gone));
        }
        let request = CustomRequest::new(ability.method(), Some(params));
        match client.peer.send_request(ServerRequest::CustomRequest(request)).await {
            Ok(result) => Ok(plain(result)),
            Err(ServiceError::McpError(error)) => Err(Refused::Error {
                code: error.code.0,
                message: error.message.into_owned(),
                data: error.data,
            }),
            Err(_) => Err(Refused::Gone),
        }
    }

    /// Passes a notification on; of what is logged, `notifications/message`, as much as the client wants to hear.
    pub async fn notify(&self, method: &str, params: Value) {
        let is_wanted = || method != MESSAGE || self.log_wish().includes(&params);
        if let Some(client) = self.client.as_ref().filter(|_| is_wanted()) {
            let notification = CustomNotification::new(method, Some(params));
            // A client that has gone away needs no news.
            let _ = client.peer.send_notification(ServerNotification::CustomNotification(notification)).await;
        }
    }
}

fn plain(result: ClientResult) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.client.is_some() { "Caller" } else { "Caller(nobody)" })
    }
}
