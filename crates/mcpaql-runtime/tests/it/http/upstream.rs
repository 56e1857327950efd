//! Upstreams for tests: one that answers requests and records them, and one with full control of a connection.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query, not decoded.
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    /// As text, if it is UTF-8.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a readable header"))
    }
}

/// An upstream that answers requests.
pub(crate) struct Upstream {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Upstream {
    /// `answer` gets the number of earlier requests, and the request.
    pub(crate) async fn start(
        answer: impl Fn(usize, &Seen) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        Upstream::start_at("127.0.0.1", answer).await
    }

    /// Listens on another address of this machine.
    pub(crate) async fn start_at(
        ip: &str,
        answer: impl Fn(usize, &Seen) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&seen);
        let router = Router::new().fallback(move |request: Request| async move {
            let (parts, body) = request.into_parts();
            let body = to_bytes(body, usize::MAX).await.expect("a whole request");
            let request = Seen {
                method: parts.method.to_string(),
                uri: parts.uri.to_string(),
                headers: parts.headers,
                body: String::from_utf8_lossy(&body).into_owned(),
                bytes: body.to_vec(),
            };
            let mut seen = remembered.lock().expect("no poisoned lock");
            let response = answer(seen.len(), &request);
            seen.push(request);
            response
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Upstream { url, seen }
    }

    /// Always sends the same answer.
    pub(crate) async fn fixed(
        status: u16,
        headers: &'static [(&'static str, &'static str)],
        body: &'static str,
    ) -> Self {
        Upstream::start(move |_, _| answer(status, headers, body)).await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no poisoned lock").clone()
    }

    /// The only request.
    pub(crate) fn only(&self) -> Seen {
        let [seen] = <[Seen; 1]>::try_from(self.seen()).expect("exactly one request");
        seen
    }
}

pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let builder = Response::builder().status(status);
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(body.into()).expect("a legal answer")
}

pub(crate) fn json(body: &'static str) -> Response {
    answer(200, &[("content-type", "application/json")], body)
}

/// An upstream on a bare socket, with the number of its connections.
pub(crate) struct Bare {
    pub(crate) url: String,
    connections: Arc<AtomicUsize>,
}

impl Bare {
    /// `behave` gets every connection after the head of a request has arrived.
    pub(crate) async fn start<F>(behave: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => head.push(byte),
                        Err(_) => break,
                    }
                }
                tokio::spawn(behave(stream));
            }
        });
        Bare { url, connections }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}
