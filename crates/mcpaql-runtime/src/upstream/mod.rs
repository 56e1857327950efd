//! MCP servers that calls are passed on to: a client of our own, because what a server says must arrive as it was said.
//!
//! What always holds:
//! - one conversation with each server carries all its calls; answers are never mixed up, late ones are ignored;
//! - answers stay the JSON text they came as until somebody needs a part of them;
//! - nothing a server sends, however much or malformed, ends this program or makes it hold more than a limit;
//! - a call ends: with an answer, an error, its timeout, or its caller's patience; then the server is told to stop;
//! - no process is left behind.

mod calls;
mod error;
mod http;
mod life;
mod message;
mod session;
mod sse;
mod stdio;

pub use error::{SetupError, UpstreamError};
pub use life::State;

use crate::environment::Environment;
use crate::mcp::Caller;
use crate::secret::Mask;
use http::Endpoint;
use life::{Life, Plan};
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use message::METHOD_NOT_FOUND;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use session::Link;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use stdio::Program;
use tokio::sync::watch;

/// The most pages of a list that are asked for.
const PAGES: usize = 1000;
/// The most entries of a list that are taken.
const ENTRIES: usize = 100_000;

/// One MCP server; clones share it. Dropping the last one ends it.
#[derive(Clone)]
pub struct Upstream {
    handle: Arc<Handle>,
}

struct Handle {
    life: Arc<Life>,
    timeout: Duration,
}

impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.life.end());
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("name", &self.handle.life.name()).finish_non_exhaustive()
    }
}

impl Upstream {
    /// Gets ready to reach a server; nothing is started. A variable that is not set is an error of the calls.
    ///
    /// # Errors
    /// What is wrong with the target or the credentials as they are written.
    pub fn new(target: &McpTarget, auth: &Auth, environment: &Environment) -> Result<Upstream, SetupError> {
        Upstream::called(None, target, auth, environment)
    }

    /// The same under a name that people know it by, instead of its program's or its address's.
    ///
    /// # Errors
    /// What is wrong with the target or the credentials as they are written.
    pub fn named(
        name: &str,
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, SetupError> {
        Upstream::called(Some(name), target, auth, environment)
    }

    fn called(
        name: Option<&str>,
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, SetupError> {
        let limit = usize::try_from(target.max_response_bytes).unwrap_or(usize::MAX);
        let link = match &target.link {
            McpLink::Command(command) => Link::Program(Arc::new(Program::new(command, environment)?)),
            McpLink::Url { url, headers, allow_http } => {
                Link::Endpoint(Arc::new(Endpoint::new(url, headers, *allow_http, auth, environment, limit)?))
            }
        };
        let name = match (name, &link) {
            (Some(name), _) => name.to_owned(),
            (None, Link::Program(program)) => program.name().to_owned(),
            (None, Link::Endpoint(endpoint)) => endpoint.name().to_owned(),
        };
        let start_timeout = Duration::from_millis(target.start_timeout_ms);
        let life = Life::new(Plan { link, name, limit, start_timeout });
        let timeout = Duration::from_millis(target.timeout_ms);
        Ok(Upstream { handle: Arc::new(Handle { life, timeout }) })
    }

    /// What the server says of itself: its answer to the handshake and every page of its tools. No tool is called.
    ///
    /// # Errors
    /// Why the server could not be asked.
    pub async fn capture(&self) -> Result<Capture, UpstreamError> {
        let initialize = self.handle.life.session().await?.greeting();
        let tools = self.list("tools/list", "tools", &Caller::nobody()).await?;
        Ok(Capture { initialize, tools })
    }

    /// All pages of a list, in order; empty where the server has no such list.
    ///
    /// # Errors
    /// Why the server could not be asked, or that its list has no end.
    pub async fn list(&self, method: &str, key: &str, caller: &Caller) -> Result<Vec<Value>, UpstreamError> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let mut page = match self.request(method, params, caller).await {
                Err(UpstreamError::Refused { code: METHOD_NOT_FOUND, .. }) if cursor.is_none() => {
                    return Ok(entries);
                }
                page => page?,
            };
            if let Some(Value::Array(more)) = page.get_mut(key).map(Value::take) {
                entries.extend(more);
            }
            if entries.len() > ENTRIES {
                break;
            }
            match page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()) {
                // A server that names a page again would never come to an end.
                Some(next) if seen.insert(next.to_owned()) => cursor = Some(next.to_owned()),
                _ => return Ok(entries),
            }
        }
        let server = self.handle.life.name().to_owned();
        Err(UpstreamError::Unreadable { server, reason: "is a list without an end" })
    }

    /// The raw result of `tools/call`. Dropping the future cancels the call.
    ///
    /// # Errors
    /// Why there is no result; an `isError` of the tool is one.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, UpstreamError> {
        let params = object(json!({"name": tool, "arguments": arguments}));
        self.ask("tools/call", &params, caller).await.map(|raw| parsed(&raw))
    }

    /// The raw result of any method.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn request(
        &self,
        method: &str,
        params: Value,
        caller: &Caller,
    ) -> Result<Value, UpstreamError> {
        self.ask(method, &object(params), caller).await.map(|raw| parsed(&raw))
    }

    /// The result of any method, as the text it came as.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let mut is_second = false;
        loop {
            let session = self.handle.life.session().await?;
            match session.ask(method, params, caller, self.handle.timeout).await {
                Ok(answer) => return Ok(answer),
                // The server had gone, or forgotten us: nothing can have happened yet.
                Err(failure) if failure.unseen && !is_second => is_second = true,
                Err(failure) => return Err(failure.error),
            }
        }
    }

    /// How the server is doing.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<State> {
        self.handle.life.state()
    }

    /// Counts how often the server said that its tools changed.
    #[must_use]
    pub fn tools_changed(&self) -> watch::Receiver<u64> {
        self.handle.life.changes().tools.subscribe()
    }

    /// Counts how often the server said that its resources or prompts changed.
    #[must_use]
    pub fn offers_changed(&self) -> watch::Receiver<u64> {
        self.handle.life.changes().offers.subscribe()
    }

    /// The server's last answer to the handshake, as far as one is known.
    #[must_use]
    pub fn greeting(&self) -> Option<Arc<Map<String, Value>>> {
        self.handle.life.greeting()
    }

    /// Takes what was heard at an earlier time for what the server would say, until it says it itself.
    pub fn remember(&self, capture: &Capture) {
        self.handle.life.remember(&capture.initialize);
    }

    /// What must not be shown of what the server says.
    pub(crate) fn mask(&self) -> Mask {
        self.handle.life.running().map(|session| session.mask()).unwrap_or_default()
    }

    /// What is sent along to be let in.
    pub(crate) fn credentials(&self) -> Mask {
        self.handle.life.running().map(|session| session.credentials()).unwrap_or_default()
    }

    /// Starts the server where it does not run.
    ///
    /// # Errors
    /// Why it does not start.
    pub async fn start(&self) -> Result<(), UpstreamError> {
        self.handle.life.session().await.map(drop)
    }

    /// Ends the conversation, and the program behind it with all its descendants. The next call starts it again.
    pub async fn close(&self) {
        self.handle.life.close().await;
    }
}

fn parsed(raw: &RawValue) -> Value {
    // It is JSON; what a tree cannot hold is nested past every use.
    serde_json::from_str(raw.get()).unwrap_or_default()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
