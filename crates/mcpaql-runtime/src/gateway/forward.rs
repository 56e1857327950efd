//! Prompts and resources of the MCP servers behind a gateway, under names that identify the server.
//!
//! With plain results the names are the server's own. Otherwise a prompt is named `{adapter}_{prompt}`. A resource has the URI `mcpaql://{adapter}/{uri}`, which ends with the
//! server's own URI or URI template, unchanged. If a server does not answer, only its own entries are missing. An
//! adapter that selects one of several servers per call forwards only logs, because its names would not identify one
//! server.

use super::withheld::{may_match, refusal};
use super::{AdapterSlot, Gateway};
use crate::caller::Caller;
use crate::dispatch::FeatureSource;
use crate::protocol::{Feature, Features, INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError};
use futures_util::future::join_all;
use mcpaql_core::adapter::ResultForm;
use mcpaql_core::flagged;
use mcpaql_core::suggest::snake_case;
use mcpaql_lexicon::poison::Certainty;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a list waits for one server.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
const SCHEME: &str = "mcpaql://";

/// The prompts and resources of one server, and the prefix of their names.
pub(super) struct PrefixedSource {
    pub(super) prefix: String,
    /// The names are the server's own, because its results are passed on unchanged.
    is_plain: bool,
    pub(super) source: FeatureSource,
    slot: Arc<AdapterSlot>,
}

impl PrefixedSource {
    /// Returns the source of a slot; `None` if the slot has no server, or several.
    pub(super) fn of(slot: &Arc<AdapterSlot>) -> Option<PrefixedSource> {
        let served = slot.served();
        let source = match served.as_ref().map(|served| (served.upstreams().len(), served)) {
            None | Some((0, _)) => slot.backing_server()?.feature_source(slot),
            Some((1, served)) => served.feature_source(),
            Some(_) => return None,
        };
        let (prefix, is_plain) = (snake_case(slot.name()), is_plain(slot));
        Some(PrefixedSource { prefix, is_plain, source, slot: Arc::clone(slot) })
    }

    /// Returns the URI in the gateway of a resource of a slot's server.
    pub(super) fn uri_of(slot: &AdapterSlot, own: &str) -> String {
        if is_plain(slot) { own.to_owned() } else { gateway_uri(&snake_case(slot.name()), own) }
    }

    /// Returns whether the server has this feature, as far as known.
    fn has(&self, feature: Feature) -> bool {
        feature.is_in(self.source.features())
    }

    /// Returns the entries of a list, under their names in the gateway.
    async fn list(&self, feature: Feature, key: &str, caller: &Caller) -> Vec<Value> {
        let listed = self.read_list(feature, key, caller).await;
        let mut entries = listed.unwrap_or_else(|error| {
            tracing::warn!(adapter = %self.prefix, reason = %error, method = feature.method(), "upstream returned no list");
            Vec::new()
        });
        for entry in &mut entries {
            flagged::clean_value(entry);
            if !self.is_plain {
                self.rename(feature, entry);
            }
        }
        entries
    }

    /// Returns the entries of a list that may be served, under the server's own names. Records the others.
    async fn read_list(&self, feature: Feature, key: &str, caller: &Caller) -> Result<Vec<Value>, RpcError> {
        let listed = timeout(LIST_TIMEOUT, self.source.request(feature, Map::new(), caller)).await;
        let too_late = |_| RpcError {
            code: INTERNAL_ERROR,
            message: format!("The server did not answer {} in time.", feature.method()),
            data: None,
        };
        let mut entries = match listed.map_err(too_late)??.get_mut(key).map(Value::take) {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        };
        let mut withheld = HashSet::new();
        entries.retain(|entry| {
            let is_withheld = self.is_withheld(feature, entry);
            if is_withheld {
                withheld.extend(entry.get(name_key(feature)).and_then(Value::as_str).map(str::to_owned));
            }
            !is_withheld
        });
        self.slot.withheld.record(feature, withheld);
        Ok(entries)
    }

    /// Returns the withheld entries of a list. Reads the list if it is not known.
    async fn withheld(&self, feature: Feature, caller: &Caller) -> Result<Arc<HashSet<String>>, RpcError> {
        if let Some(known) = self.slot.withheld.known(feature) {
            return Ok(known);
        }
        self.read_list(feature, feature.entries().unwrap_or_default(), caller).await?;
        Ok(self.slot.withheld.known(feature).unwrap_or_default())
    }

