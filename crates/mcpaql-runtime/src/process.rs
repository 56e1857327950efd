//! Child processes. Each runs in its own process group, with limits for time and output, and is always ended.
//!
//! A descendant that has left the group is found by its mark (Linux), when a program is ended before it exits by itself, and when the
//! server ends: see [`end_programs_with_this_process`].
//!
//! Dropping a running `Process` (a cancelled call, a timeout, too much output) ends the whole group. It gets SIGTERM
//! first, so that programs can remove their lock files, and SIGKILL once the leader is gone or the grace period is
//! over.

mod mark;
mod watchdog;

pub(crate) use mark::{RUN_LENGTH, end_orphans, run_id};
pub use watchdog::end_programs_with_this_process;

use mark::ProcessMark;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long a program may take to end after SIGTERM, and how long its descendants may keep the output open after the
/// program has ended.
pub(crate) const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Maximum bytes of standard error that are kept, counted from the end.
pub(crate) const STDERR_TAIL_BYTES: usize = 2048;

/// A program to run.
#[derive(Debug)]
pub struct ProcessSpec<'a> {
    /// Name or path of the program.
    pub program: &'a str,
    /// The arguments.
    pub args: &'a [String],
    /// All environment variables of the program.
    pub env: &'a [(String, String)],
    /// The working directory; by default that of this process.
    pub cwd: Option<&'a Path>,
    /// Standard input; `None` means closed.
    pub stdin: Option<Vec<u8>>,
    /// Maximum bytes of standard output.
    pub max_output: usize,
    /// The time limit.
    pub timeout: Duration,
}

/// The output of a program.
#[derive(Debug)]
pub struct ProcessOutput {
    /// How the program ended.
    pub ending: ProcessEnd,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// The end of standard error.
    pub stderr: Vec<u8>,
}

/// How a program ended.
#[derive(Debug)]
pub enum ProcessEnd {
    /// It exited.
    Exited(ExitStatus),
    /// It exited, but a descendant kept the output open and was killed.
    Held(ExitStatus),
    /// It wrote too much and was killed.
    TooLarge,
    /// It exceeded the time limit and was killed.
    TimedOut,
}

/// Runs a program to its end.
///
/// # Errors
/// When the program cannot be started, or its streams fail.
pub async fn run(spec: ProcessSpec<'_>) -> io::Result<ProcessOutput> {
    let stdin = if spec.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut process = Process::start(spec.program, spec.args, spec.env, spec.cwd, stdin)?;
    let (mut stdout, mut stderr) = (Vec::with_capacity(4096), Vec::with_capacity(STDERR_TAIL_BYTES));
    let follow = process.follow(spec.stdin, spec.max_output, &mut stdout, &mut stderr);
    let ending = match timeout(spec.timeout, follow).await {
        Ok(ending) => ending?,
        Err(_) => ProcessEnd::TimedOut,
    };
    Ok(ProcessOutput { ending, stdout, stderr })
}

/// A running process and its group.
pub(crate) struct Process {
    child: Option<Child>,
    group: ProcessGroup,
    mark: ProcessMark,
}

