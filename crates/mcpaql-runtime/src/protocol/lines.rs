//! Reads lines of a byte stream, and holds only a limited number of bytes in memory.

use super::IdScan;
use std::io::BufRead;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Maximum capacity that the line buffer keeps for the next line.
const KEPT_CAPACITY: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads lines and holds at most `max` bytes of one. Dropping the future of `read` loses no data.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    max: usize,
    line: Vec<u8>,
    /// Set while the rest of a too long line is skipped.
    skipped: Option<IdScan>,
}

/// A line that was read.
pub(crate) enum InputLine<'a> {
    /// A whole line, without its end, byte order mark and surrounding white space.
    Whole(&'a [u8]),
    /// A line that was too long, with the id found in it.
    TooLong(IdScan),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, max: usize) -> Self {
        LineReader { reader: BufReader::new(reader), max, line: Vec::new(), skipped: None }
    }

    /// Reads up to the end of a line or of the input; false at the end of input.
    pub(crate) async fn read(&mut self) -> bool {
        loop {
            // A stream that fails counts as ended.
            let available = self.reader.fill_buf().await.unwrap_or_default();
            if available.is_empty() {
                return !self.line.is_empty() || self.skipped.is_some();
            }
            // Reading from memory cannot fail, and `skip_until` searches many bytes at once.
            let mut unread = available;
            let taken = unread.skip_until(b'\n').unwrap_or(available.len());
            let (part, _) = available.split_at(taken);
            let (part, is_end) = part.strip_suffix(b"\n").map_or((part, false), |part| (part, true));
            if self.skipped.is_none() && self.line.len() + part.len() > self.max {
                let mut scan = IdScan::default();
                scan.feed(&self.line);
                self.line = Vec::new();
                self.skipped = Some(scan);
            }
            match &mut self.skipped {
                Some(scan) => scan.feed(part),
                None => self.line.extend_from_slice(part),
            }
            self.reader.consume(taken);
            if is_end {
                return true;
            }
        }
    }

    /// Passes the line to `handle` and makes room for the next one.
    pub(crate) fn take<T>(&mut self, handle: impl FnOnce(InputLine<'_>) -> T) -> T {
        if let Some(scan) = self.skipped.take() {
            return handle(InputLine::TooLong(scan));
        }
        let text = self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line).trim_ascii();
        let result = handle(InputLine::Whole(text));
        self.line.clear();
        self.line.shrink_to(KEPT_CAPACITY);
        result
    }
}
