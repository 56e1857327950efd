//! MCP servers that are local programs: started without a shell in their own process group, with messages over their
//! standard streams.
//!
//! What always holds: a program gets the inherited variables and those that the document names, nothing else; an
//! output line that is not a message, or too long, is skipped and never held completely; when a program ends, or is
//! no longer needed, its whole group ends.

use super::calls::Calls;
use super::error::{UpstreamError, UpstreamSetupError};
use crate::environment::Environment;
use crate::process::{EXIT_GRACE, Process};
use crate::protocol::{InputLine, LineReader};
use crate::secret::{Mask, is_credential};
use crate::target::program::{self, StartError, file_name};
use crate::target::upstream_text::quotable;
use mcpaql_core::adapter::McpCommand;
use mcpaql_core::template::{self, EnvTemplate};
use mcpaql_document::load::without_credentials;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Generous allowance for the parts of a message around the content of an answer.
const MESSAGE_OVERHEAD_BYTES: usize = 64 * 1024;
/// Maximum length of a line of standard error.
const MAX_STDERR_LINE_BYTES: usize = 16 * 1024;
/// Number of lines of standard error that are kept.
const TAIL_LINES: usize = 8;
/// Programs that run the package in their arguments.
const LAUNCHERS: [&str; 4] = ["npx", "uvx", "bunx", "pnpx"];

/// The program of a document.
pub(super) struct Program {
    command: Vec<EnvTemplate>,
    cwd: Option<EnvTemplate>,
    env: Vec<String>,
    set_env: Vec<(String, EnvTemplate)>,
    environment: Environment,
    name: String,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and variables may be secrets.
        f.debug_struct("Program").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A program with the values of its variables.
struct ResolvedProgram {
    argv: Vec<String>,
    cwd: Option<PathBuf>,
    env: Vec<(String, String)>,
    masks: ProgramMasks,
}

/// The secrets that a program was given.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgramMasks {
    /// For its errors: every value that it does not inherit.
    pub(super) errors: Mask,
    /// For its answers and its tools: credentials. Paths and addresses are often what a server is about.
    pub(super) answers: Mask,
}

impl ProgramMasks {
    fn add(&mut self, name: &str, value: &str) {
        if program::is_secret(name, value) {
            self.errors.add(value);
            if is_credential(name, value) {
                self.answers.add(value);
            }
        }
    }
}

impl Program {
    pub(super) fn new(
        command: &McpCommand,
        environment: &Environment,
    ) -> Result<Program, UpstreamSetupError> {
        let parse = |text: &String| {
            EnvTemplate::parse(text).ok_or_else(|| UpstreamSetupError::Reference { text: text.clone() })
        };
        let mut set_env = Vec::with_capacity(command.set_env.len());
        for (name, value) in &command.set_env {
            if !template::is_variable_name(name) {
                return Err(UpstreamSetupError::Variable { name: name.clone() });
            }
            set_env.push((name.clone(), parse(value)?));
        }
        Ok(Program {
            command: command.command.iter().map(parse).collect::<Result<_, _>>()?,
            cwd: command.cwd.as_ref().map(parse).transpose()?,
            env: command.env.clone(),
            set_env,
            environment: Arc::clone(environment),
            name: name(&command.command),
        })
    }

