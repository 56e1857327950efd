//! The files of the log: names, permissions, the lock, and the last line.

use super::OperatorLogError;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The folder of the log, in the operator's state folder.
const FOLDER: &str = "log";
const LOCK: &str = "lock";
const CHECKPOINTS: &str = "checkpoints.jsonl";
/// In the state folder, so that a copy of the log does not contain it.
const KEY: &str = "log.key";
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The first read from the end of a file. Most lines are shorter.
const TAIL_BYTES: u64 = 64 * 1024;

/// The paths of the log.
#[derive(Debug, Clone)]
pub(super) struct LogFolder {
    path: PathBuf,
    pub(super) key: PathBuf,
}

/// A lock that all writers of a log respect; it ends when it is dropped.
#[derive(Debug)]
pub(super) struct LogLock(File);

impl Drop for LogLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl LogFolder {
    pub(super) fn in_state(folder: &Path) -> LogFolder {
        LogFolder { path: folder.join(FOLDER), key: folder.join(KEY) }
    }

    pub(super) fn checkpoints(&self) -> PathBuf {
        self.path.join(CHECKPOINTS)
    }

    /// The path of a file of the log. Numbers start at 1.
    pub(super) fn file(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:06}.jsonl"))
    }

    /// Creates the folder, for this user only.
    pub(super) fn create(&self) -> Result<(), OperatorLogError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path).map_err(OperatorLogError::file("create", &self.path))
    }

    /// Waits for the lock. The file is opened again each time, because somebody may have moved the folder away.
    pub(super) fn lock(&self) -> Result<LogLock, OperatorLogError> {
        let path = self.path.join(LOCK);
        let file = private().append(true).create(true).open(&path);
        let file = file.map_err(OperatorLogError::file("open", &path))?;
        let (started, mut pause) = (Instant::now(), Duration::from_micros(100));
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(LogLock(file)),
                Err(TryLockError::Error(source)) => {
                    return Err(OperatorLogError::file("lock", &path)(source));
                }
                Err(TryLockError::WouldBlock) if started.elapsed() >= LOCK_TIMEOUT => {
                    return Err(OperatorLogError::Locked { path });
                }
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(5));
                }
            }
        }
    }

    /// The numbers of the files, in ascending order.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, OperatorLogError> {
        let failed = || OperatorLogError::file("read", &self.path);
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed()(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed())?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Makes new names in the folder durable.
    pub(super) fn sync(&self) -> Result<(), OperatorLogError> {
        if cfg!(unix) {
            let synced = File::open(&self.path).and_then(|folder| folder.sync_all());
            synced.map_err(OperatorLogError::file("write", &self.path))?;
        }
        Ok(())
    }
}

/// Options for files that only this user can read.
pub(super) fn private() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns the last complete line between two positions of a file, with its newline, and the position after it.
pub(super) fn last_line(file: &mut File, from: u64, to: u64) -> io::Result<(u64, Option<Vec<u8>>)> {
    let mut size = TAIL_BYTES;
    loop {
        let start = to.saturating_sub(size).max(from);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.by_ref().take(to.saturating_sub(start)).read_to_end(&mut bytes)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map(|newline| newline + 1);
        bytes.truncate(end.unwrap_or_default());
        if let Some(end) = end {
            let before = bytes.iter().rev().skip(1).position(|byte| *byte == b'\n');
            if before.is_some() || start == from {
                let line = before.map_or(0, |length| end - 1 - length);
                return Ok((start + end as u64, Some(bytes.split_off(line))));
            }
        } else if start == from {
            return Ok((from, None));
        }
        size = size.saturating_mul(4);
    }
}

/// Returns the first line of a file, without its newline; `None` if it has no complete line.
pub(super) fn first_line(path: &Path) -> io::Result<Option<String>> {
    use std::io::BufRead;
    let mut line = String::new();
    io::BufReader::new(File::open(path)?).read_line(&mut line)?;
    Ok(line.strip_suffix('\n').map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_last_complete_line_is_found_whatever_is_around_it() {
        let long = "x".repeat(200_000);
        let rows: [(String, u64, u64, Option<String>); 8] = [
            (String::new(), 0, 0, None),
            ("partial".into(), 0, 0, None),
            ("a\n".into(), 0, 2, Some("a\n".into())),
            ("a\nbc\n".into(), 0, 5, Some("bc\n".into())),
            ("a\nbc\npart".into(), 0, 5, Some("bc\n".into())),
            ("a\nbc\npart".into(), 5, 5, None),
            (format!("a\n{long}\n{long}"), 0, 200_003, Some(format!("{long}\n"))),
            (format!("{long}\n"), 0, 200_001, Some(format!("{long}\n"))),
        ];
        for (text, from, end, expected) in rows {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let (found, line) = last_line(&mut file, from, text.len() as u64).unwrap();
            assert_eq!((found, line), (end, expected.map(String::into_bytes)), "{:.20}", text);
        }
    }
}
