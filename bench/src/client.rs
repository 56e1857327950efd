//! The client: hand-written JSON-RPC lines and HTTP/1.1, so that its own cost is small and the same for every server.
//!
//! Request ids have a fixed width, so all correct answers of a subject have the same length. Any other length is a failure.

use anyhow::{Context, Result, bail, ensure};
use mcpaql_core::operation::Operation;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::call_target;
use mcpaql_runtime::target::store::Store;
use serde_json::{Map, Value, json};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const FIRST_ID: u64 = 1_000_000_000;
const REVISION: &str = "2025-11-25";

/// A `tools/call` request in two parts; the id goes between them.
#[derive(Clone)]
struct Message {
    head: &'static str,
    tail: String,
}

impl Message {
    fn new(tool: &str, arguments: &Value) -> Message {
        let params = json!({"name": tool, "arguments": arguments});
        Message {
            head: r#"{"jsonrpc":"2.0","id":"#,
            tail: format!(r#","method":"tools/call","params":{params}}}"#),
        }
    }

    fn write(&self, id: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(id.to_string().as_bytes());
        out.extend_from_slice(self.tail.as_bytes());
    }
}

/// A server behind a pair of pipes; killed when dropped.
pub(crate) struct Pipes {
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    message: Message,
    buffer: Vec<u8>,
    id: u64,
}

impl Pipes {
    pub(crate) async fn start(command: &mut Command, tool: &str, arguments: &Value) -> Result<Pipes> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let message = Message::new(tool, arguments);
        let mut pipes = Pipes { _child: child, input, output, message, buffer: Vec::new(), id: FIRST_ID };
        let client = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client});
        pipes.input.write_all(format!("{hello}\n").as_bytes()).await?;
        pipes.line().await.context("no answer to initialize")?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        pipes.input.write_all(format!("{ready}\n").as_bytes()).await?;
        Ok(pipes)
    }

    /// Makes one call and returns its answer.
    pub(crate) async fn call(&mut self) -> Result<&str> {
        self.send().await?;
        self.line().await?;
        Ok(std::str::from_utf8(&self.buffer)?)
    }

    async fn send(&mut self) -> Result<()> {
        self.buffer.clear();
        self.message.write(self.id, &mut self.buffer);
        self.buffer.push(b'\n');
        self.id += 1;
        Ok(self.input.write_all(&self.buffer).await?)
    }

    /// Reads the next answer, skips notifications, and returns its length.
    async fn line(&mut self) -> Result<usize> {
        loop {
            self.buffer.clear();
            let length = self.output.read_until(b'\n', &mut self.buffer).await?;
            ensure!(length > 0, "the server closed its output");
            if !self.buffer.starts_with(br#"{"jsonrpc":"2.0","method":"#) {
                return Ok(length);
            }
        }
    }
}

/// A server behind HTTP.
pub(crate) struct Http {
    connections: Vec<Connection>,
}

struct Connection {
    stream: BufReader<TcpStream>,
    /// A whole request without a body, or the part before the length of the body.
    head: String,
    message: Option<Message>,
    buffer: Vec<u8>,
    body: Vec<u8>,
    id: u64,
}

impl Http {
    /// Calls a tool of an MCP server.
    pub(crate) async fn mcp(port: u16, connections: usize, tool: &str, arguments: &Value) -> Result<Http> {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\nContent-Length: "
        );
        Http::connect(port, connections, &head, Some(&Message::new(tool, arguments))).await
    }

    /// Gets a path of any HTTP server.
    pub(crate) async fn get(port: u16, connections: usize, path: &str) -> Result<Http> {
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n");
        Http::connect(port, connections, &head, None).await
    }

    async fn connect(port: u16, count: usize, head: &str, message: Option<&Message>) -> Result<Http> {
        let mut connections = Vec::with_capacity(count);
        for _ in 0..count {
            let stream = listening(port).await?;
            stream.set_nodelay(true)?;
            connections.push(Connection {
                stream: BufReader::new(stream),
                head: head.to_owned(),
                message: message.cloned(),
                buffer: Vec::new(),
                body: Vec::new(),
                id: FIRST_ID,
            });
        }
        Ok(Http { connections })
    }
}

