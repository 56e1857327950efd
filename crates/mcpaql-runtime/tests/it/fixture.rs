//! A service whose calls the tests control, and clients for it.

use mcpaql_core::catalog::Tool;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::policy::Hints;
use mcpaql_core::response::{Answer, ToolReply};
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::serve::{HttpOptions, ServeError, serve_http, serve_stream};
use mcpaql_runtime::service::Service;
use rmcp::ClientHandler;
use rmcp::model::{ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) fn tool(name: &str, hints: Hints) -> Tool {
    Tool {
        name: name.to_owned(),
        title: format!("Fixture — {name}"),
        description: format!("The tool {name}"),
        input_schema: json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"operation": {"type": "string", "x-mcp-header": "Operation"}, "it": {"$ref": "#/$defs/it"}},
            "$defs": {"it": {"type": ["string", "null"]}},
            "additionalProperties": true,
        }),
        output_schema: None,
        max_result_chars: None,
        hints: hints.into(),
        title_in_annotations: true,
    }
}

pub(crate) const READS: Hints =
    Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
const WRITES: Hints = Hints { read_only: false, destructive: true, idempotent: false, open_world: true };

/// Calls of `wait` add a permit to `started` and end when `gate` gets a permit. A dropped call adds a permit to
/// `abandoned`.
pub(crate) struct Fixture {
    tools: Mutex<Arc<[Tool]>>,
    changes: watch::Sender<()>,
    /// Makes everything except calls panic.
    pub(crate) broken: AtomicBool,
    pub(crate) started: Semaphore,
    pub(crate) gate: Semaphore,
    pub(crate) abandoned: Semaphore,
}

/// Fails a test that would otherwise hang.
pub(crate) async fn in_time<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), event).await.unwrap()
}

impl Fixture {
    pub(crate) fn new() -> Arc<Self> {
        let tools = [
            tool("zeta", WRITES),
            tool("echo", READS),
            tool("fail", WRITES),
            tool("panic", READS),
            tool("wait", READS),
        ];
        Arc::new(Fixture {
            tools: Mutex::new(tools.into()),
            changes: watch::Sender::new(()),
            broken: AtomicBool::new(false),
            started: Semaphore::new(0),
            gate: Semaphore::new(0),
            abandoned: Semaphore::new(0),
        })
    }

    pub(crate) fn swap(&self, tools: impl Into<Arc<[Tool]>>) {
        *self.tools.lock().unwrap() = tools.into();
        self.changes.send_replace(());
    }

    /// Waits until this many more calls have started.
    pub(crate) async fn wait_for_calls(&self, calls: u32) {
        in_time(self.started.acquire_many(calls)).await.unwrap().forget();
    }

    /// Waits until a call was dropped before its end.
    pub(crate) async fn wait_for_drop(&self) {
        in_time(self.abandoned.acquire()).await.unwrap().forget();
    }

    async fn wait(&self) -> ToolReply {
        struct Running<'a>(&'a Fixture, bool);
        impl Drop for Running<'_> {
            fn drop(&mut self) {
                if !self.1 {
                    self.0.abandoned.add_permits(1);
                }
            }
        }
        let mut running = Running(self, false);
        self.started.add_permits(1);
        self.gate.acquire().await.unwrap().forget();
        running.1 = true;
        ToolReply::text(r#"{"success":true,"data":"waited"}"#, false)
    }
}

impl Service for Fixture {
    fn tools(&self) -> Arc<[Tool]> {
        assert!(!self.broken.load(Ordering::SeqCst), "the fixture is broken");
        self.tools.lock().unwrap().clone()
    }

    fn instructions(&self) -> String {
        assert!(!self.broken.load(Ordering::SeqCst), "the fixture is broken");
        "Fixture instructions".to_owned()
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, _: &Caller) -> Option<ToolReply> {
        match tool {
            "echo" => Some(ToolReply::text(Value::Object(arguments).to_string(), false)),
            "fail" => Some(ToolReply::text(r#"{"success":false}"#, true)),
            "panic" => panic!("the fixture panics"),
            "wait" => Some(self.wait().await),
            _ => None,
        }
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.changes.subscribe())
    }
}

/// A server in the background.
pub(crate) struct Serving {
    pub(crate) shutdown: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), ServeError>>,
}

impl Serving {
    pub(crate) async fn stopped(self) -> Result<(), ServeError> {
        in_time(self.task).await.unwrap()
    }
}

