//! The resources that clients subscribe to, and the notifications about them.
//!
//! In revisions with a handshake, a client subscribes with a request, and notifications go to its connection or to the
//! stream of its conversation. In later revisions, a request lists its resources, and its answer is the stream.
//!
//! What always holds: a client is notified only of resources that it subscribes to. The service keeps a subscription
//! only while a client needs it. At most [`MAX_CLIENTS`] clients have subscriptions; those of the oldest end first.

use super::conversation;
use super::handler::{McpServer, next_change};
use crate::caller::Caller;
use crate::protocol::{Feature, FeatureChange};
use crate::service::Service;
use indexmap::IndexMap;
use rmcp::ErrorData;
use rmcp::model::{Extensions, ResourceUpdatedNotificationParam};
use rmcp::service::{
    Peer, RequestContext, RoleServer, ServiceError, SubscriptionContext, SubscriptionSendError,
};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Maximum number of clients with subscriptions.
const MAX_CLIENTS: usize = 1024;
/// Maximum number of subscriptions of one client.
const MAX_SUBSCRIPTIONS: usize = 1024;

/// A subscription of the service. Dropping it ends the subscription.
pub(super) struct HeldSubscription<S: Service> {
    service: Arc<S>,
    uri: String,
    /// Whether the service has accepted it.
    is_accepted: bool,
}

impl<S: Service> Drop for HeldSubscription<S> {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        if !self.is_accepted {
            return;
        }
        let (service, params) = (Arc::clone(&self.service), uri_params(&self.uri));
        runtime.spawn(async move {
            // The client no longer waits for an answer.
            let _ = service.request(Feature::Unsubscribe, params, &Caller::nobody()).await;
        });
    }
}

/// The subscriptions of one client, by URI.
type ClientSubscriptions<S> = HashMap<String, HeldSubscription<S>>;

/// The subscriptions of clients with a handshake, in the order in which the clients first subscribed.
pub(super) struct Subscriptions<S: Service> {
    clients: Mutex<IndexMap<String, ClientSubscriptions<S>>>,
}

impl<S: Service> Default for Subscriptions<S> {
    fn default() -> Self {
        Subscriptions { clients: Mutex::default() }
    }
}

impl<S: Service> Subscriptions<S> {
    fn clients(&self) -> MutexGuard<'_, IndexMap<String, ClientSubscriptions<S>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, client: &str, uri: &str) -> bool {
        self.clients().get(client).is_some_and(|held| held.contains_key(uri))
    }

    fn count(&self, client: &str) -> usize {
        self.clients().get(client).map_or(0, HashMap::len)
    }

    fn add(&self, client: &str, held: HeldSubscription<S>) {
        let mut clients = self.clients();
        let ended = if clients.contains_key(client) || clients.len() < MAX_CLIENTS {
            None
        } else {
            clients.shift_remove_index(0)
        };
        let before = clients.entry(client.to_owned()).or_default().insert(held.uri.clone(), held);
        drop(clients);
        drop((ended, before));
    }

    fn accept(&self, client: &str, uri: &str) {
        if let Some(held) = self.clients().get_mut(client).and_then(|held| held.get_mut(uri)) {
            held.is_accepted = true;
        }
    }

    fn remove(&self, client: &str, uri: &str) {
        let held = self.clients().get_mut(client).and_then(|held| held.remove(uri));
        drop(held);
    }

    /// Ends all subscriptions of a client.
    #[cfg(feature = "http")]
    pub(super) fn remove_client(&self, client: &str) {
        let held = self.clients().shift_remove(client);
        drop(held);
    }

    /// Waits for changes that this client wants to know.
    pub(super) async fn next_changes(
        &self,
        changes: &mut Option<broadcast::Receiver<FeatureChange>>,
        client: &str,
    ) -> Vec<FeatureChange> {
        loop {
            let uris = || match self.clients().get(client) {
                Some(held) => held.keys().cloned().collect(),
                None => Vec::new(),
            };
            match next_feature_changes(changes, uris).await.as_slice() {
                [FeatureChange::Resource(uri)] if !self.has(client, uri) => {}
                wanted => return wanted.to_vec(),
            }
        }
    }
}

/// Waits for the next change. If changes were missed, returns everything that may have changed.
async fn next_feature_changes(
    changes: &mut Option<broadcast::Receiver<FeatureChange>>,
    uris: impl Fn() -> Vec<String>,
) -> Vec<FeatureChange> {
    if let Some(receiver) = changes {
        match receiver.recv().await {
            Ok(change) => return vec![change],
            Err(RecvError::Lagged(_)) => {
                let lists = [FeatureChange::Resources, FeatureChange::Prompts];
                return lists.into_iter().chain(uris().into_iter().map(FeatureChange::Resource)).collect();
            }
            Err(RecvError::Closed) => {}
        }
    }
    // A service that is gone, or that never changes, sends no more changes.
    std::future::pending().await
}

