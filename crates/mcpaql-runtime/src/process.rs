//! One process with its children: started in a group of its own, fed, read within bounds, and never left behind.
//!
//! Whoever drops a running `Process` (a cancelled call, a timeout, too much output) ends the whole group: a polite signal first,
//! so that programs can remove their lock files, the final one as soon as the leader is gone or the grace is over.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long a program may take to end after the polite signal, and its descendants to let go of the output after its end.
pub(crate) const EXIT_GRACE: Duration = Duration::from_millis(500);
/// How much of standard error is kept: its end.
pub(crate) const STDERR_TAIL_BYTES: usize = 2048;

/// What to run.
#[derive(Debug)]
pub struct ProcessSpec<'a> {
    /// Its name or path.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [String],
    /// All variables that it sees.
    pub env: &'a [(String, String)],
    /// Where it runs; here where nothing is said.
    pub cwd: Option<&'a Path>,
    /// Nothing means closed.
    pub stdin: Option<Vec<u8>>,
    /// Maximum bytes of standard output.
    pub max_output: usize,
    /// How long it may take.
    pub timeout: Duration,
}

/// What came of it.
#[derive(Debug)]
pub struct ProcessOutput {
    /// How it ended.
    pub ending: ProcessEnd,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// How a process ended.
#[derive(Debug)]
pub enum ProcessEnd {
    /// By itself.
    Exited(ExitStatus),
    /// By itself, but a descendant kept the output open and was stopped.
    Held(ExitStatus),
    /// It wrote too much and was stopped.
    TooLarge,
    /// It took too long and was stopped.
    TimedOut,
}

/// Runs the job to its end.
///
/// # Errors
/// The program cannot be started, or its streams fail.
pub async fn run(job: ProcessSpec<'_>) -> io::Result<ProcessOutput> {
    let stdin = if job.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut process = Process::start(job.program, job.args, job.env, job.cwd, stdin)?;
    let (mut stdout, mut stderr) = (Vec::with_capacity(4096), Vec::with_capacity(STDERR_TAIL_BYTES));
    let follow = process.follow(job.stdin, job.max_output, &mut stdout, &mut stderr);
    let ending = match timeout(job.timeout, follow).await {
        Ok(ending) => ending?,
        Err(_) => ProcessEnd::TimedOut,
    };
    Ok(ProcessOutput { ending, stdout, stderr })
}

/// A running process and its group.
pub(crate) struct Process {
    child: Option<Child>,
    group: ProcessGroup,
}

/// The process's ends of its streams, where they are pipes.
pub(crate) type Streams = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

impl Process {
    /// Starts a program with these variables alone.
    pub(crate) fn start(
        program: &str,
        args: &[String],
        env: &[(String, String)],
        cwd: Option<&Path>,
        stdin: Stdio,
    ) -> io::Result<Process> {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
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
        Ok(Process { child: Some(child), group })
    }

    /// Hands out the streams; a second time there are none.
    pub(crate) fn streams(&mut self) -> Streams {
        match self.child.as_mut() {
            Some(child) => (child.stdin.take(), child.stdout.take(), child.stderr.take()),
            None => (None, None, None),
        }
    }

    /// Completes when the leader has ended by itself; may be asked again.
    pub(crate) async fn exited(&mut self) {
        if let Some(child) = self.child.as_mut() {
            let _ = child.wait().await;
        }
    }

    /// Lets the leader end by itself for so long, then ends it; its descendants go with it.
    pub(crate) async fn end(mut self, patience: Duration) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        let mut ended = timeout(patience, child.wait()).await;
        if ended.is_err() {
            self.group.terminate();
            ended = timeout(EXIT_GRACE, child.wait()).await;
        }
        self.group.kill();
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

    /// Feeds and reads until the process has ended and its output is closed, whichever way that comes about.
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
        let (mut fed, mut done) = (false, false);
        let status = loop {
            tokio::select! {
                biased;
                outcome = &mut read, if !done => match outcome {
                    Ok(_) => done = true,
                    Err(OutputError::TooLarge) => return Ok(ProcessEnd::TooLarge),
                    Err(OutputError::Failed(error)) => return Err(error),
                },
                () = &mut feed, if !fed => fed = true,
                status = child.wait() => break status?,
            }
        };
        // The leader is gone and reaped: from here on nothing is to be killed unless somebody holds the output.
        self.child = None;
        if done {
            return Ok(ProcessEnd::Exited(status));
        }
        match timeout(EXIT_GRACE, &mut read).await {
            Ok(Ok(_)) => Ok(ProcessEnd::Exited(status)),
            Ok(Err(OutputError::TooLarge)) => {
                self.group.kill();
                Ok(ProcessEnd::TooLarge)
            }
            Ok(Err(OutputError::Failed(error))) => Err(error),
            Err(_) => {
                // The group's number is still its own: a member that holds the output is alive, or has left the group.
                self.group.kill();
                Ok(ProcessEnd::Held(status))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        self.group.terminate();
        let mut doomed = TerminatingProcess { child, group: self.group };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = timeout(EXIT_GRACE, doomed.child.wait()).await;
                drop(doomed);
            });
        }
    }
}

/// A process that has been asked to end. Its drop is final, even when the runtime stops in the middle.
struct TerminatingProcess {
    child: Child,
    group: ProcessGroup,
}

impl Drop for TerminatingProcess {
    fn drop(&mut self) {
        self.group.kill();
        let _ = self.child.start_kill();
    }
}

/// The process group of a child; on systems without groups, nothing.
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
            // A group that is already gone is what we want.
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

/// Writes and closes. A program that does not read what it is given is within its rights.
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
        // Cut now and then, not with every read.
        if out.len() > 8 * STDERR_TAIL_BYTES {
            out.drain(..out.len() - STDERR_TAIL_BYTES);
        }
    }
    Ok(())
}
