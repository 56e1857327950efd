//! MCP servers that calls are passed on to: a client of our own, because what a server says must arrive as it was said.
//!
//! What always holds:
//! - one conversation with each server carries all its calls, or all calls of those who bring the same credentials; answers are never mixed up, late ones are ignored;
//! - answers stay the JSON text they came as until somebody needs a part of them;
//! - nothing a server sends, however much or malformed, ends this program or makes it hold more than a limit;
//! - a call ends: with an answer, an error, its timeout, or its caller's patience; then the server is told to stop;
//! - no process is left behind.

mod callers;
mod calls;
mod error;
mod http;
mod message;
mod session;
mod sse;
mod stdio;
mod supervisor;

pub use error::{UpstreamError, UpstreamSetupError};
pub use supervisor::UpstreamState;

use crate::caller::Caller;
use crate::environment::Environment;
use crate::protocol::METHOD_NOT_FOUND;
use crate::secret::Mask;
use callers::{Callers, Lease};
use futures_util::future::join_all;
use http::McpEndpoint;
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use reqwest::header::HeaderName;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use session::UpstreamLink;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use stdio::Program;
use supervisor::{StartOptions, Supervisor};
use tokio::sync::watch;

/// The most pages of a list that are asked for.
const MAX_PAGES: usize = 1000;
/// The most entries of a list that are taken.
const MAX_ENTRIES: usize = 100_000;

/// A list that was read, page by page.
struct PagedList {
    entries: Vec<Value>,
    end: ListEnd,
}

/// Why no more pages were read.
enum ListEnd {
    /// There are none.
    Last,
    /// The next one was read before.
    Again,
    /// The server does not know the method.
    Unknown,
}

/// One MCP server; clones share it. Dropping the last one ends it.
#[derive(Clone)]
pub struct Upstream {
    handle: Arc<UpstreamHandle>,
}

struct UpstreamHandle {
    supervisor: Arc<Supervisor>,
    /// Where callers bring credentials of their own; then `supervisor` is there for the list of tools alone.
    callers: Option<Arc<Callers>>,
    timeout: Duration,
    eager: bool,
}

impl Drop for UpstreamHandle {
    fn drop(&mut self) {
        drop(self.supervisor.end());
        drop(self.callers.as_ref().map(|callers| callers.take_sessions()));
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("name", &self.handle.supervisor.name()).finish_non_exhaustive()
    }
}

