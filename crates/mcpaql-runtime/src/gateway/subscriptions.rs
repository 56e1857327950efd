//! Subscriptions to resources of the MCP servers behind a gateway.
//!
//! All clients share one conversation with a server. So the gateway counts the subscribers of each resource, and ends the
//! subscription with the last one. A server that starts again gets the subscriptions of its earlier run.

use super::forward::{PrefixedSource, owner_of};
use super::{AdapterSlot, Gateway, GatewayShared};
use crate::caller::Caller;
use crate::protocol::{Feature, FeatureChange, RpcError};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The resources with subscribers, by their URI in the gateway.
#[derive(Debug, Default)]
pub(super) struct ResourceSubscriptions(Mutex<HashMap<String, SubscribedResource>>);

#[derive(Debug, Clone)]
struct SubscribedResource {
    prefix: String,
    own_uri: String,
    subscribers: usize,
}

impl ResourceSubscriptions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, SubscribedResource>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, uri: String, prefix: &str, own_uri: &str) {
        let new =
            || SubscribedResource { prefix: prefix.to_owned(), own_uri: own_uri.to_owned(), subscribers: 0 };
        self.lock().entry(uri).or_insert_with(new).subscribers += 1;
    }

    /// Removes a subscriber. Returns the resource if it was the last one.
    fn remove(&self, uri: String) -> Option<SubscribedResource> {
        let mut all = self.lock();
        let Entry::Occupied(mut entry) = all.entry(uri) else { return None };
        entry.get_mut().subscribers -= 1;
        (entry.get().subscribers == 0).then(|| entry.remove())
    }

    /// The server's own URIs of resources with subscribers.
    fn own_uris(&self, prefix: &str) -> Vec<String> {
        let all = self.lock();
        all.values().filter(|one| one.prefix == prefix).map(|one| one.own_uri.clone()).collect()
    }
}

impl Gateway {
    /// Subscribes to a resource of the server that has it.
    pub(super) async fn subscribe(
        &self,
        sources: &[PrefixedSource],
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, RpcError> {
        let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (source, own) = owner_of(sources, &uri)?;
        source.check_resource(&own, caller).await?;
        let answer = source.source.request(Feature::Subscribe, uri_params(&own), caller).await?;
        self.inner.subscriptions.add(uri, &source.prefix, &own);
        Ok(answer)
    }

    /// Ends a subscription.
    pub(super) async fn unsubscribe(
        &self,
        sources: &[PrefixedSource],
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, RpcError> {
        let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(ended) = self.inner.subscriptions.remove(uri) else { return Ok(json!({})) };
        match sources.iter().find(|source| source.prefix == ended.prefix) {
            Some(source) => {
                source.source.request(Feature::Unsubscribe, uri_params(&ended.own_uri), caller).await
            }
            None => Ok(json!({})),
        }
    }
}

impl GatewayShared {
    /// Tells clients about a change of a server's prompts or resources.
    pub(super) fn announce(&self, slot: &AdapterSlot, change: FeatureChange) {
        let change = match change {
            FeatureChange::Resource(own) => {
                FeatureChange::Resource(PrefixedSource::uri_of(slot, &self.slots(), &own))
            }
            list => {
                slot.entries.forget(&list);
                list
            }
        };
        // It fails if no client is connected.
        let _ = self.feature_changes.send(change);
    }
}

/// Repeats the subscriptions of a server that has started again.
pub(super) async fn resubscribe(gateway: Arc<GatewayShared>, slot: Arc<AdapterSlot>) {
    slot.entries.forget_all();
    let Some(source) = PrefixedSource::of(&slot, &gateway.slots().clone()) else { return };
    for own in gateway.subscriptions.own_uris(&source.prefix) {
        let subscribed = source.source.request(Feature::Subscribe, uri_params(&own), &Caller::nobody()).await;
        if let Err(error) = subscribed {
            tracing::warn!(adapter = %slot.name(), reason = %error, "subscription lost");
        }
        // It may have changed in the meantime.
        gateway.announce(&slot, FeatureChange::Resource(own));
    }
}

fn uri_params(uri: &str) -> Map<String, Value> {
    Map::from_iter([("uri".to_owned(), uri.into())])
}
