//! A byte stream with a graceful end. The end of input or a shutdown reaches the protocol library only after every
//! request has been answered, unless the client is gone.
//!
//! Without this, the library would give running handlers a few seconds after the end of input and then drop their
//! answers.
//!
//! It also protects the server from its client:
//! - A client that does not read its answers, or that has too many running requests, is not read until there is room. So it
//!   costs a bounded amount of memory.
//! - Each request gets exactly one answer: a request with the id of a running one is refused, with an error without an id.
//! - A handshake that cannot be read is answered, and the client may try again.

use super::ServerLimits;
use super::handler::McpServer;
use super::lines::LineTransport;
use super::malformed;
use crate::caller::Session;
use crate::service::Service;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, JsonRpcRequest, ProtocolVersion,
    RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::{
    RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server_with_ct,
};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Why a byte stream ended early.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The client did not start with a valid MCP handshake.
    #[error("the client did not start with an MCP handshake")]
    Handshake,
    /// The task that serves the stream was aborted.
    #[error("the server was interrupted")]
    Interrupted,
}

/// Maximum number of requests of one client that run at the same time. Further ones are not read until one is answered.
const MAX_RUNNING: usize = 1024;
/// Maximum total length of the lines of these requests.
const MAX_RUNNING_BYTES: usize = 32 * 1024 * 1024;
/// While more bytes wait to be written, nothing is read: the client does not read its answers.
const MAX_UNSENT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of `subscriptions/listen` requests of one client.
const MAX_LISTENING: usize = 64;
/// How many ids of cancelled requests are remembered. They are never answered, so an answer with such an id would be wrong.
const MAX_CANCELLED: usize = 1024;

const INVALID_INITIALIZE: &str = "The params of initialize do not match the protocol: send protocolVersion as text, capabilities as an object, and \
     clientInfo with name and version. Then send initialize again.";
const TOO_MANY_REQUESTS: &str =
    "Too many requests of this connection are running. Wait for answers, then send the request again.";
const TOO_MANY_STREAMS: &str =
    "Too many streams of this connection are open. Cancel one, then send the request again.";

/// The requests of a client that have no answer yet.
#[derive(Default)]
struct Unanswered {
    /// The lengths of their lines.
    running: HashMap<RequestId, usize>,
    running_bytes: usize,
    /// Requests that end with the server, so nothing waits for their answers.
    listening: HashSet<RequestId>,
    cancelled: VecDeque<RequestId>,
    /// Answers that are being written.
    sending: usize,
    /// Our own requests that the client has not answered.
    questions: HashSet<RequestId>,
}

impl Unanswered {
    fn has(&self, id: &RequestId) -> bool {
        self.running.contains_key(id) || self.listening.contains(id) || self.cancelled.contains(id)
    }

    fn remove(&mut self, id: &RequestId) -> bool {
        let bytes = self.running.remove(id);
        self.running_bytes = self.running_bytes.saturating_sub(bytes.unwrap_or_default());
        self.listening.remove(id) || bytes.is_some()
    }

    fn cancel(&mut self, id: &RequestId) {
        if self.remove(id) {
            if self.cancelled.len() >= MAX_CANCELLED {
                self.cancelled.pop_front();
            }
            self.cancelled.push_back(id.clone());
        }
    }

    fn is_full(&self) -> bool {
        self.running.len() >= MAX_RUNNING || self.running_bytes >= MAX_RUNNING_BYTES
    }

    fn is_answered(&self) -> bool {
        self.running.is_empty() && self.sending == 0
    }
}

/// An answer that is being written.
struct SendingAnswer(Arc<watch::Sender<Unanswered>>);

impl Drop for SendingAnswer {
    fn drop(&mut self) {
        self.0.send_modify(|unanswered| unanswered.sending = unanswered.sending.saturating_sub(1));
    }
}

/// What happens with a message of the client.
enum MessageVerdict {
    Accepted,
    /// It has no meaning now.
    Dropped,
    Refused(Value),
}

