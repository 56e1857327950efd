//! The time, from one function that tests replace, and protection against a clock that is set back.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A clock that goes back further than this was set to another time. Smaller steps are corrections.
pub(super) const MAX_CORRECTION_MS: i64 = 60_000;

/// Tells the time, in milliseconds since 1970.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    /// The clock of the system.
    #[must_use]
    pub fn system() -> Clock {
        Clock::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        })
    }

    /// A clock that calls this function. For tests.
    #[must_use]
    pub fn new(now_ms: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now_ms))
    }

    /// The time, in milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now_ms()).finish()
    }
}

/// What the clock shows, and the latest time that this process saw on it before.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockReading {
    pub(super) clock: i64,
    pub(super) latest: i64,
}

impl ClockReading {
    /// Compares the clock with the latest time that this process or `stored` saw on it.
    pub(super) fn moment(self, stored: i64) -> Moment {
        Moment::of(self.clock, self.latest.max(stored))
    }
}

/// The time at which a confirmation is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Never earlier than a time that was seen before, unless the clock was set back.
    pub(super) now: i64,
    /// The clock was set back, so nobody knows which confirmations have expired. None is valid then.
    pub(super) is_set_back: bool,
}

impl Moment {
    fn of(clock: i64, latest: i64) -> Moment {
        let is_set_back = clock < latest.saturating_sub(MAX_CORRECTION_MS);
        Moment { now: if is_set_back { clock } else { clock.max(latest) }, is_set_back }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_during_a_correction_and_goes_back_only_if_the_clock_was_set() {
        let rows = [
            (1_000_000, 900_000, 1_000_000, false),
            (1_000_000, 1_059_999, 1_059_999, false),
            (1_000_000, 1_060_000, 1_060_000, false),
            (1_000_000, 1_060_001, 1_000_000, true),
            (0, i64::MIN, 0, false),
        ];
        for (clock, latest, now, is_set_back) in rows {
            assert_eq!(Moment::of(clock, latest), Moment { now, is_set_back }, "{clock} {latest}");
        }
    }
}
