//! Reads the log: line by line, also while processes write, and to verify it.

use super::OperatorLogError;
use super::checkpoints::{copy_path, read_key};
use super::folder::LogFolder;
use mcpaql_gate::log::{LogVerifier, VerifyReport};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Reads the log from its first record, and again what was added since.
#[derive(Debug)]
pub struct LogReader {
    folder: LogFolder,
    /// The file to read next, and the position in it.
    number: u64,
    position: u64,
}

impl LogReader {
    /// Opens the log in the operator's state folder. A log that does not exist is empty.
    #[must_use]
    pub fn open(folder: &Path) -> LogReader {
        LogReader { folder: LogFolder::in_state(folder), number: 0, position: 0 }
    }

    /// Passes every complete line that was not read before to a function, with its newline. Returns the number of lines.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read_new(&mut self, mut line: impl FnMut(&[u8])) -> Result<u64, OperatorLogError> {
        let mut count = 0;
        for number in self.folder.numbers()? {
            if number < self.number {
                continue;
            }
            let position = if number == self.number { self.position } else { 0 };
            let (end, lines) = read_lines(&self.folder.file(number), position, &mut line)?;
            (self.number, self.position) = (number, end);
            count += lines;
        }
        Ok(count)
    }
}

/// Passes the complete lines of a file after a position to a function. Returns the position after them, and their number.
fn read_lines(path: &Path, from: u64, line: &mut impl FnMut(&[u8])) -> Result<(u64, u64), OperatorLogError> {
    let failed = || OperatorLogError::file("read", path);
    let mut file = File::open(path).map_err(failed())?;
    file.seek(SeekFrom::Start(from)).map_err(failed())?;
    let (mut file, mut end, mut count, mut bytes) = (BufReader::new(file), from, 0, Vec::new());
    loop {
        bytes.clear();
        file.read_until(b'\n', &mut bytes).map_err(failed())?;
        if !bytes.ends_with(b"\n") {
            return Ok((end, count));
        }
        line(&bytes);
        end += bytes.len() as u64;
        count += 1;
    }
}

/// Returns the public key of the log in the operator's state folder, in hexadecimal; `None` if nothing was written.
///
/// # Errors
/// When the key cannot be read.
pub fn log_public_key(folder: &Path) -> Result<Option<String>, OperatorLogError> {
    Ok(read_key(&LogFolder::in_state(folder).key)?.map(|key| key.public()))
}

/// Verifies the log in the operator's state folder. `copies` are files with checkpoints that were kept elsewhere. `trusted` are public keys in
/// hexadecimal; if it is empty, the log's own key is trusted, so a log that was rewritten together with its key goes unnoticed.
///
/// # Errors
/// When a file cannot be read. What is wrong with the log is in the report.
pub fn verify_folder(
    folder: &Path,
    copies: &[PathBuf],
    trusted: &[String],
) -> Result<VerifyReport, OperatorLogError> {
    let files = LogFolder::in_state(folder);
    let mut keys = trusted.to_vec();
    if keys.is_empty() {
        keys.extend(log_public_key(folder)?);
    }
    let mut verifier = LogVerifier::new(keys);
    let mut lengths = Vec::new();
    if files.checkpoints().exists() || !copies.is_empty() || !files.numbers()?.is_empty() {
        // Nobody writes while the checkpoints and the lengths of the files are read, so they belong together. A copy that cannot be
        // locked has no writer.
        let _lock = files.lock().ok();
        let (own, copies) = (files.checkpoints(), copies.iter().map(|path| copy_path(path)));
        for path in own.exists().then_some(own).into_iter().chain(copies) {
            let bytes = fs::read(&path).map_err(OperatorLogError::file("read", &path))?;
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            lines.filter(|line| line.ends_with(b"\n")).for_each(|line| verifier.checkpoint(line));
        }
        for number in files.numbers()? {
            let path = files.file(number);
            let found = fs::metadata(&path).map_err(OperatorLogError::file("read", &path))?;
            lengths.push((path, found.len()));
        }
    }
    let newest = lengths.len();
    for (count, (path, length)) in (1..).zip(lengths) {
        let failed = || OperatorLogError::file("read", &path);
        let file = File::open(&path).map_err(failed())?;
        let (mut file, mut bytes) = (BufReader::new(file.take(length)), Vec::new());
        while file.read_until(b'\n', &mut bytes).map_err(failed())? > 0 {
            // A process has ended while it wrote the last line. The next writer removes it.
            if count < newest || bytes.ends_with(b"\n") {
                verifier.line(&bytes);
            }
            bytes.clear();
        }
    }
    Ok(verifier.finish())
}
