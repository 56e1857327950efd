//! Adapters with a running MCP server. Their state is the server's state. If the operations are the server's own
//! tools, they are updated when the tools change.
//!
//! Tools that are known from an earlier run are served immediately. So they are listed before the server has started,
//! and even if it cannot start. A server is started before its first call only if its tools are unknown or if it is
//! configured to start eagerly.

use super::pins::{ApprovedTools, ServerPins};
use super::slot::{AdapterSlot, AdapterState};
use super::subscriptions::resubscribe;
use super::{GatewayOptions, GatewayShared, MAX_RETRY_DELAY, MIN_RETRY_DELAY};
use crate::dispatch::{FeatureSource, ServedAdapter};
use crate::environment::Environment;
use crate::gate::{AdapterGate, Gate};
use crate::protocol::FeatureChange;
use crate::target::mcp::{self, McpProxy, Upstream};
use crate::target::{ClosedTarget, NamedTargets, OpenError, Target};
use mcpaql_core::adapter::{self, AlternativeTarget, Auth, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::Catalog;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

/// How often the operator's approvals are looked up while tools wait for one.
const APPROVAL_POLL: Duration = Duration::from_millis(500);

/// Compiles a catalog from a server's capture. The error is the reason, without secrets.
pub type CompileCapture = Arc<dyn Fn(&Capture) -> Result<Catalog, String> + Send + Sync>;
/// Saves a server's capture for the next start.
pub type SaveCapture = Arc<dyn Fn(&Capture) + Send + Sync>;

/// An MCP server whose own tools are the operations.
pub struct LiveAdapter {
    /// How the server is reached.
    pub target: McpTarget,
    /// How requests are authenticated.
    pub auth: Auth,
    /// The capture of an earlier run.
    pub last_capture: Option<Capture>,
    /// Compiles a catalog from a capture.
    pub compile: CompileCapture,
    /// Saves a capture.
    pub save: SaveCapture,
    /// Whether tools that are new or have changed wait for the operator's approval.
    pub pin: bool,
}

impl fmt::Debug for LiveAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveAdapter").field("known", &self.last_capture.is_some()).finish_non_exhaustive()
    }
}

/// The MCP server of a slot.
#[derive(Debug, Clone)]
pub(super) struct BackingServer {
    /// The server that lists the tools.
    pub(super) upstream: Upstream,
    eager: bool,
    gate: Gate,
    /// Present if the operations are the server's own tools.
    tools: Option<Arc<LiveTools>>,
}

struct LiveTools {
    compile: CompileCapture,
    save: SaveCapture,
    /// The tools that the operator has approved, if changes need an approval.
    pins: Option<ServerPins>,
    /// The capture that is being served, and the tools of it that are not approved.
    known: Mutex<Option<Capture>>,
    withheld: Mutex<Vec<String>>,
    environment: Environment,
    /// The servers that a call can select, by name, if there are several. They stay when the tools change.
    alternatives: Mutex<HashMap<String, (AlternativeTarget, Upstream)>>,
}

impl fmt::Debug for LiveTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveTools")
    }
}

impl LiveTools {
    fn is_known(&self) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn withheld(&self) -> Vec<String> {
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Compiles the approved tools of a capture. The catalog knows the names of the others.
    async fn compile(&self, capture: &Capture) -> Result<Catalog, String> {
        let approved = match &self.pins {
            None => ApprovedTools { capture: capture.clone(), withheld: Vec::new() },
            Some(pins) => pins.approve(capture).await.map_err(|error| {
                tracing::error!(%error, "approved tools cannot be read");
                "the approved tools cannot be read; the log shows why".to_owned()
            })?,
        };
        let ApprovedTools { capture: served, withheld } = approved;
        let all = (!withheld.is_empty()).then(|| capture.clone());
        let compile = Arc::clone(&self.compile);
        let (names, changed) = (withheld.clone(), withheld != self.withheld());
        let compiled = tokio::task::spawn_blocking(move || {
            let mut catalog = compile(&served)?;
            if let Some(Ok(all)) = all.map(|all| compile(&all)) {
                let is_withheld = |id: &Option<String>| id.as_ref().is_some_and(|id| names.contains(id));
                let entries = all.operations.iter().filter(|entry| is_withheld(&entry.operation.source_id));
                let names = entries.map(|entry| entry.operation.name.clone()).collect();
                catalog.withhold_unapproved(&all, names);
            }
            Ok(catalog)
        });
        let catalog = compiled.await.unwrap_or_else(|_| Err("its tools cannot be read".to_owned()))?;
        if let Some(pins) = self.pins.as_ref().filter(|_| changed) {
            pins.report(&withheld);
        }
        *self.withheld.lock().unwrap_or_else(PoisonError::into_inner) = withheld;
        Ok(catalog)
    }

    /// Returns a target for each server that a call can select.
    fn named_targets(&self, catalog: &Catalog) -> NamedTargets {
        let mut known = self.alternatives.lock().unwrap_or_else(PoisonError::into_inner);
        let each = catalog.adapter.targets.iter().filter_map(|(name, alternative)| {
            if let Some((before, upstream)) = known.get(name)
                && before == alternative
            {
                return Some((name.clone(), proxy(upstream)));
            }
            // Each alternative was derived from the adapter's own target, which is an MCP server.
            let adapter::TargetConfig::Mcp(server) = &alternative.target else { return None };
            let adapter = &catalog.adapter.name;
            let upstream_name = format!("{adapter} {name}");
            let target: Arc<dyn Target> = match Upstream::of_adapter(
                adapter,
                Some(&upstream_name),
                server,
                &alternative.auth,
                &self.environment,
            ) {
                Ok(upstream) => {
                    known.insert(name.clone(), (alternative.clone(), upstream.clone()));
                    proxy(&upstream)
                }
                Err(source) => {
                    let user_message = source.to_string();
                    Arc::new(ClosedTarget::new(adapter, &OpenError::new(adapter, source, user_message)))
                }
            };
            Some((name.clone(), target))
        });
        NamedTargets::new(each.collect())
    }
}

impl BackingServer {
    /// The server of a document, whose operations come from the document.
    pub(super) fn for_document(upstream: Upstream, gate: &Gate) -> BackingServer {
        BackingServer { eager: upstream.is_eager(), upstream, gate: gate.clone(), tools: None }
    }

