//! The slot of one adapter in a gateway: the adapter that is served now, its state, and its background task.
//!
//! A slot outlives the adapter in it: when a target is opened later, or a server lists different tools, the served
//! adapter is replaced and the slot stays.

use super::live::BackingServer;
use super::withheld::SortedEntries;
use crate::dispatch::ServedAdapter;
use crate::limits::LoadLevel;
use crate::record::Stats;
use mcpaql_core::catalog::Catalog;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// The state of an adapter.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterState {
    /// Being opened or started for the first time.
    Starting,
    /// Can be called.
    Ready,
    /// Can be called, but calls take long.
    Slow {
        /// What takes long.
        reason: String,
    },
    /// All turns are taken; calls wait or are refused.
    Saturated {
        /// How many calls run and wait.
        reason: String,
    },
    /// Cannot be called, or only in part; retried.
    Failing {
        /// The reason, without secrets.
        reason: String,
    },
}

impl AdapterState {
    /// The name of the state in reports.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            AdapterState::Starting => "starting",
            AdapterState::Ready => "ready",
            AdapterState::Slow { .. } => "slow",
            AdapterState::Saturated { .. } => "saturated",
            AdapterState::Failing { .. } => "failing",
        }
    }

    /// The reason of a state that is not good.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            AdapterState::Failing { reason }
            | AdapterState::Slow { reason }
            | AdapterState::Saturated { reason } => Some(reason),
            AdapterState::Starting | AdapterState::Ready => None,
        }
    }
}

/// Maximum number of flagged operations that are logged for an adapter.
const MAX_LOGGED_OPERATIONS: usize = 50;

/// The slot of one adapter.
#[derive(Debug)]
pub struct AdapterSlot {
    key: String,
    name: String,
    source: String,
    stats: Arc<Stats>,
    served: RwLock<Option<Arc<ServedAdapter>>>,
    state: RwLock<(AdapterState, SystemTime)>,
    /// Why the adapter is hidden: another adapter has one of its names.
    shadowed: RwLock<Option<String>>,
    state_changes: watch::Sender<()>,
    pub(super) entries: SortedEntries,
    pub(super) work: SlotWork,
    task: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// The background task of a slot.
#[derive(Debug)]
pub(super) enum SlotWork {
    /// None: the adapter is served unchanged, or not at all.
    None,
    /// Retries opening the target.
    Open(Arc<Catalog>),
    /// Follows an MCP server.
    Follow(BackingServer),
}

impl AdapterSlot {
    pub(super) fn new(
        (key, name, source): (String, String, String),
        stats: Arc<Stats>,
        state_changes: watch::Sender<()>,
        work: SlotWork,
    ) -> AdapterSlot {
        AdapterSlot {
            key,
            name,
            source,
            stats,
            served: RwLock::new(None),
            state: RwLock::new((AdapterState::Starting, SystemTime::now())),
            shadowed: RwLock::new(None),
            state_changes,
            entries: SortedEntries::default(),
            work,
            task: Mutex::new(None),
        }
    }

    /// Identifies the adapter; see [`GatewayMember::key`](super::GatewayMember::key).
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The adapter's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the document, or of another origin.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The statistics of its calls.
    #[must_use]
    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// The adapter that is served now.
    #[must_use]
    pub fn served(&self) -> Option<Arc<ServedAdapter>> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The current state, and when it began.
    #[must_use]
    pub fn state(&self) -> (AdapterState, SystemTime) {
        let (state, since) = self.state.read().unwrap_or_else(PoisonError::into_inner).clone();
        match &*self.shadowed.read().unwrap_or_else(PoisonError::into_inner) {
            Some(reason) => (AdapterState::Failing { reason: reason.clone() }, since),
            None => (state, since),
        }
    }

    /// The current state as calls see it: a ready adapter may be slow, saturated or failing. With the time when it began.
    #[must_use]
    pub fn observed_state(&self) -> (AdapterState, SystemTime) {
        let (state, since) = self.state();
        let load = self.served().filter(|_| state == AdapterState::Ready).map(|served| served.load());
        let ago = |time: Duration| SystemTime::now().checked_sub(time).unwrap_or(since);
        match load.map(|load| load.state()) {
            None | Some(LoadLevel::Normal) => (state, since),
            Some(LoadLevel::Slow(time, reason)) => (AdapterState::Slow { reason }, ago(time)),
            Some(LoadLevel::Saturated(time, reason)) => (AdapterState::Saturated { reason }, ago(time)),
            Some(LoadLevel::Failing(time, reason)) => (AdapterState::Failing { reason }, ago(time)),
        }
    }

    pub(super) fn set_served(&self, served: Arc<ServedAdapter>) {
        self.log_flagged(served.catalog());
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Some(served);
    }

    /// Logs the operations with poisoned texts.
    fn log_flagged(&self, catalog: &Catalog) {
        for flagged in catalog.flagged_operations().into_iter().take(MAX_LOGGED_OPERATIONS) {
            let (adapter, operation, reason) = (&self.name, &flagged.name, flagged.reason());
            if flagged.is_withheld {
                tracing::warn!(%adapter, %operation, reason, "operation withheld: review it, and list it under allow_flagged to serve it");
            } else {
                tracing::warn!(%adapter, %operation, reason, "suspicious description");
            }
        }
    }

    /// Sets the state, and signals if it has changed.
    pub(super) fn set_state(&self, state: AdapterState) {
        self.set_state_with_cause(state, "");
    }

    /// Sets the state with a cause that is only logged.
    pub(super) fn set_state_with_cause(&self, state: AdapterState, cause: &str) {
        let mut current = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if current.0 == state {
            return;
        }
        if let Some(reason) = state.reason() {
            let cause = (!cause.is_empty()).then_some(cause);
            tracing::warn!(adapter = %self.name, source = %self.source, reason, cause, "adapter not available");
        } else if current.0.reason().is_some() && state == AdapterState::Ready {
            tracing::info!(adapter = %self.name, "adapter available again");
        }
        *current = (state, SystemTime::now());
        drop(current);
        self.state_changes.send_replace(());
    }

    pub(super) fn set_shadowed(&self, reason: Option<String>) {
        let mut shadowed = self.shadowed.write().unwrap_or_else(PoisonError::into_inner);
        if *shadowed == reason {
            return;
        }
        if let Some(reason) = &reason {
            tracing::warn!(adapter = %self.name, reason, "adapter hidden");
        }
        *shadowed = reason;
        drop(shadowed);
        self.state_changes.send_replace(());
    }

    /// The MCP server of the slot.
    pub(super) fn backing_server(&self) -> Option<&BackingServer> {
        match &self.work {
            SlotWork::Follow(server) => Some(server),
            SlotWork::None | SlotWork::Open(_) => None,
        }
    }

    /// Runs `work` until the slot is dropped.
    pub(super) fn spawn_task(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = AbortOnDropHandle::new(tokio::spawn(work));
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}
