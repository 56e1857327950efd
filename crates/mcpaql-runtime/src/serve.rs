//! Runs a server over standard input and output, over any byte stream, or over HTTP.
//!
//! ```no_run
//! use mcpaql_runtime::mcp::ServerLimits;
//! use mcpaql_runtime::prelude::*;
//! use mcpaql_runtime::serve;
//! use std::sync::Arc;
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
//! let gateway = Arc::new(Gateway::new(vec![clock.open(&AdapterSettings::default(), None).await?])?);
//! let shutdown = CancellationToken::new();
//! # #[cfg(feature = "http")] {
//! let options = serve::HttpOptions::new(([127, 0, 0, 1], 8080).into());
//! tokio::spawn(serve::serve_http(Arc::clone(&gateway), options, shutdown.clone(), |address| println!("{address}")));
//! # }
//! serve::serve_stdio(gateway, ServerLimits::default(), shutdown.clone()).await?;
//! shutdown.cancel();
//! # Ok(())
//! # }
//! ```
//!
//! Signals that would end the process because a file is too large are the program's business: see
//! [`survive_full_files`].
//!
//! All stop in the same way: no new requests are accepted, running calls may finish within the grace period, and the
//! rest is dropped.

#[cfg(feature = "http")]
mod approvals;
mod client;
#[cfg(feature = "http")]
mod http;

use crate::mcp::{ServerLimits, StreamError};
use crate::service::Service;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "http")]
pub use approvals::{ApprovalPage, OnDecision};
#[cfg(feature = "http")]
pub use http::{
    AccessToken, HttpLimits, HttpOptions, MIN_TOKEN_BYTES, TlsError, TlsFiles, TokenProblem, serve_http,
};

/// Why a server could not start or continue.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, not available on this machine, or needs more privileges.
    #[error("cannot listen on {addr}: {source}")]
    Bind {
        /// The address to listen on.
        addr: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// Without a token, everyone who can reach the address could call every tool.
    #[error(
        "refusing to listen on {0} without a token: set a bearer token, listen on 127.0.0.1, or allow unauthenticated \
         remote access explicitly"
    )]
    Unauthenticated(SocketAddr),
    /// An entry of the allowed origins is not an origin.
    #[error("'{0}' is not an origin: write it as https://app.example.com or http://host:port")]
    Origin(String),
    /// A token cannot be used.
    #[cfg(feature = "http")]
    #[error("the token{} {problem}", name.as_ref().map(|name| format!(" '{name}'")).unwrap_or_default())]
    Token {
        /// The name of the token.
        name: Option<String>,
        /// Why it cannot be used.
        problem: TokenProblem,
    },
    /// The certificate for TLS cannot be used.
    #[cfg(feature = "http")]
    #[error("{0}")]
    Tls(TlsError),
    /// The client did not start with a valid MCP handshake.
    #[error("the client did not start with an MCP handshake")]
    Handshake,
    /// The task that serves was aborted.
    #[error("the server was interrupted")]
    Interrupted,
    /// The listener failed.
    #[error("the listener failed: {0}")]
    Io(#[from] std::io::Error),
}

impl From<StreamError> for ServeError {
    fn from(error: StreamError) -> ServeError {
        match error {
            StreamError::Handshake => ServeError::Handshake,
            StreamError::Interrupted => ServeError::Interrupted,
        }
    }
}

/// Keeps the process alive when a file reaches the limit of the system (`ulimit -f`). Writing then fails with an error, and the
/// call that writes is answered with it. Must be called in a Tokio runtime.
///
/// # Errors
/// When the signal cannot be handled.
pub fn survive_full_files() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // The handler stays for the rest of the process.
        signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
    }
    #[cfg(not(unix))]
    Ok(())
}

/// Serves the client on standard input and output until its input ends or `shutdown` is cancelled. After the end of
/// input, running calls are finished. If the client stops reading, its calls are dropped.
///
/// Clients usually connect through pipes, which need no extra thread on platforms that support it.
///
/// # Errors
/// When the client does not start with an MCP handshake.
pub async fn serve_stdio<S: Service>(
    service: Arc<S>,
    limits: ServerLimits,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let gone = client::client_gone();
    // Boxed, so that the futures of embedding programs stay small.
    Ok(Box::pin(crate::mcp::serve_stream(service, crate::mcp::stdio(), limits, shutdown, gone)).await?)
}

/// Serves one client over a byte stream until its input ends or `shutdown` is cancelled.
///
/// After the end of input, running calls are finished and answered.
///
/// # Errors
/// When the client does not start with an MCP handshake.
pub async fn serve_stream<S: Service>(
    service: Arc<S>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    limits: ServerLimits,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let never_gone = |_| std::future::pending();
    Ok(Box::pin(crate::mcp::serve_stream(service, (reader, writer), limits, shutdown, never_gone)).await?)
}