    /// Returns a server whose tools are the operations, and the catalog of the tools that are known.
    pub(super) async fn for_live(
        adapter: &str,
        live: LiveAdapter,
        upstream: Upstream,
        GatewayOptions { environment, gate, .. }: &GatewayOptions,
    ) -> (BackingServer, Option<Catalog>) {
        let LiveAdapter { target, last_capture, compile, save, pin, .. } = live;
        let pins = if pin { ServerPins::new(gate, adapter, &target) } else { None };
        let tools = LiveTools {
            compile,
            save,
            pins,
            known: Mutex::default(),
            withheld: Mutex::default(),
            environment: Arc::clone(environment),
            alternatives: Mutex::default(),
        };
        let mut catalog = None;
        if let Some(capture) = last_capture
            && let Ok(compiled) = tools.compile(&capture).await
        {
            upstream.remember(&capture);
            *tools.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(capture);
            catalog = Some(compiled);
        }
        let (eager, gate) = (upstream.is_eager(), gate.clone());
        (BackingServer { eager, upstream, gate, tools: Some(Arc::new(tools)) }, catalog)
    }

    pub(super) fn serve_catalog(&self, catalog: Catalog, slot: &AdapterSlot) -> Arc<ServedAdapter> {
        let target: Arc<dyn Target> = match &self.tools {
            Some(tools) if !catalog.adapter.targets.is_empty() => Arc::new(tools.named_targets(&catalog)),
            _ => proxy(&self.upstream),
        };
        let served = ServedAdapter::new(catalog, target, slot.source()).with_gate(&self.gate);
        Arc::new(served.with_stats(Arc::clone(slot.stats())))
    }

    /// Returns the source of prompts and resources before any tools are served.
    pub(super) fn feature_source(&self, slot: &AdapterSlot) -> FeatureSource {
        let gate = AdapterGate::named(&self.gate, slot.name());
        FeatureSource::new(gate, proxy(&self.upstream), Arc::clone(slot.stats()))
    }

    pub(super) fn is_live(&self) -> bool {
        self.tools.is_some()
    }

    /// The server's own list of tools, if the operations come from it.
    pub(super) fn known_tools(&self) -> Option<Vec<Value>> {
        let known = self.tools.as_ref()?.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|capture| capture.tools.clone())
    }

