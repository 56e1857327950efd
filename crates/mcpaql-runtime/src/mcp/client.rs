//! The client of a request, over MCP.

use super::conversation;
use super::logging::LogFilterSource;
use crate::caller::{Ability, AskError, Caller, ClientConnection, ClientInput, Progress, Session};
use crate::protocol::LogFilter;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, CustomNotification, CustomRequest, ServerNotification,
    ServerRequest,
};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceError};
use serde_json::{Map, Value, json};
use std::any::Any;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// A question to a client, asked while its request is being answered.
pub(super) struct Question {
    pub(super) ability: Ability,
    pub(super) params: Value,
    pub(super) answer: oneshot::Sender<Result<Value, AskError>>,
}

/// How the client of a request can be asked.
pub(super) enum QuestionChannel {
    /// Not at all.
    Never,
    /// Over its connection.
    Connection,
    /// With the answer to its request.
    Mail(mpsc::Sender<Question>),
}

/// The questions that a client supports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    pub(super) elicitation: bool,
    pub(super) url_elicitation: bool,
    pub(super) sampling: bool,
}

impl Abilities {
    pub(super) fn from_capabilities(capabilities: &ClientCapabilities) -> Abilities {
        Abilities {
            elicitation: capabilities.elicitation.is_some(),
            url_elicitation: capabilities.elicitation.as_ref().is_some_and(|one| one.url.is_some()),
            sampling: capabilities.sampling.is_some(),
        }
    }

    pub(super) fn is_any(self) -> bool {
        self.elicitation || self.sampling
    }
}

/// The mailbox of the client of a running request.
#[derive(Clone)]
pub(super) struct ClientMailbox {
    pub(super) mailbox: mpsc::Sender<Question>,
    pub(super) abilities: Abilities,
}

struct McpClient {
    peer: Peer<RoleServer>,
    /// Where questions go if the connection does not carry them itself.
    mailbox: Option<mpsc::Sender<Question>>,
    abilities: Abilities,
    log_filter_source: LogFilterSource,
    /// Identifies clients that have no connection of their own.
    conversation: Option<String>,
}

/// Returns the caller of a request, and the receiver of its progress.
pub(super) fn caller(
    context: &RequestContext<RoleServer>,
    channel: QuestionChannel,
    session: Option<Session>,
    log_filter_source: LogFilterSource,
) -> (Caller, watch::Receiver<Progress>) {
    let can_ask = !matches!(channel, QuestionChannel::Never);
    let client_mailbox = match channel {
        QuestionChannel::Connection => conversation::mailbox_of(&context.extensions).cloned(),
        QuestionChannel::Never | QuestionChannel::Mail(_) => None,
    };
    let (mailbox, abilities) = match client_mailbox {
        Some(ClientMailbox { mailbox, abilities }) => (Some(mailbox), abilities),
        None => {
            let declared = context.client_capabilities().filter(|_| can_ask).unwrap_or_default();
            let mailbox = match channel {
                QuestionChannel::Mail(mailbox) => Some(mailbox),
                QuestionChannel::Never | QuestionChannel::Connection => None,
            };
            (mailbox, Abilities::from_capabilities(&declared))
        }
    };
    let headers = conversation::headers_of(&context.extensions);
    let conversation =
        conversation::session_id_of(&context.extensions).filter(|_| can_ask).map(str::to_owned);
    let client =
        McpClient { peer: context.peer.clone(), mailbox, abilities, log_filter_source, conversation };
    let (caller, progress) = Caller::for_client(Arc::new(client), headers, session);
    match conversation::name_of(&context.extensions) {
        Some(name) => (caller.named(name), progress),
        None => (caller, progress),
    }
}

/// What the client sends with a request, for servers that ask it in the same way.
pub(super) fn input(context: &RequestContext<RoleServer>, request: &CallToolRequestParams) -> ClientInput {
    let mut params = Map::new();
    if let Some(responses) = &request.input_responses {
        params.insert("inputResponses".into(), json!(responses));
    }
    if let Some(state) = &request.request_state {
        params.insert("requestState".into(), state.as_str().into());
    }
    ClientInput { params, capabilities: capabilities(context) }
}

/// The capabilities that the client declared, as JSON.
pub(super) fn capabilities(context: &RequestContext<RoleServer>) -> Value {
    json!(context.client_capabilities().unwrap_or_default())
}

impl ClientConnection for McpClient {
    fn is_able(&self, ability: Ability) -> bool {
        match ability {
            Ability::Elicitation => self.abilities.elicitation,
            Ability::UrlElicitation => self.abilities.url_elicitation,
            Ability::Sampling => self.abilities.sampling,
        }
    }

    fn ask(&self, ability: Ability, params: Value) -> BoxFuture<'_, Result<Value, AskError>> {
        Box::pin(async move {
            if let Some(mailbox) = &self.mailbox {
                let (answer, answered) = oneshot::channel();
                mailbox.send(Question { ability, params, answer }).await.map_err(|_| AskError::Gone)?;
                return answered.await.unwrap_or(Err(AskError::Gone));
            }
            let request = CustomRequest::new(ability.method(), Some(params));
            match self.peer.send_request(ServerRequest::CustomRequest(request)).await {
                Ok(result) => Ok(serde_json::to_value(result).unwrap_or_default()),
                Err(ServiceError::McpError(error)) => Err(AskError::Error {
                    code: error.code.0,
                    message: error.message.into_owned(),
                    data: error.data,
                }),
                Err(_) => Err(AskError::Gone),
            }
        })
    }

    fn notify(&self, method: &str, params: Value) -> BoxFuture<'_, ()> {
        let notification = CustomNotification::new(method, Some(params));
        Box::pin(async move {
            // A client that has disconnected needs no notification.
            let _ = self.peer.send_notification(ServerNotification::CustomNotification(notification)).await;
        })
    }

    fn log_filter(&self) -> LogFilter {
        self.log_filter_source.filter()
    }

    fn name(&self) -> Option<String> {
        self.peer.peer_info().map(|info| info.client_info.name.clone())
    }

    fn is_same(&self, other: &dyn ClientConnection) -> bool {
        let Some(other) = (other as &dyn Any).downcast_ref::<McpClient>() else { return false };
        let is_same_connection = matches!(
            (self.peer.peer_info(), other.peer.peer_info()),
            (Some(one), Some(another)) if Arc::ptr_eq(&one, &another)
        );
        is_same_connection || (self.conversation.is_some() && self.conversation == other.conversation)
    }
}
