//! Standing up a server: over standard input and output, over any byte stream, over HTTP.
//!
//! Stopping is the same everywhere: nothing new is accepted, running calls may finish within the grace period, then the
//! rest is dropped.

mod client;
mod http;

use crate::mcp::{ServerLimits, StreamError};
use crate::service::Service;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use http::{HttpOptions, serve_http};

/// Why a server could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, not ours, or needs more rights.
    #[error("cannot listen on {addr}: {source}")]
    Bind {
        /// Where it was to listen.
        addr: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// Anybody who reaches the address could call every tool.
    #[error(
        "refusing to listen on {0} without a token: set a bearer token, listen on 127.0.0.1, or allow unauthenticated \
         remote access explicitly"
    )]
    Unauthenticated(SocketAddr),
    /// An entry of the allowed origins is not an origin.
    #[error("'{0}' is not an origin: write it as https://app.example.com or http://host:port")]
    Origin(String),
    /// The client did not begin as the protocol says.
    #[error("the client sent something else than the beginning of an MCP conversation")]
    Handshake,
    /// The serving task was ended from outside.
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

/// Serves the client on standard input and output until its input ends or `shutdown` is cancelled. The calls of a client that does
/// not read any more are dropped; after a mere end of input they are finished.
///
/// Pipes, which is how clients start servers, are driven without a thread in between where the platform can.
///
/// # Errors
/// When the client does not begin an MCP conversation.
pub async fn serve_stdio<S: Service>(
    service: Arc<S>,
    limits: ServerLimits,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let left = client::client_gone();
    // Boxed, so that whoever embeds this need not carry all of it in a future of his own.
    Ok(Box::pin(crate::mcp::serve_stream(service, crate::mcp::stdio(), limits, shutdown, left)).await?)
}

/// Serves one client over a byte stream until its input ends or `shutdown` is cancelled.
///
/// After the end of input the calls that run are finished and answered.
///
/// # Errors
/// When the client does not begin an MCP conversation.
pub async fn serve_stream<S: Service>(
    service: Arc<S>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    limits: ServerLimits,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let stays = |_| std::future::pending();
    Ok(Box::pin(crate::mcp::serve_stream(service, (reader, writer), limits, shutdown, stays)).await?)
}
