//! The memory of this process. Above its limit, calls are refused before the system ends the process.
//!
//! What always holds: while no call runs, one call is admitted, because freed memory is not always returned to the system at once.

use mcpaql_core::error::{Code, OpError};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a measured size is used.
const MEASURE_INTERVAL: Duration = Duration::from_millis(100);
/// The part of a container's limit that this process uses, in percent.
const PART_OF_CONTAINER: u64 = 85;
/// When a refused call may be sent again.
const RETRY_AFTER_SECONDS: u64 = 5;

/// The limit in bytes; 0 for none.
static LIMIT: AtomicU64 = AtomicU64::new(0);
static USED: AtomicU64 = AtomicU64::new(0);
/// The running calls of all adapters.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static MEASURED: Mutex<Option<Instant>> = Mutex::new(None);

/// The maximum memory of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryLimit {
    /// This many bytes.
    Bytes(u64),
    /// A part of the limit of the container that the process runs in; no limit outside of containers.
    OfContainer,
}

/// Sets the limit of this process. Above it, calls get `RATE_LIMIT_EXCEEDED`. Memory is measured on Linux only.
pub fn set_memory_limit(limit: MemoryLimit) {
    let bytes = match limit {
        MemoryLimit::Bytes(bytes) => bytes,
        MemoryLimit::OfContainer => of_container().map_or(0, |bytes| bytes / 100 * PART_OF_CONTAINER),
    };
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// A running call of this process. Dropping it ends the call.
#[derive(Debug)]
pub(super) struct CountedCall(());

impl CountedCall {
    pub(super) fn new() -> CountedCall {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        CountedCall(())
    }
}

impl Drop for CountedCall {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns an error if the process uses more memory than its limit and calls are running.
pub(super) fn check() -> Result<(), OpError> {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit == 0 {
        return Ok(());
    }
    decide(used(), limit, RUNNING.load(Ordering::Relaxed))
}

fn decide(used: u64, limit: u64, running: usize) -> Result<(), OpError> {
    if used <= limit || running == 0 {
        return Ok(());
    }
    let message = format!(
        "The server uses too much memory for another call. Request less data, or try again in {RETRY_AFTER_SECONDS} s."
    );
    Err(OpError::new(Code::RateLimitExceeded, message)
        .with_detail("retry_after_seconds", RETRY_AFTER_SECONDS))
}

/// The resident memory of this process. It is measured again only after a while.
fn used() -> u64 {
    let mut measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    if measured.is_none_or(|at| at.elapsed() >= MEASURE_INTERVAL) {
        *measured = Some(Instant::now());
        USED.store(resident().unwrap_or_default(), Ordering::Relaxed);
    }
    USED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn of_container() -> Option<u64> {
    // The first is that of the container itself; "max" is no number.
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let text = files.iter().find_map(|file| std::fs::read_to_string(file).ok())?;
    // Without a limit, older systems return a number that no machine has.
    text.trim().parse().ok().filter(|bytes| *bytes < 1 << 50)
}

#[cfg(not(target_os = "linux"))]
fn of_container() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_refused_above_the_limit_except_the_only_one() {
        assert!(decide(100, 100, 5).is_ok());
        assert!(decide(101, 100, 0).is_ok(), "otherwise the server could never recover");
        let error = decide(101, 100, 1).unwrap_err();
        assert_eq!(error.code, Code::RateLimitExceeded);
        assert_eq!(error.details["retry_after_seconds"], RETRY_AFTER_SECONDS);
        assert!(!mcpaql_core::error::looks_internal(&error.message), "{}", error.message);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_of_this_process_is_measured() {
        let size = resident().unwrap();
        assert!((1 << 20..1 << 40).contains(&size), "{size}");
    }
}
