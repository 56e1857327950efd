//! Decides whether a call may run: pauses, danger and trust, the operator's rules and quotas, confirmations. Every decision and its
//! call go into the operator's log.
//!
//! ```
//! use mcpaql_runtime::gate::Gate;
//! use mcpaql_runtime::prelude::*;
//! use mcpaql_core::gate::trust::TrustLevel;
//! use serde_json::{Map, Value};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let notes = || Native::new("notes").operation(operation("delete_note").handle(async || Ok(Value::Null)));
//! let served = notes().open(&AdapterSettings::default(), None).await?;
//! let error = served.call_operation("delete_note", Map::new(), &Caller::nobody()).await.unwrap_err();
//! assert_eq!(error.code, Code::ConfirmationRequired);
//! // The same call with the token runs.
//! let confirmed = Map::from_iter([("confirmation_token".to_owned(), error.details["confirmation_token"].clone())]);
//! served.call_operation("delete_note", confirmed, &Caller::nobody()).await?;
//!
//! let gate = Gate::in_memory();
//! gate.set_trust("notes", TrustLevel::CommunityReviewed);
//! let served = notes().open(&AdapterSettings::default(), None).await?.with_gate(&gate);
//! served.call_operation("delete_note", Map::new(), &Caller::nobody()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! What always holds: every request gets a decision, and only a decision creates a [`Pass`]. A target cannot be called without a pass, and a
//! pass is valid for one call. If the state that a decision needs cannot be read, the call is refused. Introspection is never refused.

mod confirm;
mod judge;
mod quota;
mod request;
mod trail;

pub(crate) use request::CurrentState;
pub use request::{GateRequest, GateSubject};
pub(crate) use judge::allow_introspection;
pub(crate) use trail::CallTrail;

use crate::operator::{OperatorState, Pause};
use crate::record::OperatorLog;
use mcpaql_core::error::OpError;
use mcpaql_core::gate::config::GateConfig;
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_core::response::Warning;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

/// How long a pause may go unnoticed.
const PAUSE_POLL: Duration = Duration::from_millis(500);

/// The gate of all adapters of a program. Clones share everything.
#[derive(Debug, Clone)]
pub struct Gate {
    shared: Arc<GateShared>,
}

/// What a gate decides with.
#[derive(Debug)]
#[non_exhaustive]
pub struct GateOptions {
    /// The operator's rules and quotas.
    pub config: GateConfig,
    /// The operator's state: confirmations, counters, pauses.
    pub state: OperatorState,
    /// The operator's log; `None` writes no log.
    pub log: Option<OperatorLog>,
    /// Refuses everything that is not a READ.
    pub is_read_only: bool,
    /// Returns the address of the page on which people approve calls, if it is served.
    pub approval_page: Option<ApprovalPageAddress>,
}

/// Returns the address of the page on which people approve calls, such as `http://127.0.0.1:7777`, or `None` if it is not served now.
#[derive(Clone)]
pub struct ApprovalPageAddress(Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl ApprovalPageAddress {
    /// Creates a lookup of the address.
    pub fn new(find: impl Fn() -> Option<String> + Send + Sync + 'static) -> ApprovalPageAddress {
        ApprovalPageAddress(Arc::new(find))
    }
}

impl fmt::Debug for ApprovalPageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApprovalPageAddress")
    }
}

impl GateOptions {
    /// Creates options without rules and without a log.
    #[must_use]
    pub fn new(state: OperatorState) -> GateOptions {
        GateOptions { config: GateConfig::default(), state, log: None, is_read_only: false, approval_page: None }
    }
}

#[derive(Debug)]
struct GateShared {
    config: RwLock<Arc<GateConfig>>,
    state: OperatorState,
    log: Option<OperatorLog>,
    is_read_only: bool,
    approval_page: Option<ApprovalPageAddress>,
    trust: RwLock<HashMap<String, TrustLevel>>,
    pauses: Mutex<KnownPauses>,
}

/// The pauses, as they were when they were last read.
#[derive(Debug, Default)]
struct KnownPauses {
    read_at: Option<Instant>,
    revision: Option<i64>,
    pauses: Arc<[Pause]>,
}

/// Proof that a call passed the gate. It cannot be copied, and only the gate creates one.
#[derive(Debug)]
pub struct Pass(());

/// A call that may run.
#[derive(Debug)]
pub struct AllowedCall {
    pub(crate) pass: Pass,
    /// Warnings for the agent: quotas that are nearly used up.
    pub(crate) warnings: Vec<Warning>,
    /// The record of the call, to be ended with its outcome.
    pub(crate) trail: CallTrail,
}

/// The gate's decision.
#[derive(Debug)]
pub enum GateDecision {
    /// The call may run.
    Allow(Box<AllowedCall>),
    /// The call may not run; the caller gets this error.
    Refuse(Box<OpError>),
}