    fn is_known(&self) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.is_known())
    }

    /// Asks the server for its tools. If the operations do not come from it, only starts it.
    async fn refresh(&self) -> Result<Option<Capture>, mcp::UpstreamError> {
        match self.tools {
            Some(_) => self.upstream.capture().await.map(Some),
            None => self.upstream.start().await.map(|()| None),
        }
    }

    /// Serves the tools of a capture, if they have changed.
    async fn apply_capture(
        &self,
        capture: Capture,
        gateway: &Weak<GatewayShared>,
        slot: &Weak<AdapterSlot>,
    ) -> Result<(), String> {
        let Some(tools) = &self.tools else { return Ok(()) };
        if tools.known.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&capture) {
            return Ok(());
        }
        let catalog = tools.compile(&capture).await?;
        (tools.save)(&capture);
        *tools.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(capture);
        self.publish(catalog, gateway, slot);
        Ok(())
    }

    /// Serves the tools again that the operator has approved in the meantime.
    async fn apply_approvals(&self, gateway: &Weak<GatewayShared>, slot: &Weak<AdapterSlot>) {
        let Some(tools) = &self.tools else { return };
        let Some(pins) = &tools.pins else { return };
        if tools.withheld().is_empty() || !pins.may_have_changed().await {
            return;
        }
        let before = tools.withheld();
        let known = tools.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(capture) = known
            && let Ok(catalog) = tools.compile(&capture).await
            && before != tools.withheld()
        {
            self.publish(catalog, gateway, slot);
        }
    }

    /// Whether tools wait for an approval.
    fn has_withheld_tools(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| !tools.withheld().is_empty())
    }

    /// Replaces the tools that clients see. They are told even if only a withheld definition has changed.
    fn publish(&self, catalog: Catalog, gateway: &Weak<GatewayShared>, slot: &Weak<AdapterSlot>) {
        let is_announced = !catalog.unapproved.is_empty();
        if let (Some(gateway), Some(slot)) = (gateway.upgrade(), slot.upgrade()) {
            slot.set_served(self.serve_catalog(catalog, &slot));
            gateway.republish();
            if is_announced {
                gateway.changes.send_replace(());
            }
        }
    }
}

fn proxy(upstream: &Upstream) -> Arc<dyn Target> {
    Arc::new(McpProxy::from_upstream(upstream.clone()))
}

/// Follows a server until its slot is dropped.
pub(super) async fn follow_server(
    gateway: Weak<GatewayShared>,
    slot: Weak<AdapterSlot>,
    server: BackingServer,
) {
    let (mut state, mut changed) = (server.upstream.state(), server.upstream.tools_changed());
    let mut feature_changes = server.upstream.feature_changes();
    let mut is_due = server.eager || !server.is_known();
    let mut wait = MIN_RETRY_DELAY;
    let mut retry_at: Option<Instant> = None;
    loop {
        if is_due {
            changed.mark_unchanged();
            let outcome = match server.refresh().await {
                Ok(Some(capture)) => server.apply_capture(capture, &gateway, &slot).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            // Skip the state changes of this start, unless the server has ended since.
            let outcome = match &*state.borrow_and_update() {
                mcp::UpstreamState::Failed { reason } => outcome.and(Err(reason.clone())),
                _ => outcome,
            };
            let Some(slot) = slot.upgrade() else { return };
            match outcome {
                Ok(()) => {
                    (retry_at, wait) = (None, MIN_RETRY_DELAY);
                    slot.set_state(AdapterState::Ready);
                }
                Err(reason) => {
                    slot.set_state(AdapterState::Failing { reason });
                    // A server whose tools are known is started by the next call.
                    retry_at = (server.eager || !server.is_known()).then(|| Instant::now() + wait);
                    wait = (wait * 2).min(MAX_RETRY_DELAY);
                }
            }
        }
        tokio::select! {
            changed = changed.changed() => match changed {
                Ok(()) => is_due = true,
                Err(_) => return,
            },
            changed = state.changed() => {
                if changed.is_err() {
                    return;
                }
                let now = state.borrow_and_update().clone();
                let (Some(gateway), Some(slot)) = (gateway.upgrade(), slot.upgrade()) else { return };
                if matches!(now, mcp::UpstreamState::Running { .. }) {
                    tokio::spawn(resubscribe(gateway, Arc::clone(&slot)));
                }
                is_due = record_state(&slot, now, &server);
            }
            change = feature_changes.recv() => {
                is_due = false;
                let (Some(gateway), Some(slot)) = (gateway.upgrade(), slot.upgrade()) else { return };
                match change {
                    Ok(change) => gateway.announce(&slot, change),
                    Err(RecvError::Lagged(_)) => {
                        gateway.announce(&slot, FeatureChange::Resources);
                        gateway.announce(&slot, FeatureChange::Prompts);
                    }
                    Err(RecvError::Closed) => return,
                }
            }
            () = pause_until(retry_at) => is_due = true,
            () = pause_until(server.has_withheld_tools().then(|| Instant::now() + APPROVAL_POLL)) => {
                is_due = false;
                server.apply_approvals(&gateway, &slot).await;
            }
        }
    }
}

/// Records the state of the server. Returns whether to ask it for its tools.
fn record_state(slot: &AdapterSlot, now: mcp::UpstreamState, server: &BackingServer) -> bool {
    match now {
        mcp::UpstreamState::Idle => {}
        mcp::UpstreamState::Starting => slot.set_state(AdapterState::Starting),
        mcp::UpstreamState::Running { .. } if server.is_live() => return true,
        mcp::UpstreamState::Running { .. } => slot.set_state(AdapterState::Ready),
        mcp::UpstreamState::Failed { reason } => {
            slot.set_state(AdapterState::Failing { reason });
            return server.eager;
        }
    }
    false
}

async fn pause_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