struct DrainingTransport<R, W> {
    inner: LineTransport<R, W>,
    unanswered: Arc<watch::Sender<Unanswered>>,
    shutdown: CancellationToken,
    /// Ends subscriptions and change notifications, which would otherwise delay the end.
    closing: CancellationToken,
    /// Cancelled when writing to the client fails.
    lost: CancellationToken,
    /// Whether a request has started the session. Before that, the protocol library accepts only requests.
    is_established: bool,
    is_initialized: bool,
    ended: bool,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> DrainingTransport<R, W> {
    fn admit(&mut self, message: &ClientJsonRpcMessage) -> MessageVerdict {
        match message {
            ClientJsonRpcMessage::Request(request) => self.admit_request(request),
            _ if !self.is_established => MessageVerdict::Dropped,
            ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
                // A cancelled request is never answered.
                ClientNotification::CancelledNotification(cancelled) => {
                    if let Some(id) = &cancelled.params.request_id {
                        self.unanswered.send_modify(|unanswered| unanswered.cancel(id));
                    }
                    MessageVerdict::Accepted
                }
                // Each one would start another stream of changes.
                ClientNotification::InitializedNotification(_)
                    if std::mem::replace(&mut self.is_initialized, true) =>
                {
                    MessageVerdict::Dropped
                }
                _ => MessageVerdict::Accepted,
            },
            ClientJsonRpcMessage::Response(response) => self.end_question(Some(&response.id)),
            ClientJsonRpcMessage::Error(error) => self.end_question(error.id.as_ref()),
        }
    }

    fn end_question(&self, id: Option<&RequestId>) -> MessageVerdict {
        if let Some(id) = id {
            self.unanswered.send_modify(|unanswered| {
                unanswered.questions.remove(id);
            });
        }
        MessageVerdict::Accepted
    }

    fn admit_request(&mut self, request: &JsonRpcRequest<ClientRequest>) -> MessageVerdict {
        let id = &request.id;
        let error =
            |error| MessageVerdict::Refused(json!(ServerJsonRpcMessage::error(error, Some(id.clone()))));
        if self.unanswered.borrow().has(id) {
            return MessageVerdict::Refused(malformed::id_in_use(id));
        }
        if !self.is_established {
            // The library would ask for the metadata of a later revision.
            if matches!(&request.request, ClientRequest::CustomRequest(custom) if custom.method == "initialize")
            {
                return error(ErrorData::invalid_params(INVALID_INITIALIZE, None));
            }
            self.is_established = establishes(&request.request);
        }
        let is_listening = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
        let (listening, is_full) = {
            let unanswered = self.unanswered.borrow();
            (unanswered.listening.len(), unanswered.is_full())
        };
        if is_listening && listening >= MAX_LISTENING {
            return error(ErrorData::invalid_request(TOO_MANY_STREAMS, None));
        }
        if is_full {
            return error(ErrorData::invalid_request(TOO_MANY_REQUESTS, None));
        }
        let bytes = self.inner.line_bytes();
        self.unanswered.send_modify(|unanswered| {
            if is_listening {
                unanswered.listening.insert(id.clone());
            } else {
                unanswered.running.insert(id.clone(), bytes);
                unanswered.running_bytes = unanswered.running_bytes.saturating_add(bytes);
            }
        });
        MessageVerdict::Accepted
    }

    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        self.wait_for_room().await;
        self.inner.receive().await
    }

    /// Waits until the client has read enough of its answers, and until there is room for another request. If a call waits for
    /// an answer of the client, its answer must be read, so further requests are refused instead.
    async fn wait_for_room(&mut self) {
        let mut unsent = self.inner.unsent();
        let mut unanswered = self.unanswered.subscribe();
        // The senders live as long as `self`.
        let _ = unsent.wait_for(|bytes| *bytes <= MAX_UNSENT_BYTES).await;
        let _ = unanswered.wait_for(|known| !known.is_full() || !known.questions.is_empty()).await;
    }
}

