//! A byte stream that ends gently: the end of input, or an order to stop, reaches the protocol only after every
//! request that was read has been answered, unless nobody is there any more to hear the answers.
//!
//! The protocol library by itself gives running handlers a few seconds after the end of input and then drops their answers.

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

/// Why a conversation over a byte stream ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The client did not begin as the protocol says.
    #[error("the client sent something else than the beginning of an MCP conversation")]
    Handshake,
    /// The serving task was ended from outside.
    #[error("the server was interrupted")]
    Interrupted,
}

type PendingRequests = watch::Sender<HashSet<RequestId>>;

struct DrainingTransport<T> {
    inner: T,
    /// Requests read and not yet answered, `subscriptions/listen` left out: those end with the server.
    pending: Arc<PendingRequests>,
    shutdown: CancellationToken,
    /// Ends subscriptions and announcements, which would otherwise hold up the end.
    closing: CancellationToken,
    /// Cancelled when the client cannot be written to any more.
    lost: CancellationToken,
    begun: bool,
    ended: bool,
}

impl<T> DrainingTransport<T> {
    fn note(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                self.begun = true;
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
            self.note(&message);
            // A notification before the first request would end the session; it means nothing there.
            if self.begun {
                return Some(message);
            }
        }
        self.closing.cancel();
        let mut pending = self.pending.subscribe();
        // The sender lives as long as `self`, so this waits for nothing but the answers.
        let _ = pending.wait_for(HashSet::is_empty).await;
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Serves one client over a byte stream until its input ends or `shutdown` is cancelled. When it cannot be answered any more,
/// because writing fails or `left` ends, its running calls are dropped; `left` is told the end of its input.
pub(crate) async fn serve<S: Service, L: Future<Output = ()>>(
    service: Arc<S>,
    (reader, writer): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    limits: ServerLimits,
    shutdown: CancellationToken,
    left: impl FnOnce(CancellationToken) -> L,
) -> Result<(), StreamError> {
    let (closing, lost) = (shutdown.child_token(), CancellationToken::new());
    let left = left(closing.clone());
    let transport = DrainingTransport {
        inner: LineTransport::new(reader, writer),
        pending: Arc::new(watch::Sender::default()),
        shutdown: shutdown.clone(),
        closing: closing.clone(),
        lost: lost.clone(),
        begun: false,
        ended: false,
    };
    let stop = CancellationToken::new();
    let (started, end) = Session::new();
    let server = McpServer::new(service, closing, Some(started));
    let session = async {
        match serve_server_with_ct(server, transport, stop.clone()).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|_| StreamError::Interrupted),
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(_) => Err(StreamError::Handshake),
        }
    };
    let out_of_time = async {
        let grace = async {
            shutdown.cancelled().await;
            tokio::time::sleep(limits.grace).await;
        };
        tokio::select! {
            () = grace => {}
            () = lost.cancelled() => {}
            () = left => {}
        }
        stop.cancel();
        std::future::pending::<()>().await;
    };
    let outcome = tokio::select! {
        outcome = session => outcome,
        () = out_of_time => Ok(()),
    };
    // What was started for this client and does not outlive it is stopped, and says so, before the process may end.
    let _ = tokio::time::timeout(limits.grace, end.end()).await;
    outcome
}
