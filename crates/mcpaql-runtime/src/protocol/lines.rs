//! Lines of a byte stream, of which only a limited number of bytes is ever held.

use super::IdScan;
use std::io::BufRead;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What a line buffer keeps for the next line.
const KEPT_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads lines and holds at most `max` bytes of one. `read` may be dropped and called again without losing
/// anything.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    max: usize,
    line: Vec<u8>,
    /// Set while the rest of a line that is too long is skipped.
    skipped: Option<IdScan>,
}

/// A line that was read.
pub(crate) enum InputLine<'a> {
    /// Without its end, a byte order mark and white space around it.
    Whole(&'a [u8]),
    /// It was too long; what was found in it.
    TooLong(IdScan),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, max: usize) -> Self {
        LineReader { reader: BufReader::new(reader), max, line: Vec::new(), skipped: None }
    }

    /// Takes in a line up to its end or the end of input; false when there is nothing more.
    pub(crate) async fn read(&mut self) -> bool {
        loop {
            // The end of a stream that fails is its end.
            let available = self.reader.fill_buf().await.unwrap_or_default();
            if available.is_empty() {
                return !self.line.is_empty() || self.skipped.is_some();
            }
            // Reading from memory cannot fail, and the library looks at many bytes together.
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

    /// Hands the line that was read to `look` and makes room for the next.
    pub(crate) fn take<T>(&mut self, look: impl FnOnce(InputLine<'_>) -> T) -> T {
        if let Some(scan) = self.skipped.take() {
            return look(InputLine::TooLong(scan));
        }
        let text = self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line).trim_ascii();
        let looked = look(InputLine::Whole(text));
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
        looked
    }
}
