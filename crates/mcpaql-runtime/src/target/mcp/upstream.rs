//! MCP servers as upstreams. This is our own MCP client, because the answers of a server must arrive unchanged.
//!
//! What always holds:
//! - One conversation with a server carries all its calls, or all calls of callers with the same credentials. Answers
//!   never reach the wrong call, and late ones are ignored.
//! - Answers stay JSON text until a part of them is needed.
//! - Nothing that a server sends, however much or malformed, ends this program or makes it exceed its memory limits.
//! - Every call ends with an answer, an error or a timeout, or because its caller cancels it. After a timeout or a
//!   cancellation, the server is asked to stop the call.
//! - Programs are ended together with their descendants.

mod asking;
#[cfg(feature = "http")]
mod callers;
mod calls;
mod error;
#[cfg(feature = "http")]
mod http;
mod message;
#[cfg(not(feature = "http"))]
mod no_http;
mod session;
#[cfg(feature = "http")]
mod sse;
mod stdio;
mod supervisor;
mod suspects;

pub use error::{UpstreamError, UpstreamSetupError};
pub(crate) use session::is_input_required;
pub use supervisor::UpstreamState;

use crate::caller::Caller;
use crate::environment::Environment;
use crate::protocol::{FeatureChange, METHOD_NOT_FOUND};
use crate::secret::Mask;
use asking::QuestionSource;
#[cfg(feature = "http")]
use callers::{Callers, Lease, header_names};
use futures_util::future::join_all;
#[cfg(feature = "http")]
use http::McpEndpoint;
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::selection::FeatureSelection;
#[cfg(not(feature = "http"))]
use no_http::{NoCallers as Callers, NoEndpoint as McpEndpoint, NoLease as Lease, header_names};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use session::UpstreamLink;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use stdio::Program;
use supervisor::{StartOptions, Supervisor};
use suspects::CrashCause;
use tokio::sync::{broadcast, watch};

/// Maximum number of pages of a list.
const MAX_PAGES: usize = 1000;
/// Maximum number of entries of a list.
const MAX_ENTRIES: usize = 100_000;

/// A list that was read page by page.
struct PagedList {
    entries: Vec<Value>,
    end: ListEnd,
}

/// Why no more pages were read.
enum ListEnd {
    /// The list is complete.
    Complete,
    /// The next page was read before.
    Repeated,
    /// The server does not know the method.
    UnknownMethod,
}

/// One MCP server. Clones share it, and dropping the last one stops it.
#[derive(Clone)]
pub struct Upstream {
    handle: Arc<UpstreamHandle>,
}

