//! The limits of an HTTP server, which protect it and its other clients from each client.

use std::time::Duration;

/// Limits of the connections of an HTTP server.
///
/// ```
/// use mcpaql_runtime::serve::HttpOptions;
///
/// let mut options = HttpOptions::new(([127, 0, 0, 1], 8080).into());
/// options.connections.per_address = 1024; // all clients come through one proxy
/// assert!(options.connections.per_address <= options.connections.total);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Maximum number of open connections. Further ones get status 503.
    pub total: usize,
    /// Maximum number of open connections from one IPv4 address or one IPv6 network of 64 bits. Further ones get status 429.
    pub per_address: usize,
    /// Maximum number of requests that one HTTP/2 connection runs at the same time.
    pub streams: u32,
    /// How long a client may take to connect with TLS, and to send the head of a request.
    pub head_timeout: Duration,
    /// How long a client may take to send the body of a request. After that it gets status 408.
    pub body_timeout: Duration,
    /// How long a connection without requests stays open. A stream of events is a request.
    pub idle_timeout: Duration,
    /// How long the server waits for a client that does not read its answer, before it closes the connection.
    pub write_timeout: Duration,
    /// Maximum number of bytes of answers that clients have not read. While there are more, new requests wait, and a client
    /// that reads nothing for a second is disconnected.
    pub unsent_bytes: usize,
    /// Maximum number of bytes of the requests that are running. Further requests get status 503.
    pub request_bytes: usize,
    /// The same for the requests from one address.
    pub request_bytes_per_address: usize,
    /// How many wrong tokens an address may send within `failed_login_window`. After that all its requests get status 429 until
    /// the window ends. 0 turns this off, for servers whose clients share the address of a proxy.
    pub failed_logins: u32,
    /// The time in which wrong tokens are counted.
    pub failed_login_window: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits {
            total: 1024,
            per_address: 256,
            streams: 64,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            write_timeout: Duration::from_secs(30),
            unsent_bytes: 64 * 1024 * 1024,
            request_bytes: 256 * 1024 * 1024,
            request_bytes_per_address: 64 * 1024 * 1024,
            failed_logins: 20,
            failed_login_window: Duration::from_secs(60),
        }
    }
}
