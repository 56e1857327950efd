//! Conversations of callers who bring credentials of their own: one for each set of values, never shared with other values.
//!
//! What always holds: what a caller sends goes to the server in that caller's conversation alone; values are looked up by a
//! digest and never shown; there are no more than [`MOST`] conversations, and one that nobody uses for a while is closed.

use super::calls::Changes;
use super::error::UpstreamError;
use super::http::Endpoint;
use super::life::{Life, Plan};
use super::session::Link;
use crate::caller::Caller;
use crate::secret::{Mask, Secret};
use crate::target::http::door::Instead;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::error::{Code, OpError};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How many callers have conversations together.
const MOST: usize = 64;
/// How long a conversation stays when nobody uses it.
const IDLE: Duration = Duration::from_secs(300);

type Key = [u8; 32];

/// The conversations of one server's callers.
pub(super) struct Callers {
    /// As the document writes them, and as they are looked for.
    names: Vec<(String, HeaderName)>,
    endpoint: Arc<Endpoint>,
    name: String,
    limit: usize,
    start_timeout: Duration,
    changes: Changes,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    entries: HashMap<Key, Entry>,
    /// Somebody looks for what is idle.
    watched: bool,
}

struct Entry {
    life: Arc<Life>,
    /// Calls that use it now.
    busy: usize,
    used: Instant,
}

/// A caller's conversation, which stays while this lives.
pub(super) struct Lease {
    callers: Arc<Callers>,
    key: Key,
    pub(super) life: Arc<Life>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut book = self.callers.book();
        if let Some(entry) = book.entries.get_mut(&self.key).filter(|one| Arc::ptr_eq(&one.life, &self.life))
        {
            entry.busy = entry.busy.saturating_sub(1);
            entry.used = Instant::now();
        }
    }
}

