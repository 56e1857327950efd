//! Conversations of callers with their own credentials: one for each set of values, never shared.
//!
//! What always holds: the values of a caller are sent only in that caller's conversation; values are looked up by a
//! digest and never shown; there are at most [`MAX_CALLERS`] conversations, and an idle one is closed after a while.

use super::asking::QuestionSource;
use super::calls::Changes;
use super::error::{UpstreamError, UpstreamSetupError};
use super::http::McpEndpoint;
use super::session::UpstreamLink;
use super::supervisor::{StartOptions, Supervisor};
use crate::caller::Caller;
use crate::secret::{Mask, Secret};
use crate::target::http::HttpSetupError;
use crate::target::http::endpoint::HeaderOverrides;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::error::{Code, OpError};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum number of callers with a conversation at the same time.
const MAX_CALLERS: usize = 64;
/// How long an idle conversation stays open.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

type CallerKey = [u8; 32];

/// The conversations of the callers of one server.
pub(super) struct Callers {
    /// The names of the headers, as the document writes them and parsed.
    names: Vec<(String, HeaderName)>,
    endpoint: Arc<McpEndpoint>,
    name: String,
    limit: usize,
    start_timeout: Duration,
    changes: Changes,
    questions: QuestionSource,
    inner: Mutex<CallerTable>,
}

#[derive(Default)]
struct CallerTable {
    entries: HashMap<CallerKey, CallerConversation>,
    /// A task is watching for idle conversations.
    watched: bool,
}

struct CallerConversation {
    supervisor: Arc<Supervisor>,
    /// Calls that are using it.
    running_calls: usize,
    last_used: Instant,
}

/// A caller's conversation, which stays open while the lease exists.
pub(super) struct Lease {
    callers: Arc<Callers>,
    key: CallerKey,
    pub(super) supervisor: Arc<Supervisor>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut inner = self.callers.inner();
        if let Some(entry) =
            inner.entries.get_mut(&self.key).filter(|entry| Arc::ptr_eq(&entry.supervisor, &self.supervisor))
        {
            entry.running_calls = entry.running_calls.saturating_sub(1);
            entry.last_used = Instant::now();
        }
    }
}

impl Callers {
    /// `supervisor` is the adapter's own connection to the same server.
    pub(super) fn new(
        names: Vec<(String, HeaderName)>,
        endpoint: Arc<McpEndpoint>,
        name: &str,
        (limit, start_timeout): (usize, Duration),
        supervisor: &Supervisor,
    ) -> Arc<Callers> {
        let (name, changes, inner) = (name.to_owned(), supervisor.changes().clone(), Mutex::default());
        let questions = supervisor.questions().clone();
        Arc::new(Callers { names, endpoint, name, limit, start_timeout, changes, questions, inner })
    }

