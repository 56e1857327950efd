//! The operator's state in memory: for programs without a state folder or without the feature `store`.

use super::clock::{ClockReading, Moment};
use super::confirmation::{self, GUESS_WINDOW_MS, KEPT_MS, MAX_GUESSES};
use super::history::{KnownHistory, counter_name, success_name, window_ms};
use super::window::CallWindow;
use super::{
    Approval, Confirmation, ConfirmationKind, ConfirmationScope, Decided, Issued, NewConfirmation,
    OperationPin, Pause, Redemption, TrustGrant,
};
use crate::state::fresh_id;
use mcpaql_gate::decision::{History, Needs};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of one process.
#[derive(Debug, Default)]
pub(super) struct MemoryState {
    inner: Mutex<MemoryTables>,
}

#[derive(Debug, Default)]
struct MemoryTables {
    revision: i64,
    /// The latest time that was seen.
    latest: i64,
    grants: BTreeMap<String, TrustGrant>,
    pins: BTreeMap<String, BTreeMap<String, OperationPin>>,
    pauses: BTreeMap<Option<String>, Pause>,
    /// The oldest first.
    confirmations: Vec<Confirmation>,
    guesses: HashMap<String, CallWindow>,
    windows: HashMap<String, (CallWindow, i64)>,
    successes: HashMap<String, i64>,
}

impl MemoryState {
    fn tables(&self) -> MutexGuard<'_, MemoryTables> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a change that running servers should notice.
    fn change<T>(&self, change: impl FnOnce(&mut MemoryTables) -> T) -> T {
        let mut tables = self.tables();
        tables.revision += 1;
        change(&mut tables)
    }

    pub(super) fn revision(&self) -> i64 {
        self.tables().revision
    }

    pub(super) fn put_grant(&self, grant: &TrustGrant) {
        self.change(|tables| tables.grants.insert(grant.subject.clone(), grant.clone()));
    }

    pub(super) fn grant(&self, subject: &str) -> Option<TrustGrant> {
        self.tables().grants.get(subject).cloned()
    }

    pub(super) fn grants(&self) -> Vec<TrustGrant> {
        self.tables().grants.values().cloned().collect()
    }

    pub(super) fn remove_grant(&self, subject: &str) -> bool {
        self.change(|tables| tables.grants.remove(subject).is_some())
    }

    pub(super) fn pinned(&self, adapter: &str) -> Option<BTreeMap<String, String>> {
        let tables = self.tables();
        let pins = tables.pins.get(adapter)?.values();
        Some(pins.map(|pin| (pin.operation.clone(), pin.fingerprint.clone())).collect())
    }

