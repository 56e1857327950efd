//! Adapters behind which an MCP server runs: their state is the server's, and where the operations are the server's own tools,
//! they follow what it says.
//!
//! What is known from an earlier time is served at once, so that tools are listed before the server has started and even when it
//! cannot. Only a server of which nothing is known, or one that shall be eager, is started before somebody calls it.

use super::slot::{AdapterSlot, AdapterState};
use super::{GatewayShared, MAX_RETRY_DELAY, MIN_RETRY_DELAY};
use crate::dispatch::{FeatureSource, ServedAdapter};
use crate::environment::Environment;
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

/// Makes a catalog of what a server said; else why there is none, in words that may be shown to anybody.
pub type CompileCapture = Arc<dyn Fn(&Capture) -> Result<Catalog, String> + Send + Sync>;
/// Keeps what a server said for the next start.
pub type SaveCapture = Arc<dyn Fn(&Capture) + Send + Sync>;

/// An MCP server whose own tools are the operations.
pub struct LiveAdapter {
    /// How it is reached.
    pub target: McpTarget,
    /// How it is authenticated to.
    pub auth: Auth,
    /// What it said the last time.
    pub last_capture: Option<Capture>,
    /// Makes a catalog of what it says.
    pub compile: CompileCapture,
    /// Keeps what it says.
    pub save: SaveCapture,
}

impl fmt::Debug for LiveAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("known", &self.last_capture.is_some()).finish_non_exhaustive()
    }
}

/// A server behind a slot.
#[derive(Debug, Clone)]
pub(super) struct BackingServer {
    /// The server that is asked for its tools.
    pub(super) upstream: Upstream,
    eager: bool,
    /// Where the operations are the server's own tools.
    tools: Option<Arc<LiveTools>>,
}

struct LiveTools {
    compile: CompileCapture,
    save: SaveCapture,
    /// What is served comes from this.
    known: Mutex<Option<Capture>>,
    environment: Environment,
    /// The servers that calls choose among, where there are several: they outlast a change of the tools.
    several: Mutex<HashMap<String, (AlternativeTarget, Upstream)>>,
}

impl fmt::Debug for LiveTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tools")
    }
}

impl LiveTools {
    fn is_known(&self) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl LiveTools {
    /// Each of the servers that calls choose among.
    fn named_targets(&self, catalog: &Catalog) -> NamedTargets {
        let mut known = self.several.lock().unwrap_or_else(PoisonError::into_inner);
        let each = catalog.adapter.targets.iter().filter_map(|(name, one)| {
            if let Some((before, upstream)) = known.get(name)
                && before == one
            {
                return Some((name.clone(), proxy(upstream)));
            }
            // Each was made from the adapter's own target, which is a server.
            let adapter::TargetConfig::Mcp(server) = &one.target else { return None };
            let adapter = &catalog.adapter.name;
            let called = format!("{adapter} {name}");
            let target: Arc<dyn Target> = match Upstream::named(&called, server, &one.auth, &self.environment)
            {
                Ok(upstream) => {
                    known.insert(name.clone(), (one.clone(), upstream.clone()));
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
    /// The server of a document, whose operations are what the document says.
    pub(super) fn for_document(upstream: Upstream) -> BackingServer {
        BackingServer { eager: upstream.is_eager(), upstream, tools: None }
    }

    /// A server whose tools are the operations, and what is known of them.
    pub(super) fn for_live(
        live: LiveAdapter,
        upstream: Upstream,
        environment: &Environment,
    ) -> (BackingServer, Option<Catalog>) {
        let LiveAdapter { last_capture: last, compile, save: keep, .. } = live;
        let known = last.and_then(|last| {
            let catalog = compile(&last).ok()?;
            Some((last, catalog))
        });
        let (known, catalog) = known.unzip();
        if let Some(known) = &known {
            upstream.remember(known);
        }
        let environment = Arc::clone(environment);
        let tools = LiveTools {
            compile,
            save: keep,
            known: Mutex::new(known),
            environment,
            several: Mutex::default(),
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

    /// Where prompts and resources are asked for before anything is served.
    pub(super) fn feature_source(&self, slot: &AdapterSlot) -> FeatureSource {
        FeatureSource::new(slot.name(), proxy(&self.upstream), Arc::clone(slot.stats()))
    }

    pub(super) fn is_live(&self) -> bool {
        self.tools.is_some()
    }

    /// The server's own list of tools, where the operations come from it.
    pub(super) fn known_tools(&self) -> Option<Vec<Value>> {
        let known = self.tools.as_ref()?.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|capture| capture.tools.clone())
    }

    fn is_known(&self) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.is_known())
    }

    /// Asks the server for its tools, or only starts it where they do not matter.
    async fn refresh(&self) -> Result<Option<Capture>, mcp::UpstreamError> {
        match self.tools {
            Some(_) => self.upstream.capture().await.map(Some),
            None => self.upstream.start().await.map(|()| None),
        }
    }

    /// Serves what the server said, where that is news.
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
        let making = tokio::task::spawn_blocking(move || {
            let catalog = (tools.compile)(&capture)?;
            (tools.save)(&capture);
            *tools.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(capture);
            Ok(catalog)
        });
        let catalog = making.await.unwrap_or_else(|_| Err("its tools cannot be read".to_owned()))?;
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

/// Follows a server for as long as its slot is there.
pub(super) async fn follow_server(
    gateway: Weak<GatewayShared>,
    slot: Weak<AdapterSlot>,
    behind: BackingServer,
) {
    let (mut state, mut changed) = (behind.upstream.state(), behind.upstream.tools_changed());
    let mut is_due = behind.eager || !behind.is_known();
    let mut wait = MIN_RETRY_DELAY;
    let mut again: Option<Duration> = None;
    loop {
        if is_due {
            changed.mark_unchanged();
            let outcome = match behind.refresh().await {
                Ok(Some(capture)) => behind.apply_capture(capture, &gateway, &slot).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            // What the start changed is no news any more, unless the server has ended since.
            let outcome = match &*state.borrow_and_update() {
                mcp::UpstreamState::Failed { reason } => outcome.and(Err(reason.clone())),
                _ => outcome,
            };
            let Some(slot) = slot.upgrade() else { return };
            match outcome {
                Ok(()) => {
                    (again, wait) = (None, MIN_RETRY_DELAY);
                    slot.set_state(AdapterState::Ready);
                }
                Err(reason) => {
                    slot.set_state(AdapterState::Failing { reason });
                    // One that is known is started by whoever calls it.
                    again = (behind.eager || !behind.is_known()).then_some(wait);
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
                let Some(slot) = slot.upgrade() else { return };
                is_due = record_state(&slot, now, &behind);
            }
            () = pause(again) => is_due = true,
        }
    }
}

/// Notes how the server is doing; true when it should be asked for its tools.
fn record_state(slot: &AdapterSlot, now: mcp::UpstreamState, behind: &BackingServer) -> bool {
    match now {
        mcp::UpstreamState::Idle => {}
        mcp::UpstreamState::Starting => slot.set_state(AdapterState::Starting),
        mcp::UpstreamState::Running { .. } if behind.is_live() => return true,
        mcp::UpstreamState::Running { .. } => slot.set_state(AdapterState::Ready),
        mcp::UpstreamState::Failed { reason } => {
            slot.set_state(AdapterState::Failing { reason });
            return behind.eager;
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
