//! Prompts and resources of the MCP servers behind a gateway, under names that identify the server.
//!
//! A prompt is named `{adapter}_{prompt}`. A resource has the URI `mcpaql://{adapter}/{uri}`, which ends with the server's own URI or
//! URI template, unchanged; so have the resources in results and prompts. With plain results the names are the server's own, and so are
//! the URIs if only one adapter has plain results. An adapter that selects one of several servers per call forwards only logs, because
//! its names would not identify one server.
//!
//! What always holds:
//! - A request goes to the server that the name identifies, or to none. Another server is never asked instead.
//! - If a server does not answer, only its own entries are missing.
//! - `include` and `exclude` of an adapter decide about its prompts and resources in lists and by name.

use super::withheld::{may_match, refusal};
use super::{AdapterSlot, Gateway};
use crate::caller::Caller;
use crate::dispatch::FeatureSource;
use crate::protocol::{Feature, Features, INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError};
use crate::target::mcp::links::{address_messages, gateway_uri, parse_gateway_uri};
use futures_util::future::join_all;
use mcpaql_core::adapter::ResultForm;
use mcpaql_core::flagged;
use mcpaql_core::selection::FeatureSelection;
use mcpaql_core::suggest::snake_case;
use mcpaql_lexicon::poison::Certainty;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a list waits for one server.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The prompts and resources of one server, and the prefix of their names.
pub(super) struct PrefixedSource {
    pub(super) prefix: String,
    /// The names of prompts are the server's own, because its results are passed on unchanged.
    is_plain: bool,
    /// The URIs are the server's own, too.
    has_own_uris: bool,
    selection: FeatureSelection,
    pub(super) source: FeatureSource,
    slot: Arc<AdapterSlot>,
}

impl PrefixedSource {
    /// Returns the source of one of these slots. `None` if the slot has no server, or several, or if another slot has the same name:
    /// then the name would not identify a server.
    pub(super) fn of(slot: &Arc<AdapterSlot>, slots: &[Arc<AdapterSlot>]) -> Option<PrefixedSource> {
        let served = slot.served();
        let upstreams = served.as_ref().map(|served| served.upstreams()).unwrap_or_default();
        let (source, selection) = match (upstreams.as_slice(), &served) {
            ([], _) | (_, None) => {
                let server = slot.backing_server()?;
                (server.feature_source(slot), server.upstream.selection().clone())
            }
            ([upstream], Some(served)) => (served.feature_source(), upstream.selection().clone()),
            _ => return None,
        };
        if has_namesake(slot, slots) {
            return None;
        }
        let (prefix, is_plain) = (snake_case(slot.name()), is_plain(slot));
        let has_own_uris = has_own_uris(slot, slots);
        Some(PrefixedSource { prefix, is_plain, has_own_uris, selection, source, slot: Arc::clone(slot) })
    }