impl Callers {
    /// `life` is how the adapter itself speaks to the same server.
    pub(super) fn new(
        names: Vec<(String, HeaderName)>,
        endpoint: Arc<Endpoint>,
        name: &str,
        (limit, start_timeout): (usize, Duration),
        life: &Life,
    ) -> Arc<Callers> {
        let (name, changes, book) = (name.to_owned(), life.changes().clone(), Mutex::default());
        Arc::new(Callers { names, endpoint, name, limit, start_timeout, changes, book })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation of that caller, not started where it is new.
    pub(super) fn lease(self: &Arc<Self>, caller: &Caller) -> Result<Lease, UpstreamError> {
        let refused = |error| UpstreamError::Refusal(Box::new(error));
        let values = self.values(caller).map_err(refused)?;
        let key = digest(&values);
        let mut book = self.book();
        if !book.entries.contains_key(&key) {
            if book.entries.len() >= MOST && !book.make_room() {
                return Err(refused(too_many()));
            }
            let life = self.begin(&values).map_err(refused)?;
            book.entries.insert(key, Entry { life, busy: 0, used: Instant::now() });
        }
        let entry = book.entries.get_mut(&key);
        let Some(entry) = entry else { return Err(refused(too_many())) };
        entry.busy += 1;
        let life = Arc::clone(&entry.life);
        if !std::mem::replace(&mut book.watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        Ok(Lease { callers: Arc::clone(self), key, life })
    }

    /// What the caller sends in each of the headers.
    fn values(&self, caller: &Caller) -> Result<Vec<Secret>, OpError> {
        self.names.iter().map(|(written, name)| value(caller.headers(), written, name)).collect()
    }

    fn begin(&self, values: &[Secret]) -> Result<Arc<Life>, OpError> {
        let mut headers = HeaderMap::new();
        let mut mask = Mask::default();
        for ((written, name), value) in self.names.iter().zip(values) {
            let mut sent = HeaderValue::from_str(value.expose()).map_err(|_| unsendable(written))?;
            sent.set_sensitive(true);
            headers.insert(name, sent);
            hide(&mut mask, value.expose());
        }
        let link = Link::Endpoint(Arc::new(self.endpoint.with(Instead { headers, mask })));
        let (name, limit, start_timeout) = (self.name.clone(), self.limit, self.start_timeout);
        Ok(Life::sharing(Plan { link, name, limit, start_timeout }, self.changes.clone()))
    }

    /// Closes what nobody used for a while; how long to wait before looking again, while there is anything to look at.
    fn close_idle(&self, now: Instant) -> Option<Duration> {
        let mut book = self.book();
        let left = |entry: &Entry| (entry.used + IDLE).saturating_duration_since(now);
        book.entries.retain(|_, entry| {
            let stays = entry.busy > 0 || !left(entry).is_zero();
            if !stays {
                drop(entry.life.end());
            }
            stays
        });
        let next = book.entries.values().map(|entry| if entry.busy > 0 { IDLE } else { left(entry) }).min();
        book.watched = next.is_some();
        next
    }

    /// Lets go of all conversations.
    pub(super) fn end(&self) -> Vec<Arc<super::session::Session>> {
        let entries = std::mem::take(&mut self.book().entries);
        entries.into_values().filter_map(|entry| entry.life.end()).collect()
    }
}

impl Book {
    /// Closes the conversation that nobody uses for the longest time, one that does not stand before one that does; false
    /// where all are used.
    fn make_room(&mut self) -> bool {
        let idle = self.entries.iter().filter(|(_, entry)| entry.busy == 0);
        let oldest = idle.min_by_key(|(_, entry)| (entry.life.running().is_some(), entry.used));
        let Some(key) = oldest.map(|(key, _)| *key) else { return false };
        if let Some(entry) = self.entries.remove(&key) {
            drop(entry.life.end());
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
    OpError::new(Code::PermissionDenied, message).with("header", header)
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
    OpError::new(Code::RateLimitExceeded, message).with("maximum", MOST)
}

/// Equal only where all values are, each in its place.
fn digest(values: &[Secret]) -> Key {
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
        let endpoint = Endpoint::new(url, &IndexMap::new(), false, &Auth::None, &environment, 1).unwrap();
        let endpoint = Arc::new(endpoint);
        let plan = Plan {
            link: Link::Endpoint(Arc::clone(&endpoint)),
            name: "far".into(),
            limit: 1,
            start_timeout: Duration::from_secs(1),
        };
        let names = ["X-One", "X-Two"]
            .map(|name| (name.to_owned(), HeaderName::from_bytes(name.as_bytes()).unwrap()));
        Callers::new(names.into(), endpoint, "far", (1, Duration::from_secs(1)), &Life::new(plan))
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
        assert!(Arc::ptr_eq(&first.life, &lease("ab", "c").life));
        for (one, two) in [("a", "bc"), ("c", "ab"), ("AB", "c"), ("ab", "C")] {
            assert!(!Arc::ptr_eq(&first.life, &lease(one, two).life), "{one} {two}");
        }
        assert_eq!(callers.book().entries.len(), 5);
    }

    #[tokio::test]
    async fn what_nobody_uses_for_a_while_is_closed() {
        let callers = callers();
        let (used, idle) =
            (callers.lease(&caller("a", "b")).unwrap(), callers.lease(&caller("c", "d")).unwrap());
        assert_eq!(callers.close_idle(Instant::now() + IDLE * 2), Some(IDLE), "both are in use");
        drop(idle);
        assert!(callers.close_idle(Instant::now()).is_some_and(|wait| wait <= IDLE));
        assert_eq!(callers.book().entries.len(), 2);
        assert_eq!(callers.close_idle(Instant::now() + IDLE), Some(IDLE));
        assert_eq!(callers.book().entries.len(), 1);
        drop(used);
        assert_eq!(callers.close_idle(Instant::now() + IDLE), None);
    }

    #[tokio::test]
    async fn the_one_that_waited_longest_makes_room() {
        let callers = callers();
        for number in 0..MOST {
            drop(callers.lease(&caller(&number.to_string(), "x")).unwrap());
        }
        drop(callers.lease(&caller("0", "x")).unwrap());
        drop(callers.lease(&caller("new", "x")).unwrap());
        let has =
            |one: &str| callers.book().entries.contains_key(&digest(&[Secret::new(one), Secret::new("x")]));
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
