//! Messages on a byte stream, one per line. Every line that needs an answer gets one: a line that cannot be parsed is
//! answered here, and the connection continues with the next line.
//!
//! What always holds:
//! - A line is parsed once; only an invalid line is parsed again. At most [`MAX_LINE_BYTES`] of a line are held in
//!   memory.
//! - A line with more than [`MAX_VALUES`] values is refused before any value is built, because a value takes many times the
//!   memory of its text.
//! - A message to the client is kept as the bytes of its line until it is written, and [`LineTransport::unsent`] counts
//!   these bytes.

use super::malformed::{self, MAX_VALUES};
use crate::protocol::{IdScan, InputLine, LineReader};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, watch};

/// Maximum length of a line.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

pub(super) type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A transport over a byte stream. Dropping the future of `receive` loses no data.
pub(super) struct LineTransport<R, W> {
    reader: LineReader<R>,
    /// `None` after the transport was closed.
    writer: Arc<Mutex<Option<W>>>,
    unsent: Arc<watch::Sender<usize>>,
    sending_answer: Option<Sending>,
    line_bytes: usize,
}

/// Counts the bytes of a line until it is written or dropped.
struct UnsentLine {
    line: Vec<u8>,
    unsent: Arc<watch::Sender<usize>>,
}

impl Drop for UnsentLine {
    fn drop(&mut self) {
        self.unsent.send_modify(|bytes| *bytes = bytes.saturating_sub(self.line.len()));
    }
}

/// What a line of the client contains.
enum ReadLine {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// The client gets this answer.
    Refused(Box<TxJsonRpcMessage<RoleServer>>),
    /// Needs no answer.
    Nothing,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        LineTransport {
            reader: LineReader::new(reader, MAX_LINE_BYTES),
            writer: Arc::new(Mutex::new(Some(writer))),
            unsent: Arc::default(),
            sending_answer: None,
            line_bytes: 0,
        }
    }

    /// The bytes of all messages that are waiting to be written.
    pub(super) fn unsent(&self) -> watch::Receiver<usize> {
        self.unsent.subscribe()
    }

    /// The length of the line of the last message.
    pub(super) fn line_bytes(&self) -> usize {
        self.line_bytes
    }

    /// Answers the client before the next message is read.
    pub(super) fn answer(&mut self, answer: &impl serde::Serialize) {
        self.sending_answer = Some(self.send_line(answer));
    }

    /// Returns the future that writes a message.
    pub(super) fn send_line(&mut self, message: &impl serde::Serialize) -> Sending {
        let line = serde_json::to_vec(message).map(|mut line| {
            line.push(b'\n');
            self.unsent.send_modify(|bytes| *bytes = bytes.saturating_add(line.len()));
            UnsentLine { line, unsent: Arc::clone(&self.unsent) }
        });
        let writer = Arc::clone(&self.writer);
        Box::pin(async move {
            let unsent = line?;
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&unsent.line).await?;
            writer.flush().await
        })
    }

    pub(super) async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending_answer {
                let sent = sending.await;
                self.sending_answer = None;
                sent.ok()?;
            }
            if !self.reader.read().await {
                return None;
            }
            match self.take_line() {
                ReadLine::Message(message) => return Some(*message),
                ReadLine::Refused(answer) => self.answer(&*answer),
                ReadLine::Nothing => {}
            }
        }
    }

    pub(super) async fn close(&mut self) {
        drop(self.writer.lock().await.take());
    }

    /// Returns the line that was read.
    fn take_line(&mut self) -> ReadLine {
        let (read, bytes) = self.reader.take(|line| match line {
            InputLine::TooLong(scan) => (too_large(scan), 0),
            InputLine::Whole([]) => (ReadLine::Nothing, 0),
            InputLine::Whole(text) => (read_line(text), text.len()),
        });
        self.line_bytes = bytes;
        read
    }
}

fn read_line(text: &[u8]) -> ReadLine {
    if let Some(scan) = malformed::too_many_values(text) {
        return too_large(scan);
    }
    let refused = |answer| ReadLine::Refused(Box::new(answer));
    match serde_json::from_slice(text) {
        Ok(message) => match malformed::inexact_integer(text) {
            Some(answer) => refused(answer),
            None => ReadLine::Message(Box::new(message)),
        },
        Err(_) => malformed::answer(text).map_or(ReadLine::Nothing, refused),
    }
}

/// A request is refused. The client's answer to a question becomes an error, so that the question does not wait forever.
fn too_large(scan: IdScan) -> ReadLine {
    let is_request = scan.has_method();
    let problem = match scan.values() > MAX_VALUES {
        true => malformed::too_many(scan.id()),
        false => malformed::too_long(MAX_LINE_BYTES, scan.id()),
    };
    match problem {
        TxJsonRpcMessage::<RoleServer>::Error(error) if !is_request && error.id.is_some() => {
            ReadLine::Message(Box::new(RxJsonRpcMessage::<RoleServer>::Error(error)))
        }
        problem => ReadLine::Refused(Box::new(problem)),
    }
}