/// Identifies the client of a request; `None` if it has no connection and no session.
pub(super) fn client_key(request: &Extensions) -> Option<String> {
    match conversation::is_http(request) {
        true => conversation::session_id_of(request).map(str::to_owned),
        false => Some(String::new()),
    }
}

/// The notification about a change, as JSON.
#[cfg(feature = "http")]
pub(super) fn notification(change: &FeatureChange) -> Value {
    match change {
        FeatureChange::Resources => {
            serde_json::json!({"jsonrpc": "2.0", "method": "notifications/resources/list_changed"})
        }
        FeatureChange::Prompts => {
            serde_json::json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})
        }
        FeatureChange::Resource(uri) => {
            serde_json::json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
        }
    }
}

/// Notifies a client over its connection.
pub(super) async fn notify_peer(
    peer: &Peer<RoleServer>,
    changes: Vec<FeatureChange>,
) -> Result<(), ServiceError> {
    for change in changes {
        match change {
            FeatureChange::Resources => peer.notify_resource_list_changed().await?,
            FeatureChange::Prompts => peer.notify_prompt_list_changed().await?,
            FeatureChange::Resource(uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
            }
        }
    }
    Ok(())
}

fn uri_params(uri: &str) -> Map<String, Value> {
    Map::from_iter([("uri".to_owned(), uri.into())])
}

impl<S: Service> McpServer<S> {
    fn hold(&self, uri: &str) -> HeldSubscription<S> {
        HeldSubscription { service: Arc::clone(self.service()), uri: uri.to_owned(), is_accepted: false }
    }

    /// `resources/subscribe`.
    pub(super) async fn subscribe_client(
        &self,
        uri: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(client) = client_key(&context.extensions) else {
            let message = "A subscription needs a session; send the Mcp-Session-Id of the handshake.";
            return Err(ErrorData::invalid_params(message, None));
        };
        let subscriptions = self.subscriptions();
        if subscriptions.has(&client, &uri) {
            return Ok(());
        }
        if subscriptions.count(&client) >= MAX_SUBSCRIPTIONS {
            let message = format!(
                "A client can subscribe to {MAX_SUBSCRIPTIONS} resources; unsubscribe from others first."
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        // Before the request, because the first notification may come with its answer.
        subscriptions.add(&client, self.hold(&uri));
        match self.requested(Feature::Subscribe, uri_params(&uri), context).await {
            Ok(_) => subscriptions.accept(&client, &uri),
            Err(error) => {
                subscriptions.remove(&client, &uri);
                return Err(error);
            }
        }
        Ok(())
    }

    /// `resources/unsubscribe`.
    pub(super) fn unsubscribe_client(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.features().subscriptions {
            return Err(crate::protocol::RpcError::method_not_found(Feature::Unsubscribe).into());
        }
        if let Some(client) = client_key(&context.extensions) {
            self.subscriptions().remove(&client, uri);
        }
        Ok(())
    }

    /// `subscriptions/listen`: sends changes until the client or the server ends the request.
    pub(super) async fn send_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let (mut changes, mut feature_changes) = (self.changes(), self.feature_changes());
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let mut held = Vec::with_capacity(uris.len().min(MAX_SUBSCRIPTIONS));
        for uri in uris.iter().take(MAX_SUBSCRIPTIONS) {
            match self.requested(Feature::Subscribe, uri_params(uri), context.request_context()).await {
                Ok(_) => {
                    let mut accepted = self.hold(uri);
                    accepted.is_accepted = true;
                    held.push(accepted);
                }
                Err(error) => tracing::debug!(uri, reason = %error.message, "subscription refused"),
            }
        }
        let is_held = |change: &FeatureChange| match change {
            FeatureChange::Resource(uri) => held.iter().any(|held| held.uri == *uri),
            FeatureChange::Resources | FeatureChange::Prompts => true,
        };
        let closing = self.closing();
        loop {
            let held_uris = || held.iter().map(|held| held.uri.clone()).collect();
            let missed = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = closing.cancelled() => return Ok(()),
                () = next_change(&mut changes) => Vec::new(),
                missed = next_feature_changes(&mut feature_changes, held_uris) => missed,
            };
            if missed.is_empty() && is_closed(context.sink().notify_tool_list_changed().await) {
                return Ok(());
            }
            for change in missed.into_iter().filter(|change| is_held(change)) {
                let sent = match change {
                    FeatureChange::Resources => context.sink().notify_resource_list_changed().await,
                    FeatureChange::Prompts => context.sink().notify_prompt_list_changed().await,
                    FeatureChange::Resource(uri) => context.sink().notify_resource_updated(uri).await,
                };
                if is_closed(sent) {
                    return Ok(());
                }
            }
        }
    }
}

/// Returns whether the stream has ended. A notification that the client did not ask for does not end it.
fn is_closed(sent: Result<(), SubscriptionSendError>) -> bool {
    !matches!(sent, Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)))
}
