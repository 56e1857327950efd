//! Many adapters behind one MCP server. It offers every tool of every adapter, and each tool name belongs to exactly
//! one adapter.
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = AdapterSettings::default();
//! let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC"))).open(&settings, None).await?;
//! let dice = Native::new("dice").operation(operation("get_roll").handle(async || Ok(4))).open(&settings, None).await?;
//! let gateway = Gateway::new(vec![clock, dice])?;
//! let names: Vec<String> = gateway.tools().iter().map(|tool| tool.name.clone()).collect();
//! assert_eq!(names, ["clock_mcpaql_read", "dice_mcpaql_read"]);
//! let arguments = json!({"operation": "get_roll"}).as_object().cloned().unwrap_or_default();
//! let reply = gateway.call("dice_mcpaql_read", arguments, &Caller::nobody()).await;
//! assert_eq!(reply.unwrap().text, r#"{"success":true,"data":4}"#);
//! # Ok(())
//! # }
//! ```
//!
//! What always holds:
//! - Clients see one immutable [`GatewaySnapshot`]. A call runs on the adapter of its snapshot, even if the snapshot
//!   is replaced.
//! - An adapter that cannot be opened keeps its tools, fails its calls with the reason, and is retried. Other
//!   adapters are not affected.
//! - The tools of a running MCP server never take the name of another adapter's tool.
//! - Adding or removing an adapter never renames the tools of another.
//! - Clients are notified exactly when the list of tools has changed.

mod batch;
mod forward;
mod live;
mod pins;
mod report;
mod slot;
mod snapshot;
mod subscriptions;
mod withheld;

pub use live::{CompileCapture, LiveAdapter, SaveCapture};
pub use pins::{pin_subject, pins_of};
pub use slot::{AdapterSlot, AdapterState};
pub use snapshot::{GatewaySnapshot, NameCollision, check_names};

use crate::caller::Caller;
use crate::dispatch::{self, ServedAdapter};
use crate::environment::Environment;
use crate::execution::BackgroundTask;
use crate::gate::Gate;
use crate::health::Health;
use crate::open::{self, OpenError};
use crate::protocol::{Feature, FeatureChange, Features, RpcError};
use crate::record::Stats;
use crate::service::Service;
use crate::target::mcp::Upstream;
use live::BackingServer;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::batch::is_batch;
use mcpaql_core::catalog::{Catalog, Tool};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{self, ToolReply};
use mcpaql_core::suggest::snake_case;
use serde_json::{Map, Value};
use slot::SlotWork;
use snapshot::CallRoute;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;
use subscriptions::ResourceSubscriptions;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout_at};

/// Delay before the first retry; doubled after each failure, up to the maximum.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

/// Maximum number of changes that a slow client has not received yet.
const MAX_MISSED_CHANGES: usize = 256;

/// How long the first list waits for unknown tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The adapters of one server. Clones share the same gateway.
#[derive(Debug, Clone)]
pub struct Gateway {
    inner: Arc<GatewayShared>,
}

#[derive(Debug)]
struct GatewayShared {
    snapshot: RwLock<Arc<GatewaySnapshot>>,
    slots: Mutex<Vec<Arc<AdapterSlot>>>,
    changes: watch::Sender<()>,
    state_changes: watch::Sender<()>,
    feature_changes: broadcast::Sender<FeatureChange>,
    subscriptions: ResourceSubscriptions,
    options: GatewayOptions,
    /// Until when lists wait for the tools of MCP servers; set by the first request.
    list_deadline: OnceLock<Instant>,
}

/// Options for opening adapters.
#[derive(Clone)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The folder of the stores.
    pub data: Option<PathBuf>,
    /// Looks up environment variables.
    pub environment: Environment,
    /// How long the first list waits for the tools of MCP servers that are not known from an earlier run.
    pub list_timeout: Duration,
    /// The gate of all adapters that the gateway opens.
    pub gate: Gate,
}

impl GatewayOptions {
    /// Creates options with a folder for the stores, a lookup of environment variables, and the default timeout.
    #[must_use]
    pub fn new(data: Option<PathBuf>, environment: Environment) -> GatewayOptions {
        GatewayOptions { data, environment, list_timeout: LIST_TIMEOUT, gate: Gate::in_memory() }
    }

    /// Returns these options with another gate.
    #[must_use]
    pub fn with_gate(self, gate: Gate) -> GatewayOptions {
        GatewayOptions { gate, ..self }
    }
}

impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions").field("data", &self.data).finish_non_exhaustive()
    }
}

