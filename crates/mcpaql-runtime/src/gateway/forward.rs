//! Resources and prompts of the servers behind a gateway, under names that lead back to them.
//!
//! A prompt is called `{adapter}_{prompt}`; a resource has the address `mcpaql://{adapter}/{address}`, where the server's own
//! address, or its template, stands as it is. A server that does not answer costs its own entries alone. Of an adapter that
//! chooses among several servers with each call nothing is passed on but logs: no name would lead back to one of them.

use super::Gateway;
use crate::caller::Caller;
use crate::dispatch::FeatureSource;
use crate::protocol::{Feature, Features, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError};
use futures_util::future::join_all;
use mcpaql_core::suggest::snake_case;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::timeout;

/// How long a list waits for one server.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
const SCHEME: &str = "mcpaql://";

/// A server behind the gateway.
struct PrefixedSource {
    prefix: String,
    source: FeatureSource,
}

impl PrefixedSource {
    /// Whether the server has that, as far as it has ever said so.
    fn has(&self, feature: Feature) -> bool {
        feature.is_in(self.source.features())
    }

    /// The entries of a list, under their names here.
    async fn list(&self, feature: Feature, key: &str, caller: &Caller) -> Vec<Value> {
        let listed = timeout(LIST_TIMEOUT, self.source.request(feature, Map::new(), caller)).await;
        let mut entries = match listed {
            Ok(Ok(mut answer)) => match answer.get_mut(key).map(Value::take) {
                Some(Value::Array(entries)) => entries,
                _ => Vec::new(),
            },
            Ok(Err(error)) => {
                tracing::warn!(adapter = %self.prefix, reason = %error, method = feature.method(), "nothing is listed");
                Vec::new()
            }
            Err(_) => {
                tracing::warn!(adapter = %self.prefix, method = feature.method(), "nothing is listed in time");
                Vec::new()
            }
        };
        entries.iter_mut().for_each(|entry| self.rename(feature, entry));
        entries
    }

    fn rename(&self, feature: Feature, entry: &mut Value) {
        let (key, renamed): (_, fn(&str, &str) -> String) = match feature {
            Feature::Resources | Feature::Resource => ("uri", gateway_uri),
            Feature::Templates => ("uriTemplate", gateway_uri),
            Feature::Prompts | Feature::Prompt => ("name", |prefix, name| format!("{prefix}_{name}")),
        };
        if let Some(Value::String(text)) = entry.get_mut(key) {
            *text = renamed(&self.prefix, text);
        }
    }
}

fn gateway_uri(prefix: &str, uri: &str) -> String {
    format!("{SCHEME}{prefix}/{uri}")
}

/// The adapter and the server's own address.
fn parse_gateway_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(SCHEME)?.split_once('/')
}

impl Gateway {
    /// The servers behind the adapters, in order.
    fn sources(&self) -> Vec<PrefixedSource> {
        let source = |slot: &super::AdapterSlot| {
            let served = slot.served();
            let source = match served.as_ref().map(|served| (served.upstreams().len(), served)) {
                None | Some((0, _)) => slot.backing_server()?.feature_source(slot),
                Some((1, served)) => served.feature_source(),
                Some(_) => return None,
            };
            Some(PrefixedSource { prefix: snake_case(slot.name()), source })
        };
        self.slots().iter().filter_map(|slot| source(slot)).collect()
    }

    /// What the servers behind it have besides tools.
    pub(super) fn combined_features(&self) -> Features {
        let has_upstreams = |slot: &super::AdapterSlot| {
            slot.backing_server().is_some() || slot.served().is_some_and(|served| served.features().logging)
        };
        // Whether one logs is known only once it has run, a client asks once, and a level for a server without logs hurts nobody.
        let logging = self.slots().iter().any(|slot| has_upstreams(slot));
        let sources = self.sources();
        let any_has = |feature| sources.iter().any(|source| source.has(feature));
        Features { resources: any_has(Feature::Resources), prompts: any_has(Feature::Prompts), logging }
    }

    /// Asks the servers behind it.
    pub(super) async fn forward(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, RpcError> {
        let sources: Vec<PrefixedSource> =
            self.sources().into_iter().filter(|source| source.has(feature)).collect();
        match feature.entries() {
            Some(key) => Ok(list(&sources, feature, key, caller).await),
            None if feature == Feature::Prompt => prompt(&sources, params, caller).await,
            None => resource(&sources, params, caller).await,
        }
    }
}

async fn list(sources: &[PrefixedSource], feature: Feature, key: &str, caller: &Caller) -> Value {
    let lists = join_all(sources.iter().map(|source| source.list(feature, key, caller))).await;
    let mut seen = HashSet::new();
    // `a` with `b_c` and `a_b` with `c` would share a name; the first keeps it.
    let mut is_new = |entry: &Value| feature != Feature::Prompts || seen.insert(entry.get("name").cloned());
    let entries: Vec<Value> = lists.into_iter().flatten().filter(|entry| is_new(entry)).collect();
    let mut answer = Map::new();
    answer.insert(key.to_owned(), entries.into());
    answer.into()
}

async fn prompt(
    sources: &[PrefixedSource],
    mut params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let own = |source: &PrefixedSource| {
        let rest = name.strip_prefix(&source.prefix)?.strip_prefix('_')?;
        Some(rest.to_owned())
    };
    let candidates: Vec<(&PrefixedSource, String)> =
        sources.iter().filter_map(|source| Some((source, own(source)?))).collect();
    let mut chosen = candidates.first();
    if candidates.len() > 1 {
        for candidate in &candidates {
            let prompts = candidate.0.list(Feature::Prompts, "prompts", caller).await;
            if prompts.iter().any(|prompt| prompt["name"] == name.as_str()) {
                chosen = Some(candidate);
                break;
            }
        }
    }
    let Some((source, own)) = chosen else {
        let message = format!("Unknown prompt '{name}'. List the prompts with prompts/list.");
        return Err(RpcError { code: INVALID_PARAMS, message, data: None });
    };
    params.insert("name".into(), own.as_str().into());
    source.source.request(Feature::Prompt, params, caller).await
}

async fn resource(
    sources: &[PrefixedSource],
    mut params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
    let unknown = || RpcError {
        code: RESOURCE_NOT_FOUND,
        message: "Unknown resource. List the resources with resources/list.".to_owned(),
        data: Some(json!({"uri": uri})),
    };
    let (asked, own, wraps) = match parse_gateway_uri(&uri) {
        Some((prefix, own)) => {
            (sources.iter().filter(|source| source.prefix == prefix).collect::<Vec<_>>(), own, true)
        }
        // A tool's result may name an address of its server as the server knows it.
        None => (sources.iter().collect(), uri.as_str(), false),
    };
    params.insert("uri".into(), own.into());
    let mut refusal = None;
    for source in asked {
        match source.source.request(Feature::Resource, params.clone(), caller).await {
            Ok(mut answer) => {
                if let Some(Value::Array(contents)) = answer.get_mut("contents").filter(|_| wraps) {
                    contents.iter_mut().for_each(|one| source.rename(Feature::Resource, one));
                }
                return Ok(answer);
            }
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.unwrap_or_else(unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_server_whatever_it_looks_like() {
        for uri in ["file:///a b?x=1#y", "x", "", "demo://resource/{id}", "mcpaql://other/z", "a/b%2Fc"] {
            assert_eq!(parse_gateway_uri(&gateway_uri("far", uri)), Some(("far", uri)));
        }
        assert_eq!(parse_gateway_uri("file:///a"), None);
        assert_eq!(parse_gateway_uri("mcpaql://far"), None);
    }
}
