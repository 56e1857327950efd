//! Counts of calls within a window that ends now.
//!
//! What always holds: a window counts at least every call that it covers, so a limit is never exceeded. It forgets a
//! call at most one bucket late.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A window is counted in this many parts.
const BUCKETS: i64 = 60;

/// The calls of one counter, by the part of time in which they ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallWindow(BTreeMap<i64, u64>);

fn bucket_ms(length_ms: i64) -> i64 {
    length_ms.div_euclid(BUCKETS).max(1)
}

impl CallWindow {
    /// Forgets what the window no longer covers. Calls in the future were counted before the clock was set back; they count as calls
    /// of now, so that they are forgotten within one window.
    fn move_to(&mut self, now: i64, length_ms: i64) {
        let bucket = bucket_ms(length_ms);
        let current = now.div_euclid(bucket);
        let mut future = self.0.split_off(&current.saturating_add(1));
        self.0 = self.0.split_off(&now.saturating_sub(length_ms).div_euclid(bucket));
        let ahead = future.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
        if !future.is_empty() {
            future.clear();
            self.add_to(current, ahead);
        }
    }

    fn add_to(&mut self, bucket: i64, count: u64) {
        let entry = self.0.entry(bucket).or_default();
        *entry = entry.saturating_add(count);
    }

    /// Returns the number of calls in the window that ends now.
    pub(super) fn used(&mut self, now: i64, length_ms: i64) -> u64 {
        self.move_to(now, length_ms);
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Counts a call.
    pub(super) fn charge(&mut self, now: i64, length_ms: i64, cost: u64) {
        self.move_to(now, length_ms);
        self.add_to(now.div_euclid(bucket_ms(length_ms)), cost);
    }

    /// Returns when the window will have forgotten its oldest calls.
    pub(super) fn oldest_ends_at(&self, length_ms: i64) -> Option<i64> {
        let bucket = bucket_ms(length_ms);
        let (oldest, _) = self.0.first_key_value()?;
        Some(oldest.saturating_add(1).saturating_mul(bucket).saturating_add(length_ms))
    }

    /// Returns when the window will be empty.
    pub(super) fn ends_at(&self, length_ms: i64) -> i64 {
        let bucket = bucket_ms(length_ms);
        let newest = self.0.last_key_value().map_or(0, |(newest, _)| *newest);
        newest.saturating_add(1).saturating_mul(bucket).saturating_add(length_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_call_counts_for_one_window_and_at_most_one_bucket_longer() {
        let mut window = CallWindow::default();
        window.charge(1_000_500, 60_000, 3);
        assert_eq!(window.used(1_000_500, 60_000), 3);
        assert_eq!(window.used(1_060_499, 60_000), 3);
        assert_eq!(window.oldest_ends_at(60_000), Some(1_061_000));
        assert_eq!(window.used(1_061_000, 60_000), 0);
        assert_eq!(window.oldest_ends_at(60_000), None);
    }

    #[test]
    fn calls_before_the_clock_was_set_back_count_for_one_more_window() {
        let mut window = CallWindow::default();
        window.charge(10_000_000_000, 1_000, 5);
        assert_eq!(window.used(1_000_000, 1_000), 5);
        assert_eq!(window.used(1_000_900, 1_000), 5);
        assert_eq!(window.used(1_001_020, 1_000), 0);
    }

    proptest! {
        #[test]
        fn no_window_ever_holds_more_than_its_limit(
            steps in proptest::collection::vec(0_i64..400, 1..200),
            length in 1_i64..2_000,
            limit in 1_u64..10,
        ) {
            let (mut window, mut now, mut ran) = (CallWindow::default(), 1_000_000, Vec::new());
            for step in steps {
                now += step;
                if window.used(now, length) < limit {
                    window.charge(now, length, 1);
                    ran.push(now);
                }
                let within = ran.iter().filter(|at| **at > now - length).count();
                prop_assert!(within as u64 <= limit);
            }
        }

        #[test]
        fn a_window_in_text_is_the_same_window(times in proptest::collection::vec(0_i64..1_000_000, 0..50)) {
            let mut window = CallWindow::default();
            times.iter().for_each(|at| window.charge(*at, 10_000, 1));
            let text = serde_json::to_string(&window).unwrap();
            prop_assert_eq!(serde_json::from_str::<CallWindow>(&text).unwrap(), window);
        }
    }
}