    /// The name to use before the server has sent its own.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn resolve(&self) -> Result<ResolvedProgram, String> {
        let hidden = RefCell::new(ProgramMasks::default());
        let lookup = |name: &str| {
            let value = (self.environment)(name);
            if let Some(value) = &value {
                hidden.borrow_mut().add(name, value);
            }
            value
        };
        let fill = |template: &EnvTemplate| {
            let unset = |name| format!("needs the environment variable {name}, which is not set");
            template.fill(lookup).map_err(unset)
        };
        let argv = self.command.iter().map(fill).collect::<Result<Vec<_>, _>>()?;
        let cwd = self.cwd.as_ref().map(fill).transpose()?.map(PathBuf::from);
        let set = self.set_env.iter().map(|(name, template)| Ok((name.clone(), fill(template)?)));
        let set: Vec<(String, String)> = set.collect::<Result<_, String>>()?;
        set.iter().for_each(|(name, value)| hidden.borrow_mut().add(name, value));
        let env = program::variables(&self.env, set, lookup);
        Ok(ResolvedProgram { argv, cwd, env, masks: hidden.into_inner() })
    }

    /// Starts the program. Its messages go to `calls`, and messages from `outgoing` go to the program. Returns the
    /// task that keeps it running, and the masks of the secrets that it was given.
    pub(super) fn start(
        &self,
        calls: &Arc<Calls>,
        outgoing: mpsc::Receiver<String>,
        limit: usize,
        closing: CancellationToken,
    ) -> Result<(JoinHandle<()>, ProgramMasks), UpstreamError> {
        let failed = |reason: String| UpstreamError::Unavailable {
            server: self.name.clone(),
            reason,
            cause: None,
            retry_after: None,
        };
        let ResolvedProgram { argv, cwd, env, masks } = self.resolve().map_err(failed)?;
        let (program, args) = argv.split_first().ok_or_else(|| failed("has no program".to_owned()))?;
        let mut process = Process::start(program, args, &env, cwd.as_deref(), Stdio::piped())
            .map_err(|error| not_started(&self.name, cannot_start(program, &error, cwd.as_deref())))?;
        let (stdin, stdout, stderr) = process.streams();
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(failed("could not be connected to its standard streams".to_owned()));
        };
        let keeper = ProcessKeeper {
            process,
            calls: Arc::clone(calls),
            writer: tokio::spawn(write(stdin, outgoing)),
            tail: Arc::default(),
            closing,
        };
        let listener =
            tokio::spawn(listen(stderr, Arc::clone(&keeper.tail), masks.errors.clone(), self.name.clone()));
        let reader = LineReader::new(stdout, limit.saturating_add(MESSAGE_OVERHEAD_BYTES));
        Ok((tokio::spawn(keeper.run(reader, listener)), masks))
    }
}

fn not_started(server: &str, reason: String) -> UpstreamError {
    let cause = Some(format!("the MCP server '{server}' {reason}"));
    UpstreamError::Unavailable { server: server.to_owned(), reason, cause, retry_after: None }
}

/// The name for messages: the package that a launcher runs, or the program.
fn name(command: &[String]) -> String {
    let program = command.first().map(|program| file_name(program)).unwrap_or_default();
    let package = command.iter().skip(1).find(|argument| !argument.starts_with('-'));
    match package.filter(|package| LAUNCHERS.contains(&program) && !package.contains('$')) {
        Some(package) => package.clone(),
        None => program.to_owned(),
    }
}

fn cannot_start(program: &str, error: &io::Error, cwd: Option<&Path>) -> String {
    let name = file_name(program);
    match StartError::of(error, cwd) {
        StartError::NoDirectory => "cannot be started: its working directory does not exist".to_owned(),
        StartError::NotInstalled => format!("cannot be started: the program '{name}' is not installed"),
        StartError::NotAllowed => {
            format!("cannot be started: no permission to run the program '{name}'")
        }
        StartError::ArgumentsTooLong | StartError::Other => {
            format!("cannot be started: {}", error.kind())
        }
    }
}

/// The last lines of standard error, without secrets.
#[derive(Default)]
struct StderrTail(Mutex<VecDeque<String>>);

impl StderrTail {
    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The last line that reveals nothing about the machine.
    fn last(&self) -> Option<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().rev().find_map(|line| quotable(line))
    }
}

/// Keeps the process running until it is closed.
struct ProcessKeeper {
    process: Process,
    calls: Arc<Calls>,
    writer: JoinHandle<()>,
    tail: Arc<StderrTail>,
    closing: CancellationToken,
}

impl ProcessKeeper {
    async fn run(mut self, stdout: LineReader<impl AsyncRead + Unpin>, mut listener: JoinHandle<()>) {
        let mut closed = false;
        {
            let reading = read(stdout, &self.calls);
            tokio::pin!(reading);
            tokio::select! {
                () = &mut reading => {}
                // A descendant may hold the output open, but the last output of the leader must still be read.
                () = self.process.exited() => drop(timeout(EXIT_GRACE, &mut reading).await),
                // The program has closed its input, so no call can reach it.
                _ = &mut self.writer => drop(timeout(EXIT_GRACE, &mut reading).await),
                () = self.closing.cancelled() => closed = true,
            }
        }
        // Closing its input asks a server to end.
        self.writer.abort();
        let server = self.calls.server();
        if closed {
            let reason = "was closed".to_owned();
            self.calls.end(UpstreamError::Unavailable { server, reason, cause: None, retry_after: None });
            self.process.end(EXIT_GRACE).await;
            listener.abort();
            return;
        }
        let status = self.process.end(EXIT_GRACE).await;
        let _ = timeout(EXIT_GRACE, &mut listener).await;
        listener.abort();
        let mut reason = exit_reason(status);
        if let Some(line) = self.tail.last() {
            reason = format!("{reason}: {line}");
        }
        tracing::debug!(%server, %reason, "MCP server process ended");
        self.calls.end(UpstreamError::Unavailable { server, reason, cause: None, retry_after: None });
    }
}