    /// Refuses a withheld prompt.
    async fn check_prompt(&self, own: &str, caller: &Caller) -> Result<(), RpcError> {
        match self.withheld(Feature::Prompts, caller).await?.contains(own) {
            true => Err(refusal("prompt", own)),
            false => Ok(()),
        }
    }

    /// Refuses a withheld resource, or one of a withheld template.
    pub(super) async fn check_resource(&self, own: &str, caller: &Caller) -> Result<(), RpcError> {
        let is_withheld = self.withheld(Feature::Resources, caller).await?.contains(own)
            || self
                .withheld(Feature::Templates, caller)
                .await?
                .iter()
                .any(|template| template == own || may_match(template, own));
        if is_withheld { Err(refusal("resource", own)) } else { Ok(()) }
    }

    /// Returns the server's own name of a prompt, if it may be one of this server.
    fn own_prompt(&self, name: &str) -> Option<String> {
        if self.is_plain {
            return Some(name.to_owned());
        }
        Some(name.strip_prefix(&self.prefix)?.strip_prefix('_')?.to_owned())
    }

    /// Returns the server's own URI of a resource, if it may be one of this server.
    pub(super) fn own_uri(&self, uri: &str) -> Option<String> {
        match parse_gateway_uri(uri) {
            Some((prefix, own)) => (prefix == self.prefix).then(|| own.to_owned()),
            None => self.is_plain.then(|| uri.to_owned()),
        }
    }

    /// Returns whether an entry is not served, because one of its texts is certainly poisoned and the operator does not
    /// allow it. Logs every poisoned text.
    fn is_withheld(&self, feature: Feature, entry: &Value) -> bool {
        let found = flagged::scan_entry(entry);
        for finding in &found {
            let (adapter, evidence) = (&self.prefix, &finding.evidence);
            tracing::warn!(%adapter, method = feature.method(), evidence, "suspicious entry: it {}", finding.what);
        }
        let name = entry.get(name_key(feature)).and_then(Value::as_str).unwrap_or_default();
        let is_allowed =
            || self.slot.served().is_some_and(|served| served.catalog().is_flagged_text_allowed(name));
        found.iter().any(|finding| finding.certainty == Certainty::Certain) && !is_allowed()
    }

    fn rename(&self, feature: Feature, entry: &mut Value) {
        let key = name_key(feature);
        if let Some(Value::String(text)) = entry.get_mut(key) {
            let prefix = &self.prefix;
            *text = if key == "name" { format!("{prefix}_{text}") } else { gateway_uri(prefix, text) };
        }
    }
}

/// The key of the name or URI in an entry of this kind.
const fn name_key(feature: Feature) -> &'static str {
    match feature {
        Feature::Resources | Feature::Resource | Feature::Subscribe | Feature::Unsubscribe => "uri",
        Feature::Templates => "uriTemplate",
        Feature::Prompts | Feature::Prompt | Feature::Completion => "name",
    }
}

/// Returns whether prompts and resources of a slot keep the server's own names.
fn is_plain(slot: &AdapterSlot) -> bool {
    slot.served().is_some_and(|served| served.catalog().results == ResultForm::Plain)
}

/// The error for a resource that no server has.
pub(super) fn unknown_resource(uri: &str) -> RpcError {
    RpcError {
        code: RESOURCE_NOT_FOUND,
        message: "Unknown resource. List the resources with resources/list.".to_owned(),
        data: Some(json!({"uri": uri})),
    }
}

fn gateway_uri(prefix: &str, uri: &str) -> String {
    format!("{SCHEME}{prefix}/{uri}")
}

/// Returns the adapter's prefix and the server's own URI.
fn parse_gateway_uri(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(SCHEME)?.split_once('/')
}

impl Gateway {
    /// The servers of the adapters, in order.
    fn sources(&self) -> Vec<PrefixedSource> {
        self.slots().iter().filter_map(PrefixedSource::of).collect()
    }

