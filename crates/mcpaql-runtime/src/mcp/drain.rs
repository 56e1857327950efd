//! A byte stream with a graceful end. The end of input or a shutdown reaches the protocol library only after every
//! request has been answered, unless the client is gone.
//!
//! Without this, the library would give running handlers a few seconds after the end of input and then drop their
//! answers.

use super::ServerLimits;
use super::handler::McpServer;
use super::lines::LineTransport;
use crate::caller::Session;
use crate::service::Service;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::service::{
    RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage, serve_server_with_ct,
};
use rmcp::transport::Transport;
use std::collections::HashSet;
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

type PendingRequests = watch::Sender<HashSet<RequestId>>;

struct DrainingTransport<T> {
    inner: T,
    /// Requests that were read but not answered. `subscriptions/listen` is not included; it ends with the server.
    pending: Arc<PendingRequests>,
    shutdown: CancellationToken,
    /// Ends subscriptions and change notifications, which would otherwise delay the end.
    closing: CancellationToken,
    /// Cancelled when writing to the client fails.
    lost: CancellationToken,
    has_request: bool,
    ended: bool,
}

impl<T> DrainingTransport<T> {
    fn track(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                self.has_request = true;
                if !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
                    self.pending.send_modify(|ids| {
                        ids.insert(request.id.clone());
                    });
                }
            }
            // A cancelled request is never answered.
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending.send_modify(|ids| {
                        ids.remove(id);
                    });
                }
            }
            _ => {}
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for DrainingTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &item {
            ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
            ServerJsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let (pending, lost) = (self.pending.clone(), self.lost.clone());
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            if sent.is_err() {
                lost.cancel();
            }
            if let Some(id) = answered {
                pending.send_modify(|ids| {
                    ids.remove(&id);
                });
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while !self.ended {
            let message = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => None,
                message = self.inner.receive() => message,
            };
            let Some(message) = message else {
                self.ended = true;
                break;
            };
            self.track(&message);
            // A notification before the first request would end the session; it has no meaning yet, so it is dropped.
            if self.has_request {
                return Some(message);
            }
        }
        self.closing.cancel();
        let mut pending = self.pending.subscribe();
        // The sender lives as long as `self`, so only the answers end this wait.
        let _ = pending.wait_for(HashSet::is_empty).await;
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
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
        pending: Arc::new(watch::Sender::default()),
        shutdown: shutdown.clone(),
        closing: closing.clone(),
        lost: lost.clone(),
        has_request: false,
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
