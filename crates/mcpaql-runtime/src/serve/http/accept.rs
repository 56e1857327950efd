//! Accepts connections and serves them, each within the limits.
//!
//! What always holds: a connection that exceeds a limit is closed, and the others continue. After `closed` is cancelled,
//! no connection is left.

use super::clients::{ClientAddress, ConnectionSlot, HttpClients, LimitScope};
use super::connection::{AnswerBody, ConnectionProblem, HttpConnection, UnsentTotal, WatchedIo};
use super::limits::HttpLimits;
use axum::Router;
use axum::http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The pause after the system could not accept a connection, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of refused clients that get an explanation at the same time; others are just disconnected.
const MAX_REFUSALS: usize = 64;
/// How long a refused client may take to read its refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
/// How often problems with connections are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum size of the headers of a request.
const MAX_HEADER_BYTES: u32 = 32 * 1024;
/// How many streams that a client has reset may wait for the server. A client that exceeds it is disconnected.
const MAX_RESET_STREAMS: usize = 20;
/// How many streams the server may reset because of errors of the client, before it disconnects the client.
const MAX_ERROR_RESET_STREAMS: usize = 128;

/// The connections of a server.
pub(super) struct HttpConnections {
    router: TowerToHyperService<Router>,
    builder: Builder<TokioExecutor>,
    clients: Arc<HttpClients>,
    limits: HttpLimits,
    unsent: UnsentTotal,
    tls: Option<watch::Receiver<Arc<ServerConfig>>>,
    /// No new requests are accepted.
    shutdown: CancellationToken,
    /// All connections are closed.
    closed: CancellationToken,
    tasks: TaskTracker,
    refusals: Arc<Semaphore>,
    logged: Mutex<Option<Instant>>,
}

/// What the connections of a server share with its routes.
pub(super) struct SharedLimits {
    pub(super) limits: HttpLimits,
    pub(super) clients: Arc<HttpClients>,
    pub(super) unsent: UnsentTotal,
}

