//! Messages on a byte stream, one per line. Every line that needs an answer gets one: a line that cannot be parsed is
//! answered here, and the connection continues with the next line.
//!
//! A line is parsed once; only an invalid line is parsed again. At most [`MAX_LINE_BYTES`] of a line are held in
//! memory.

use super::malformed;
use crate::protocol::{InputLine, LineReader};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite, Empty};

/// Maximum length of a line.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A transport over a byte stream. Dropping the future of `receive` loses no data.
pub(super) struct LineTransport<R, W: AsyncWrite> {
    reader: LineReader<R>,
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    sending_answer: Option<Sending>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        let writer = AsyncRwTransport::new_server(tokio::io::empty(), writer);
        LineTransport { reader: LineReader::new(reader, MAX_LINE_BYTES), writer, sending_answer: None }
    }

    /// Returns the line that was read, as a message or as the error to answer with.
    fn take_line(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, TxJsonRpcMessage<RoleServer>>> {
        self.reader.take(|line| match line {
            InputLine::TooLong(scan) => Some(Err(malformed::too_long(MAX_LINE_BYTES, scan.id()))),
            InputLine::Whole([]) => None,
            InputLine::Whole(text) => match serde_json::from_slice(text) {
                Ok(message) => match malformed::inexact_integer(text) {
                    Some(answer) => Some(Err(answer)),
                    None => Some(Ok(message)),
                },
                Err(_) => malformed::answer(text).map(Err),
            },
        })
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
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
            if let Some(sending) = &mut self.sending_answer {
                let sent = sending.await;
                self.sending_answer = None;
                sent.ok()?;
            }
            if !self.reader.read().await {
                return None;
            }
            match self.take_line() {
                Some(Ok(message)) => return Some(message),
                Some(Err(answer)) => self.sending_answer = Some(Box::pin(self.writer.send(answer))),
                None => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.close().await
    }
}
