//! Statistics of an adapter's calls. They are a few atomics, so counting costs almost nothing.

use crate::caller::EntryPoint;
use mcpaql_core::error::Code;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Two buckets per power of two of microseconds. The last one holds everything from 54 minutes on.
const BUCKETS: usize = 64;

/// Counts the calls of one adapter since the server started.
#[derive(Debug)]
pub struct Stats {
    /// Calls that have started, by entry point.
    started: [AtomicU64; EntryPoint::ALL.len()],
    ended: AtomicU64,
    abandoned: AtomicU64,
    errors: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
    /// The index of the last error code in the table plus one; 0 if there was no error.
    last_error: AtomicUsize,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallCounts {
    /// Calls that have started.
    pub calls: u64,
    /// Calls that are running.
    pub running: u64,
    /// Calls that ended with an error.
    pub errors: u64,
    /// Calls that were dropped early, because the client disconnected or cancelled them.
    pub cancelled: u64,
    /// The duration of finished calls.
    pub latency: Option<Latency>,
    /// The code of the last error.
    pub last_error: Option<Code>,
}

/// The duration of calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// The mean.
    pub mean: Duration,
    /// The median; up to 50 % too high.
    pub p50: Duration,
    /// The 95th percentile; up to 50 % too high.
    pub p95: Duration,
}

/// A running call. If it is dropped without [`Recording::end`], it counts as cancelled.
#[derive(Debug)]
pub(crate) struct Recording<'a> {
    /// `None` if the call has ended, or does not count in the statistics.
    stats: Option<&'a Stats>,
    started_at: Instant,
}

impl Default for Stats {
    fn default() -> Self {
        Stats {
            started: [const { AtomicU64::new(0) }; EntryPoint::ALL.len()],
            ended: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; BUCKETS],
            last_error: AtomicUsize::new(0),
        }
    }
}