/// One adapter to serve.
#[derive(Debug)]
pub struct GatewayMember {
    /// Identifies the adapter: members with the same key are the same adapter, built from the same text.
    pub key: String,
    /// The adapter's name.
    pub name: String,
    /// The name of the document, or of another origin.
    pub source: String,
    /// What the adapter is built from.
    pub origin: MemberOrigin,
}

/// What an adapter is built from.
#[derive(Debug)]
pub enum MemberOrigin {
    /// The gateway already serves an adapter with this key; it is kept.
    Kept,
    /// An adapter that is already open.
    Opened(Box<ServedAdapter>),
    /// A catalog whose target the gateway opens. If opening fails, the adapter is listed, its calls fail, and opening
    /// is retried.
    Compiled(Box<Catalog>),
    /// A running MCP server whose own tools are the operations.
    Live(Box<LiveAdapter>),
    /// An adapter that cannot be served; it is only reported.
    Broken {
        /// The reason, without secrets.
        reason: String,
    },
}

impl Gateway {
    /// Creates a gateway for open adapters. In a Tokio runtime, it also follows the changes of MCP servers.
    ///
    /// # Errors
    /// When two adapters share a tool name.
    pub fn new(adapters: Vec<ServedAdapter>) -> Result<Gateway, NameCollision> {
        let options = GatewayOptions::new(None, Arc::new(|_| None));
        let gateway = Gateway::empty(options);
        let slots = adapters.into_iter().enumerate().map(|(index, served)| {
            let name = served.catalog().adapter.name.clone();
            let identity = (index.to_string(), name, served.source().to_owned());
            gateway.opened_slot(identity, served, Arc::default())
        });
        let slots: Vec<Arc<AdapterSlot>> = slots.collect();
        gateway.inner.set_slots(slots.clone())?;
        if Handle::try_current().is_ok() {
            slots.iter().for_each(|slot| gateway.start(slot));
        }
        Ok(gateway)
    }

    /// Opens adapters and creates a gateway for them. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// When two adapters share a tool name.
    pub async fn open(
        members: Vec<GatewayMember>,
        options: GatewayOptions,
    ) -> Result<Gateway, NameCollision> {
        let gateway = Gateway::empty(options);
        gateway.replace(members).await?;
        Ok(gateway)
    }

    /// Replaces the adapters. Running calls end on the old ones; adapters that are kept are not affected.
    ///
    /// # Errors
    /// When two adapters share a tool name; then nothing changes.
    pub async fn replace(&self, members: Vec<GatewayMember>) -> Result<(), NameCollision> {
        let before = self.slots();
        let mut slots = Vec::with_capacity(members.len());
        for member in members {
            slots.push(self.slot(member, &before).await);
        }
        let is_new = |slot: &Arc<AdapterSlot>, known: &[Arc<AdapterSlot>]| {
            !known.iter().any(|other| Arc::ptr_eq(slot, other))
        };
        self.inner.set_slots(slots.clone())?;
        for slot in slots.iter().filter(|slot| is_new(slot, &before)) {
            self.start(slot);
        }
        self.inner.state_changes.send_replace(());
        Ok(())
    }

    fn empty(options: GatewayOptions) -> Gateway {
        let inner = GatewayShared {
            snapshot: RwLock::new(Arc::new(GatewaySnapshot::empty())),
            slots: Mutex::default(),
            changes: watch::Sender::default(),
            state_changes: watch::Sender::default(),
            feature_changes: broadcast::Sender::new(MAX_MISSED_CHANGES),
            subscriptions: ResourceSubscriptions::default(),
            options,
            list_deadline: OnceLock::new(),
        };
        Gateway { inner: Arc::new(inner) }
    }

    /// Returns the slot for a member, with no task running yet.
    async fn slot(&self, member: GatewayMember, before: &[Arc<AdapterSlot>]) -> Arc<AdapterSlot> {
        let GatewayMember { key, name, source, origin } = member;
        // Statistics belong to the adapter's name and stay when its document changes.
        let stats = before.iter().find(|slot| slot.name() == name).map(|slot| Arc::clone(slot.stats()));
        let stats = stats.unwrap_or_default();
        let known = before.iter().find(|slot| slot.key() == key).cloned();
        let identity = (key, name, source);
        match origin {
            MemberOrigin::Opened(served) => self.opened_slot(identity, *served, stats),
            MemberOrigin::Compiled(catalog) => self.compiled_slot(identity, Arc::new(*catalog), stats).await,
            MemberOrigin::Live(live) => self.live_slot(identity, *live, stats).await,
            MemberOrigin::Kept => known.unwrap_or_else(|| {
                let reason = "it is no longer available; restart the server".to_owned();
                self.broken_slot(identity, reason, stats)
            }),
            MemberOrigin::Broken { reason } => self.broken_slot(identity, reason, stats),
        }
    }

