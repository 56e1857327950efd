//! The client behind a request, as MCP reaches it.

use super::conversation;
use super::logging::Hearing;
use super::questions::{Abilities, Line};
use crate::caller::{Ability, Caller, Client, Progress, Refused, Session};
use crate::protocol::LogWish;
use axum::http::request::Parts;
use futures_util::future::BoxFuture;
use rmcp::model::{CustomNotification, CustomRequest, ServerNotification, ServerRequest};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceError};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// A question that is put to a client by whoever answers its request.
pub(super) struct Question {
    pub(super) ability: Ability,
    pub(super) params: Value,
    pub(super) answer: oneshot::Sender<Result<Value, Refused>>,
}

/// How the client of a request may be asked.
pub(super) enum Asking {
    /// Not at all.
    Never,
    /// Over its connection.
    Connection,
    /// With the answer to its request.
    Mail(mpsc::Sender<Question>),
}

struct McpClient {
    peer: Peer<RoleServer>,
    /// Where questions go that the connection does not carry by itself.
    mailbox: Option<mpsc::Sender<Question>>,
    abilities: Abilities,
    hearing: Hearing,
    /// Tells clients apart that have no connection of their own.
    conversation: Option<String>,
}

/// Who sent a request, and where its progress is heard.
pub(super) fn caller(
    context: &RequestContext<RoleServer>,
    asking: Asking,
    session: Option<Session>,
    hearing: Hearing,
) -> (Caller, watch::Receiver<Progress>) {
    let asks = !matches!(asking, Asking::Never);
    let line = match asking {
        Asking::Connection => Line::of(&context.extensions).cloned(),
        Asking::Never | Asking::Mail(_) => None,
    };
    let (mailbox, abilities) = match line {
        Some(Line { mailbox, abilities }) => (Some(mailbox), abilities),
        None => {
            let declared = context.client_capabilities().filter(|_| asks).unwrap_or_default();
            let mailbox = match asking {
                Asking::Mail(mailbox) => Some(mailbox),
                Asking::Never | Asking::Connection => None,
            };
            (mailbox, Abilities::declared(&declared))
        }
    };
    let headers = context.extensions.get::<Parts>().map(|parts| Arc::new(parts.headers.clone()));
    let conversation = conversation::of(&context.extensions).filter(|_| asks).map(str::to_owned);
    let client = McpClient { peer: context.peer.clone(), mailbox, abilities, hearing, conversation };
    Caller::of(Arc::new(client), headers, session)
}

impl Client for McpClient {
    fn is_able(&self, ability: Ability) -> bool {
        match ability {
            Ability::Elicitation => self.abilities.elicitation,
            Ability::Sampling => self.abilities.sampling,
        }
    }

    fn ask(&self, ability: Ability, params: Value) -> BoxFuture<'_, Result<Value, Refused>> {
        Box::pin(async move {
            if let Some(mailbox) = &self.mailbox {
                let (answer, answered) = oneshot::channel();
                mailbox.send(Question { ability, params, answer }).await.map_err(|_| Refused::Gone)?;
                return answered.await.unwrap_or(Err(Refused::Gone));
            }
            let request = CustomRequest::new(ability.method(), Some(params));
            match self.peer.send_request(ServerRequest::CustomRequest(request)).await {
                Ok(result) => Ok(serde_json::to_value(result).unwrap_or_default()),
                Err(ServiceError::McpError(error)) => Err(Refused::Error {
                    code: error.code.0,
                    message: error.message.into_owned(),
                    data: error.data,
                }),
                Err(_) => Err(Refused::Gone),
            }
        })
    }

    fn notify(&self, method: &str, params: Value) -> BoxFuture<'_, ()> {
        let notification = CustomNotification::new(method, Some(params));
        Box::pin(async move {
            // A client that has gone away needs no notification.
            let _ = self.peer.send_notification(ServerNotification::CustomNotification(notification)).await;
        })
    }

    fn log_wish(&self) -> LogWish {
        self.hearing.wish()
    }

    fn is_same(&self, other: &dyn Client) -> bool {
        let Some(other) = (other as &dyn Any).downcast_ref::<McpClient>() else { return false };
        let is_connection = matches!(
            (self.peer.peer_info(), other.peer.peer_info()),
            (Some(one), Some(another)) if Arc::ptr_eq(&one, &another)
        );
        is_connection || (self.conversation.is_some() && self.conversation == other.conversation)
    }
}