impl Stats {
    /// Starts to record a call.
    pub(crate) fn begin(&self, entry: EntryPoint) -> Recording<'_> {
        if let Some(started) = self.started.get(entry as usize) {
            started.fetch_add(1, Ordering::Relaxed);
        }
        Recording { stats: entry.is_call().then_some(self), started_at: Instant::now() }
    }

    /// Returns how many calls have started with this entry point.
    #[must_use]
    pub fn calls_started(&self, entry: EntryPoint) -> u64 {
        self.started.get(entry as usize).map_or(0, |started| started.load(Ordering::Relaxed))
    }

    fn end(&self, took: Duration, error: Option<Code>) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        if let Some(bucket) = self.buckets.get(bucket_of(micros)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(code) = error {
            self.errors.fetch_add(1, Ordering::Relaxed);
            self.last_error.store(code as usize + 1, Ordering::Relaxed);
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// The current counts.
    #[must_use]
    pub fn count(&self) -> CallCounts {
        // Ended calls are read before started ones, so that a call that starts in between counts as running.
        let ended = self.ended.load(Ordering::Relaxed);
        let cancelled = self.abandoned.load(Ordering::Relaxed);
        let calls = EntryPoint::ALL.into_iter().filter(|entry| entry.is_call());
        let calls: u64 = calls.map(|entry| self.calls_started(entry)).sum();
        let index = self.last_error.load(Ordering::Relaxed);
        CallCounts {
            calls,
            running: calls.saturating_sub(ended + cancelled),
            errors: self.errors.load(Ordering::Relaxed),
            cancelled,
            latency: self.latency(ended),
            last_error: index.checked_sub(1).and_then(|index| Code::ALL.get(index)).copied(),
        }
    }

    fn latency(&self, ended: u64) -> Option<Latency> {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        let mean = self.micros.load(Ordering::Relaxed).checked_div(ended)?;
        Some(Latency {
            mean: Duration::from_micros(mean),
            p50: quantile(&counts, 50),
            p95: quantile(&counts, 95),
        })
    }
}

impl Recording<'_> {
    /// Records the end of the call, and its error if it failed. Returns how long it took.
    pub(crate) fn end(mut self, error: Option<Code>) -> Duration {
        let took = self.started_at.elapsed();
        if let Some(stats) = self.stats.take() {
            stats.end(took, error);
        }
        took
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if let Some(stats) = self.stats {
            stats.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl CallCounts {
    /// Returns the counts as JSON for reports.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let ms = |time: Duration| time.as_micros() as f64 / 1000.0;
        let latency = self
            .latency
            .map(|latency| json!({"mean": ms(latency.mean), "p50": ms(latency.p50), "p95": ms(latency.p95)}));
        json!({
            "calls": self.calls,
            "running": self.running,
            "errors": self.errors,
            "cancelled": self.cancelled,
            "last_error": self.last_error.map(Code::as_str),
            "latency_ms": latency,
        })
    }
}

fn bucket_of(micros: u64) -> usize {
    let micros = micros.max(1);
    let octave = micros.ilog2();
    let half = if octave == 0 { 0 } else { (micros >> (octave - 1)) & 1 };
    usize::try_from(u64::from(octave) * 2 + half).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The longest duration that falls into a bucket.
fn upper_bound(bucket: usize) -> Duration {
    let octave = u32::try_from(bucket / 2).unwrap_or_default();
    let base = 1_u64 << octave.min(62);
    let end = if bucket.is_multiple_of(2) { base + base / 2 } else { base * 2 };
    Duration::from_micros(end.saturating_sub(1).max(1))
}

fn quantile(counts: &[u64], percent: u64) -> Duration {
    let total: u64 = counts.iter().sum();
    let wanted = (total * percent).div_ceil(100).max(1);
    let mut seen = 0;
    for (bucket, count) in counts.iter().enumerate() {
        seen += count;
        if seen >= wanted {
            return upper_bound(bucket);
        }
    }
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_without_calls_has_no_latency_and_no_error() {
        let count = Stats::default().count();
        assert_eq!((count.calls, count.running, count.latency, count.last_error), (0, 0, None, None));
    }

    #[test]
    fn calls_errors_and_cancelled_calls_are_told_apart() {
        let stats = Stats::default();
        stats.begin(EntryPoint::Tool).end(None);
        stats.begin(EntryPoint::Tool).end(Some(Code::TransportTimeout));
        drop(stats.begin(EntryPoint::Tool));
        let running = stats.begin(EntryPoint::Tool);
        let count = stats.count();
        assert_eq!((count.calls, count.running, count.errors, count.cancelled), (4, 1, 1, 1));
        assert_eq!(count.last_error, Some(Code::TransportTimeout));
        running.end(None);
        assert_eq!(stats.count().running, 0);
    }

    #[test]
    fn only_calls_of_clients_are_calls_in_the_statistics() {
        let stats = Stats::default();
        for entry in EntryPoint::ALL {
            stats.begin(entry).end(Some(Code::Internal));
            assert_eq!(stats.calls_started(entry), 1);
        }
        let count = stats.count();
        assert_eq!((count.calls, count.errors, count.running, count.cancelled), (3, 3, 0, 0));
    }

    #[test]
    fn quantiles_are_at_most_half_too_high() {
        let stats = Stats::default();
        for millis in 1..=100 {
            stats.end(Duration::from_millis(millis), None);
        }
        let latency = stats.count().latency.unwrap();
        assert_eq!(latency.mean, Duration::from_micros(50_500));
        for (found, exact) in [(latency.p50, 50.0), (latency.p95, 95.0)] {
            let ratio = found.as_secs_f64() * 1000.0 / exact;
            assert!((1.0..1.5).contains(&ratio), "{found:?} for {exact} ms");
        }
    }

    #[test]
    fn every_time_has_a_bucket() {
        let times = [0, 1, 2, 3, 5, 999, 1_000, 1 << 31, 1 << 40, u64::MAX];
        for micros in times {
            let bucket = bucket_of(micros);
            assert!(bucket < BUCKETS);
            let top = upper_bound(bucket).as_micros();
            assert!(u128::from(micros) <= top || bucket == BUCKETS - 1, "{micros}: {top}");
        }
        assert!(times.map(bucket_of).is_sorted());
    }
}
