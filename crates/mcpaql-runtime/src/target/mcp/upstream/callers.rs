//! Conversations of callers who bring credentials of their own: one for each set of values, never shared with other values.
//!
//! What always holds: what a caller sends goes to the server in that caller's conversation alone; values are looked up by a
//! digest and never shown; there are no more than [`MAX_CALLERS`] conversations, and one that nobody uses for a while is closed.

use super::calls::Changes;
use super::error::UpstreamError;
use super::http::McpEndpoint;
use super::session::UpstreamLink;
use super::supervisor::{StartOptions, Supervisor};
use crate::caller::Caller;
use crate::secret::{Mask, Secret};
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

/// Callers that have conversations at the same time.
const MAX_CALLERS: usize = 64;
/// How long a conversation stays when nobody uses it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

type CallerKey = [u8; 32];

/// The conversations of one server's callers.
pub(super) struct Callers {
    /// As the document writes them, and as they are looked for.
    names: Vec<(String, HeaderName)>,
    endpoint: Arc<McpEndpoint>,
    name: String,
    limit: usize,
    start_timeout: Duration,
    changes: Changes,
    inner: Mutex<CallerTable>,
}

#[derive(Default)]
struct CallerTable {
    entries: HashMap<CallerKey, CallerConversation>,
    /// Somebody looks for what is idle.
    watched: bool,
}

struct CallerConversation {
    supervisor: Arc<Supervisor>,
    /// Calls that use it now.
    running_calls: usize,
    last_used: Instant,
}

/// A caller's conversation, which stays while this lives.
pub(super) struct Lease {
    callers: Arc<Callers>,
    key: CallerKey,
    pub(super) supervisor: Arc<Supervisor>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut inner = self.callers.inner();
        if let Some(entry) =
            inner.entries.get_mut(&self.key).filter(|one| Arc::ptr_eq(&one.supervisor, &self.supervisor))
        {
            entry.running_calls = entry.running_calls.saturating_sub(1);
            entry.last_used = Instant::now();
        }
    }
}

impl Callers {
    /// `supervisor` is how the adapter itself speaks to the same server.
    pub(super) fn new(
        names: Vec<(String, HeaderName)>,
        endpoint: Arc<McpEndpoint>,
        name: &str,
        (limit, start_timeout): (usize, Duration),
        supervisor: &Supervisor,
    ) -> Arc<Callers> {
        let (name, changes, inner) = (name.to_owned(), supervisor.changes().clone(), Mutex::default());
        Arc::new(Callers { names, endpoint, name, limit, start_timeout, changes, inner })
    }

    fn inner(&self) -> MutexGuard<'_, CallerTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation of that caller, not started where it is new.
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

    /// What the caller sends in each of the headers.
    fn values(&self, caller: &Caller) -> Result<Vec<Secret>, OpError> {
        self.names.iter().map(|(written, name)| value(caller.headers(), written, name)).collect()
    }

    fn begin(&self, values: &[Secret]) -> Result<Arc<Supervisor>, OpError> {
        let mut headers = HeaderMap::new();
        let mut mask = Mask::default();
        for ((written, name), value) in self.names.iter().zip(values) {
            let mut sent = HeaderValue::from_str(value.expose()).map_err(|_| unsendable(written))?;
            sent.set_sensitive(true);
            headers.insert(name, sent);
            hide(&mut mask, value.expose());
        }
        let link =
            UpstreamLink::Endpoint(Arc::new(self.endpoint.with_overrides(HeaderOverrides { headers, mask })));
        let (name, limit, start_timeout) = (self.name.clone(), self.limit, self.start_timeout);
        Ok(Supervisor::with_changes(StartOptions { link, name, limit, start_timeout }, self.changes.clone()))
    }

    /// Closes what nobody used for a while; how long to wait before looking again, while there is anything to look at.
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

