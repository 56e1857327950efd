//! Many adapters, one server: every tool of every adapter, each name leading to exactly one of them.
//!
//! What always holds:
//! - what is shown at one moment is one immutable [`Snapshot`]; a call runs on the adapter it found there, whatever is shown later;
//! - an adapter that cannot be opened keeps its tools, answers with what is wrong, and is tried again; no other notices;
//! - the tools of a running MCP server never take the name of another adapter's;
//! - adding or losing an adapter never renames the tools of another;
//! - clients are told when the list of tools has become different, and only then.

mod live;
mod passing;
mod report;
mod slot;
mod snapshot;

pub use live::{Compile, Keep, Live};
pub use slot::{Slot, State};
pub use snapshot::{Collision, Snapshot, check_names};

use crate::caller::Caller;
use crate::dispatch::{self, Served};
use crate::environment::Environment;
use crate::execution::Task;
use crate::health::Health;
use crate::open::{self, OpenError};
use crate::protocol::{Feature, Features, RpcError};
use crate::record::Stats;
use crate::service::Service;
use crate::target::mcp::Upstream;
use live::Behind;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::{Catalog, Tool};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{self, Reply};
use mcpaql_core::suggest::snake_case;
use serde_json::{Map, Value};
use slot::Work;
use snapshot::Route;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// How long to wait before something that failed is tried again; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The adapters of one server. Clones are the same gateway.
#[derive(Debug, Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    snapshot: RwLock<Arc<Snapshot>>,
    slots: Mutex<Vec<Arc<Slot>>>,
    changes: watch::Sender<()>,
    moved: watch::Sender<()>,
    opening: Opening,
}

/// What adapters are opened with.
#[derive(Clone)]
pub struct Opening {
    /// Folder of the stores.
    pub data: Option<PathBuf>,
    /// Where variables are looked up.
    pub environment: Environment,
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("data", &self.data).finish_non_exhaustive()
    }
}

/// One adapter as it shall be served.
#[derive(Debug)]
pub struct Member {
    /// Tells it from any other: two members with one key are the same adapter, made from the same text.
    pub key: String,
    /// The adapter's name.
    pub name: String,
    /// The name of the document, or of whatever it comes from.
    pub source: String,
    /// What it is made from.
    pub making: Making,
}

/// What an adapter is made from.
#[derive(Debug)]
pub enum Making {
    /// The gateway has one with that key and goes on serving it.
    Kept,
    /// It is open already.
    Opened(Box<Served>),
    /// To be opened; where that fails it is served all the same, and tried again.
    Compiled(Box<Catalog>),
    /// A running MCP server, whose own tools are its operations.
    Live(Box<Live>),
    /// It cannot be served at all and is only reported.
    Broken {
        /// In words that may be shown to anybody.
        reason: String,
    },
}

impl Gateway {
    /// Puts open adapters behind one server.
    ///
    /// # Errors
    /// Two adapters that share a tool name.
    pub fn new(adapters: Vec<Served>) -> Result<Gateway, Collision> {
        let opening = Opening { data: None, environment: Arc::new(|_| None) };
        let gateway = Gateway::empty(opening);
        let slots = adapters.into_iter().enumerate().map(|(index, served)| {
            let name = served.catalog().adapter.name.clone();
            let identity = (index.to_string(), name, served.source().to_owned());
            gateway.opened(identity, served, Arc::default())
        });
        gateway.inner.show(slots.collect())?;
        Ok(gateway)
    }

    /// Opens adapters and puts them behind one server. To be called in a runtime.
    ///
    /// # Errors
    /// Two adapters that share a tool name.
    pub async fn open(members: Vec<Member>, opening: Opening) -> Result<Gateway, Collision> {
        let gateway = Gateway::empty(opening);
        gateway.replace(members).await?;
        Ok(gateway)
    }