impl HttpConnections {
    pub(super) fn new(
        router: Router,
        shared: &SharedLimits,
        tls: Option<watch::Receiver<Arc<ServerConfig>>>,
        shutdown: CancellationToken,
    ) -> Arc<HttpConnections> {
        let limits = shared.limits;
        let mut builder = Builder::new(TokioExecutor::new());
        // The connection is watched as a whole, so the library's own timeout would only make the idle timeout shorter.
        builder.http1().timer(TokioTimer::new()).header_read_timeout(None);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams)
            .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
            .max_local_error_reset_streams(MAX_ERROR_RESET_STREAMS)
            .max_header_list_size(MAX_HEADER_BYTES)
            .keep_alive_interval(limits.idle_timeout)
            .keep_alive_timeout(limits.write_timeout);
        Arc::new(HttpConnections {
            router: TowerToHyperService::new(router),
            builder,
            clients: Arc::clone(&shared.clients),
            limits,
            unsent: Arc::clone(&shared.unsent),
            tls,
            shutdown,
            closed: CancellationToken::new(),
            tasks: TaskTracker::new(),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            logged: Mutex::default(),
        })
    }

    /// Accepts connections until the shutdown.
    pub(super) async fn accept(self: &Arc<Self>, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                () = self.shutdown.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                // The client is gone already.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::ConnectionAborted
                            | ErrorKind::ConnectionReset
                            | ErrorKind::ConnectionRefused
                    ) =>
                {
                    continue;
                }
                Err(error) => {
                    if self.may_log() {
                        tracing::warn!("cannot accept a connection: {error}");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            // Small answers must not wait for delayed acknowledgements. If setting the option fails, they are just slower.
            let _ = stream.set_nodelay(true);
            self.end_when_dead(&stream);
            let address = ClientAddress::new(peer.ip());
            match self.clients.connect(address) {
                Ok(slot) => {
                    let server = Arc::clone(self);
                    self.tasks.spawn(async move { server.serve_client(stream, address, slot).await });
                }
                Err(scope) => self.refuse(stream, address, scope),
            }
        }
    }

    /// Completes when all connections have ended.
    pub(super) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Closes all connections.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    async fn serve_client(self: Arc<Self>, stream: TcpStream, address: ClientAddress, slot: ConnectionSlot) {
        let config = self.tls.as_ref().map(|config| Arc::clone(&config.borrow()));
        match config {
            None => self.serve(stream, address).await,
            Some(config) => {
                let handshake = timeout(self.limits.head_timeout, TlsAcceptor::from(config).accept(stream));
                let stream = tokio::select! {
                    stream = handshake => stream,
                    () = self.closed.cancelled() => return,
                };
                match stream {
                    Ok(Ok(stream)) => self.serve(stream, address).await,
                    Ok(Err(error)) => tracing::debug!(%address, "a client did not connect with TLS: {error}"),
                    Err(_) => tracing::debug!(%address, "a client took too long to connect with TLS"),
                }
            }
        }
        drop(slot);
    }

    async fn serve<T>(&self, stream: T, address: ClientAddress)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connection = HttpConnection::new(self.limits, Arc::clone(&self.unsent));
        let io = TokioIo::new(WatchedIo { inner: stream, connection: Arc::clone(&connection) });
        let router = self.router.clone();
        let watched = Arc::clone(&connection);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let running = watched.begin_request(request.version() == Version::HTTP_2);
            request.extensions_mut().insert(address);
            let answering = router.call(request);
            async move {
                let response = answering.await?;
                Ok::<_, Infallible>(response.map(|body| AnswerBody::new(body, running)))
            }
        });
        let mut serving = pin!(self.builder.serve_connection(io, service));
        let mut checks = interval(HttpConnection::check_interval(&self.limits));
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_ending = false;
        loop {
            tokio::select! {
                // An error of one connection concerns only its client.
                _ = serving.as_mut() => return,
                () = self.closed.cancelled() => return,
                () = self.shutdown.cancelled(), if !is_ending => {
                    is_ending = true;
                    serving.as_mut().graceful_shutdown();
                }
                _ = checks.tick() => match connection.problem() {
                    None => {}
                    // The client may still learn that the connection ends.
                    Some(ConnectionProblem::Idle) if !is_ending => {
                        is_ending = true;
                        serving.as_mut().graceful_shutdown();
                    }
                    Some(problem) => {
                        tracing::debug!(%address, ?problem, "a connection was closed");
                        return;
                    }
                }
            }
        }
    }

    /// Tells a client why it is not served.
    fn refuse(&self, mut stream: TcpStream, address: ClientAddress, scope: LimitScope) {
        let (status, problem) = match scope {
            LimitScope::Address => ("429 Too Many Requests", "Too many connections from this address"),
            LimitScope::Server => ("503 Service Unavailable", "The server has too many connections"),
        };
        if self.may_log() {
            tracing::warn!(%address, "{problem}: a connection was refused");
        }
        // A client of TLS does not understand plain text.
        let Some(permit) = Arc::clone(&self.refusals).try_acquire_owned().ok().filter(|_| self.tls.is_none())
        else {
            return;
        };
        let text = format!("{problem}; close one or try again later.\n");
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nretry-after: 5\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        self.tasks.spawn(async move {
            let explain = async {
                stream.write_all(answer.as_bytes()).await?;
                stream.shutdown().await?;
                // Closing a connection with unread bytes would discard the answer.
                let mut unread = [0; 1024];
                while stream.read(&mut unread).await? > 0 {}
                std::io::Result::Ok(())
            };
            // A client that is gone needs no explanation.
            let _ = timeout(REFUSAL_TIMEOUT, explain).await;
            drop(permit);
        });
    }

    /// Returns whether a problem with connections may be logged now.
    fn may_log(&self) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = logged.is_none_or(|before| before.elapsed() >= LOG_INTERVAL);
        if is_due {
            *logged = Some(Instant::now());
        }
        is_due
    }

    /// Lets the system end a connection whose client no longer confirms what it is sent. A stream of events has no other end if
    /// the machine of the client is gone.
    #[cfg(target_os = "linux")]
    fn end_when_dead(&self, stream: &TcpStream) {
        let patience = u32::try_from(self.limits.write_timeout.as_millis()).unwrap_or(u32::MAX);
        // Without the option, the system waits longer.
        let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, patience);
    }

    #[cfg(not(target_os = "linux"))]
    fn end_when_dead(&self, _stream: &TcpStream) {}
}