fn exit_reason(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status, status.code())) {
        Some((_, Some(code))) => format!("exited with status {code}"),
        #[cfg(unix)]
        Some((status, None)) => match std::os::unix::process::ExitStatusExt::signal(&status) {
            Some(signal) => format!("was ended by signal {signal}"),
            None => "exited".to_owned(),
        },
        _ => "exited".to_owned(),
    }
}

async fn read(mut stdout: LineReader<impl AsyncRead + Unpin>, calls: &Calls) {
    while stdout.read().await {
        stdout.take(|line| match line {
            InputLine::Whole([]) => {}
            InputLine::Whole(text) => calls.handle_incoming(text, None),
            InputLine::TooLong(scan) => calls.handle_too_long(&scan, None),
        });
    }
}

async fn write(mut stdin: ChildStdin, mut outgoing: mpsc::Receiver<String>) {
    while let Some(line) = outgoing.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn listen(stderr: impl AsyncRead + Unpin, tail: Arc<StderrTail>, mask: Mask, server: String) {
    let mut lines = LineReader::new(stderr, MAX_STDERR_LINE_BYTES);
    while lines.read().await {
        let line = lines.take(|line| match line {
            InputLine::Whole(text) => {
                let text = String::from_utf8_lossy(text);
                // A text that looks like a credential is hidden even if it is unknown.
                without_credentials("", &mask.apply(&text)).into_owned()
            }
            InputLine::TooLong(_) => String::new(),
        });
        if !line.is_empty() {
            tracing::debug!(%server, %line, "standard error");
            tail.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_after_its_package() {
        for (command, expected) in [
            (
                vec!["npx", "-y", "@modelcontextprotocol/server-everything"],
                "@modelcontextprotocol/server-everything",
            ),
            (vec!["/usr/bin/uvx", "mcp-server-git", "--repository", "."], "mcp-server-git"),
            (vec!["/opt/bin/server", "--token", "x"], "server"),
            (vec!["npx", "${env:PACKAGE}"], "npx"),
            (vec!["npx"], "npx"),
        ] {
            let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
            assert_eq!(name(&command), expected);
        }
    }

    #[test]
    fn values_of_variables_are_masked_except_inherited_ones() {
        let environment: Environment = Arc::new(|name| match name {
            "TOKEN" => Some("s3cret-token".to_owned()),
            "HOME" => Some("/home/me".to_owned()),
            _ => None,
        });
        let command = McpCommand {
            command: vec!["x".to_owned(), "${env:HOME}/a".to_owned()],
            cwd: None,
            env: vec!["MISSING".to_owned()],
            set_env: [("KEY".to_owned(), "Bearer ${env:TOKEN}".to_owned())].into_iter().collect(),
        };
        let filled = Program::new(&command, &environment).unwrap().resolve().unwrap();
        assert_eq!(filled.argv, ["x", "/home/me/a"]);
        let names: Vec<&str> = filled.env.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["HOME", "KEY"]);
        assert_eq!(filled.masks.errors.apply("s3cret-token in /home/me"), "[redacted] in /home/me");
        assert_eq!(filled.masks.answers.apply("Bearer s3cret-token"), "[redacted]", "the fixed variable");

        let command = McpCommand { command: vec!["${env:MISSING}".to_owned()], ..command };
        let missing = Program::new(&command, &environment).unwrap().resolve().err().unwrap();
        assert!(missing.contains("MISSING"), "{missing}");
        let command = McpCommand { command: vec!["${HOME}".to_owned()], ..command };
        assert!(matches!(Program::new(&command, &environment), Err(UpstreamSetupError::Reference { .. })));
    }
}
