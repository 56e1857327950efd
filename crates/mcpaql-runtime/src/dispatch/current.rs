//! Reads what a call would change, as it is now, for the person who approves the call.
//!
//! An update or a deletion has a matching read if both have the same path or the same kind of record, and the parameters of the call are enough for the
//! read. The read passes the gate like any other.

use super::{CallReach, Dispatcher, Responder};
use crate::caller::{Caller, EntryPoint};
use crate::gate::{CurrentState, GateDecision, GateRequest, GateSubject};
use crate::target::Args;
use futures_util::future::BoxFuture;
use mcpaql_core::operation::{Binding, Category, Operation, StoreAction};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long the read may take. An approval without the current state is better than none.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The read that belongs to a call, not made yet.
#[derive(Debug)]
pub(super) struct CurrentReader<'a> {
    dispatcher: &'a Arc<Dispatcher>,
    operation: &'a Operation,
    args: &'a Args,
    caller: &'a Caller,
}

impl<'a> CurrentReader<'a> {
    /// Returns the reader for a call; `None` if it changes nothing that can be read.
    pub(super) fn new(
        dispatcher: &'a Arc<Dispatcher>,
        operation: &'a Operation,
        args: &'a Args,
        caller: &'a Caller,
    ) -> Option<CurrentReader<'a>> {
        let changes = matches!(operation.category, Category::Update | Category::Delete);
        changes.then_some(CurrentReader { dispatcher, operation, args, caller })
    }

    async fn read_now(&self) -> Option<Value> {
        let CurrentReader { dispatcher, operation, args, caller } = *self;
        let catalog = &dispatcher.catalog;
        let reads = catalog.operations.iter().filter(|entry| entry.operation.category == Category::Read);
        let mut full = reads.filter_map(|entry| Some(catalog.full_operation(entry)?.operation));
        let read = full.find(|read| reads_same(read, operation) && has_required(read, args))?;
        let args: Args = args
            .iter()
            .filter(|(name, _)| read.param(name).is_some_and(|param| param.required))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let subject = GateSubject::Operation(read);
        let request = GateRequest { args: &args, ..GateRequest::new(EntryPoint::Handler, subject, caller) };
        let GateDecision::Allow(allowed) = Box::pin(dispatcher.gate.decide(&request)).await else { return None };
        let part = (allowed.pass, Responder::Handlers);
        let outcome = dispatcher.perform(part, read, &args, caller, CallReach::default()).await;
        allowed.trail.end(outcome.as_ref().err().map(|error| error.code), 0);
        Some(outcome.ok()?.data.into_value())
    }
}

impl CurrentState for CurrentReader<'_> {
    fn read(&self) -> BoxFuture<'_, Option<Value>> {
        Box::pin(async { timeout(READ_TIMEOUT, self.read_now()).await.ok().flatten() })
    }
}

/// Whether a read returns what the other operation changes.
fn reads_same(read: &Operation, change: &Operation) -> bool {
    match (&read.binding, &change.binding) {
        (Binding::Http(read), Binding::Http(change)) => {
            read.method == "GET" && read.path == change.path && read.base_url == change.base_url
        }
        (Binding::Store(read), Binding::Store(change)) => {
            read.action == StoreAction::Get && read.resource == change.resource
        }
        _ => false,
    }
}

fn has_required(read: &Operation, args: &Args) -> bool {
    read.params.iter().filter(|param| param.required).all(|param| args.contains_key(&param.name))
}
