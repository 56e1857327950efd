//! Messages on a byte stream, one on each line. Every line that asks for an answer gets one: what cannot be read is
//! answered here, and the conversation goes on with the next line.
//!
//! A line is parsed once; only one that fails is looked at again. No more than [`MAX_LINE_BYTES`] of it are ever held.

use super::malformed::{self, IdScan};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io::{self, BufRead};
use std::pin::Pin;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty};

/// The longest line that is read.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// What a line buffer keeps for the next line.
const KEPT_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Reads lines of which no more than so many bytes are ever held. `read` may be dropped and called again without losing
/// anything.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    max: usize,
    line: Vec<u8>,
    /// Set while the rest of a line that is too long is skipped.
    skipped: Option<IdScan>,
}

/// A line that was read.
pub(crate) enum Line<'a> {
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
    pub(crate) fn take<T>(&mut self, look: impl FnOnce(Line<'_>) -> T) -> T {
        if let Some(scan) = self.skipped.take() {
            return look(Line::TooLong(scan));
        }
        let text = self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line).trim_ascii();
        let looked = look(Line::Whole(text));
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
        looked
    }
}

/// One end of a byte stream. `receive` may be dropped and called again without losing anything.
pub(super) struct Lines<R, W: AsyncWrite> {
    reader: LineReader<R>,
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    answering: Option<Sending>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        let writer = AsyncRwTransport::new_server(tokio::io::empty(), writer);
        Lines { reader: LineReader::new(reader, MAX_LINE_BYTES), writer, answering: None }
    }

    /// The line that was read, as a message or as the answer to something that is none.
    fn take_line(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, TxJsonRpcMessage<RoleServer>>> {
        self.reader.take(|line| match line {
            Line::TooLong(scan) => Some(Err(malformed::too_long(MAX_LINE_BYTES, scan.found))),
            Line::Whole([]) => None,
            Line::Whole(text) => match serde_json::from_slice(text) {
                Ok(message) => Some(Ok(message)),
                Err(_) => malformed::answer(text).map(Err),
            },
        })
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.writer.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                let sent = answering.await;
                self.answering = None;
                sent.ok()?;
            }
            if !self.reader.read().await {
                return None;
            }
            match self.take_line() {
                Some(Ok(message)) => return Some(message),
                Some(Err(answer)) => self.answering = Some(Box::pin(self.writer.send(answer))),
                None => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.close().await
    }
}
