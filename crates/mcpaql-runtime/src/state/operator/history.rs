//! What a decision reads: how much of each limit is used, and which operations succeeded before.

use super::clock::MAX_CORRECTION_MS;
use super::confirmation::seconds_until;
use super::window::CallWindow;
use mcpaql_gate::decision::{CounterKey, History, SuccessKey, Usage};
use serde_json::json;
use std::collections::HashMap;

/// The history that one decision needs, of one moment.
#[derive(Debug, Default)]
pub(super) struct KnownHistory {
    usage: HashMap<String, Usage>,
    successes: HashMap<SuccessKey, bool>,
}

impl KnownHistory {
    pub(super) fn add_counter(&mut self, key: &CounterKey, window: &mut CallWindow, now: i64) {
        let length = window_ms(key);
        let used = window.used(now, length);
        let resets_in_seconds = window.oldest_ends_at(length).map_or(0, |end| seconds_until(end, now));
        self.usage.insert(counter_name(key), Usage { used, resets_in_seconds });
    }

    /// A success in the future was recorded before the clock was set back, so nobody knows when it was. It does not count.
    pub(super) fn add_success(&mut self, key: &SuccessKey, at: Option<i64>, now: i64) {
        let within = i64::try_from(key.within_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        let is_recent = |at: i64| at > now.saturating_sub(within) && at <= now + MAX_CORRECTION_MS;
        self.successes.insert(key.clone(), at.is_some_and(is_recent));
    }
}

impl History for KnownHistory {
    fn used(&self, key: &CounterKey) -> Option<Usage> {
        self.usage.get(&counter_name(key)).copied()
    }

    fn succeeded(&self, key: &SuccessKey) -> Option<bool> {
        self.successes.get(key).copied()
    }
}

/// The length of a counter's window.
pub(super) fn window_ms(key: &CounterKey) -> i64 {
    i64::try_from(key.window_seconds).unwrap_or(i64::MAX).saturating_mul(1000)
}

/// The stored name of a counter. Keys that differ only in the cost have the same.
pub(super) fn counter_name(key: &CounterKey) -> String {
    json!([key.limit, key.scope, key.window_seconds]).to_string()
}

/// The stored name of an operation that succeeded for a caller.
pub(super) fn success_name(adapter: &str, operation: &str, caller: &str) -> String {
    json!([adapter, operation, caller]).to_string()
}