    fn opened_slot(
        &self,
        identity: (String, String, String),
        served: ServedAdapter,
        stats: Arc<Stats>,
    ) -> Arc<AdapterSlot> {
        let work = match served.upstreams().as_slice() {
            [upstream] => SlotWork::Follow(BackingServer::for_document(Upstream::clone(upstream), &self.inner.options.gate)),
            _ => SlotWork::None,
        };
        let slot = self.inner.slot(identity, Arc::clone(&stats), work);
        slot.set_served(Arc::new(served.with_stats(stats)));
        slot.set_state(AdapterState::Ready);
        slot
    }

    async fn live_slot(
        &self,
        identity: (String, String, String),
        live: LiveAdapter,
        stats: Arc<Stats>,
    ) -> Arc<AdapterSlot> {
        let named = Upstream::named(&identity.1, &live.target, &live.auth, &self.inner.options.environment);
        let upstream = match named {
            Ok(upstream) => upstream,
            Err(error) => return self.broken_slot(identity, error.to_string(), stats),
        };
        let (server, catalog) =
            BackingServer::for_live(&identity.1, live, upstream, &self.inner.options).await;
        let slot = self.inner.slot(identity, stats, SlotWork::Follow(server.clone()));
        if let Some(catalog) = catalog {
            slot.set_served(server.serve_catalog(catalog, &slot));
            slot.set_state(AdapterState::Ready);
        }
        slot
    }

    fn broken_slot(
        &self,
        identity: (String, String, String),
        reason: String,
        stats: Arc<Stats>,
    ) -> Arc<AdapterSlot> {
        let slot = self.inner.slot(identity, stats, SlotWork::None);
        slot.set_state(AdapterState::Failing { reason });
        slot
    }

    async fn compiled_slot(
        &self,
        identity: (String, String, String),
        catalog: Arc<Catalog>,
        stats: Arc<Stats>,
    ) -> Arc<AdapterSlot> {
        let source = identity.2.clone();
        match self.inner.open(&catalog, &source).await {
            Ok(served) => self.opened_slot(identity, served, stats),
            Err(error) => {
                let slot =
                    self.inner.slot(identity, Arc::clone(&stats), SlotWork::Open(Arc::clone(&catalog)));
                let served = ServedAdapter::closed(catalog, source, &error).with_gate(&self.inner.options.gate);
                let served = served.with_stats(stats);
                slot.set_served(Arc::new(served));
                slot.set_state_with_cause(failing(&error), &error.to_string());
                slot
            }
        }
    }

    /// Starts the background task of a slot.
    fn start(&self, slot: &Arc<AdapterSlot>) {
        let gateway = Arc::downgrade(&self.inner);
        match &slot.work {
            SlotWork::None => {}
            SlotWork::Follow(server) => {
                slot.spawn_task(live::follow_server(gateway, Arc::downgrade(slot), server.clone()));
            }
            SlotWork::Open(catalog) => {
                slot.spawn_task(retry_open(gateway, Arc::downgrade(slot), Arc::clone(catalog)));
            }
        }
    }

    /// Stops the MCP servers of all adapters. A later call starts them again.
    pub async fn close(&self) {
        for slot in self.slots() {
            if let Some(served) = slot.served() {
                for upstream in served.upstreams() {
                    upstream.close().await;
                }
            }
            if let Some(server) = slot.backing_server() {
                server.upstream.close().await;
            }
        }
    }

