//! Marks of programs: a variable in the environment of each program that says which process has started it. A program inherits the mark
//! to everything that it starts, so descendants are found even if they have left its process group and its session.
//!
//! Marks are read on Linux only, from `/proc`. A descendant that clears its environment, or runs as another user, is not found.
//!
//! What always holds: only marked processes are signalled, through a file descriptor that cannot mean another process.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// The variable with the mark.
pub(crate) const VARIABLE: &str = "MCPAQL_PROCESS";
/// Length of the identifier of a run.
pub(crate) const RUN_LENGTH: usize = 32;

/// The mark of one program: the run of this process, its process id and start time, and a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessMark(String);

/// Identifies this run of the program.
pub(crate) fn run_id() -> &'static str {
    static RUN: OnceLock<String> = OnceLock::new();
    RUN.get_or_init(|| Uuid::now_v7().simple().to_string())
}

/// The part of the marks that all programs of this process have.
pub(crate) fn of_this_process() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let pid = std::process::id();
        format!("{}.{pid}.{}.", run_id(), system::start_time(pid).unwrap_or_default())
    })
}

impl ProcessMark {
    /// Returns a new mark.
    pub(crate) fn new() -> ProcessMark {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ProcessMark(format!("{}{}.", of_this_process(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Kills everything with this mark. Blocks for a moment.
    pub(crate) fn kill(&self) {
        system::end(|mark| mark == self.0, Duration::ZERO);
    }
}

/// Ends all programs whose marks begin with this text: asks them first, and kills them after a grace period. Blocks until they are gone.
/// Returns how many are left.
#[cfg(target_os = "linux")]
pub(crate) fn end_all(prefix: &str, grace: Duration) -> usize {
    system::end(|mark| mark.starts_with(prefix), grace)
}

/// Ends the programs of a run whose process is gone. Blocks until they are gone. Returns how many are left.
pub(crate) fn end_orphans(run: &str, grace: Duration) -> usize {
    let is_orphan = |mark: &str| {
        let mut parts = mark.split('.');
        let is_of_run = parts.next() == Some(run);
        let owner = parts.next().and_then(|pid| pid.parse().ok());
        is_of_run && owner.is_none_or(|pid| system::start_time(pid).as_deref() != parts.next())
    };
    system::end(is_orphan, grace)
}

#[cfg(target_os = "linux")]
mod system {
    use super::VARIABLE;
    use rustix::fd::OwnedFd;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::time::{Duration, Instant};

    /// How long to wait until killed processes are gone.
    const KILL_TIMEOUT: Duration = Duration::from_secs(2);
    const POLL_INTERVAL: Duration = Duration::from_millis(10);

    /// The time when a process started, in the system's own unit.
    pub(super) fn start_time(pid: u32) -> Option<String> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program may contain spaces and parentheses; it ends with the last one.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(19).map(str::to_owned)
    }

    fn mark_of(pid: i32) -> Option<String> {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let variable = environment
            .split(|byte| *byte == 0)
            .find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))?;
        String::from_utf8(variable.to_vec()).ok()
    }

    /// Returns handles of the processes with a suitable mark.
    fn find(is_meant: &impl Fn(&str) -> bool) -> Vec<OwnedFd> {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let has_mark = |pid: i32| mark_of(pid).is_some_and(|mark| is_meant(&mark));
        pids.filter(|pid| *pid != own && has_mark(*pid))
            .filter_map(|pid| {
                let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
                // Only now it is certain that the handle means the process that was read.
                has_mark(pid).then_some(handle)
            })
            .collect()
    }

    fn signal(processes: &[OwnedFd], signal: Signal) {
        for process in processes {
            // It may be gone already.
            let _ = pidfd_send_signal(process, signal);
        }
    }

    /// Ends the processes with a suitable mark. Returns how many are left.
    pub(super) fn end(is_meant: impl Fn(&str) -> bool, grace: Duration) -> usize {
        let mut found = find(&is_meant);
        if found.is_empty() {
            return 0;
        }
        let started = Instant::now();
        if !grace.is_zero() {
            signal(&found, Signal::TERM);
            while !found.is_empty() && started.elapsed() < grace {
                std::thread::sleep(POLL_INTERVAL);
                found = find(&is_meant);
            }
        }
        // A process may start others until it is killed.
        while !found.is_empty() && started.elapsed() < grace + KILL_TIMEOUT {
            signal(&found, Signal::KILL);
            std::thread::sleep(POLL_INTERVAL);
            found = find(&is_meant);
        }
        found.len()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    pub(super) fn start_time(_pid: u32) -> Option<String> {
        None
    }

    pub(super) fn end(_is_meant: impl Fn(&str) -> bool, _grace: Duration) -> usize {
        0
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn sleeper(mark: &str) -> Child {
        // The shell ignores SIGTERM, and its child has left the session.
        let script = "trap '' TERM; setsid sleep 600 & wait";
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(VARIABLE, mark).stdin(Stdio::null()).stdout(Stdio::null());
        command.spawn().unwrap()
    }

    #[test]
    fn everything_with_a_mark_ends_and_nothing_else() {
        let (one, other) = (ProcessMark::new(), ProcessMark::new());
        let (mut ended, mut kept) = (sleeper(one.as_str()), sleeper(other.as_str()));
        one.kill();
        assert!(!ended.wait().unwrap().success());
        assert!(kept.try_wait().unwrap().is_none());
        assert_eq!(end_orphans(run_id(), Duration::ZERO), 0);
        assert!(kept.try_wait().unwrap().is_none(), "this process is alive, so its programs are no orphans");
        assert_eq!(end_all(other.as_str(), Duration::from_millis(50)), 0);
        assert!(!kept.wait().unwrap().success());
    }

    #[test]
    fn programs_of_a_process_that_is_gone_are_orphans() {
        let run = "0123456789abcdef0123456789abcdef";
        // The process id of this process, with another start time.
        let mut orphan = sleeper(&format!("{run}.{}.1.0.", std::process::id()));
        while !std::fs::read_to_string(format!("/proc/{}/cmdline", orphan.id())).unwrap().starts_with("sh") {
            std::thread::yield_now();
        }
        assert_eq!(end_orphans(run, Duration::from_millis(50)), 0);
        assert!(!orphan.wait().unwrap().success());
    }
}