impl Gate {
    /// Creates a gate without rules, whose state ends with the program.
    #[must_use]
    pub fn in_memory() -> Gate {
        Gate::new(GateOptions::new(OperatorState::in_memory()))
    }

    /// Creates a gate.
    #[must_use]
    pub fn new(options: GateOptions) -> Gate {
        let GateOptions { config, state, log, is_read_only, approval_page } = options;
        let shared = GateShared {
            config: RwLock::new(Arc::new(config)),
            state,
            log,
            is_read_only,
            approval_page,
            trust: RwLock::default(),
            pauses: Mutex::default(),
        };
        Gate { shared: Arc::new(shared) }
    }

    /// Replaces the operator's rules and quotas. Calls that were decided before are not affected.
    pub fn set_config(&self, config: GateConfig) {
        *self.shared.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    /// Sets how far an adapter is trusted. Others are [`TrustLevel::Validated`].
    pub fn set_trust(&self, adapter: &str, level: TrustLevel) {
        self.shared.trust.write().unwrap_or_else(PoisonError::into_inner).insert(adapter.to_owned(), level);
    }

    /// Returns how far an adapter is trusted.
    #[must_use]
    pub fn trust(&self, adapter: &str) -> TrustLevel {
        let trust = self.shared.trust.read().unwrap_or_else(PoisonError::into_inner);
        trust.get(adapter).copied().unwrap_or(TrustLevel::Validated)
    }

    /// The operator's state.
    #[must_use]
    pub fn state(&self) -> &OperatorState {
        &self.shared.state
    }

    /// The operator's log.
    #[must_use]
    pub fn log(&self) -> Option<&OperatorLog> {
        self.shared.log.as_ref()
    }

    /// Whether everything that is not a READ is refused.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.shared.is_read_only
    }

    /// Returns the address of the page on which people approve calls.
    fn approval_page(&self) -> Option<String> {
        self.shared.approval_page.as_ref().and_then(|page| (page.0)())
    }

    fn config(&self) -> Arc<GateConfig> {
        Arc::clone(&self.shared.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn known_pauses(&self) -> MutexGuard<'_, KnownPauses> {
        self.shared.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the pauses. They are read again if the last time is too long ago.
    async fn pauses(&self) -> Result<Arc<[Pause]>, crate::operator::OperatorStateError> {
        let revision = {
            let known = self.known_pauses();
            if known.read_at.is_some_and(|read_at| read_at.elapsed() < PAUSE_POLL) && self.shared.state.is_durable() {
                return Ok(Arc::clone(&known.pauses));
            }
            known.revision
        };
        let read_at = Instant::now();
        let current = self.shared.state.revision().await?;
        if revision == Some(current) {
            let mut known = self.known_pauses();
            known.read_at = Some(read_at);
            return Ok(Arc::clone(&known.pauses));
        }
        let pauses: Arc<[Pause]> = self.shared.state.pauses().await?.into();
        let known = KnownPauses { read_at: Some(read_at), revision: Some(current), pauses: Arc::clone(&pauses) };
        *self.known_pauses() = known;
        Ok(pauses)
    }
}

/// The gate, as one adapter sees it.
#[derive(Debug, Clone)]
pub(crate) struct AdapterGate {
    gate: Gate,
    adapter: Arc<str>,
    /// The most that the document wants to be trusted.
    wanted: Option<TrustLevel>,
    /// Where the calls go, for people.
    reaches: Arc<str>,
    /// A program calls a target itself, so it vouches for the call.
    is_vouched_for: bool,
}

impl AdapterGate {
    pub(crate) fn new(gate: &Gate, adapter: &mcpaql_core::adapter::Adapter) -> AdapterGate {
        AdapterGate {
            gate: gate.clone(),
            adapter: adapter.name.as_str().into(),
            wanted: adapter.trust,
            reaches: request::reach_of(&adapter.target).into(),
            is_vouched_for: false,
        }
    }

    /// Returns a gate for prompts and resources of a server whose tools are not known yet.
    pub(crate) fn named(gate: &Gate, adapter: &str) -> AdapterGate {
        let (wanted, reaches) = (None, "an MCP server".into());
        AdapterGate { gate: gate.clone(), adapter: adapter.into(), wanted, reaches, is_vouched_for: false }
    }

    /// Returns the gate of a program that calls a target itself.
    pub(crate) fn of_program() -> AdapterGate {
        AdapterGate { is_vouched_for: true, ..AdapterGate::named(&Gate::in_memory(), "") }
    }

    /// Returns how far the adapter is trusted: the operator's level, or the document's own if it is lower.
    pub(crate) fn trust(&self) -> TrustLevel {
        if self.is_vouched_for {
            return TrustLevel::Certified;
        }
        let granted = self.gate.trust(&self.adapter);
        self.wanted.map_or(granted, |wanted| granted.min(wanted))
    }
}

#[cfg(test)]
pub(crate) mod tests;