pub(crate) fn stream<S: Service>(service: &Arc<S>, limits: ServerLimits) -> (DuplexStream, Serving) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(serve_stream(service.clone(), reader, writer, limits, shutdown.clone()));
    (near, Serving { shutdown, task })
}

pub(crate) fn loopback() -> HttpOptions {
    HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0)))
}

pub(crate) async fn http<S: Service>(service: &Arc<S>, options: HttpOptions) -> (SocketAddr, Serving) {
    let shutdown = CancellationToken::new();
    let (told, bound) = oneshot::channel();
    let serving =
        serve_http(service.clone(), options, shutdown.clone(), move |addr| told.send(addr).unwrap());
    let task = tokio::spawn(serving);
    (bound.await.unwrap(), Serving { shutdown, task })
}

/// A client that records notifications.
pub(crate) struct RecordingClient {
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
    changes: mpsc::UnboundedSender<()>,
}

impl ClientHandler for RecordingClient {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.send(progress).unwrap();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send(()).unwrap();
    }
}

pub(crate) struct Client {
    pub(crate) peer: RunningService<RoleClient, RecordingClient>,
    pub(crate) progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    pub(crate) changes: mpsc::UnboundedReceiver<()>,
    pub(crate) serving: Serving,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Stream,
    Http,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    V2025,
    V2026,
}

pub(crate) const EVERYWHERE: [(Wire, Revision); 4] = [
    (Wire::Stream, Revision::V2025),
    (Wire::Stream, Revision::V2026),
    (Wire::Http, Revision::V2025),
    (Wire::Http, Revision::V2026),
];

/// reqwest is built without a default crypto provider. Fails if another test was first.
pub(crate) fn crypto() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

pub(crate) async fn connect(
    service: &Arc<Fixture>,
    wire: Wire,
    revision: Revision,
    limits: ServerLimits,
) -> Client {
    let (progress, told_progress) = mpsc::unbounded_channel();
    let (changes, told_changes) = mpsc::unbounded_channel();
    let ear = RecordingClient { progress, changes };
    let lifecycle = match revision {
        Revision::V2025 => ClientLifecycleMode::Initialize,
        Revision::V2026 => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    };
    let (peer, serving) = match wire {
        Wire::Stream => {
            let (near, serving) = stream(service, limits);
            (ear.serve_with_lifecycle(near, lifecycle).await.unwrap(), serving)
        }
        Wire::Http => {
            crypto();
            let (addr, serving) = http(service, loopback().with_limits(limits)).await;
            let transport = StreamableHttpClientTransport::from_uri(format!("http://{addr}/mcp"));
            (ear.serve_with_lifecycle(transport, lifecycle).await.unwrap(), serving)
        }
    };
    Client { peer, progress: told_progress, changes: told_changes, serving }
}

/// A client that shows every byte.
pub(crate) struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) serving: Serving,
}

impl Raw {
    pub(crate) fn new<S: Service>(service: &Arc<S>, limits: ServerLimits) -> Self {
        let (near, serving) = stream(service, limits);
        let (reader, writer) = tokio::io::split(near);
        Raw { lines: BufReader::new(reader).lines(), writer, serving }
    }

    /// Returns a client after the handshake of 2025-11-25.
    pub(crate) async fn initialized(service: &Arc<Fixture>, limits: ServerLimits) -> Self {
        let mut raw = Raw::new(service, limits);
        raw.send(&initialize()).await;
        assert_eq!(raw.receive().await.unwrap()["id"], 0);
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        raw
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &[u8]) {
        self.writer.write_all(line).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// The next message; `None` when the server has closed the connection.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = in_time(self.lines.next_line()).await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn end_input(&mut self) {
        self.writer.shutdown().await.unwrap();
    }
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}})
}

pub(crate) fn call(id: u32, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// Calls an operation, and confirms the call if it needs a confirmation.
pub(crate) async fn call_confirmed(
    served: &ServedAdapter,
    operation: &str,
    params: Map<String, Value>,
) -> Result<Answer, OpError> {
    let caller = Caller::nobody();
    match served.call_operation(operation, params.clone(), &caller).await {
        Err(error) if error.code == Code::ConfirmationRequired => {
            let token = error.details["confirmation_token"].clone();
            let confirmed = params.into_iter().chain([("confirmation_token".to_owned(), token)]).collect();
            served.call_operation(operation, confirmed, &caller).await
        }
        outcome => outcome,
    }
}

/// The same request in 2026-07-28, where each request names its revision.
pub(crate) fn modern(mut request: Value) -> Value {
    request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    request["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "raw", "version": "0"});
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request
}