struct UpstreamHandle {
    supervisor: Arc<Supervisor>,
    /// Present if callers send their own credentials. Then `supervisor` is used only for the list of tools.
    callers: Option<Arc<Callers>>,
    timeout: Duration,
    eager: bool,
    selection: FeatureSelection,
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
    /// Prepares the connection to a server; nothing is started. If an environment variable is not set, only the calls
    /// fail.
    ///
    /// # Errors
    /// When the target or the credentials are invalid.
    pub fn new(
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, UpstreamSetupError> {
        Upstream::build(None, None, target, auth, environment)
    }

    /// Prepares the connection with a name for messages, instead of the name of its program or address.
    ///
    /// # Errors
    /// When the target or the credentials are invalid.
    pub fn named(
        name: &str,
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, UpstreamSetupError> {
        Upstream::build(Some(name), Some(name), target, auth, environment)
    }

    /// Prepares the connection of an adapter, with a name for messages. Questions of the server and resources in its results show the
    /// adapter's name.
    ///
    /// # Errors
    /// When the target or the credentials are invalid.
    pub fn of_adapter(
        adapter: &str,
        name: Option<&str>,
        target: &McpTarget,
        auth: &Auth,
        environment: &Environment,
    ) -> Result<Upstream, UpstreamSetupError> {
        Upstream::build(Some(adapter), name, target, auth, environment)
    }

    fn build(
        adapter: Option<&str>,
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
                    McpEndpoint::new(url, headers, (*allow_http, &target.access), auth, environment, limit)?,
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
        let supervisor = {
            let (name, questions) = (name.clone(), QuestionSource::new(adapter, target.questions));
            Supervisor::new(StartOptions { link, name, limit, start_timeout, questions })
        };
        let callers = endpoint
            .map(|endpoint| Callers::new(names, endpoint, &name, (limit, start_timeout), &supervisor));
        let timeout = Duration::from_millis(target.timeout_ms);
        Ok(Upstream {
            handle: Arc::new(UpstreamHandle {
                supervisor,
                callers,
                timeout,
                eager: target.eager,
                selection: target.selection.clone(),
            }),
        })
    }

    /// Returns the server's handshake and all its tools. No tool is called.
    ///
    /// # Errors
    /// When a request to the server fails.
    pub async fn capture(&self) -> Result<Capture, UpstreamError> {
        let supervisor = &self.handle.supervisor;
        let initialize = supervisor.session().await?.handshake();
        let PagedList { entries, end } =
            self.pages(supervisor, "tools/list", "tools", &Caller::nobody()).await?;
        let has_tools =
            || initialize.get("capabilities").is_some_and(|declared| declared.get("tools").is_some());
        let incomplete_reason = match end {
            ListEnd::Complete => None,
            ListEnd::Repeated => {
                Some("the list does not end: a page refers to an earlier page as the next one")
            }
            ListEnd::UnknownMethod => {
                has_tools().then_some("the server declares tools, but does not support tools/list")
            }
        };
        Ok(Capture { initialize, tools: entries, incomplete_reason })
    }

    /// Returns all pages of a list, in order; empty if the server has no such list.
    ///
    /// # Errors
    /// When a request to the server fails, or its list does not end.
    pub async fn list(&self, method: &str, key: &str, caller: &Caller) -> Result<Vec<Value>, UpstreamError> {
        let conversation = self.conversation_for(caller)?;
        self.pages(conversation.supervisor(), method, key, caller).await.map(|pages| pages.entries)
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
            let answer = self.request_in(supervisor, method, &object(params), caller, true).await;
            let mut page = match answer {
                Err(UpstreamError::Refused { code: METHOD_NOT_FOUND, .. }) if cursor.is_none() => {
                    return Ok(PagedList { entries, end: ListEnd::UnknownMethod });
                }
                page => self.parsed(method, &page?)?,
            };
            // An unreadable list is an error: an empty list would hide tools that other clients see.
            let Some(Value::Array(more)) = page.get_mut(key).map(Value::take) else {
                return Err(self.unreadable(method, &format!("it has no list '{key}'")));
            };
            let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
            // A server that repeats a page would never end.
            let is_repeated = next.is_some_and(|next| !seen.insert(next.to_owned()));
            // Skip the entries if the page is the same, too.
            if !(is_repeated && entries.ends_with(&more)) {
                entries.extend(more);
            }
            if entries.len() > MAX_ENTRIES {
                break;
            }
            match next {
                Some(next) if !is_repeated => cursor = Some(next.to_owned()),
                Some(_) => return Ok(PagedList { entries, end: ListEnd::Repeated }),
                None => return Ok(PagedList { entries, end: ListEnd::Complete }),
            }
        }
        let server = self.handle.supervisor.name().to_owned();
        Err(UpstreamError::Unreadable { server, reason: "is an endless list".into() })
    }

    /// Calls a tool and returns the raw result. Dropping the future cancels the call.
    ///
    /// # Errors
    /// When there is no result. A result with `isError` is a result.
    pub async fn call_tool(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, UpstreamError> {
        let params = object(json!({"name": tool, "arguments": arguments}));
        let raw = self.request_raw("tools/call", &params, caller, false).await?;
        self.parsed("tools/call", &raw)
    }

    /// Sends a request with any method and returns the raw result.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn request(
        &self,
        method: &str,
        params: Value,
        caller: &Caller,
    ) -> Result<Value, UpstreamError> {
        let raw = self.request_raw(method, &object(params), caller, method != "tools/call").await?;
        self.parsed(method, &raw)
    }

    /// Parses an answer. Parsing fails for very deep nesting and lone surrogates.
    fn parsed(&self, method: &str, raw: &RawValue) -> Result<Value, UpstreamError> {
        serde_json::from_str(raw.get()).map_err(|error| {
            let message = error.to_string();
            let problem = match message.split(" at line ").next() {
                Some("recursion limit exceeded") => "it is nested too deeply",
                Some(problem) => problem,
                None => "it is not JSON",
            };
            self.unreadable(method, problem)
        })
    }

    fn unreadable(&self, method: &str, problem: &str) -> UpstreamError {
        let reason = format!("to {method} cannot be read: {problem}").into();
        UpstreamError::Unreadable { server: self.handle.supervisor.name().to_owned(), reason }
    }

    /// Sends a request and returns the result as JSON text, without the credentials of the request. `is_read` says that
    /// running it twice does no harm.
    pub(crate) async fn request_raw(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
        is_read: bool,
    ) -> Result<Box<RawValue>, UpstreamError> {
        // A client that answers questions itself would get those of the server with the result.
        let quiet =
            (!self.questions().is_allowed() && caller.input().is_some()).then(|| caller.without_input());
        let caller = quiet.as_ref().unwrap_or(caller);
        let conversation = self.conversation_for(caller)?;
        self.request_in(conversation.supervisor(), method, params, caller, is_read).await
    }

    /// How questions of the server are passed on.
    pub(crate) fn questions(&self) -> &QuestionSource {
        self.handle.supervisor.questions()
    }

    /// Which prompts and resources of the server are served.
    pub(crate) fn selection(&self) -> &FeatureSelection {
        &self.handle.selection
    }

    /// Returns the conversation for a caller.
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
        is_read: bool,
    ) -> Result<Box<RawValue>, UpstreamError> {
        let mut is_retry = false;
        let cause = CrashCause::of(method, params, caller);
        loop {
            supervisor.check_suspect(cause)?;
            let session = supervisor.session().await?;
            // A client that answers questions itself speaks with the server in its own revision, if the server does.
            let stateless = match caller.input() {
                Some(_) if calls::is_work(method) => session.stateless(supervisor.limit()).await,
                Some(_) | None => None,
            };
            let session = stateless.unwrap_or(session);
            let outcome = session.ask(method, params, caller, self.handle.timeout).await;
            if outcome.is_ok() {
                supervisor.record_answer(cause);
            }
            match outcome {
                Ok(answer) if method == "tools/list" => {
                    return Ok(session.tools_without_credentials(answer));
                }
                Ok(answer) => return Ok(session.without_credentials(answer)),
                // The server was gone, or had lost the session.
                Err(failure) if failure.may_repeat(is_read) && !is_retry => is_retry = true,
                Err(failure) => return Err(failure.error.masked(&session.mask())),
            }
        }
    }