    /// Returns the URI in the gateway of a resource of a slot's server.
    pub(super) fn uri_of(slot: &AdapterSlot, slots: &[Arc<AdapterSlot>], own: &str) -> String {
        if has_own_uris(slot, slots) { own.to_owned() } else { gateway_uri(slot.name(), own) }
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
            let is_own = if feature == Feature::Prompts { self.is_plain } else { self.has_own_uris };
            if !is_own {
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
        self.select(feature, &mut entries);
        let mut withheld = HashSet::new();
        entries.retain(|entry| {
            let is_withheld = self.is_withheld(feature, entry);
            if is_withheld {
                withheld.extend(entry.get(name_key(feature)).and_then(Value::as_str).map(str::to_owned));
            }
            !is_withheld
        });
        self.slot.entries.withheld.record(feature, withheld);
        Ok(entries)
    }

    /// Returns the withheld entries of a list. Reads the list if it is not known.
    async fn withheld(&self, feature: Feature, caller: &Caller) -> Result<Arc<HashSet<String>>, RpcError> {
        if let Some(known) = self.slot.entries.withheld.known(feature) {
            return Ok(known);
        }
        self.read_list(feature, feature.entries().unwrap_or_default(), caller).await?;
        Ok(self.slot.entries.withheld.known(feature).unwrap_or_default())
    }

    /// Removes the entries that are not selected, and records which ones are.
    fn select(&self, feature: Feature, entries: &mut Vec<Value>) {
        if self.selection.is_everything() {
            return;
        }
        let (mut selected, mut left_out) = (HashSet::new(), HashSet::new());
        entries.retain(|entry| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str);
            let name = text(name_key(feature)).unwrap_or_default();
            let is_selected = match feature {
                Feature::Prompts => self.selection.takes_prompt(name),
                _ => self.selection.takes_resource([name, text("name").unwrap_or_default()]),
            };
            if is_selected { &mut selected } else { &mut left_out }.insert(name.to_owned());
            is_selected
        });
        self.slot.entries.selected.record(feature, selected);
        self.slot.entries.left_out.record(feature, left_out);
    }

    /// Returns whether a resource is selected: by a rule for its URI, or by the entry or the template that lists it.
    async fn is_selected(&self, own: &str, caller: &Caller) -> Result<bool, RpcError> {
        if self.selection.is_everything() {
            return Ok(true);
        }
        if self.selection.excludes_resource([own]) || self.selection.includes_resource([own]) {
            return Ok(self.selection.takes_resource([own]));
        }
        for feature in [Feature::Resources, Feature::Templates] {
            if self.slot.entries.selected.known(feature).is_none() {
                self.read_list(feature, feature.entries().unwrap_or_default(), caller).await?;
            }
            let fits = |entry: &String| match feature {
                Feature::Templates => entry == own || may_match(entry, own),
                _ => entry == own,
            };
            let entries = &self.slot.entries;
            let names_it =
                |known: Option<Arc<HashSet<String>>>| known.is_some_and(|known| known.iter().any(fits));
            if names_it(entries.selected.known(feature)) {
                return Ok(true);
            }
            if names_it(entries.left_out.known(feature)) {
                return Ok(false);
            }
        }
        Ok(!self.selection.is_limited)
    }

    /// Refuses a prompt that is withheld or not selected.
    async fn check_prompt(&self, own: &str, caller: &Caller) -> Result<(), RpcError> {
        if !self.selection.takes_prompt(own) {
            return Err(unknown_prompt(own));
        }
        match self.withheld(Feature::Prompts, caller).await?.contains(own) {
            true => Err(refusal("prompt", own)),
            false => Ok(()),
        }
    }

    /// Refuses a resource that is not selected or withheld, or that a withheld template lists.
    pub(super) async fn check_resource(&self, own: &str, caller: &Caller) -> Result<(), RpcError> {
        if !self.is_selected(own, caller).await? {
            return Err(unknown_resource(own));
        }
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
            None => self.has_own_uris.then(|| uri.to_owned()),
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

/// Returns whether resources of a slot keep the server's own URIs. That is the case if no other adapter may have the same ones.
fn has_own_uris(slot: &AdapterSlot, slots: &[Arc<AdapterSlot>]) -> bool {
    is_plain(slot) && slots.iter().filter(|other| is_plain(other)).count() == 1
}

/// Returns whether another slot with a server has the same name.
fn has_namesake(slot: &AdapterSlot, slots: &[Arc<AdapterSlot>]) -> bool {
    let name = snake_case(slot.name());
    let has_server = |slot: &AdapterSlot| {
        slot.backing_server().is_some() || slot.served().is_some_and(|served| !served.upstreams().is_empty())
    };
    let named = |other: &&Arc<AdapterSlot>| snake_case(other.name()) == name && has_server(other);
    slots.iter().filter(named).count() > 1
}

/// The error for a prompt that no server has.
fn unknown_prompt(name: &str) -> RpcError {
    let message = format!("Unknown prompt '{name}'. List the prompts with prompts/list.");
    RpcError { code: INVALID_PARAMS, message, data: None }
}

/// Returns the server that a URI identifies, and the server's own URI.
pub(super) fn owner_of<'a>(
    sources: &'a [PrefixedSource],
    uri: &str,
) -> Result<(&'a PrefixedSource, String), RpcError> {
    let owner = sources.iter().find_map(|source| Some((source, source.own_uri(uri)?)));
    owner.ok_or_else(|| unknown_resource(uri))
}