    /// Serves these adapters from now on. What is under way ends on the old ones; one that is kept notices nothing.
    ///
    /// # Errors
    /// Two adapters that share a tool name; then everything stays as it was.
    pub async fn replace(&self, members: Vec<Member>) -> Result<(), Collision> {
        let before = self.slots();
        let mut slots = Vec::with_capacity(members.len());
        for member in members {
            slots.push(self.slot(member, &before).await);
        }
        let is_new =
            |slot: &Arc<Slot>, known: &[Arc<Slot>]| !known.iter().any(|other| Arc::ptr_eq(slot, other));
        self.inner.show(slots.clone())?;
        for slot in slots.iter().filter(|slot| is_new(slot, &before)) {
            self.start(slot);
        }
        self.inner.moved.send_replace(());
        Ok(())
    }

    fn empty(opening: Opening) -> Gateway {
        let inner = Inner {
            snapshot: RwLock::new(Arc::new(Snapshot::empty())),
            slots: Mutex::default(),
            changes: watch::Sender::default(),
            moved: watch::Sender::default(),
            opening,
        };
        Gateway { inner: Arc::new(inner) }
    }

    /// The slot for a member; nothing goes on behind it yet.
    async fn slot(&self, member: Member, before: &[Arc<Slot>]) -> Arc<Slot> {
        let Member { key, name, source, making } = member;
        // What was counted belongs to the adapter's name, whatever becomes of its document.
        let stats = before.iter().find(|slot| slot.name() == name).map(|slot| Arc::clone(slot.stats()));
        let stats = stats.unwrap_or_default();
        let known = before.iter().find(|slot| slot.key() == key).cloned();
        let identity = (key, name, source);
        match making {
            Making::Opened(served) => self.opened(identity, *served, stats),
            Making::Compiled(catalog) => self.compiled(identity, Arc::new(*catalog), stats).await,
            Making::Live(live) => self.live(identity, *live, stats),
            Making::Kept => known.unwrap_or_else(|| {
                let reason = "it is not there any more; start the server again".to_owned();
                self.broken(identity, reason, stats)
            }),
            Making::Broken { reason } => self.broken(identity, reason, stats),
        }
    }

    fn opened(&self, identity: (String, String, String), served: Served, stats: Arc<Stats>) -> Arc<Slot> {
        let work = match served.upstreams().as_slice() {
            [upstream] => Work::Follow(Behind::fixed(Upstream::clone(upstream))),
            _ => Work::None,
        };
        let slot = self.inner.slot(identity, Arc::clone(&stats), work);
        slot.serve(Arc::new(served.counted_by(stats)));
        slot.set_state(State::Ready);
        slot
    }

    fn live(&self, identity: (String, String, String), live: Live, stats: Arc<Stats>) -> Arc<Slot> {
        let named = Upstream::named(&identity.1, &live.target, &live.auth, &self.inner.opening.environment);
        let upstream = match named {
            Ok(upstream) => upstream,
            Err(error) => return self.broken(identity, error.to_string(), stats),
        };
        let (behind, catalog) = Behind::live(live, upstream, &self.inner.opening.environment);
        let slot = self.inner.slot(identity, stats, Work::Follow(behind.clone()));
        if let Some(catalog) = catalog {
            slot.serve(behind.served(catalog, &slot));
            slot.set_state(State::Ready);
        }
        slot
    }

    fn broken(&self, identity: (String, String, String), reason: String, stats: Arc<Stats>) -> Arc<Slot> {
        let slot = self.inner.slot(identity, stats, Work::None);
        slot.set_state(State::Failing { reason });
        slot
    }

    async fn compiled(
        &self,
        identity: (String, String, String),
        catalog: Arc<Catalog>,
        stats: Arc<Stats>,
    ) -> Arc<Slot> {
        let source = identity.2.clone();
        match self.inner.open(&catalog, &source).await {
            Ok(served) => self.opened(identity, served, stats),
            Err(error) => {
                let slot = self.inner.slot(identity, Arc::clone(&stats), Work::Open(Arc::clone(&catalog)));
                let served = Served::closed(catalog, source, &error).counted_by(stats);
                slot.serve(Arc::new(served));
                slot.set_state_because(failing(&error), &error.to_string());
                slot
            }
        }
    }

