//! Decides whether a call may run. Today every call may run; the types are there for trust, approvals and quotas.
//!
//! What always holds: every request gets a decision, and only a decision creates a [`Pass`]. A target cannot be
//! called without a pass, and a pass is valid for one call.

use crate::caller::{Caller, EntryPoint};
use crate::protocol::Feature;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use serde_json::{Map, Value};

/// The call that the gate decides about. Arguments have been validated.
#[derive(Debug, Clone, Copy)]
pub struct GateRequest<'a> {
    /// The client that calls.
    pub caller: &'a Caller,
    /// The adapter's name.
    pub adapter: &'a str,
    /// How the call arrived.
    pub entry: EntryPoint,
    /// The operation or other subject of the call.
    pub subject: GateSubject<'a>,
    /// The arguments of the call.
    pub args: &'a Map<String, Value>,
    /// Only asks what the call would do. The decision then issues no token and uses no quota.
    pub dry_run: bool,
}

/// The subject of a call.
#[derive(Debug, Clone, Copy)]
pub enum GateSubject<'a> {
    /// An operation of the adapter.
    Operation(&'a Operation),
    /// A prompt, a resource, or a list of them.
    Feature(Feature),
    /// Background work, by its id.
    Task(&'a str),
    /// Discovery over all adapters of a gateway.
    Discovery,
}

/// Proof that a call passed the gate. It cannot be copied, and only the gate creates one.
#[derive(Debug)]
pub struct Pass(());

/// The gate's decision.
#[derive(Debug)]
pub enum GateDecision {
    /// The call may run.
    Allow(Pass),
    /// The call may not run; the caller gets this error.
    Refuse(Box<OpError>),
}

#[must_use]
pub(crate) fn decide(request: &GateRequest<'_>) -> GateDecision {
    let GateRequest { caller: _, adapter: _, entry: _, subject: _, args: _, dry_run: _ } = request;
    #[cfg(test)]
    tests::record(request.entry);
    GateDecision::Allow(Pass(()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! {
        /// The decisions on this thread since the last call of `decided`.
        static DECIDED: RefCell<Vec<EntryPoint>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn record(entry: EntryPoint) {
        DECIDED.with_borrow_mut(|decided| decided.push(entry));
    }

    /// Takes the decisions on this thread since the last call.
    pub(crate) fn decided() -> Vec<EntryPoint> {
        DECIDED.with_borrow_mut(std::mem::take)
    }

    #[test]
    fn every_call_is_let_through_whatever_it_is() {
        let caller = Caller::nobody();
        let args = Map::new();
        let features = Feature::ALL.map(GateSubject::Feature);
        for entry in EntryPoint::ALL {
            for subject in features.into_iter().chain([
                GateSubject::Task(""),
                GateSubject::Task("x"),
                GateSubject::Discovery,
            ]) {
                let request =
                    GateRequest { caller: &caller, adapter: "", entry, subject, args: &args, dry_run: false };
                assert!(matches!(decide(&request), GateDecision::Allow(_)), "{request:?}");
            }
        }
        assert_eq!(decided().len(), EntryPoint::ALL.len() * (Feature::ALL.len() + 3));
    }
}
