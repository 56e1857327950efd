//! Messages on a byte stream, one on each line. Every line that asks for an answer gets one: what cannot be read is
//! answered here, and the conversation goes on with the next line.
//!
//! A line is parsed once; only one that fails is looked at again. No more than [`MAX_LINE_BYTES`] of it are ever held.

use super::malformed;
use crate::protocol::{InputLine, LineReader};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite, Empty};

/// The longest line that is read.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// One end of a byte stream. `receive` may be dropped and called again without losing anything.
pub(super) struct LineTransport<R, W: AsyncWrite> {
    reader: LineReader<R>,
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    answering: Option<Sending>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        let writer = AsyncRwTransport::new_server(tokio::io::empty(), writer);
        LineTransport { reader: LineReader::new(reader, MAX_LINE_BYTES), writer, answering: None }
    }

    /// The line that was read, as a message or as the answer to something that is none.
    fn take_line(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, TxJsonRpcMessage<RoleServer>>> {
        self.reader.take(|line| match line {
            InputLine::TooLong(scan) => Some(Err(malformed::too_long(MAX_LINE_BYTES, scan.id()))),
            InputLine::Whole([]) => None,
            InputLine::Whole(text) => match serde_json::from_slice(text) {
                Ok(message) => Some(Ok(message)),
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