    /// Begins what goes on behind a slot.
    fn start(&self, slot: &Arc<Slot>) {
        let gateway = Arc::downgrade(&self.inner);
        match &slot.work {
            Work::None => {}
            Work::Follow(behind) => {
                slot.keep_going(live::follow(gateway, Arc::downgrade(slot), behind.clone()));
            }
            Work::Open(catalog) => {
                slot.keep_going(open_again(gateway, Arc::downgrade(slot), Arc::clone(catalog)));
            }
        }
    }

    /// Ends the servers behind the adapters; whoever calls one later starts it again.
    pub async fn close(&self) {
        for slot in self.slots() {
            if let Some(served) = slot.served() {
                for upstream in served.upstreams() {
                    upstream.close().await;
                }
            }
            if let Some(behind) = slot.behind() {
                behind.upstream.close().await;
            }
        }
    }

    /// What is shown now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.snapshot()
    }

    /// Every adapter's place, in order, those that cannot be served included.
    #[must_use]
    pub fn slots(&self) -> Vec<Arc<Slot>> {
        self.inner.slots().clone()
    }

    /// Whether the adapter with that key is served here.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.inner.slots().iter().any(|slot| slot.key() == key)
    }

    /// Every tool, adapter by adapter.
    #[must_use]
    pub fn tools(&self) -> Arc<[Tool]> {
        Arc::clone(self.snapshot().tools())
    }

    /// How to use the tools, for the client's model.
    #[must_use]
    pub fn instructions(&self) -> String {
        self.snapshot().instructions().to_owned()
    }

    /// Signals whenever an adapter comes, goes or changes its state.
    #[must_use]
    pub fn moved(&self) -> watch::Receiver<()> {
        self.inner.moved.subscribe()
    }

    /// Runs one call; `None` when there is no such tool. Dropping the future stops the work.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<Reply> {
        // Only the adapter is held: what else was shown may go while the call runs.
        let snapshot = self.snapshot();
        if let Some(error) = self.absent(&snapshot, tool, &arguments) {
            return Some(response::envelope(&Err(error), ErrorPolicy::default()));
        }
        let route = snapshot.route(tool, arguments)?;
        drop(snapshot);
        Some(match route {
            Route::To(adapter, arguments) => adapter.call(tool, arguments, caller).await,
            Route::Answered(answered) => dispatch::discover(caller, answered.outcome, answered.errors),
        })
    }
}

impl Gateway {
    /// Why the adapter that a call through a shared tool names is not among those that are served, where it is one of ours.
    fn absent(&self, snapshot: &Snapshot, tool: &str, arguments: &Map<String, Value>) -> Option<OpError> {
        let named = snake_case(arguments.get("adapter")?.as_str()?);
        let is_meant = |slot: &&Arc<Slot>| snake_case(slot.name()) == named && slot.served().is_none();
        let slot = self.inner.slots().iter().find(is_meant).filter(|_| snapshot.is_shared(tool)).cloned()?;
        let reason = match slot.state().0 {
            State::Failing { reason } => reason,
            State::Starting | State::Ready => "it is still starting".to_owned(),
        };
        let message = format!(
            "The adapter '{}' cannot be used now: {reason}. Tell the user; the server tries again by itself.",
            slot.name()
        );
        Some(OpError::new(Code::TransportConnection, message))
    }
}