    /// The features of all servers behind the gateway, combined.
    pub(super) fn combined_features(&self) -> Features {
        let has_upstreams = |slot: &super::AdapterSlot| {
            slot.backing_server().is_some() || slot.served().is_some_and(|served| served.features().logging)
        };
        // Whether a server logs is known only after it has started, but a client reads the features only once.
        // Setting a level on a server without logs does no harm.
        let logging = self.slots().iter().any(|slot| has_upstreams(slot));
        let sources = self.sources();
        let any_has = |feature| sources.iter().any(|source| source.has(feature));
        Features {
            resources: any_has(Feature::Resources),
            prompts: any_has(Feature::Prompts),
            subscriptions: any_has(Feature::Subscribe),
            completions: any_has(Feature::Completion),
            logging,
        }
    }

    /// Forwards a request to the servers.
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
            None => match feature {
                Feature::Prompt => prompt(&sources, params, caller).await,
                Feature::Completion => completion(&sources, params, caller).await,
                Feature::Subscribe => self.subscribe(&sources, params, caller).await,
                Feature::Unsubscribe => self.unsubscribe(&sources, params, caller).await,
                _ => resource(&sources, params, caller).await,
            },
        }
    }
}

async fn list(sources: &[PrefixedSource], feature: Feature, key: &str, caller: &Caller) -> Value {
    let lists = join_all(sources.iter().map(|source| source.list(feature, key, caller))).await;
    let mut seen = HashSet::new();
    // `a` with `b_c` and `a_b` with `c` have the same name; the first one keeps it.
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
    let own = |source: &PrefixedSource| source.own_prompt(&name);
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
    source.check_prompt(own, caller).await?;
    params.insert("name".into(), own.as_str().into());
    source.source.request(Feature::Prompt, params, caller).await
}

/// Completes an argument of a prompt or of a resource template.
async fn completion(
    sources: &[PrefixedSource],
    params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let named = |key: &str| params.get("ref")?.get(key)?.as_str();
    let own = |source: &PrefixedSource| match (named("name"), named("uri")) {
        (Some(name), _) => Some(("name", source.own_prompt(name)?)),
        (None, Some(uri)) => Some(("uri", source.own_uri(uri)?)),
        (None, None) => None,
    };
    let mut refusal = None;
    for (source, (key, own)) in sources.iter().filter_map(|source| Some((source, own(source)?))) {
        let checked = match key {
            "name" if source.has(Feature::Prompts) => source.check_prompt(&own, caller).await,
            "uri" if source.has(Feature::Resources) => source.check_resource(&own, caller).await,
            _ => Ok(()),
        };
        if let Err(error) = checked {
            refusal = Some(error);
            continue;
        }
        let mut params = params.clone();
        if let Some(reference) = params.get_mut("ref").and_then(Value::as_object_mut) {
            reference.insert(key.to_owned(), own.into());
        }
        match source.source.request(Feature::Completion, params, caller).await {
            Ok(answer) => return Ok(answer),
            Err(error) => refusal = Some(error),
        }
    }
    let unknown = || {
        let message = "Unknown prompt or resource template; list them first.".to_owned();
        RpcError { code: INVALID_PARAMS, message, data: None }
    };
    Err(refusal.unwrap_or_else(unknown))
}

async fn resource(
    sources: &[PrefixedSource],
    mut params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (candidates, own, is_prefixed) = match parse_gateway_uri(&uri) {
        Some((prefix, own)) => {
            (sources.iter().filter(|source| source.prefix == prefix).collect::<Vec<_>>(), own, true)
        }
        // A tool's result may contain the server's own URI.
        None => (sources.iter().collect(), uri.as_str(), false),
    };
    params.insert("uri".into(), own.into());
    let mut refusal = None;
    for source in candidates {
        if let Err(error) = source.check_resource(own, caller).await {
            refusal = Some(error);
            continue;
        }
        match source.source.request(Feature::Resource, params.clone(), caller).await {
            Ok(mut answer) => {
                if let Some(Value::Array(contents)) = answer.get_mut("contents").filter(|_| is_prefixed) {
                    contents.iter_mut().for_each(|one| source.rename(Feature::Resource, one));
                }
                return Ok(answer);
            }
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.unwrap_or_else(|| unknown_resource(&uri)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gateway_uri_identifies_its_server() {
        for uri in ["file:///a b?x=1#y", "x", "", "demo://resource/{id}", "mcpaql://other/z", "a/b%2Fc"] {
            assert_eq!(parse_gateway_uri(&gateway_uri("far", uri)), Some(("far", uri)));
        }
        assert_eq!(parse_gateway_uri("file:///a"), None);
        assert_eq!(parse_gateway_uri("mcpaql://far"), None);
    }
}
