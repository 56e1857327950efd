//! Runs the binary, as a command or as a server with clients.

use rmcp::ClientHandler;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam, ProtocolVersion};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mcpaql");

/// Fails after a timeout instead of waiting forever.
pub(crate) async fn with_timeout<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), event).await.unwrap()
}

/// A temporary folder for one server: working directory, home and data.
pub(crate) struct TestFolder {
    folder: TempDir,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        TestFolder { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the binary as a command in this folder, without the environment of the tests.
    pub(crate) fn binary(&self, args: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(args).current_dir(self.path()).env_clear().kill_on_drop(true);
        command.env("HOME", self.path());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// Trusts `mcpaql.yaml` of this folder and its later edits, as its owner does.
    pub(crate) fn trust(&self) {
        let mut command = self.binary(&["trust", "--edits", "./mcpaql.yaml"]);
        let output = command.as_std_mut().output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Runs the binary until it exits.
    pub(crate) async fn run(&self, args: &[&str]) -> RunOutput {
        RunOutput::of(self.binary(args)).await
    }
}

/// The result of a run of the binary.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl RunOutput {
    pub(crate) async fn of(mut command: Command) -> RunOutput {
        let output = with_timeout(command.stdin(Stdio::null()).output()).await.unwrap();
        RunOutput::from(output)
    }

    /// Runs a command with this text as standard input.
    pub(crate) async fn with_input(mut command: Command, input: &str) -> RunOutput {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The program may exit without reading.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes()).await;
        RunOutput::from(with_timeout(child.wait_with_output()).await.unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl From<std::process::Output> for RunOutput {
    fn from(output: std::process::Output) -> Self {
        RunOutput {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A running server, and everything it has written to standard error.
pub(crate) struct ServerProcess {
    pub(crate) child: Child,
    stderr: watch::Receiver<String>,
}

impl ServerProcess {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let (sender, receiver) = watch::channel(String::new());
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
                sender.send_modify(|text| text.push_str(&String::from_utf8_lossy(&buffer[..read])));
            }
        });
        ServerProcess { child, stderr: receiver }
    }

    /// Waits until standard error contains a text, and returns all of it.
    pub(crate) async fn wait_for_stderr(&mut self, text: &str) -> String {
        let found = with_timeout(self.stderr.wait_for(|stderr| stderr.contains(text))).await.is_ok();
        let stderr = self.stderr.borrow().clone();
        assert!(found, "exited without '{text}' on standard error: {stderr}");
        stderr
    }

    /// Waits until the server listens, and returns its address.
    pub(crate) async fn address(&mut self) -> String {
        let stderr = self.wait_for_stderr("/mcp").await;
        let (_, rest) = stderr.split_once("http://").unwrap();
        rest.split_once("/mcp").unwrap().0.to_owned()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.child.id().unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Waits until the server exits, and returns its whole standard error.
    pub(crate) async fn wait_for_exit(mut self) -> (ExitStatus, String) {
        let status = with_timeout(self.child.wait()).await.unwrap();
        while with_timeout(self.stderr.changed()).await.is_ok() {}
        let stderr = self.stderr.borrow().clone();
        (status, stderr)
    }
}

/// A client over stdio that exposes every message.
pub(crate) struct RawClient {
    pub(crate) server: ServerProcess,
    lines: Lines<BufReader<ChildStdout>>,
    input: Option<ChildStdin>,
}

impl RawClient {
    pub(crate) fn start(command: Command) -> Self {
        let mut server = ServerProcess::start(command);
        let lines = BufReader::new(server.child.stdout.take().unwrap()).lines();
        let input = server.child.stdin.take();
        RawClient { server, lines, input }
    }

    /// Starts the server and completes the handshake of revision 2025-11-25.
    pub(crate) async fn initialized(command: Command) -> Self {
        let mut raw = RawClient::start(command);
        raw.send(&initialize()).await;
        assert_eq!(raw.receive().await.unwrap()["id"], 0);
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        raw
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Returns the next line, which must be a JSON-RPC message, or `None` after the server has closed its output.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = with_timeout(self.lines.next_line()).await.unwrap()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        Some(message)
    }

    /// Returns the envelope of the next answer.
    pub(crate) async fn envelope(&mut self) -> Value {
        let answer = self.receive().await.unwrap();
        let text = answer["result"]["content"][0]["text"].as_str();
        serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
    }

    /// Returns the server's input, to write to it without reading.
    pub(crate) fn take_input(&mut self) -> ChildStdin {
        self.input.take().unwrap()
    }

    /// Closes the output of the server, and keeps its input.
    pub(crate) fn stop_reading(self) -> (Option<ChildStdin>, ServerProcess) {
        (self.input, self.server)
    }

    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}})
}

pub(crate) fn tools_call(id: u32, tool: &str, operation: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool, "arguments": {"operation": operation, "params": params}}})
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Stdio,
    Http,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    V2025,
    V2026,
}