impl Inner {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, identity: (String, String, String), stats: Arc<Stats>, work: Work) -> Arc<Slot> {
        Arc::new(Slot::new(identity, stats, self.moved.clone(), work))
    }

    async fn open(&self, catalog: &Arc<Catalog>, source: &str) -> Result<Served, OpenError> {
        let Opening { data, environment } = &self.opening;
        open::open(Arc::clone(catalog), source, data.as_deref(), environment).await
    }

    /// Shows what these slots serve.
    fn show(&self, slots: Vec<Arc<Slot>>) -> Result<(), Collision> {
        let mut present = self.slots();
        self.publish(&slots)?;
        *present = slots;
        Ok(())
    }

    /// Shows what the present slots serve now.
    fn show_again(&self) {
        let present = self.slots();
        if let Err(collision) = self.publish(&present) {
            tracing::warn!(%collision, "the tools stay as they were");
        }
    }

    /// The caller holds the slots, so that no two publish together.
    fn publish(&self, slots: &[Arc<Slot>]) -> Result<(), Collision> {
        let before = self.snapshot();
        let snapshot = Snapshot::new(unshadowed(slots))?.after(&before);
        let is_different = !Arc::ptr_eq(snapshot.tools(), before.tools());
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        if is_different {
            self.changes.send_replace(());
        }
        Ok(())
    }
}

/// What these slots serve, without running servers whose tools would take names that are taken: what a server says may not
/// keep anything else from being served.
fn unshadowed(slots: &[Arc<Slot>]) -> Vec<Arc<Served>> {
    let claims = |served: &Served| -> Vec<String> {
        let catalog = served.catalog();
        match catalog.sharing {
            // Tools that are shared are nobody's own; the adapter's name is what nobody else may have.
            Some(_) => vec![format!("adapter {}", snake_case(&catalog.adapter.name))],
            None => catalog.tool_names().map(str::to_owned).collect(),
        }
    };
    let is_live = |slot: &Slot| slot.behind().is_some_and(Behind::is_live);
    let serving: Vec<(&Arc<Slot>, Arc<Served>)> =
        slots.iter().filter_map(|slot| Some((slot, slot.served()?))).collect();
    let mut taken: HashMap<String, String> = HashMap::new();
    for (slot, served) in serving.iter().filter(|(slot, _)| !is_live(slot)) {
        taken.extend(claims(served).into_iter().map(|claim| (claim, slot.name().to_owned())));
    }
    let mut shown = Vec::with_capacity(serving.len());
    for (slot, served) in &serving {
        if is_live(slot) {
            let claims = claims(served);
            let clash = claims.iter().find_map(|claim| Some((claim, taken.get(claim)?)));
            if let Some((claim, other)) = clash {
                slot.shadow(Some(format!(
                    "the adapter '{other}' has '{claim}' already; give one of them a `name` or `prefix` of its own"
                )));
                continue;
            }
            slot.shadow(None);
            taken.extend(claims.into_iter().map(|claim| (claim, slot.name().to_owned())));
        }
        shown.push(Arc::clone(served));
    }
    shown
}

fn failing(error: &OpenError) -> State {
    State::Failing { reason: error.user_message().to_owned() }
}

/// Tries to open a target until it is open.
async fn open_again(gateway: Weak<Inner>, slot: Weak<Slot>, catalog: Arc<Catalog>) {
    let mut wait = FIRST_WAIT;
    loop {
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
        let (Some(gateway), Some(slot)) = (gateway.upgrade(), slot.upgrade()) else { return };
        match gateway.open(&catalog, slot.source()).await {
            Ok(served) => {
                slot.serve(Arc::new(served.counted_by(Arc::clone(slot.stats()))));
                gateway.show_again();
                slot.set_state(State::Ready);
                return;
            }
            Err(error) => slot.set_state_because(failing(&error), &error.to_string()),
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
    ) -> impl Future<Output = Option<Reply>> + Send {
        Gateway::call(self, tool, arguments, caller)
    }

    fn has_tasks(&self) -> bool {
        self.snapshot().adapters().iter().any(|adapter| adapter.has_executions())
    }

    async fn task(&self, id: &str, caller: &Caller) -> Option<Task> {
        for adapter in self.snapshot().adapters() {
            if let Some(task) = adapter.task(id, caller).await {
                return Some(task);
            }
        }
        None
    }

    async fn cancel_task(&self, id: &str, caller: &Caller) -> Option<Task> {
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
        self.passed_on()
    }

    fn request(
        &self,
        feature: Feature,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send {
        self.pass_on(feature, params, caller)
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.inner.changes.subscribe())
    }
}