/// Connects to a server that may still be starting.
async fn listening(port: u16) -> Result<TcpStream> {
    for _ in 0..1000 {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await {
            return Ok(stream);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    bail!("nothing listens on port {port}")
}

impl Connection {
    async fn call(&mut self) -> Result<usize> {
        self.buffer.clear();
        self.buffer.extend_from_slice(self.head.as_bytes());
        if let Some(message) = &self.message {
            self.body.clear();
            message.write(self.id, &mut self.body);
            self.id += 1;
            self.buffer.extend_from_slice(self.body.len().to_string().as_bytes());
            self.buffer.extend_from_slice(b"\r\n\r\n");
            self.buffer.extend_from_slice(&self.body);
        }
        self.stream.get_mut().write_all(&self.buffer).await?;
        self.answer().await
    }

    async fn answer(&mut self) -> Result<usize> {
        let mut length = None;
        self.buffer.clear();
        loop {
            let start = self.buffer.len();
            let read = self.stream.read_until(b'\n', &mut self.buffer).await?;
            ensure!(read > 0, "the server closed the connection");
            let line = self.buffer.get(start..).unwrap_or_default();
            if start == 0 {
                ensure!(line.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(line).trim());
            }
            if line == b"\r\n" {
                break;
            }
            if line.len() > 15
                && line.get(..15).is_some_and(|name| name.eq_ignore_ascii_case(b"content-length:"))
            {
                length = std::str::from_utf8(line.get(15..).unwrap_or_default())?.trim().parse().ok();
            }
        }
        let length: usize = length.context("the answer has no Content-Length")?;
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body).await?;
        Ok(length)
    }
}

/// The store, called in this process.
pub(crate) struct InProcess {
    pub(crate) store: Arc<Store>,
    pub(crate) operation: Arc<Operation>,
    pub(crate) args: Map<String, Value>,
}

impl InProcess {
    async fn call(&self) -> Result<usize> {
        let answer = call_target(&*self.store, &self.operation, &self.args, &Caller::nobody()).await;
        let answer = answer.map_err(|error| anyhow::anyhow!("{}", error.message))?;
        Ok(serde_json::to_string(&answer.data)?.len())
    }
}

/// The receiver of a call.
pub(crate) enum Peer {
    Pipes(Box<Pipes>),
    Http(Http),
    InProcess(InProcess),
}

impl Peer {
    /// Makes one call and returns the length of its answer.
    pub(crate) async fn call(&mut self) -> Result<usize> {
        match self {
            Peer::Pipes(pipes) => Ok(pipes.call().await?.len()),
            Peer::Http(http) => http.connections.first_mut().context("no connection")?.call().await,
            Peer::InProcess(store) => store.call().await,
        }
    }

    /// Returns the last answer, for messages and checks.
    pub(crate) fn last(&self) -> String {
        let bytes = match self {
            Peer::Pipes(pipes) => pipes.buffer.as_slice(),
            Peer::Http(http) => http.connections.first().map_or(&[][..], |connection| &connection.body),
            Peer::InProcess(_) => b"success",
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Makes a number of calls, several at a time.
    pub(crate) async fn burst(&mut self, calls: usize, at_a_time: usize, length: usize) -> Result<()> {
        let right = move |found: usize| {
            ensure!(found == length, "an answer has {found} bytes instead of {length}");
            Ok(())
        };
        match self {
            Peer::Pipes(pipes) => {
                for _ in 0..at_a_time.min(calls) {
                    pipes.send().await?;
                }
                for done in 0..calls {
                    right(pipes.line().await?)?;
                    if done + at_a_time < calls {
                        pipes.send().await?;
                    }
                }
            }
            Peer::Http(http) => {
                let mut tasks = Vec::new();
                for mut connection in http.connections.drain(..) {
                    tasks.push(tokio::spawn(async move {
                        for _ in 0..calls / at_a_time {
                            right(connection.call().await?)?;
                        }
                        anyhow::Ok(connection)
                    }));
                }
                for task in tasks {
                    http.connections.push(task.await??);
                }
            }
            Peer::InProcess(own) => {
                let mut tasks = Vec::new();
                for _ in 0..at_a_time {
                    let own = InProcess {
                        store: own.store.clone(),
                        operation: own.operation.clone(),
                        args: own.args.clone(),
                    };
                    tasks.push(tokio::spawn(async move {
                        for _ in 0..calls / at_a_time {
                            right(own.call().await?)?;
                        }
                        anyhow::Ok(())
                    }));
                }
                for task in tasks {
                    task.await??;
                }
            }
        }
        Ok(())
    }
}
