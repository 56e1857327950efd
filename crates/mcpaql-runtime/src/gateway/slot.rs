//! One adapter's place in a gateway: what is served there now, its state, and the work that keeps it going.
//!
//! A slot outlives what is served in it: a target that is opened later, or a server that lists other tools, changes what is
//! served, not the slot.

use super::live::BackingServer;
use crate::dispatch::ServedAdapter;
use crate::record::Stats;
use mcpaql_core::catalog::Catalog;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// The state of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdapterState {
    /// It is being opened or started for the first time.
    Starting,
    /// It can be called.
    Ready,
    /// It cannot be called, or not wholly; it is tried again.
    Failing {
        /// In words that may be shown to anybody.
        reason: String,
    },
}

impl AdapterState {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            AdapterState::Starting => "starting",
            AdapterState::Ready => "ready",
            AdapterState::Failing { .. } => "failing",
        }
    }

    /// Why it fails.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            AdapterState::Failing { reason } => Some(reason),
            AdapterState::Starting | AdapterState::Ready => None,
        }
    }
}

/// One adapter's place.
#[derive(Debug)]
pub struct AdapterSlot {
    key: String,
    name: String,
    source: String,
    stats: Arc<Stats>,
    served: RwLock<Option<Arc<ServedAdapter>>>,
    state: RwLock<(AdapterState, SystemTime)>,
    /// Why it is not shown, while another adapter has the names that it wants.
    shadowed: RwLock<Option<String>>,
    state_changes: watch::Sender<()>,
    pub(super) work: SlotWork,
    task: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// What goes on behind a slot.
#[derive(Debug)]
pub(super) enum SlotWork {
    /// Nothing: it is served as it is, or not at all.
    None,
    /// The target could not be opened and is tried again.
    Open(Arc<Catalog>),
    /// An MCP server.
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
            work,
            task: Mutex::new(None),
        }
    }

    /// Tells it from any other adapter that could be served here.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The adapter's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the document, or of whatever it comes from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The statistics of its calls.
    #[must_use]
    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// What is served here now.
    #[must_use]
    pub fn served(&self) -> Option<Arc<ServedAdapter>> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its state, and since when.
    #[must_use]
    pub fn state(&self) -> (AdapterState, SystemTime) {
        let (state, since) = self.state.read().unwrap_or_else(PoisonError::into_inner).clone();
        match &*self.shadowed.read().unwrap_or_else(PoisonError::into_inner) {
            Some(reason) => (AdapterState::Failing { reason: reason.clone() }, since),
            None => (state, since),
        }
    }

    pub(super) fn set_served(&self, served: Arc<ServedAdapter>) {
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Some(served);
    }

    /// Sets its state, and tells whoever watches when it is another one.
    pub(super) fn set_state(&self, state: AdapterState) {
        self.set_state_with_cause(state, "");
    }

    /// The same with what only the log may show.
    pub(super) fn set_state_with_cause(&self, state: AdapterState, cause: &str) {
        let mut present = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if present.0 == state {
            return;
        }
        if let Some(reason) = state.reason() {
            tracing::warn!(adapter = %self.name, source = %self.source, reason, cause, "adapter fails");
        } else if present.0.reason().is_some() && state == AdapterState::Ready {
            tracing::info!(adapter = %self.name, "adapter works again");
        }
        *present = (state, SystemTime::now());
        drop(present);
        self.state_changes.send_replace(());
    }

    pub(super) fn set_shadowed(&self, reason: Option<String>) {
        let mut shadowed = self.shadowed.write().unwrap_or_else(PoisonError::into_inner);
        if *shadowed == reason {
            return;
        }
        if let Some(reason) = &reason {
            tracing::warn!(adapter = %self.name, reason, "adapter is not shown");
        }
        *shadowed = reason;
        drop(shadowed);
        self.state_changes.send_replace(());
    }

    /// The MCP server behind it.
    pub(super) fn backing_server(&self) -> Option<&BackingServer> {
        match &self.work {
            SlotWork::Follow(behind) => Some(behind),
            SlotWork::None | SlotWork::Open(_) => None,
        }
    }

    /// Goes on with `work` until the slot is gone.
    pub(super) fn spawn_task(&self, work: impl Future<Output = ()> + Send + 'static) {
        let task = AbortOnDropHandle::new(tokio::spawn(work));
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}