/// The program's standard streams, if they are pipes.
pub(crate) type Streams = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl Process {
    /// Starts a program with exactly these environment variables.
    pub(crate) fn start(
        program: &str,
        args: &[String],
        env: &[(String, String)],
        cwd: Option<&Path>,
        stdin: Stdio,
    ) -> io::Result<Process> {
        watchdog::start();
        let mark = ProcessMark::new();
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
            .env(mark::VARIABLE, mark.as_str())
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(cwd) = cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn()?;
        let group = ProcessGroup::of(&child);
        Ok(Process { child: Some(child), group, mark })
    }

    /// Takes the streams; a second call returns none.
    pub(crate) fn streams(&mut self) -> Streams {
        match self.child.as_mut() {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        }
    }

    /// Waits until the leader has exited by itself. Can be called again.
    pub(crate) async fn exited(&mut self) {
        if let Some(child) = self.child.as_mut() {
            let _ = child.wait().await;
        }
    }

    /// Waits until the leader exits, then terminates it. Its descendants are killed.
    pub(crate) async fn end(mut self, wait: Duration) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        let mut ended = timeout(wait, child.wait()).await;
        if ended.is_err() {
            self.group.terminate();
            ended = timeout(EXIT_GRACE, child.wait()).await;
        }
        self.group.kill();
        kill_descendants(&self.mark).await;
        let status = match ended {
            Ok(status) => status,
            Err(_) => {
                let _ = child.start_kill();
                child.wait().await
            }
        };
        self.child = None;
        status.ok()
    }

    /// Writes the input and reads the output until the process has exited and its output is closed.
    async fn follow(
        &mut self,
        input: Option<Vec<u8>>,
        max_output: usize,
        stdout: &mut Vec<u8>,
        stderr: &mut Vec<u8>,
    ) -> io::Result<ProcessEnd> {
        let (stdin, out, err) = self.streams();
        let Some(child) = self.child.as_mut() else { return Err(io::ErrorKind::NotFound.into()) };
        let feed = feed(stdin, input);
        let read = async { tokio::try_join!(read_capped(out, max_output, stdout), read_tail(err, stderr)) };
        tokio::pin!(feed, read);
        let (mut fed, mut read_done) = (false, false);
        let status = loop {
            tokio::select! {
                biased;
                outcome = &mut read, if !read_done => match outcome {
                    Ok(_) => read_done = true,
                    Err(OutputError::TooLarge) => return Ok(ProcessEnd::TooLarge),
                    Err(OutputError::Failed(error)) => return Err(error),
                },
                () = &mut feed, if !fed => fed = true,
                status = child.wait() => break status?,
            }
        };
        // The leader has exited: only a descendant that holds the output is killed from here on.
        self.child = None;
        if read_done {
            return Ok(ProcessEnd::Exited(status));
        }
        match timeout(EXIT_GRACE, &mut read).await {
            Ok(Ok(_)) => Ok(ProcessEnd::Exited(status)),
            Ok(Err(OutputError::TooLarge)) => {
                self.group.kill();
                kill_descendants(&self.mark).await;
                Ok(ProcessEnd::TooLarge)
            }
            Ok(Err(OutputError::Failed(error))) => Err(error),
            Err(_) => {
                // The group id is still valid: a member that holds the output is alive, or has left the group.
                self.group.kill();
                kill_descendants(&self.mark).await;
                Ok(ProcessEnd::Held(status))
            }
        }
    }
}

/// Kills descendants that have left the group.
async fn kill_descendants(mark: &ProcessMark) {
    let mark = mark.clone();
    let _ = tokio::task::spawn_blocking(move || mark.kill()).await;
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        self.group.terminate();
        let mut terminating = TerminatingProcess { child, group: self.group, mark: self.mark.clone() };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = timeout(EXIT_GRACE, terminating.child.wait()).await;
                // Finding descendants blocks.
                let _ = tokio::task::spawn_blocking(move || drop(terminating)).await;
            });
        }
    }
}

/// A process that got SIGTERM. It is killed on drop, even if the runtime stops.
struct TerminatingProcess {
    child: Child,
    group: ProcessGroup,
    mark: ProcessMark,
}

impl Drop for TerminatingProcess {
    fn drop(&mut self) {
        self.group.kill();
        let _ = self.child.start_kill();
        self.mark.kill();
    }
}

/// The process group of a child; empty on systems without groups.
#[derive(Clone, Copy)]
struct ProcessGroup {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    fn of(child: &Child) -> ProcessGroup {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        ProcessGroup { id: id.and_then(rustix::process::Pid::from_raw) }
    }

    fn terminate(self) {
        self.signal(rustix::process::Signal::TERM);
    }

    fn kill(self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(self, signal: rustix::process::Signal) {
        if let Some(id) = self.id {
            // The group may already be gone.
            let _ = rustix::process::kill_process_group(id, signal);
        }
    }
}

#[cfg(not(unix))]
impl ProcessGroup {
    fn of(_child: &Child) -> ProcessGroup {
        ProcessGroup {}
    }

    fn terminate(self) {}

    fn kill(self) {}
}

/// Writes the input and closes the stream. Errors are ignored, because a program need not read its input.
async fn feed(stdin: Option<ChildStdin>, input: Option<Vec<u8>>) {
    if let (Some(mut stdin), Some(input)) = (stdin, input) {
        let _ = stdin.write_all(&input).await;
        let _ = stdin.shutdown().await;
    }
}

enum OutputError {
    TooLarge,
    Failed(io::Error),
}

async fn read_capped(
    pipe: Option<impl AsyncRead + Unpin>,
    max: usize,
    out: &mut Vec<u8>,
) -> Result<(), OutputError> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    while pipe.read_buf(out).await.map_err(OutputError::Failed)? > 0 {
        if out.len() > max {
            return Err(OutputError::TooLarge);
        }
    }
    Ok(())
}

async fn read_tail(pipe: Option<impl AsyncRead + Unpin>, out: &mut Vec<u8>) -> Result<(), OutputError> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    while pipe.read_buf(out).await.map_err(OutputError::Failed)? > 0 {
        // Truncate only now and then.
        if out.len() > 8 * STDERR_TAIL_BYTES {
            out.drain(..out.len() - STDERR_TAIL_BYTES);
        }
    }
    Ok(())
}
