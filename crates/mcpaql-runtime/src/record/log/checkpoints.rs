//! Signed checkpoints: beside the log, and where the operator keeps copies that nobody can change unnoticed.

use super::OperatorLogError;
use super::folder::{LogFolder, last_line, private};
use crate::state::random_bytes;
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::fingerprint::{from_hex, to_hex};
use mcpaql_gate::log::{Checkpoint, CheckpointKind, LogKey};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The file with the copies, if the operator names a folder.
const COPY_FILE: &str = "mcpaql.checkpoints";
/// Beyond this size, most of the checkpoints beside the log are removed. The newest ones cover the same records.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
const KEPT_LINES: usize = 500;
/// How often the operator's command runs.
const COMMAND_INTERVAL: Duration = Duration::from_secs(60);
/// How long the command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Writes checkpoints.
#[derive(Debug)]
pub(super) struct Checkpoints {
    file: PathBuf,
    copy: Option<PathBuf>,
    command: Vec<String>,
    key: Option<LogKey>,
    /// The newest line that the command has not received.
    unsent: Option<String>,
    last_run: Option<Instant>,
    running: Option<(Child, Instant)>,
}

impl Checkpoints {
    pub(super) fn new(folder: &LogFolder, config: &LogConfig) -> Checkpoints {
        Checkpoints {
            file: folder.checkpoints(),
            copy: config.checkpoint_file.as_ref().map(|copy| copy_path(Path::new(copy))),
            command: config.checkpoint_command.clone(),
            key: None,
            unsent: None,
            last_run: None,
            running: None,
        }
    }

    /// Reads the key, and creates it first if needed. The caller holds the lock.
    pub(super) fn load_key(&mut self, folder: &LogFolder) -> Result<(), OperatorLogError> {
        if self.key.is_none() {
            self.key = Some(match read_key(&folder.key)? {
                Some(key) => key,
                None => create_key(&folder.key).map_err(OperatorLogError::file("create", &folder.key))?,
            });
        }
        Ok(())
    }

    /// Writes a checkpoint for records that are on disk. The records count, so a failure is only reported.
    pub(super) fn reached(&mut self, kind: CheckpointKind, seq: u64, hash: &str, time: &str) {
        let Some(line) = self.sign(kind, seq, hash, time) else { return };
        if let Err(error) = self.write_own(&line, false) {
            tracing::error!(%error, "checkpoint of the log not written");
        }
        self.copy(line);
    }

    /// Writes the checkpoint that says where the log starts from now on. It is on disk when this returns.
    pub(super) fn start(&mut self, seq: u64, hash: &str, time: &str) -> Result<(), OperatorLogError> {
        let Some(line) = self.sign(CheckpointKind::Start, seq, hash, time) else { return Ok(()) };
        self.write_own(&line, true).map_err(OperatorLogError::file("write", &self.file))?;
        self.copy(line);
        Ok(())
    }

    /// Sends the last checkpoint to the operator's command, and waits for it.
    pub(super) fn finish(&mut self) {
        while self.is_command_running() {
            thread::sleep(Duration::from_millis(5));
        }
        if self.unsent.is_some() {
            self.last_run = None;
            self.run_command();
        }
        while self.is_command_running() {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn sign(&self, kind: CheckpointKind, seq: u64, hash: &str, time: &str) -> Option<String> {
        let checkpoint = Checkpoint { kind, seq, hash: hash.to_owned(), time: time.to_owned() };
        Some(checkpoint.sign(self.key.as_ref()?))
    }

    fn write_own(&self, line: &str, is_durable: bool) -> io::Result<()> {
        if fs::metadata(&self.file).is_ok_and(|found| found.len() > MAX_FILE_BYTES) {
            self.shorten()?;
        }
        append_line(&self.file, line, is_durable)
    }

    /// Keeps the newest checkpoints, and those that say where the log starts.
    fn shorten(&self) -> io::Result<()> {
        let text = fs::read_to_string(&self.file)?;
        let lines: Vec<&str> = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
        let (old, new) = lines.split_at(lines.len().saturating_sub(KEPT_LINES));
        let starts = old.iter().filter(|line| line.contains("\"kind\":\"start\""));
        let kept: String = starts.chain(new).copied().collect();
        replace(&self.file, kept.as_bytes())
    }

    fn copy(&mut self, line: String) {
        if let Some(copy) = &self.copy
            && let Err(error) = append_line(copy, &line, false)
        {
            tracing::error!(file = %copy.display(), %error, "checkpoint of the log not copied");
        }
        if !self.command.is_empty() {
            self.unsent = Some(line);
            self.run_command();
        }
    }

    /// Runs the operator's command with the newest checkpoint, unless it ran just before.
    fn run_command(&mut self) {
        if self.is_command_running() || self.last_run.is_some_and(|last| last.elapsed() < COMMAND_INTERVAL) {
            return;
        }
        let (Some(line), [program, arguments @ ..]) = (self.unsent.take(), self.command.as_slice()) else {
            return;
        };
        self.last_run = Some(Instant::now());
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(mut child) => {
                // The pipe holds a whole line, so this does not wait for the program.
                if let Some(mut input) = child.stdin.take() {
                    let _ = input.write_all(line.as_bytes());
                }
                self.running = Some((child, Instant::now()));
            }
            Err(error) => tracing::error!(program, %error, "checkpoint command of the log not started"),
        }
    }

    fn is_command_running(&mut self) -> bool {
        let Some((child, started)) = &mut self.running else { return false };
        match child.try_wait() {
            Ok(None) if started.elapsed() < COMMAND_TIMEOUT => return true,
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                tracing::error!("checkpoint command of the log took too long");
            }
            Ok(Some(status)) if status.success() => {}
            Ok(Some(status)) => tracing::error!(%status, "checkpoint command of the log failed"),
            Err(error) => tracing::error!(%error, "checkpoint command of the log failed"),
        }
        self.running = None;
        false
    }
}

/// Returns the file with the copies of checkpoints, in the file or folder that the operator names.
pub(super) fn copy_path(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(COPY_FILE) } else { path.to_owned() }
}

/// Returns the key of a log; `None` if it has none.
pub(super) fn read_key(path: &Path) -> Result<Option<LogKey>, OperatorLogError> {
    match fs::read_to_string(path) {
        Ok(text) => match from_hex(text.trim_end()) {
            Some(seed) => Ok(Some(LogKey::from_seed(seed))),
            None => Err(OperatorLogError::Key { path: path.to_owned() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(OperatorLogError::Key { path: path.to_owned() })
        }
        Err(error) => Err(OperatorLogError::file("read", path)(error)),
    }
}

fn create_key(path: &Path) -> io::Result<LogKey> {
    let seed = random_bytes()?;
    replace(path, format!("{}\n", to_hex(&seed)).as_bytes())?;
    Ok(LogKey::from_seed(seed))
}

/// Writes a whole file, or leaves the old one.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file: File = private().write(true).create(true).truncate(true).open(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

/// Appends a line to a file, after removing an incomplete one that a process left when it ended.
fn append_line(path: &Path, line: &str, is_durable: bool) -> io::Result<()> {
    let mut file: File = private().read(true).append(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    if length > 0 {
        let mut last = [0];
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            let (end, _) = last_line(&mut file, 0, length)?;
            file.set_len(end)?;
        }
    }
    file.write_all(line.as_bytes())?;
    if is_durable { file.sync_all() } else { Ok(()) }
}