    fn inner(&self) -> MutexGuard<'_, CallerTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the conversation of a caller. A new one is not started yet.
    pub(super) fn lease(self: &Arc<Self>, caller: &Caller) -> Result<Lease, UpstreamError> {
        let refused = |error| UpstreamError::Refusal(Box::new(error));
        let values = self.values(caller).map_err(refused)?;
        let key = digest(&values);
        let mut inner = self.inner();
        if !inner.entries.contains_key(&key) {
            if inner.entries.len() >= MAX_CALLERS && !inner.make_room() {
                return Err(refused(too_many()));
            }
            let supervisor = self.begin(&values).map_err(refused)?;
            inner
                .entries
                .insert(key, CallerConversation { supervisor, running_calls: 0, last_used: Instant::now() });
        }
        let entry = inner.entries.get_mut(&key);
        let Some(entry) = entry else { return Err(refused(too_many())) };
        entry.running_calls += 1;
        let supervisor = Arc::clone(&entry.supervisor);
        if !std::mem::replace(&mut inner.watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        Ok(Lease { callers: Arc::clone(self), key, supervisor })
    }

    /// The values that the caller sends in the headers.
    fn values(&self, caller: &Caller) -> Result<Vec<Secret>, OpError> {
        self.names.iter().map(|(header, name)| value(caller.headers(), header, name)).collect()
    }

    fn begin(&self, values: &[Secret]) -> Result<Arc<Supervisor>, OpError> {
        let mut headers = HeaderMap::new();
        let mut mask = Mask::default();
        for ((header, name), value) in self.names.iter().zip(values) {
            let mut sent = HeaderValue::from_str(value.expose()).map_err(|_| unsendable(header))?;
            sent.set_sensitive(true);
            headers.insert(name, sent);
            add_to_mask(&mut mask, value.expose());
        }
        let link =
            UpstreamLink::Endpoint(Arc::new(self.endpoint.with_overrides(HeaderOverrides { headers, mask })));
        let (name, limit, start_timeout) = (self.name.clone(), self.limit, self.start_timeout);
        let questions = self.questions.clone();
        let options = StartOptions { link, name, limit, start_timeout, questions };
        Ok(Supervisor::with_changes(options, self.changes.clone()))
    }

    /// Closes idle conversations. Returns how long to wait before the next check; `None` if no conversation is left.
    fn close_idle(&self, now: Instant) -> Option<Duration> {
        let mut inner = self.inner();
        let left =
            |entry: &CallerConversation| (entry.last_used + IDLE_TIMEOUT).saturating_duration_since(now);
        inner.entries.retain(|_, entry| {
            let stays = entry.running_calls > 0 || !left(entry).is_zero();
            if !stays {
                drop(entry.supervisor.end());
            }
            stays
        });
        let next = inner
            .entries
            .values()
            .map(|entry| if entry.running_calls > 0 { IDLE_TIMEOUT } else { left(entry) })
            .min();
        inner.watched = next.is_some();
        next
    }

    /// Removes all conversations and returns their sessions.
    pub(super) fn take_sessions(&self) -> Vec<Arc<super::session::UpstreamSession>> {
        let entries = std::mem::take(&mut self.inner().entries);
        entries.into_values().filter_map(|entry| entry.supervisor.end()).collect()
    }
}

impl CallerTable {
    /// Closes the conversation that has been idle for the longest time, preferably one that is not connected. Returns
    /// false if all are in use.
    fn make_room(&mut self) -> bool {
        let idle = self.entries.iter().filter(|(_, entry)| entry.running_calls == 0);
        let oldest = idle.min_by_key(|(_, entry)| (entry.supervisor.running().is_some(), entry.last_used));
        let Some(key) = oldest.map(|(key, _)| *key) else { return false };
        if let Some(entry) = self.entries.remove(&key) {
            drop(entry.supervisor.end());
        }
        true
    }
}

/// Parses the names of headers that callers send.
pub(super) fn header_names(declared: &[String]) -> Result<Vec<(String, HeaderName)>, UpstreamSetupError> {
    let name = |declared: &String| match HeaderName::from_bytes(declared.as_bytes()) {
        Ok(name) => Ok((declared.clone(), name)),
        Err(_) => Err(HttpSetupError::Header {
            name: declared.clone(),
            reason: "is not a header name; correct it in caller_headers",
        }),
    };
    Ok(declared.iter().map(name).collect::<Result<_, _>>()?)
}

async fn watch(callers: Weak<Callers>) {
    while let Some(wait) = callers.upgrade().and_then(|callers| callers.close_idle(Instant::now())) {
        sleep(wait).await;
    }
}

/// Returns the value of a header, which must be sent once.
fn value(headers: Option<&HeaderMap>, header: &str, name: &HeaderName) -> Result<Secret, OpError> {
    let Some(headers) = headers else {
        return Err(denied(
            header,
            format!(
                "This operation needs the value of the caller's HTTP header {header}, but this call did not come \
                 over HTTP; tell the user to serve the adapter over HTTP."
            ),
        ));
    };
    let mut values = headers.get_all(name).iter();
    let (value, more) = (values.next().map(|value| value.as_bytes().trim_ascii()), values.next());
    match value.filter(|value| !value.is_empty()) {
        Some(value) if more.is_none() => {
            let text = std::str::from_utf8(value).map_err(|_| unsendable(header))?;
            Ok(Secret::new(text))
        }
        Some(_) => {
            let message =
                format!("The HTTP header {header} was sent more than once; tell the user to send it once.");
            Err(denied(header, message))
        }
        None => Err(denied(
            header,
            format!(
                "This operation needs the caller's own credentials in the HTTP header {header}; tell the user to make the \
                 client send it with every request to this server."
            ),
        )),
    }
}

fn denied(header: &str, message: String) -> OpError {
    OpError::new(Code::PermissionDenied, message).with_detail("header", header)
}

fn unsendable(header: &str) -> OpError {
    let message =
        format!("The HTTP header {header} contains invalid characters; tell the user to correct its value.");
    denied(header, message)
}

fn too_many() -> OpError {
    let message =
        "Too many callers with their own credentials have running calls on this server; try again later.";
    OpError::new(Code::RateLimitExceeded, message).with_detail("maximum", MAX_CALLERS)
}

/// Equal only if all values are equal, in the same order.
fn digest(values: &[Secret]) -> CallerKey {
    let mut digest = Sha256::new();
    for value in values {
        let bytes = value.expose().as_bytes();
        digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(bytes);
    }
    digest.finalize().into()
}

/// Masks a value, and the credentials in it if it has the form of `Authorization`.
fn add_to_mask(mask: &mut Mask, value: &str) {
    mask.add(value);
    let Some((scheme, credentials)) = value.split_once(' ') else { return };
    let credentials = credentials.trim();
    mask.add(credentials);
    let pair = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(credentials).ok()).flatten();
    if let Some(pair) = pair.and_then(|pair| String::from_utf8(pair).ok()) {
        mask.add(&pair);
        mask.add(pair.split_once(':').map_or(&*pair, |(_, password)| password));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use mcpaql_core::adapter::Auth;

    fn callers() -> Arc<Callers> {
        // Fails if another test was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let environment = Arc::new(|_: &str| None) as _;
        let url = "http://127.0.0.1:1/mcp";
        let endpoint = {
            let outgoing = (false, &mcpaql_core::host::NetworkAccess::default());
            McpEndpoint::new(url, &IndexMap::new(), outgoing, &Auth::None, &environment, 1).unwrap()
        };
        let endpoint = Arc::new(endpoint);
        let options = StartOptions {
            link: UpstreamLink::Endpoint(Arc::clone(&endpoint)),
            name: "far".into(),
            limit: 1,
            start_timeout: Duration::from_secs(1),
            questions: QuestionSource::new(None, true),
        };
        let names = ["X-One", "X-Two"]
            .map(|name| (name.to_owned(), HeaderName::from_bytes(name.as_bytes()).unwrap()));
        Callers::new(names.into(), endpoint, "far", (1, Duration::from_secs(1)), &Supervisor::new(options))
    }

    fn caller(one: &str, two: &str) -> Caller {
        let headers = [("x-one", one), ("x-two", two)];
        Caller::with_headers(
            headers
                .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
                .into_iter()
                .collect(),
        )
    }

    #[tokio::test]
    async fn only_the_same_values_in_the_same_headers_are_the_same_caller() {
        let callers = callers();
        let lease = |one, two| callers.lease(&caller(one, two)).unwrap();
        let first = lease("ab", "c");
        assert!(Arc::ptr_eq(&first.supervisor, &lease("ab", "c").supervisor));
        for (one, two) in [("a", "bc"), ("c", "ab"), ("AB", "c"), ("ab", "C")] {
            assert!(!Arc::ptr_eq(&first.supervisor, &lease(one, two).supervisor), "{one} {two}");
        }
        assert_eq!(callers.inner().entries.len(), 5);
    }

    #[tokio::test]
    async fn idle_conversations_are_closed() {
        let callers = callers();
        let (used, idle) =
            (callers.lease(&caller("a", "b")).unwrap(), callers.lease(&caller("c", "d")).unwrap());
        assert_eq!(
            callers.close_idle(Instant::now() + IDLE_TIMEOUT * 2),
            Some(IDLE_TIMEOUT),
            "both are in use"
        );
        drop(idle);
        assert!(callers.close_idle(Instant::now()).is_some_and(|wait| wait <= IDLE_TIMEOUT));
        assert_eq!(callers.inner().entries.len(), 2);
        assert_eq!(callers.close_idle(Instant::now() + IDLE_TIMEOUT), Some(IDLE_TIMEOUT));
        assert_eq!(callers.inner().entries.len(), 1);
        drop(used);
        assert_eq!(callers.close_idle(Instant::now() + IDLE_TIMEOUT), None);
    }

    #[tokio::test]
    async fn the_longest_idle_conversation_is_closed_for_a_new_one() {
        let callers = callers();
        for number in 0..MAX_CALLERS {
            drop(callers.lease(&caller(&number.to_string(), "x")).unwrap());
        }
        drop(callers.lease(&caller("0", "x")).unwrap());
        drop(callers.lease(&caller("new", "x")).unwrap());
        let has =
            |one: &str| callers.inner().entries.contains_key(&digest(&[Secret::new(one), Secret::new("x")]));
        assert_eq!((has("0"), has("1"), has("2"), has("new")), (true, false, true, true));
    }

    #[test]
    fn credentials_are_hidden_in_the_forms_of_authorization() {
        let mut mask = Mask::default();
        add_to_mask(&mut mask, "Bearer token-1234");
        add_to_mask(&mut mask, &format!("Basic {}", STANDARD.encode("anna:pass-word")));
        for text in ["token-1234", "pass-word", "anna:pass-word", "Bearer token-1234"] {
            assert_eq!(mask.apply(text), "[redacted]");
        }
    }
}