    pub(super) fn pin_contents(&self, adapter: &str) -> Vec<OperationPin> {
        self.tables().pins.get(adapter).map(|pins| pins.values().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn pin(&self, adapter: &str, pins: &[OperationPin], _now: i64) {
        self.change(|tables| tables.insert_pins(adapter, pins));
    }

    pub(super) fn pin_first(&self, adapter: &str, pins: &[OperationPin], _now: i64) -> bool {
        self.change(|tables| {
            let is_first = !tables.pins.contains_key(adapter);
            if is_first {
                tables.insert_pins(adapter, pins);
            }
            is_first
        })
    }

    pub(super) fn unpin(&self, adapter: &str, operation: Option<&str>) -> bool {
        self.change(|tables| match operation {
            None => tables.pins.remove(adapter).is_some(),
            Some(name) => tables.pins.get_mut(adapter).is_some_and(|pins| pins.remove(name).is_some()),
        })
    }

    pub(super) fn pause(&self, pause: &Pause) {
        self.change(|tables| tables.pauses.insert(pause.adapter.clone(), pause.clone()));
    }

    pub(super) fn resume(&self, adapter: Option<&str>) -> bool {
        self.change(|tables| tables.pauses.remove(&adapter.map(str::to_owned)).is_some())
    }

    pub(super) fn pauses(&self) -> Vec<Pause> {
        self.tables().pauses.values().cloned().collect()
    }

    pub(super) fn issue(&self, new: &NewConfirmation, reading: ClockReading) -> Issued {
        self.change(|tables| {
            let moment = tables.expire(reading);
            let now = moment.now;
            tables.confirmations.retain(|kept| kept.is_alive() || kept.expires_at > now - KEPT_MS);
            let of_caller =
                tables.confirmations.iter_mut().filter(|other| other.scope.caller == new.scope.caller);
            if let Some(refused) = confirmation::before_issue(new, of_caller, moment) {
                return refused;
            }
            let mut id = fresh_id("approval");
            while tables.confirmations.iter().any(|other| other.id == id) {
                id = fresh_id("approval");
            }
            let fresh = Confirmation::new(id.clone(), new, now);
            let expires_at = fresh.expires_at;
            tables.confirmations.push(fresh);
            Issued::New { id, expires_at }
        })
    }

    pub(super) fn redeem_token(
        &self,
        hash: &[u8; 32],
        scope: &ConfirmationScope,
        reading: ClockReading,
    ) -> Redemption {
        let mut tables = self.tables();
        let moment = tables.expire(reading);
        let guesses = tables.guesses.entry(scope.caller.clone()).or_default();
        if guesses.used(moment.now, GUESS_WINDOW_MS) >= MAX_GUESSES {
            let end = guesses.oldest_ends_at(GUESS_WINDOW_MS).unwrap_or(moment.now);
            let retry_after_seconds = confirmation::seconds_until(end, moment.now);
            return Redemption::TooManyAttempts { retry_after_seconds };
        }
        let found = tables.confirmations.iter_mut().find(|kept| kept.has_token(hash));
        match found {
            Some(found) => found.redeem(scope, moment),
            None => {
                let guesses = tables.guesses.entry(scope.caller.clone()).or_default();
                guesses.charge(moment.now, GUESS_WINDOW_MS, 1);
                Redemption::Invalid
            }
        }
    }

    pub(super) fn confirmation(&self, id: &str, reading: ClockReading) -> Option<Confirmation> {
        let mut tables = self.tables();
        tables.expire(reading);
        tables.confirmations.iter().find(|kept| kept.id == id).cloned()
    }

    pub(super) fn pending(&self, caller: Option<&str>, reading: ClockReading) -> Vec<Confirmation> {
        let mut tables = self.tables();
        tables.expire(reading);
        let open = tables.confirmations.iter().filter(|kept| kept.is_pending_of(caller));
        open.cloned().collect()
    }

    pub(super) fn decide(&self, id: &str, is_approved: bool, by: &str, reading: ClockReading) -> Decided {
        self.change(|tables| {
            let moment = tables.expire(reading);
            let found = tables.confirmations.iter_mut().find(|kept| kept.id == id);
            found.map_or(Decided::Unknown, |found| found.decide(is_approved, by, moment))
        })
    }

    pub(super) fn take_approved(
        &self,
        scope: &ConfirmationScope,
        state_hash: Option<&str>,
        reading: ClockReading,
    ) -> Approval {
        let mut tables = self.tables();
        let moment = tables.expire(reading);
        let mut newest_first = tables.confirmations.iter_mut().rev();
        let found = newest_first.find(|kept| kept.kind == ConfirmationKind::Person && kept.scope == *scope);
        found.map_or(Approval::NotApproved, |found| found.take(state_hash, moment))
    }

    /// Reads the history, decides, and counts the call if it is charged, while nobody else can.
    pub(super) fn with_history<T>(
        &self,
        needs: &Needs,
        now: i64,
        decide: &mut (dyn FnMut(&dyn History) -> (T, bool) + Send),
    ) -> T {
        let mut tables = self.tables();
        let mut history = KnownHistory::default();
        for key in &needs.counters {
            let (window, _) = tables.windows.entry(counter_name(key)).or_default();
            history.add_counter(key, window, now);
        }
        for key in &needs.successes {
            let name = success_name(&key.adapter, &key.operation, &key.caller);
            history.add_success(key, tables.successes.get(&name).copied(), now);
        }
        let (decision, is_charged) = decide(&history);
        if is_charged {
            for key in &needs.counters {
                let length = window_ms(key);
                let (window, ends_at) = tables.windows.entry(counter_name(key)).or_default();
                window.charge(now, length, key.cost);
                *ends_at = window.ends_at(length);
            }
            tables.windows.retain(|_, (_, ends_at)| *ends_at >= now);
        }
        decision
    }

    pub(super) fn record_success(&self, adapter: &str, operation: &str, caller: &str, now: i64) {
        self.tables().successes.insert(success_name(adapter, operation, caller), now);
    }
}

impl MemoryTables {
    fn insert_pins(&mut self, adapter: &str, pins: &[OperationPin]) {
        let pinned = self.pins.entry(adapter.to_owned()).or_default();
        pinned.extend(pins.iter().map(|pin| (pin.operation.clone(), pin.clone())));
    }

    /// Returns the time, and ends all confirmations whose time is over.
    fn expire(&mut self, reading: ClockReading) -> Moment {
        let moment = reading.moment(self.latest);
        self.latest = moment.now;
        self.confirmations.iter_mut().for_each(|kept| kept.expire(moment));
        moment
    }
}
