//! The chain of records: appends under the lock, starts new files, deletes old ones.

use super::OperatorLogError;
use super::checkpoints::Checkpoints;
use super::folder::{LogFolder, first_line, last_line, private};
use crate::state::{Clock, timestamp};
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::log::{CheckpointKind, GENESIS, LogRecord, RecordKind, seal, seq_and_hash};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

const DEFAULT_ROTATE_BYTES: u64 = 64 * 1024 * 1024;
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// Characters of a time in RFC 3339 up to the seconds. Such times in UTC sort by age.
const SECONDS_LENGTH: usize = 19;

/// The log of one process: where it ends, as far as this process knows.
#[derive(Debug)]
pub(super) struct LogChain {
    folder: LogFolder,
    config: LogConfig,
    clock: Clock,
    checkpoints: Checkpoints,
    /// Where the log ended when this process wrote last; `None` to look again.
    end: Option<LogEnd>,
}

/// Where the log ends.
#[derive(Debug, Clone)]
struct LogEnd {
    /// The number of the newest file; 0 if there is none.
    number: u64,
    /// The length of that file.
    length: u64,
    /// The number and the hash of the last record.
    seq: u64,
    hash: String,
}

impl LogChain {
    pub(super) fn new(folder: &Path, config: &LogConfig, clock: Clock) -> LogChain {
        let folder = LogFolder::in_state(folder);
        let checkpoints = Checkpoints::new(&folder, config);
        LogChain { folder, config: config.clone(), clock, checkpoints, end: None }
    }

    /// Deletes what is older than the operator wants to keep, if anything is.
    pub(super) fn prune(&mut self) -> Result<(), OperatorLogError> {
        let has_files = self.config.keep_days.is_some() && !self.folder.numbers()?.is_empty();
        if has_files { self.append(&[]) } else { Ok(()) }
    }

    /// Appends records, and returns when they are on disk. After an error the log is as it was.
    pub(super) fn append(&mut self, records: &[Map<String, Value>]) -> Result<(), OperatorLogError> {
        self.folder.create()?;
        let lock = self.folder.lock()?;
        self.checkpoints.load_key(&self.folder)?;
        let before = self.find_end()?;
        // Until the write succeeds, nobody knows where the file ends.
        self.end = None;
        let mut end = before.clone();
        let mut lines = String::new();
        let starts_file = self.is_full(&end, records)?;
        if starts_file {
            lines += &self.start_file(&mut end);
        }
        let deleted = self.delete_old(&end)?;
        for record in deleted.iter().chain(records) {
            lines += &append_line(&mut end, record.clone());
        }
        if lines.is_empty() {
            self.end = Some(end);
            return Ok(());
        }
        self.write(&end, starts_file, lines.as_bytes())?;
        end.length += lines.len() as u64;
        self.checkpoints.reached(CheckpointKind::Reached, end.seq, &end.hash, &self.now());
        self.end = Some(end);
        drop(lock);
        Ok(())
    }

    /// Sends the last checkpoint to where the operator wants it.
    pub(super) fn finish(&mut self) {
        self.checkpoints.finish();
    }

    fn now(&self) -> String {
        timestamp(self.clock.now_ms().div_euclid(1000))
    }

    /// Returns the time this long ago, in the form of records, up to the seconds.
    fn time_before(&self, seconds: u64) -> String {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let text = timestamp(self.clock.now_ms().div_euclid(1000).saturating_sub(seconds).max(0));
        text.chars().take(SECONDS_LENGTH).collect()
    }

    /// Returns where the log ends, and cuts off an incomplete line: the process that wrote it has ended, and it was never acknowledged.
    fn find_end(&self) -> Result<LogEnd, OperatorLogError> {
        if let Some(known) = &self.end
            && known.number > 0
            && let Ok(found) = fs::metadata(self.folder.file(known.number))
            && !self.folder.file(known.number + 1).exists()
        {
            if found.len() == known.length {
                return Ok(known.clone());
            }
            if found.len() > known.length {
                let since = self.end_of(known.number, known.length)?;
                return Ok(since.unwrap_or_else(|| known.clone()));
            }
        }
        let numbers = self.folder.numbers()?;
        let newest = numbers.last().copied().unwrap_or_default();
        let mut end = LogEnd { number: newest, length: 0, seq: 0, hash: GENESIS.to_owned() };
        // A process may have ended between creating a file and writing to it.
        for number in numbers.into_iter().rev() {
            if let Some(found) = self.end_of(number, 0)? {
                end.length = if number == newest { found.length } else { 0 };
                (end.seq, end.hash) = (found.seq, found.hash);
                break;
            }
        }
        Ok(end)
    }