impl Upstream {
    /// Gets ready to reach a server; nothing is started. A variable that is not set is an error of the calls.
    ///
    /// # Errors
    /// What is wrong with the target or the credentials as they are written.
    pub fn new(
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, UpstreamSetupError> {
        Upstream::build(None, target, auth, environment)
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
    ) -> Result<Upstream, UpstreamSetupError> {
        Upstream::build(Some(name), target, auth, environment)
    }

    fn build(
        name: Option<&str>,
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, UpstreamSetupError> {
        let limit = usize::try_from(target.max_response_bytes).unwrap_or(usize::MAX);
        let link =
            match &target.link {
                McpLink::Command(command) => {
                    UpstreamLink::Program(Arc::new(Program::new(command, environment)?))
                }
                McpLink::Url { url, headers, allow_http } => UpstreamLink::Endpoint(Arc::new(
                    McpEndpoint::new(url, headers, *allow_http, auth, environment, limit)?,
                )),
            };
        let name = match (name, &link) {
            (Some(name), _) => name.to_owned(),
            (None, UpstreamLink::Program(program)) => program.name().to_owned(),
            (None, UpstreamLink::Endpoint(endpoint)) => endpoint.name().to_owned(),
        };
        let start_timeout = Duration::from_millis(target.start_timeout_ms);
        let names = header_names(&target.caller_headers)?;
        let endpoint = match &link {
            _ if names.is_empty() => None,
            UpstreamLink::Endpoint(endpoint) => Some(Arc::clone(endpoint)),
            UpstreamLink::Program(_) => return Err(UpstreamSetupError::CallerHeaders),
        };
        let supervisor = Supervisor::new(StartOptions { link, name: name.clone(), limit, start_timeout });
        let callers = endpoint
            .map(|endpoint| Callers::new(names, endpoint, &name, (limit, start_timeout), &supervisor));
        let timeout = Duration::from_millis(target.timeout_ms);
        Ok(Upstream {
            handle: Arc::new(UpstreamHandle { supervisor, callers, timeout, eager: target.eager }),
        })
    }

    /// What the server says of itself: its answer to the handshake and every page of its tools. No tool is called.
    ///
    /// # Errors
    /// Why the server could not be asked.
    pub async fn capture(&self) -> Result<Capture, UpstreamError> {
        let supervisor = &self.handle.supervisor;
        let initialize = supervisor.session().await?.handshake();
        let PagedList { entries, end } =
            self.pages(supervisor, "tools/list", "tools", &Caller::nobody()).await?;
        let has_tools = || initialize.get("capabilities").is_some_and(|said| said.get("tools").is_some());
        let gap = match end {
            ListEnd::Last => None,
            ListEnd::Again => Some("the list has no end: a page names one that was read before as the next"),
            ListEnd::Unknown => {
                has_tools().then_some("the server declares tools, and answers that it knows no tools/list")
            }
        };
        Ok(Capture { initialize, tools: entries, incomplete_reason: gap })
    }

    /// All pages of a list, in order; empty where the server has no such list.
    ///
    /// # Errors
    /// Why the server could not be asked, or that its list has no end.
    pub async fn list(&self, method: &str, key: &str, caller: &Caller) -> Result<Vec<Value>, UpstreamError> {
        let place = self.conversation_for(caller)?;
        self.pages(place.supervisor(), method, key, caller).await.map(|pages| pages.entries)
    }

    async fn pages(
        &self,
        supervisor: &Arc<Supervisor>,
        method: &str,
        key: &str,
        caller: &Caller,
    ) -> Result<PagedList, UpstreamError> {
        let mut entries: Vec<Value> = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let answer = self.request_in(supervisor, method, &object(params), caller).await;
            let mut page = match answer {
                Err(UpstreamError::Refused { code: METHOD_NOT_FOUND, .. }) if cursor.is_none() => {
                    return Ok(PagedList { entries, end: ListEnd::Unknown });
                }
                page => self.parsed(method, &page?)?,
            };
            // What cannot be read is not nothing: an empty list would hide what the server shows to others.
            let Some(Value::Array(more)) = page.get_mut(key).map(Value::take) else {
                return Err(self.unreadable(method, &format!("it has no list '{key}'")));
            };
            let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
            // A server that names a page again would never come to an end.
            let is_again = next.is_some_and(|next| !seen.insert(next.to_owned()));
            // Nor does it mean the same page twice.
            if !(is_again && entries.ends_with(&more)) {
                entries.extend(more);
            }
            if entries.len() > MAX_ENTRIES {
                break;
            }
            match next {
                Some(next) if !is_again => cursor = Some(next.to_owned()),
                Some(_) => return Ok(PagedList { entries, end: ListEnd::Again }),
                None => return Ok(PagedList { entries, end: ListEnd::Last }),
            }
        }
        let server = self.handle.supervisor.name().to_owned();
        Err(UpstreamError::Unreadable { server, reason: "is a list without an end".into() })
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
        let raw = self.request_raw("tools/call", &params, caller).await?;
        self.parsed("tools/call", &raw)
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
        let raw = self.request_raw(method, &object(params), caller).await?;
        self.parsed(method, &raw)
    }

    /// An answer as a tree, which holds neither endless depth nor halves of characters.
    fn parsed(&self, method: &str, raw: &RawValue) -> Result<Value, UpstreamError> {
        serde_json::from_str(raw.get()).map_err(|error| {
            let said = error.to_string();
            let why = match said.split(" at line ").next() {
                Some("recursion limit exceeded") => "it is nested too deeply",
                Some(why) => why,
                None => "it is no JSON",
            };
            self.unreadable(method, why)
        })
    }

    fn unreadable(&self, method: &str, why: &str) -> UpstreamError {
        let reason = format!("to {method} cannot be read: {why}").into();
        UpstreamError::Unreadable { server: self.handle.supervisor.name().to_owned(), reason }
    }

    /// The result of any method, as the text it came as, without what was sent along to be let in.
    pub(crate) async fn request_raw(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let place = self.conversation_for(caller)?;
        self.request_in(place.supervisor(), method, params, caller).await
    }

    /// Where that caller's calls go.
    fn conversation_for(&self, caller: &Caller) -> Result<CallConversation<'_>, UpstreamError> {
        Ok(match &self.handle.callers {
            None => CallConversation::Shared(&self.handle.supervisor),
            Some(callers) => {
                CallConversation::Own { lease: callers.lease(caller)?, shared: &self.handle.supervisor }
            }
        })
    }