    /// Returns whether the server supports revisions without a handshake. Asks it once.
    pub(crate) async fn is_stateless(&self) -> bool {
        let supervisor = &self.handle.supervisor;
        match supervisor.session().await {
            Ok(session) => session.stateless(supervisor.limit()).await.is_some(),
            Err(_) => false,
        }
    }

    /// The state of the server.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<UpstreamState> {
        self.handle.supervisor.state()
    }

    /// Counts the server's notifications that its tools have changed.
    #[must_use]
    pub fn tools_changed(&self) -> watch::Receiver<u64> {
        self.handle.supervisor.changes().tools.subscribe()
    }

    /// Receives the changes of resources and prompts that the server announces.
    #[must_use]
    pub fn feature_changes(&self) -> broadcast::Receiver<FeatureChange> {
        self.handle.supervisor.changes().features.subscribe()
    }

    /// The server's last answer to the handshake, if known.
    #[must_use]
    pub fn handshake(&self) -> Option<Arc<Map<String, Value>>> {
        self.handle.supervisor.handshake()
    }

    /// Uses the handshake of an earlier run until the server sends a new one.
    pub fn remember(&self, capture: &Capture) {
        self.handle.supervisor.remember(&capture.initialize);
    }

    /// The mask for texts of the server.
    pub(crate) fn mask(&self) -> Mask {
        self.handle.supervisor.running().map(|session| session.mask()).unwrap_or_default()
    }

    /// Returns whether the server is a local program.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.handle.supervisor.is_program()
    }

    /// Returns whether the server starts before its first call.
    #[must_use]
    pub fn is_eager(&self) -> bool {
        self.handle.eager
    }

    /// Starts the server if it does not run.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start(&self) -> Result<(), UpstreamError> {
        self.handle.supervisor.session().await.map(drop)
    }

    /// Ends the conversation, and the program with all its descendants. The next call starts it again.
    pub async fn close(&self) {
        self.handle.supervisor.close().await;
        let others = self.handle.callers.as_ref().map(|callers| callers.take_sessions()).unwrap_or_default();
        join_all(others.iter().map(|session| session.close())).await;
    }
}

/// The conversation of a call.
enum CallConversation<'a> {
    /// Shared by all callers.
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
        // Capabilities are the same for all callers; the rest of the handshake belongs to the caller.
        if let CallConversation::Own { lease, shared } = self
            && shared.handshake().is_none()
            && let Some(capabilities) =
                lease.supervisor.handshake().and_then(|handshake| handshake.get("capabilities").cloned())
        {
            shared.remember(&Map::from_iter([("capabilities".to_owned(), capabilities)]));
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