pub(crate) const ALL_CONNECTIONS: [(Wire, Revision); 4] = [
    (Wire::Stdio, Revision::V2025),
    (Wire::Stdio, Revision::V2026),
    (Wire::Http, Revision::V2025),
    (Wire::Http, Revision::V2026),
];

/// A client that records progress notifications.
pub(crate) struct ProgressHandler {
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
}

impl ClientHandler for ProgressHandler {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // The receiver is gone when the test ends.
        let _ = self.progress.send(progress);
    }
}

pub(crate) struct TestClient {
    pub(crate) peer: RunningService<RoleClient, ProgressHandler>,
    pub(crate) progress: mpsc::UnboundedReceiver<ProgressNotificationParam>,
    /// Stops when the client is dropped.
    _server: ServerProcess,
}

/// Starts `mcpaql serve`, connects to it and lists its tools.
pub(crate) async fn connect(place: &TestFolder, args: &[&str], wire: Wire, revision: Revision) -> TestClient {
    connect_with(place, args, wire, revision, |_| {}).await
}

/// Like [`connect`], but `prepare` may change the command first.
pub(crate) async fn connect_with(
    place: &TestFolder,
    args: &[&str],
    wire: Wire,
    revision: Revision,
    prepare: impl FnOnce(&mut Command),
) -> TestClient {
    let http: &[&str] = if wire == Wire::Http { &["--http", "127.0.0.1:0"] } else { &[] };
    let mut command = place.binary(&[&["serve"], args, http].concat());
    prepare(&mut command);
    let mut server = ServerProcess::start(command);
    let (sender, progress) = mpsc::unbounded_channel();
    let handler = ProgressHandler { progress: sender };
    let lifecycle = match revision {
        Revision::V2025 => ClientLifecycleMode::Initialize,
        Revision::V2026 => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    };
    let peer = match wire {
        Wire::Stdio => {
            let streams = (server.child.stdout.take().unwrap(), server.child.stdin.take().unwrap());
            with_timeout(handler.serve_with_lifecycle(streams, lifecycle)).await.unwrap()
        }
        Wire::Http => {
            install_crypto_provider();
            let address = server.address().await;
            let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
            with_timeout(handler.serve_with_lifecycle(transport, lifecycle)).await.unwrap()
        }
    };
    let client = TestClient { peer, progress, _server: server };
    // Hosts list the tools first, too; over HTTP, the newest revision requires it before arguments are sent in headers.
    client.tools().await;
    client
}

/// Installs the crypto provider that reqwest needs. Another test may have installed it already.
pub(crate) fn install_crypto_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl TestClient {
    /// Returns every tool as sent by the server.
    pub(crate) async fn tools(&self) -> Vec<Value> {
        let listed = with_timeout(self.peer.list_all_tools()).await.unwrap();
        listed.iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
    }

    /// Calls a tool, and returns the envelope and `isError`. The result must be one text block.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> (Value, bool) {
        let result = self.try_call(tool, arguments).await.unwrap();
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{result}");
        assert_eq!(content[0]["type"], "text");
        assert!(result.get("structuredContent").is_none(), "{result}");
        let envelope = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
        (envelope, result["isError"].as_bool().unwrap())
    }

    /// Like [`call`](Self::call), for a client whose user agrees: a call that needs a confirmation is sent again with its token.
    pub(crate) async fn call_confirmed(&self, tool: &str, mut arguments: Value) -> (Value, bool) {
        let (envelope, is_error) = self.call(tool, arguments.clone()).await;
        let token = &envelope["error"]["details"]["confirmation_token"];
        if token.is_null() {
            return (envelope, is_error);
        }
        let has_params = arguments["params"].is_object();
        let params = if has_params { &mut arguments["params"] } else { &mut arguments };
        params["confirmation_token"] = token.clone();
        self.call(tool, arguments).await
    }

    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<Value, ServiceError> {
        let answer = with_timeout(self.peer.call_tool(request(tool, arguments))).await?;
        Ok(serde_json::to_value(answer).unwrap())
    }
}

pub(crate) fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.as_object().unwrap().clone())
}