    /// The current snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<GatewaySnapshot> {
        self.inner.snapshot()
    }

    /// The slots of all adapters in order, including adapters that cannot be served.
    #[must_use]
    pub fn slots(&self) -> Vec<Arc<AdapterSlot>> {
        self.inner.slots().clone()
    }

    /// Returns whether an MCP server has not listed its tools yet.
    fn is_list_incomplete(&self) -> bool {
        let is_unknown = |slot: &Arc<AdapterSlot>| {
            slot.backing_server().is_some_and(BackingServer::is_live)
                && slot.served().is_none()
                && slot.state().0 == AdapterState::Starting
        };
        self.inner.slots().iter().any(is_unknown)
    }

    /// Returns whether the gateway has an adapter with this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.inner.slots().iter().any(|slot| slot.key() == key)
    }

    /// All tools, adapter by adapter.
    #[must_use]
    pub fn tools(&self) -> Arc<[Tool]> {
        Arc::clone(self.snapshot().tools())
    }

    /// Instructions for the client's model on how to use the tools.
    #[must_use]
    pub fn instructions(&self) -> String {
        self.snapshot().instructions().to_owned()
    }

    /// Signals when an adapter is added, removed or changes its state.
    #[must_use]
    pub fn state_changes(&self) -> watch::Receiver<()> {
        self.inner.state_changes.subscribe()
    }

    /// Calls a tool; `None` if there is no such tool. Dropping the future stops the work.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Option<ToolReply> {
        // Hold only the adapter, so that the rest of the snapshot can be freed while the call runs.
        let snapshot = self.snapshot();
        if snapshot.is_shared(tool) && is_batch(&arguments) {
            return Some(self.call_batch(&snapshot, tool, arguments, caller).await);
        }
        if let Some(error) = self.unavailable_error(&snapshot, tool, &arguments) {
            return Some(response::envelope(&Err(error), ErrorPolicy::default()));
        }
        let Some(route) = snapshot.route(tool, arguments) else {
            let withheld =
                snapshot.adapters().iter().find_map(|adapter| adapter.catalog().withheld_tool_error(tool))?;
            return Some(response::envelope(&Err(withheld), ErrorPolicy::default()));
        };
        drop(snapshot);
        Some(match route {
            CallRoute::To(adapter, arguments) => adapter.call(tool, arguments, caller).await,
            CallRoute::Answered(answered) => {
                dispatch::discovery_reply(&answered.outcome, answered.errors)
            }
        })
    }
}

impl Gateway {
    /// Returns an error if a call through a shared tool names an adapter of this gateway that is not served now.
    fn unavailable_error(
        &self,
        snapshot: &GatewaySnapshot,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Option<OpError> {
        let named = snake_case(arguments.get("adapter")?.as_str()?);
        let is_meant = |slot: &&Arc<AdapterSlot>| snake_case(slot.name()) == named && slot.served().is_none();
        let slot = self.inner.slots().iter().find(is_meant).filter(|_| snapshot.is_shared(tool)).cloned()?;
        let reason = match slot.state().0 {
            AdapterState::Failing { reason } => reason,
            AdapterState::Starting | AdapterState::Ready => "it is still starting".to_owned(),
        };
        let message = format!(
            "The adapter '{}' is not available: {reason}. Tell the user; the server retries automatically.",
            slot.name()
        );
        Some(OpError::new(Code::TransportConnection, message))
    }
}

impl GatewayShared {
    fn snapshot(&self) -> Arc<GatewaySnapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Arc<AdapterSlot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(
        &self,
        identity: (String, String, String),
        stats: Arc<Stats>,
        work: SlotWork,
    ) -> Arc<AdapterSlot> {
        Arc::new(AdapterSlot::new(identity, stats, self.state_changes.clone(), work))
    }

    async fn open(&self, catalog: &Arc<Catalog>, source: &str) -> Result<ServedAdapter, OpenError> {
        let GatewayOptions { data, environment, gate, .. } = &self.options;
        let served = open::open(Arc::clone(catalog), source, data.as_deref(), environment).await?;
        Ok(served.with_gate(gate))
    }

    /// Replaces the slots and publishes their tools.
    fn set_slots(&self, slots: Vec<Arc<AdapterSlot>>) -> Result<(), NameCollision> {
        let mut current = self.slots();
        self.publish(&slots)?;
        *current = slots;
        Ok(())
    }

    /// Publishes the tools of the current slots again.
    fn republish(&self) {
        let current = self.slots();
        if let Err(collision) = self.publish(&current) {
            tracing::warn!(%collision, "tools not updated");
        }
    }

