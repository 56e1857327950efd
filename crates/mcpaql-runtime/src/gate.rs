//! Whether a call may run. For now every call may: the types are what trust, approvals and quotas will need.
//!
//! What always holds: the decision is total, and only a decision makes a [`Pass`]. A target cannot be called without one, and
//! one pass is good for one call.

use crate::caller::{Caller, EntryPoint};
use crate::protocol::Feature;
use mcpaql_core::error::OpError;
use mcpaql_core::operation::Operation;
use serde_json::{Map, Value};

/// What the gate knows of a call. Its arguments are validated where it has any.
#[derive(Debug, Clone, Copy)]
pub struct GateRequest<'a> {
    /// Who calls.
    pub caller: &'a Caller,
    /// The adapter's name.
    pub adapter: &'a str,
    /// How the call came in.
    pub entry: EntryPoint,
    /// What is to be done.
    pub subject: GateSubject<'a>,
    /// With which arguments.
    pub args: &'a Map<String, Value>,
}

/// What a call is about.
#[derive(Debug, Clone, Copy)]
pub enum GateSubject<'a> {
    /// An operation of the adapter.
    Operation(&'a Operation),
    /// A prompt, a resource, or a list of them.
    Feature(Feature),
    /// Work in the background, by its id.
    Task(&'a str),
    /// Discovery over all adapters of a gateway.
    Discovery,
}

/// The proof that the gate let a call through. It cannot be copied, and nothing else makes one.
#[derive(Debug)]
pub struct Pass(());

/// What the gate decides.
#[derive(Debug)]
pub enum GateDecision {
    /// The call may run.
    Allow(Pass),
    /// It may not; what the caller is told.
    Refuse(Box<OpError>),
}

/// Decides about a call.
#[must_use]
pub(crate) fn decide(request: &GateRequest<'_>) -> GateDecision {
    let GateRequest { caller: _, adapter: _, entry: _, subject: _, args: _ } = request;
    #[cfg(test)]
    tests::note(request.entry);
    GateDecision::Allow(Pass(()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! {
        /// The decisions on this thread since somebody asked.
        static DECIDED: RefCell<Vec<EntryPoint>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn note(entry: EntryPoint) {
        DECIDED.with_borrow_mut(|decided| decided.push(entry));
    }

    /// The decisions on this thread since the last time.
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
                let request = GateRequest { caller: &caller, adapter: "", entry, subject, args: &args };
                assert!(matches!(decide(&request), GateDecision::Allow(_)), "{request:?}");
            }
        }
        assert_eq!(decided().len(), EntryPoint::ALL.len() * 8);
    }
}
