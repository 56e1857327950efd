//! A small helper process that ends the programs of this process when it is gone, even after SIGKILL.
//!
//! The helper is this program itself, started with a variable in its environment and with a pipe as its standard input. The system closes
//! the pipe when this process ends, however it ends. Then the helper ends every program with a mark of this process and exits.
//!
//! What always holds: the helper is in a process group of its own, so a signal to the group of this process does not end it; it holds no
//! file and no connection of this process.

#[cfg(target_os = "linux")]
pub use linux::end_programs_with_this_process;

/// Ends the programs of this process when it is gone. Call this first in `main`: the helper process starts there, too, and does not come
/// back. On systems other than Linux this does nothing.
#[cfg(not(target_os = "linux"))]
pub fn end_programs_with_this_process() {}

#[cfg(not(target_os = "linux"))]
pub(super) fn start() {}

#[cfg(target_os = "linux")]
pub(super) use linux::start;

#[cfg(target_os = "linux")]
mod linux {
    use crate::process::{EXIT_GRACE, mark};
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The variable that makes this program a helper. Its value is the beginning of the marks of the programs to end.
    const HELPER: &str = "MCPAQL_WATCHED_PROCESS";

    static IS_ENABLED: AtomicBool = AtomicBool::new(false);

    /// Ends the programs of this process when it is gone. Call this first in `main`: the helper process starts there, too, and does not
    /// come back. On systems other than Linux this does nothing.
    pub fn end_programs_with_this_process() {
        match std::env::var(HELPER) {
            Ok(marks) => {
                watch(&marks);
                std::process::exit(0);
            }
            Err(_) => IS_ENABLED.store(true, Ordering::Relaxed),
        }
    }

    /// Waits for the end of the input, then ends the programs with these marks.
    fn watch(marks: &str) {
        // Nothing is ever sent.
        let _ = std::io::stdin().lock().read(&mut [0; 1]);
        if marks.len() > mark::RUN_LENGTH {
            mark::end_all(marks, EXIT_GRACE);
        }
    }

    /// Starts the helper, once, if this program is prepared for it.
    pub(in crate::process) fn start() {
        static STARTED: OnceLock<Option<Child>> = OnceLock::new();
        if IS_ENABLED.load(Ordering::Relaxed) {
            STARTED.get_or_init(|| match helper().spawn() {
                // The pipe stays open as long as this process runs.
                Ok(child) => Some(child),
                Err(error) => {
                    tracing::warn!(%error, "cannot start the helper that ends programs with the server");
                    None
                }
            });
        }
    }

    fn helper() -> Command {
        // The path of the program may be gone after an update.
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("mcpaql: ends programs with the server")
            .env_clear()
            .env(HELPER, mark::of_this_process())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0);
        command
    }
}