/// The error for a resource that no server has.
pub(super) fn unknown_resource(uri: &str) -> RpcError {
    RpcError {
        code: RESOURCE_NOT_FOUND,
        message: "Unknown resource. List the resources with resources/list.".to_owned(),
        data: Some(json!({"uri": uri})),
    }
}

impl Gateway {
    /// The servers of the adapters, in order.
    fn sources(&self) -> Vec<PrefixedSource> {
        let slots = self.slots();
        slots.iter().filter_map(|slot| PrefixedSource::of(slot, &slots)).collect()
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

/// Returns the server that a prompt's name identifies, and the server's own name of the prompt.
async fn owner_of_prompt<'a>(
    sources: &'a [PrefixedSource],
    name: &str,
    caller: &Caller,
) -> Result<(&'a PrefixedSource, String), RpcError> {
    let own = |source: &'a PrefixedSource| Some((source, source.own_prompt(name)?));
    let mut candidates: Vec<(&PrefixedSource, String)> = sources.iter().filter_map(own).collect();
    let mut chosen = 0;
    if candidates.len() > 1 {
        for (index, (source, own)) in candidates.iter().enumerate() {
            // If the list of a server is not known, the name may be its own. So no later server is asked instead.
            let listed = source.read_list(Feature::Prompts, "prompts", caller).await?;
            if listed.iter().any(|prompt| prompt.get("name").and_then(Value::as_str) == Some(own)) {
                chosen = index;
                break;
            }
        }
    }
    if candidates.is_empty() {
        return Err(unknown_prompt(name));
    }
    Ok(candidates.swap_remove(chosen))
}

async fn prompt(
    sources: &[PrefixedSource],
    mut params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (source, own) = owner_of_prompt(sources, &name, caller).await?;
    source.check_prompt(&own, caller).await?;
    params.insert("name".into(), own.into());
    let mut answer = source.source.request(Feature::Prompt, params, caller).await?;
    if !source.has_own_uris {
        address_messages(&source.prefix, &mut answer);
    }
    Ok(answer)
}

/// Completes an argument of a prompt or of a resource template.
async fn completion(
    sources: &[PrefixedSource],
    mut params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let named = |key: &str| Some(params.get("ref")?.get(key)?.as_str()?.to_owned());
    let (source, key, own) = match (named("name"), named("uri")) {
        (Some(name), _) => {
            let (source, own) = owner_of_prompt(sources, &name, caller).await?;
            if source.has(Feature::Prompts) {
                source.check_prompt(&own, caller).await?;
            }
            (source, "name", own)
        }
        (None, Some(uri)) => {
            let (source, own) = owner_of(sources, &uri)?;
            if source.has(Feature::Resources) {
                source.check_resource(&own, caller).await?;
            }
            (source, "uri", own)
        }
        (None, None) => {
            let message = "Unknown prompt or resource template; list them first.".to_owned();
            return Err(RpcError { code: INVALID_PARAMS, message, data: None });
        }
    };
    if let Some(reference) = params.get_mut("ref").and_then(Value::as_object_mut) {
        reference.insert(key.to_owned(), own.into());
    }
    source.source.request(Feature::Completion, params, caller).await
}

async fn resource(
    sources: &[PrefixedSource],
    mut params: Map<String, Value>,
    caller: &Caller,
) -> Result<Value, RpcError> {
    let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (source, own) = owner_of(sources, &uri)?;
    source.check_resource(&own, caller).await?;
    let is_addressed = own != uri;
    params.insert("uri".into(), own.into());
    let mut answer = source.source.request(Feature::Resource, params, caller).await?;
    if let Some(Value::Array(contents)) = answer.get_mut("contents").filter(|_| is_addressed) {
        contents.iter_mut().for_each(|one| source.rename(Feature::Resource, one));
    }
    Ok(answer)
}