    /// Returns the end of one file, if it has a complete line after a position. Cuts off what follows.
    fn end_of(&self, number: u64, from: u64) -> Result<Option<LogEnd>, OperatorLogError> {
        let path = self.folder.file(number);
        let failed = |action| OperatorLogError::file(action, &path);
        let mut file = private().read(true).append(true).open(&path).map_err(failed("open"))?;
        let length = file.metadata().map_err(failed("read"))?.len();
        let (complete, line) = last_line(&mut file, from, length).map_err(failed("read"))?;
        if complete < length {
            tracing::warn!(file = %path.display(), bytes = length - complete, "incomplete line of the log removed");
            file.set_len(complete).map_err(failed("write"))?;
        }
        let Some(line) = line else { return Ok(None) };
        let found = std::str::from_utf8(&line).ok().and_then(seq_and_hash);
        let (seq, hash) = found.ok_or_else(|| OperatorLogError::Damaged { path: path.clone() })?;
        Ok(Some(LogEnd { number, length: complete, seq, hash }))
    }

    /// Whether the next records need a new file: there is none, or it would be too large, or it is so old that it could not be deleted in
    /// time.
    fn is_full(&self, end: &LogEnd, records: &[Map<String, Value>]) -> Result<bool, OperatorLogError> {
        if end.number == 0 {
            return Ok(!records.is_empty());
        }
        if end.length == 0 {
            return Ok(false);
        }
        if end.length >= self.config.rotate_bytes.unwrap_or(DEFAULT_ROTATE_BYTES).max(1) {
            return Ok(true);
        }
        let Some(days) = self.config.keep_days else { return Ok(false) };
        let oldest = self.time_before((days.saturating_mul(DAY_SECONDS) / 12).max(DAY_SECONDS));
        Ok(self.first_time(end.number)?.is_some_and(|time| time < oldest))
    }

    /// Returns the time of the first record of a file, up to the seconds.
    fn first_time(&self, number: u64) -> Result<Option<String>, OperatorLogError> {
        let path = self.folder.file(number);
        let line = first_line(&path).map_err(OperatorLogError::file("read", &path))?;
        let record = line.and_then(|line| serde_json::from_str::<Value>(&line).ok());
        let time = record.as_ref().and_then(|record| record.get("time")).and_then(Value::as_str);
        Ok(time.map(|time| time.chars().take(SECONDS_LENGTH).collect()))
    }

    /// Moves the end to a new file, and returns its first line. The very first file needs none.
    fn start_file(&self, end: &mut LogEnd) -> String {
        let before = end.number;
        (end.number, end.length) = (before + 1, 0);
        if before == 0 {
            return String::new();
        }
        let mut record = LogRecord::new(RecordKind::Rotation, self.now());
        record.details.insert("file".to_owned(), end.number.into());
        record.details.insert("after".to_owned(), json!({"file": before, "seq": end.seq, "hash": end.hash}));
        append_line(end, record.into_map())
    }

    /// Deletes the files whose records are all too old, and returns the record that says so. First a signed checkpoint says where the log starts
    /// from then on.
    fn delete_old(&mut self, end: &LogEnd) -> Result<Option<Map<String, Value>>, OperatorLogError> {
        let Some(days) = self.config.keep_days else { return Ok(None) };
        let oldest = self.time_before(days.saturating_mul(DAY_SECONDS));
        let numbers = self.folder.numbers()?;
        let mut old = Vec::new();
        for pair in numbers.windows(2) {
            let [number, next] = pair else { continue };
            // All records of a file are older than the first one of the next file.
            match self.first_time(*next)? {
                Some(time) if time < oldest && *number < end.number => old.push(*number),
                _ => break,
            }
        }
        let mut start = None;
        // One by one, so that the log has a signed start whenever the process ends.
        for number in &old {
            let Some(end_of_old) = self.end_of(*number, 0)? else { continue };
            self.checkpoints.start(end_of_old.seq, &end_of_old.hash, &self.now())?;
            let path = self.folder.file(*number);
            fs::remove_file(&path).map_err(OperatorLogError::file("delete", &path))?;
            start = Some(end_of_old);
        }
        let Some(start) = start else { return Ok(None) };
        let mut record = LogRecord::new(RecordKind::Retention, self.now());
        record.details.insert("files".to_owned(), old.into());
        record.details.insert("up_to".to_owned(), json!({"seq": start.seq, "hash": start.hash}));
        Ok(Some(record.into_map()))
    }

    /// Writes lines to the newest file and to the disk, or leaves it as it was.
    fn write(&self, end: &LogEnd, is_new: bool, lines: &[u8]) -> Result<(), OperatorLogError> {
        let path = self.folder.file(end.number);
        let failed = || OperatorLogError::file("write", &path);
        let file = private().append(true).create(is_new).open(&path);
        let mut file: File = file.map_err(failed())?;
        if is_new {
            self.folder.sync()?;
        }
        let written = file.write_all(lines).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // What was not acknowledged must not stay. If this fails, too, the next writer cuts off an incomplete line.
            let _ = file.set_len(end.length);
            return Err(failed()(error));
        }
        Ok(())
    }
}

/// Seals a record as the line after the end, which moves behind it.
fn append_line(end: &mut LogEnd, record: Map<String, Value>) -> String {
    let sealed = seal(record, end.seq + 1, &end.hash);
    (end.seq, end.hash) = (sealed.seq, sealed.hash);
    sealed.line
}