    /// The caller holds the lock of the slots, so that publications do not overlap.
    fn publish(&self, slots: &[Arc<AdapterSlot>]) -> Result<(), NameCollision> {
        let before = self.snapshot();
        let snapshot = GatewaySnapshot::new(without_collisions(slots))?.reusing_tools_of(&before);
        let is_different = !Arc::ptr_eq(snapshot.tools(), before.tools());
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        if is_different {
            self.changes.send_replace(());
        }
        Ok(())
    }
}

/// Returns the adapters to publish, without running MCP servers whose tool names are taken: the tools of a running
/// server must not prevent another adapter from being served.
fn without_collisions(slots: &[Arc<AdapterSlot>]) -> Vec<Arc<ServedAdapter>> {
    let claims = |served: &ServedAdapter| -> Vec<String> {
        let catalog = served.catalog();
        match catalog.sharing {
            // Shared tools belong to all adapters; here only the adapter's name must be unique.
            Some(_) => vec![format!("adapter {}", snake_case(&catalog.adapter.name))],
            None => catalog.tool_names().map(str::to_owned).collect(),
        }
    };
    let is_live = |slot: &AdapterSlot| slot.backing_server().is_some_and(BackingServer::is_live);
    let serving: Vec<(&Arc<AdapterSlot>, Arc<ServedAdapter>)> =
        slots.iter().filter_map(|slot| Some((slot, slot.served()?))).collect();
    let mut taken: HashMap<String, String> = HashMap::new();
    for (slot, served) in serving.iter().filter(|(slot, _)| !is_live(slot)) {
        taken.extend(claims(served).into_iter().map(|claim| (claim, slot.name().to_owned())));
    }
    let mut published = Vec::with_capacity(serving.len());
    for (slot, served) in &serving {
        if is_live(slot) {
            let claims = claims(served);
            let clash = claims.iter().find_map(|claim| Some((claim, taken.get(claim)?)));
            if let Some((claim, other)) = clash {
                slot.set_shadowed(Some(format!(
                    "the adapter '{other}' already has '{claim}'; set a different `name` or `prefix` for one of them"
                )));
                continue;
            }
            slot.set_shadowed(None);
            taken.extend(claims.into_iter().map(|claim| (claim, slot.name().to_owned())));
        }
        published.push(Arc::clone(served));
    }
    published
}

fn failing(error: &OpenError) -> AdapterState {
    AdapterState::Failing { reason: error.user_message().to_owned() }
}

/// Retries opening a target until it succeeds.
async fn retry_open(gateway: Weak<GatewayShared>, slot: Weak<AdapterSlot>, catalog: Arc<Catalog>) {
    let mut wait = MIN_RETRY_DELAY;
    loop {
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(MAX_RETRY_DELAY);
        let (Some(gateway), Some(slot)) = (gateway.upgrade(), slot.upgrade()) else { return };
        match gateway.open(&catalog, slot.source()).await {
            Ok(served) => {
                slot.set_served(Arc::new(served.with_stats(Arc::clone(slot.stats()))));
                gateway.republish();
                slot.set_state(AdapterState::Ready);
                return;
            }
            Err(error) => slot.set_state_with_cause(failing(&error), &error.to_string()),
        }
    }
}

impl Service for Gateway {
    fn tools(&self) -> Arc<[Tool]> {
        Gateway::tools(self)
    }

    fn instructions(&self) -> String {
        Gateway::instructions(self)
    }

    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> impl Future<Output = Option<ToolReply>> + Send {
        Gateway::call(self, tool, arguments, caller)
    }

    /// Waits for the tools of MCP servers that are starting for the first time. All of them start at the same time. Every
    /// client gets the list after the same time, even if a server hangs.
    async fn wait_for_tools(&self) {
        let timeout = self.inner.options.list_timeout;
        let deadline = *self.inner.list_deadline.get_or_init(|| Instant::now() + timeout);
        let mut changes = self.inner.state_changes.subscribe();
        let complete = async { while self.is_list_incomplete() && changes.changed().await.is_ok() {} };
        let _ = timeout_at(deadline, complete).await;
    }

    async fn passes_input(&self, tool: &str) -> bool {
        let adapter = self.snapshot().adapter_of(tool).cloned();
        match adapter {
            Some(adapter) => adapter.passes_input().await,
            None => false,
        }
    }

    fn has_tasks(&self) -> bool {
        self.snapshot().adapters().iter().any(|adapter| adapter.has_executions())
    }

    async fn task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        for adapter in self.snapshot().adapters() {
            if let Some(task) = adapter.task(id, caller).await {
                return Some(task);
            }
        }
        None
    }

    async fn cancel_task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        for adapter in self.snapshot().adapters() {
            if let Some(task) = adapter.cancel_task(id, caller).await {
                return Some(task);
            }
        }
        None
    }

    fn health(&self) -> Health {
        Gateway::health(self)
    }

    fn features(&self) -> Features {
        self.combined_features()
    }

    fn request(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send {
        self.forward(feature, params, caller)
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.inner.changes.subscribe())
    }

    fn feature_changes(&self) -> Option<broadcast::Receiver<FeatureChange>> {
        Some(self.inner.feature_changes.subscribe())
    }
}