    async fn request_in(
        &self,
        supervisor: &Arc<Supervisor>,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let mut is_second = false;
        loop {
            let session = supervisor.session().await?;
            match session.ask(method, params, caller, self.handle.timeout).await {
                // A tool is called by the name that its server gave it, whatever that looks like.
                Ok(answer) if method == "tools/list" => return Ok(answer),
                Ok(answer) => return Ok(session.without_credentials(answer)),
                // The server had gone, or forgotten us: nothing can have happened yet.
                Err(failure) if failure.unseen && !is_second => is_second = true,
                Err(failure) => return Err(failure.error.masked(&session.mask())),
            }
        }
    }

    /// How the server is doing.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<UpstreamState> {
        self.handle.supervisor.state()
    }

    /// Counts how often the server said that its tools changed.
    #[must_use]
    pub fn tools_changed(&self) -> watch::Receiver<u64> {
        self.handle.supervisor.changes().tools.subscribe()
    }

    /// Counts how often the server said that its resources or prompts changed.
    #[must_use]
    pub fn features_changed(&self) -> watch::Receiver<u64> {
        self.handle.supervisor.changes().features.subscribe()
    }

    /// The server's last answer to the handshake, as far as one is known.
    #[must_use]
    pub fn handshake(&self) -> Option<Arc<Map<String, Value>>> {
        self.handle.supervisor.handshake()
    }

    /// Takes what was heard at an earlier time for what the server would say, until it says it itself.
    pub fn remember(&self, capture: &Capture) {
        self.handle.supervisor.remember(&capture.initialize);
    }

    /// What must not be shown of what the server says.
    pub(crate) fn mask(&self) -> Mask {
        self.handle.supervisor.running().map(|session| session.mask()).unwrap_or_default()
    }

    /// Whether it is a program that ends with the conversation.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.handle.supervisor.is_program()
    }

    /// Whether it is to run before anybody calls it.
    #[must_use]
    pub fn is_eager(&self) -> bool {
        self.handle.eager
    }

    /// Starts the server where it does not run.
    ///
    /// # Errors
    /// Why it does not start.
    pub async fn start(&self) -> Result<(), UpstreamError> {
        self.handle.supervisor.session().await.map(drop)
    }

    /// Ends the conversation, and the program behind it with all its descendants. The next call starts it again.
    pub async fn close(&self) {
        self.handle.supervisor.close().await;
        let others = self.handle.callers.as_ref().map(|callers| callers.take_sessions()).unwrap_or_default();
        join_all(others.iter().map(|session| session.close())).await;
    }
}

/// The conversation that a call goes to.
enum CallConversation<'a> {
    /// One for all callers.
    Shared(&'a Arc<Supervisor>),
    /// The caller's own.
    Own { lease: Lease, shared: &'a Supervisor },
}

impl CallConversation<'_> {
    fn supervisor(&self) -> &Arc<Supervisor> {
        match self {
            CallConversation::Shared(supervisor) => supervisor,
            CallConversation::Own { lease, .. } => &lease.supervisor,
        }
    }
}

impl Drop for CallConversation<'_> {
    fn drop(&mut self) {
        // What the server can do is the same for all; what else it said belongs to the caller.
        if let CallConversation::Own { lease, shared } = self
            && shared.handshake().is_none()
            && let Some(capabilities) =
                lease.supervisor.handshake().and_then(|said| said.get("capabilities").cloned())
        {
            shared.remember(&Map::from_iter([("capabilities".to_owned(), capabilities)]));
        }
    }
}

fn header_names(written: &[String]) -> Result<Vec<(String, HeaderName)>, UpstreamSetupError> {
    let name = |written: &String| match HeaderName::from_bytes(written.as_bytes()) {
        Ok(name) => Ok((written.clone(), name)),
        Err(_) => Err(crate::target::http::HttpSetupError::Header {
            name: written.clone(),
            reason: "is not a header name; correct it in caller_headers",
        }),
    };
    Ok(written.iter().map(name).collect::<Result<_, _>>()?)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
