//! Which calls crash a server. A crash delays only the calls that were running when it happened, so one caller's call that always
//! crashes the server does not block the calls of others.
//!
//! What always holds: a crash is charged to calls that have crashed the server before, if one of them was running; otherwise to all
//! running calls. A call that is answered is no suspect any more. If calls of several causes crash the server in a row, the crashes
//! belong to the server itself.

use crate::caller::Caller;
use serde_json::{Map, Value};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::time::Duration;
use tokio::time::Instant;

/// How many causes must crash a server in a row until the crashes belong to the server.
const MIN_CAUSES: usize = 3;
/// After this time without a crash, a cause starts again with no delay.
const FORGET_AFTER: Duration = Duration::from_secs(60);
/// Maximum number of suspects.
const MAX_SUSPECTS: usize = 256;

/// What may crash a server: a tool, prompt or resource that one caller uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CrashCause(u64);

impl CrashCause {
    pub(super) fn of(method: &str, params: &Map<String, Value>, caller: &Caller) -> CrashCause {
        let name = ["name", "uri"].into_iter().find_map(|key| params.get(key)?.as_str());
        let mut hasher = DefaultHasher::new();
        (method, name, caller.share()).hash(&mut hasher);
        CrashCause(hasher.finish())
    }
}

/// The suspects of one server.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    crashes: HashMap<CrashCause, Suspect>,
    /// The causes that were charged since a call was last answered.
    in_a_row: HashSet<CrashCause>,
}

#[derive(Debug, Clone, Copy)]
struct Suspect {
    crashes: u32,
    until: Instant,
}

impl Suspects {
    /// Charges a crash to calls that were running. Returns whether the crash belongs to them, and not to the server. `delay` is the
    /// delay after a number of crashes.
    pub(super) fn charge(&mut self, running: &[CrashCause], delay: impl Fn(u32) -> Duration) -> bool {
        let known: Vec<CrashCause> =
            running.iter().filter(|cause| self.crashes.contains_key(cause)).copied().collect();
        let charged = if known.is_empty() { running } else { &known };
        let now = Instant::now();
        if self.crashes.len() + charged.len() > MAX_SUSPECTS {
            self.crashes.retain(|_, suspect| suspect.until + FORGET_AFTER > now);
        }
        for cause in charged.iter().take(MAX_SUSPECTS.saturating_sub(self.crashes.len())) {
            let suspect = self.crashes.entry(*cause).or_insert(Suspect { crashes: 0, until: now });
            if now.saturating_duration_since(suspect.until) > FORGET_AFTER {
                suspect.crashes = 0;
            }
            suspect.crashes = suspect.crashes.saturating_add(1);
            suspect.until = now + delay(suspect.crashes);
            self.in_a_row.insert(*cause);
        }
        !charged.is_empty() && self.in_a_row.len() < MIN_CAUSES
    }

    /// Returns how long a call must wait because it has crashed the server.
    pub(super) fn left(&self, cause: CrashCause) -> Option<Duration> {
        let suspect = self.crashes.get(&cause)?;
        Some(suspect.until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }

    /// Records that a call was answered.
    pub(super) fn answered(&mut self, cause: CrashCause) {
        self.in_a_row.clear();
        self.crashes.remove(&cause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(crashes: u32) -> Duration {
        Duration::from_secs(u64::from(crashes) - 1)
    }

    const BAD: CrashCause = CrashCause(1);
    const GOOD: CrashCause = CrashCause(2);

    #[tokio::test(start_paused = true)]
    async fn a_crash_is_charged_to_the_call_that_crashed_before() {
        let mut suspects = Suspects::default();
        assert!(suspects.charge(&[BAD, GOOD], seconds));
        assert_eq!((suspects.left(BAD), suspects.left(GOOD)), (None, None), "the first crash delays nobody");
        suspects.answered(GOOD);
        assert!(suspects.charge(&[BAD, GOOD], seconds));
        assert_eq!((suspects.left(BAD), suspects.left(GOOD)), (Some(Duration::from_secs(1)), None));
        tokio::time::advance(FORGET_AFTER * 2).await;
        suspects.charge(&[BAD], seconds);
        assert_eq!(suspects.left(BAD), None, "old crashes are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn crashes_without_a_call_or_of_many_calls_belong_to_the_server() {
        let mut suspects = Suspects::default();
        assert!(!suspects.charge(&[], seconds));
        let outcomes = [1, 2, 3].map(|cause| suspects.charge(&[CrashCause(cause)], seconds));
        assert_eq!(outcomes, [true, true, false]);
        suspects.answered(CrashCause(9));
        assert!(suspects.charge(&[CrashCause(4)], seconds), "it works again");
        for cause in 0..2 * MAX_SUSPECTS as u64 {
            suspects.charge(&[CrashCause(cause)], seconds);
        }
        assert!(suspects.crashes.len() <= MAX_SUSPECTS);
    }

    #[test]
    fn another_caller_or_another_tool_is_another_cause() {
        let cause = |method: &str, params: Value, name: &str| {
            let caller = Caller::nobody().named(crate::caller::CallerName::new(name).unwrap());
            CrashCause::of(method, params.as_object().unwrap(), &caller)
        };
        let call = |tool: &str, caller: &str| {
            cause("tools/call", serde_json::json!({"name": tool, "arguments": {"n": tool.len()}}), caller)
        };
        assert_eq!(call("a", "x"), call("a", "x"));
        assert_ne!(call("a", "x"), call("b", "x"));
        assert_ne!(call("a", "x"), call("a", "y"));
    }
}