/// Returns whether the protocol library starts a session with this request. A `ping` and a `server/discover` do not, and neither
/// does a request that it refuses because of its metadata.
fn establishes(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

impl<R, W> Transport<RoleServer> for DrainingTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // The id is free again before the client can read the answer.
        self.unanswered.send_modify(|unanswered| match &item {
            ServerJsonRpcMessage::Response(response) => {
                unanswered.sending += 1;
                unanswered.remove(&response.id);
            }
            ServerJsonRpcMessage::Error(error) => {
                unanswered.sending += 1;
                if let Some(id) = &error.id {
                    unanswered.remove(id);
                }
            }
            ServerJsonRpcMessage::Request(question) => {
                unanswered.questions.insert(question.id.clone());
            }
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    unanswered.questions.remove(id);
                }
            }
        });
        let is_answer = matches!(&item, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
        let sending_answer = is_answer.then(|| SendingAnswer(Arc::clone(&self.unanswered)));
        let lost = self.lost.clone();
        let sending = self.inner.send_line(&item);
        async move {
            let sent = sending.await;
            if sent.is_err() {
                lost.cancel();
            }
            drop(sending_answer);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while !self.ended {
            let shutdown = self.shutdown.clone();
            let message = tokio::select! {
                biased;
                () = shutdown.cancelled() => None,
                message = self.next_message() => message,
            };
            let Some(message) = message else {
                self.ended = true;
                break;
            };
            match self.admit(&message) {
                MessageVerdict::Accepted => return Some(message),
                MessageVerdict::Dropped => {}
                MessageVerdict::Refused(answer) => self.inner.answer(&answer),
            }
        }
        self.closing.cancel();
        let mut unanswered = self.unanswered.subscribe();
        // The sender lives as long as `self`, so only the answers end this wait.
        let _ = unanswered.wait_for(Unanswered::is_answered).await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await;
        Ok(())
    }
}

/// Serves one client over a byte stream until its input ends or `shutdown` is cancelled. When answers can no longer
/// reach the client, because writing fails or `client_gone` completes, its running calls are dropped. `client_gone`
/// gets a token that is cancelled at the end of input.
pub(crate) async fn serve<S: Service, L: Future<Output = ()>>(
    service: Arc<S>,
    (reader, writer): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    limits: ServerLimits,
    shutdown: CancellationToken,
    client_gone: impl FnOnce(CancellationToken) -> L,
) -> Result<(), StreamError> {
    let (closing, lost) = (shutdown.child_token(), CancellationToken::new());
    let client_gone = client_gone(closing.clone());
    let transport = DrainingTransport {
        inner: LineTransport::new(reader, writer),
        unanswered: Arc::new(watch::Sender::default()),
        shutdown: shutdown.clone(),
        closing: closing.clone(),
        lost: lost.clone(),
        is_established: false,
        is_initialized: false,
        ended: false,
    };
    let stop = CancellationToken::new();
    let (session, session_end) = Session::new();
    let server = McpServer::new(service, closing, Some(session));
    let serving = async {
        match serve_server_with_ct(server, transport, stop.clone()).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|_| StreamError::Interrupted),
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(_) => Err(StreamError::Handshake),
        }
    };
    let forced_stop = async {
        let grace = async {
            shutdown.cancelled().await;
            tokio::time::sleep(limits.grace).await;
        };
        tokio::select! {
            () = grace => {}
            () = lost.cancelled() => {}
            () = client_gone => {}
        }
        stop.cancel();
        std::future::pending::<()>().await;
    };
    let outcome = tokio::select! {
        outcome = serving => outcome,
        () = forced_stop => Ok(()),
    };
    // Work that was started for this client and must not outlive it is stopped and recorded before the process may
    // end.
    let _ = tokio::time::timeout(limits.grace, session_end.end()).await;
    outcome
}
