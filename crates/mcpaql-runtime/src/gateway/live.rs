//! Adapters with a running MCP server. Their state is the server's state. If the operations are the server's own
//! tools, they are updated when the tools change.
//!
//! Tools that are known from an earlier run are served immediately. So they are listed before the server has started,
//! and even if it cannot start. A server is started before its first call only if its tools are unknown or if it is
//! configured to start eagerly.

use super::slot::{AdapterSlot, AdapterState};
use super::subscriptions::resubscribe;
use super::{GatewayShared, MAX_RETRY_DELAY, MIN_RETRY_DELAY};
use crate::dispatch::{FeatureSource, ServedAdapter};
use crate::environment::Environment;
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
    /// Present if the operations are the server's own tools.
    tools: Option<Arc<LiveTools>>,
}

struct LiveTools {
    compile: CompileCapture,
    save: SaveCapture,
    /// The capture that is being served.
    known: Mutex<Option<Capture>>,
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
    pub(super) fn for_document(upstream: Upstream) -> BackingServer {
        BackingServer { eager: upstream.is_eager(), upstream, tools: None }
    }

    /// Returns a server whose tools are the operations, and the catalog of the tools that are known.
    pub(super) fn for_live(
        live: LiveAdapter,
        upstream: Upstream,
        environment: &Environment,
    ) -> (BackingServer, Option<Catalog>) {
        let LiveAdapter { last_capture, compile, save, .. } = live;
        let known = last_capture.and_then(|capture| {
            let catalog = compile(&capture).ok()?;
            Some((capture, catalog))
        });
        let (known, catalog) = known.unzip();
        if let Some(known) = &known {
            upstream.remember(known);
        }
        let environment = Arc::clone(environment);
        let tools = LiveTools {
            compile,
            save,
            known: Mutex::new(known),
            environment,
            alternatives: Mutex::default(),
        };
        (BackingServer { eager: upstream.is_eager(), upstream, tools: Some(Arc::new(tools)) }, catalog)
    }

    pub(super) fn serve_catalog(&self, catalog: Catalog, slot: &AdapterSlot) -> Arc<ServedAdapter> {
        let target: Arc<dyn Target> = match &self.tools {
            Some(tools) if !catalog.adapter.targets.is_empty() => Arc::new(tools.named_targets(&catalog)),
            _ => proxy(&self.upstream),
        };
        Arc::new(ServedAdapter::new(catalog, target, slot.source()).with_stats(Arc::clone(slot.stats())))
    }

    /// Returns the source of prompts and resources before any tools are served.
    pub(super) fn feature_source(&self, slot: &AdapterSlot) -> FeatureSource {
        FeatureSource::new(slot.name(), proxy(&self.upstream), Arc::clone(slot.stats()))
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
        let Some(tools) = self.tools.clone() else { return Ok(()) };
        if tools.known.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(&capture) {
            return Ok(());
        }
        let compiled = tokio::task::spawn_blocking(move || {
            let catalog = (tools.compile)(&capture)?;
            (tools.save)(&capture);
            *tools.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(capture);
            Ok(catalog)
        });
        let catalog = compiled.await.unwrap_or_else(|_| Err("its tools cannot be read".to_owned()))?;
        if let (Some(gateway), Some(slot)) = (gateway.upgrade(), slot.upgrade()) {
            slot.set_served(self.serve_catalog(catalog, &slot));
            gateway.republish();
        }
        Ok(())
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
    let mut retry_delay: Option<Duration> = None;
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
                    (retry_delay, wait) = (None, MIN_RETRY_DELAY);
                    slot.set_state(AdapterState::Ready);
                }
                Err(reason) => {
                    slot.set_state(AdapterState::Failing { reason });
                    // A server whose tools are known is started by the next call.
                    retry_delay = (server.eager || !server.is_known()).then_some(wait);
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
            () = pause(retry_delay) => is_due = true,
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

async fn pause(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
