//! One connection: what it does, and whether its client keeps it too long.
//!
//! What always holds:
//! - The bytes of an answer are counted from the moment the answer exists until its memory is free. They are not copied.
//! - The answer goes to the connection piece by piece, so a client that reads slowly makes visible progress.

use super::limits::HttpLimits;
use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::Instant;

/// Size of the pieces of an answer.
const PIECE_BYTES: usize = 64 * 1024;
/// The write timeout while the clients of the server leave too many answers unread.
const PRESSURE_TIMEOUT: Duration = Duration::from_secs(1);

/// The bytes of answers that the clients of a server have not read.
pub(super) type UnsentTotal = Arc<watch::Sender<usize>>;

/// A connection.
#[derive(Debug)]
pub(super) struct HttpConnection {
    activity: Mutex<Activity>,
    limits: HttpLimits,
    total: UnsentTotal,
}

#[derive(Debug)]
struct Activity {
    /// Running requests, streams of events included.
    requests: usize,
    is_http2: bool,
    had_request: bool,
    /// Since when no request is running.
    idle_since: Instant,
    /// Since when the head of a request is incomplete.
    head_since: Option<Instant>,
    /// Bytes of answers whose memory is not free yet.
    unsent: usize,
    /// When the client last read a part of an answer.
    progress: Instant,
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionProblem {
    SlowHead,
    Idle,
    NotReading,
}

impl HttpConnection {
    pub(super) fn new(limits: HttpLimits, total: UnsentTotal) -> Arc<HttpConnection> {
        let now = Instant::now();
        let activity = Activity {
            requests: 0,
            is_http2: false,
            had_request: false,
            idle_since: now,
            head_since: None,
            unsent: 0,
            progress: now,
        };
        Arc::new(HttpConnection { activity: Mutex::new(activity), limits, total })
    }

    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often a connection should be checked.
    pub(super) fn check_interval(limits: &HttpLimits) -> Duration {
        let shortest = limits.head_timeout.min(limits.idle_timeout).min(limits.write_timeout);
        (shortest / 4).clamp(Duration::from_millis(5), Duration::from_secs(1))
    }

    /// Returns why the connection must be closed, if it must.
    pub(super) fn problem(&self) -> Option<ConnectionProblem> {
        let has_pressure = *self.total.borrow() > self.limits.unsent_bytes;
        let activity = self.activity();
        let patience = match has_pressure {
            true => self.limits.write_timeout.min(PRESSURE_TIMEOUT),
            false => self.limits.write_timeout,
        };
        if activity.unsent > 0 && activity.progress.elapsed() >= patience {
            return Some(ConnectionProblem::NotReading);
        }
        if activity.requests > 0 {
            return None;
        }
        let head = self.limits.head_timeout;
        if activity.head_since.is_some_and(|since| since.elapsed() >= head) {
            return Some(ConnectionProblem::SlowHead);
        }
        let idle = if activity.had_request { self.limits.idle_timeout } else { head };
        (activity.idle_since.elapsed() >= idle).then_some(ConnectionProblem::Idle)
    }

    /// Counts a running request until the result is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, is_http2: bool) -> RunningRequest {
        let mut activity = self.activity();
        activity.requests += 1;
        activity.had_request = true;
        activity.is_http2 |= is_http2;
        activity.head_since = None;
        RunningRequest(Arc::clone(self))
    }

    fn record_read(&self) {
        let mut activity = self.activity();
        // Clients of HTTP/2 also send bytes that belong to no request.
        if activity.requests == 0 && !activity.is_http2 {
            activity.head_since.get_or_insert_with(Instant::now);
        }
    }

    /// In HTTP/2, written bytes may belong to another request or to none.
    fn record_written(&self) {
        let mut activity = self.activity();
        if activity.unsent > 0 && !activity.is_http2 {
            activity.progress = Instant::now();
        }
    }

    fn record_piece(&self) {
        self.activity().progress = Instant::now();
    }
}

/// A running request.
pub(super) struct RunningRequest(Arc<HttpConnection>);

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.requests = activity.requests.saturating_sub(1);
        activity.idle_since = Instant::now();
    }
}

/// A part of an answer, counted until its memory is free.
struct UnsentBytes {
    data: Bytes,
    connection: Arc<HttpConnection>,
}

impl UnsentBytes {
    fn new(data: Bytes, connection: Arc<HttpConnection>) -> UnsentBytes {
        {
            let mut activity = connection.activity();
            if activity.unsent == 0 {
                activity.progress = Instant::now();
            }
            activity.unsent = activity.unsent.saturating_add(data.len());
        }
        connection.total.send_modify(|total| *total = total.saturating_add(data.len()));
        UnsentBytes { data, connection }
    }
}

impl AsRef<[u8]> for UnsentBytes {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for UnsentBytes {
    fn drop(&mut self) {
        let bytes = self.data.len();
        {
            let mut activity = self.connection.activity();
            activity.unsent = activity.unsent.saturating_sub(bytes);
        }
        self.connection.total.send_modify(|total| *total = total.saturating_sub(bytes));
    }
}

/// The body of an answer, in pieces.
pub(super) struct AnswerBody {
    inner: Body,
    rest: Bytes,
    running: RunningRequest,
}

impl AnswerBody {
    pub(super) fn new(inner: Body, running: RunningRequest) -> AnswerBody {
        AnswerBody { inner, rest: Bytes::new(), running }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let body = &mut *self;
        if body.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut body.inner).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                other => return Poll::Ready(other),
            };
            match frame.into_data() {
                Ok(data) => {
                    body.rest = Bytes::from_owner(UnsentBytes::new(data, Arc::clone(&body.running.0)));
                }
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        body.running.0.record_piece();
        let length = body.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(body.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let inner = self.inner.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower().saturating_add(rest));
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}

/// The stream of a connection. It records when bytes arrive and leave.
pub(super) struct WatchedIo<T> {
    pub(super) inner: T,
    pub(super) connection: Arc<HttpConnection>,
}

impl<T> WatchedIo<T> {
    fn written(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.connection.record_written();
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WatchedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.connection.record_read();
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WatchedIo<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, data);
        self.written(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, data);
        self.written(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