    /// Lets go of all conversations.
    pub(super) fn take_sessions(&self) -> Vec<Arc<super::session::UpstreamSession>> {
        let entries = std::mem::take(&mut self.inner().entries);
        entries.into_values().filter_map(|entry| entry.supervisor.end()).collect()
    }
}

impl CallerTable {
    /// Closes the conversation that nobody uses for the longest time, one that does not stand before one that does; false
    /// where all are used.
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

async fn watch(callers: Weak<Callers>) {
    while let Some(wait) = callers.upgrade().and_then(|callers| callers.close_idle(Instant::now())) {
        sleep(wait).await;
    }
}

/// The one value of a header.
fn value(headers: Option<&HeaderMap>, written: &str, name: &HeaderName) -> Result<Secret, OpError> {
    let Some(headers) = headers else {
        return Err(denied(
            written,
            format!(
                "This operation is called with what its caller sends in the HTTP header {written}, and this call did \
                 not come over HTTP; tell the user to serve the adapter over HTTP."
            ),
        ));
    };
    let mut values = headers.get_all(name).iter();
    let (value, more) = (values.next().map(|value| value.as_bytes().trim_ascii()), values.next());
    match value.filter(|value| !value.is_empty()) {
        Some(value) if more.is_none() => {
            let text = std::str::from_utf8(value).map_err(|_| unsendable(written))?;
            Ok(Secret::new(text))
        }
        Some(_) => {
            let message =
                format!("The HTTP header {written} was sent more than once; tell the user to send it once.");
            Err(denied(written, message))
        }
        None => Err(denied(
            written,
            format!(
                "This operation needs the caller's own credentials in the HTTP header {written}; tell the user to let the \
                 client send it with every request to this server."
            ),
        )),
    }
}

fn denied(header: &str, message: String) -> OpError {
    OpError::new(Code::PermissionDenied, message).with_detail("header", header)
}

fn unsendable(header: &str) -> OpError {
    let message = format!(
        "The HTTP header {header} holds characters that cannot be passed on; tell the user to correct its value."
    );
    denied(header, message)
}

fn too_many() -> OpError {
    let message =
        "Too many callers with credentials of their own have calls running on this server; try again later.";
    OpError::new(Code::RateLimitExceeded, message).with_detail("maximum", MAX_CALLERS)
}

/// Equal only where all values are, each in its place.
fn digest(values: &[Secret]) -> CallerKey {
    let mut digest = Sha256::new();
    for value in values {
        let bytes = value.expose().as_bytes();
        digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(bytes);
    }
    digest.finalize().into()
}

/// Hides a value, and what it holds where it has the form of `Authorization`.
fn hide(mask: &mut Mask, value: &str) {
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
        // Another test may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let environment = Arc::new(|_: &str| None) as _;
        let url = "http://127.0.0.1:1/mcp";
        let endpoint = McpEndpoint::new(url, &IndexMap::new(), false, &Auth::None, &environment, 1).unwrap();
        let endpoint = Arc::new(endpoint);
        let plan = StartOptions {
            link: UpstreamLink::Endpoint(Arc::clone(&endpoint)),
            name: "far".into(),
            limit: 1,
            start_timeout: Duration::from_secs(1),
        };
        let names = ["X-One", "X-Two"]
            .map(|name| (name.to_owned(), HeaderName::from_bytes(name.as_bytes()).unwrap()));
        Callers::new(names.into(), endpoint, "far", (1, Duration::from_secs(1)), &Supervisor::new(plan))
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
    async fn what_nobody_uses_for_a_while_is_closed() {
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
    async fn the_one_that_waited_longest_makes_room() {
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
        hide(&mut mask, "Bearer token-1234");
        hide(&mut mask, &format!("Basic {}", STANDARD.encode("anna:pass-word")));
        for text in ["token-1234", "pass-word", "anna:pass-word", "Bearer token-1234"] {
            assert_eq!(mask.apply(text), "[redacted]");
        }
    }
}
