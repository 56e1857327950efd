//! The HTTP target: each call is one request to an API, over one pooled client.
//!
//! What always holds:
//! - A call with its redirects and retries ends within the target's timeout.
//! - Credentials are sent only to the origin that the document names; for a fetched description, only to hosts that the
//!   operator approved.
//! - Requests go to public addresses, and to others only if the operator allows it.
//! - A write is never sent twice, except with an idempotency header.
//! - Dropping the future aborts the request.
//! - Logs contain the method, the path template, the status and the duration, never a value.
//!
//! Proxies: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` of the process apply as usual, except that a
//! loopback target is always reached directly.

pub(crate) mod address;
mod answer_rules;
mod base64;
mod body;
mod call;
pub(crate) mod endpoint;
pub(crate) mod failure;
#[cfg(test)]
mod fixture;
mod headers;
mod html;
mod multipart;
mod next_page;
mod preview;
mod redirect;
mod request;
pub(crate) mod response;
mod response_body;
mod retry;
mod send;
mod style;
mod xml;

pub use retry::Backoff;

use super::auth::{Credentials, EnvLookup, ReservedNames, Tokens};
use super::{Args, Target, TargetCall, TargetKind};
use crate::caller::Caller;
use crate::fetch;
use crate::outgoing::NameLookup;
use address::{BaseAddress, Network};
use call::HttpCall;
use futures_util::future::BoxFuture;
use mcpaql_core::adapter::{self, Auth, HttpTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::exchange::FixedValue;
use mcpaql_core::header;
use mcpaql_core::operation::{Binding, HttpBinding, Operation, Param};
use mcpaql_core::response::Answer;
use mcpaql_core::template::EnvTemplate;
use redirect::Hop;
use request::RequestDefaults;
use reqwest::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use url::Url;

/// Why a client cannot be set up. For the operator.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum HttpSetupError {
    /// The base URL is invalid.
    #[error("the URL {reason}")]
    BaseUrl {
        /// The problem.
        reason: &'static str,
    },
    /// Plain `http` to another machine.
    #[error("the URL uses plain http to another machine; use https, or set allow_http in the target")]
    PlainHttp,
    /// A header of the target or of its credentials is invalid.
    #[error("the header '{name}' {reason}")]
    Header {
        /// The header's name.
        name: String,
        /// The problem.
        reason: &'static str,
    },
    /// TLS or the system's certificates are not usable.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
}

/// The HTTP target.
#[derive(Debug)]
pub struct HttpClient {
    network: Arc<Network>,
    base: BaseAddress,
    /// The target's headers without secrets.
    headers: HeaderMap,
    secret_headers: Vec<(HeaderName, EnvTemplate)>,
    auth: Auth,
    /// The names that the target's headers reserve, whatever the authentication.
    fixed: ReservedNames,
    /// Those, and the names that the adapter's own authentication reserves.
    reserved: ReservedNames,
    tokens: Tokens,
    env: EnvLookup,
    allow_http: bool,
    timeout: Duration,
    retries: u32,
    backoff: Backoff,
    boundary: fn() -> String,
    max_response_bytes: usize,
}

impl HttpClient {
    /// Creates a client for a target. `env` looks up environment variables on every call.
    ///
    /// # Errors
    /// When the target is invalid. A variable that is not set fails only the calls that need it.
    pub fn new(
        target: &HttpTarget,
        auth: &Auth,
        env: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<HttpClient, HttpSetupError> {
        let env = EnvLookup::new(env);
        let network = Arc::new(Network::new(target));
        let base = network.base(&target.base_url, &env)?;
        let mut fixed = ReservedNames::default();
        let (headers, secret_headers) = target_headers(target, &mut fixed)?;
        let mut reserved = fixed.clone();
        reserved.add(auth).map_err(|name| HttpSetupError::Header {
            name,
            reason: "is not a header name; correct it in auth",
        })?;
        Ok(HttpClient {
            tokens: Tokens::new(Arc::clone(&network)),
            network,
            base,
            headers,
            secret_headers,
            auth: auth.clone(),
            fixed,
            reserved,
            env,
            allow_http: target.allow_http,
            timeout: Duration::from_millis(target.timeout_ms),
            retries: target.retries,
            backoff: Backoff::default(),
            boundary: multipart::random_boundary,
            max_response_bytes: usize::try_from(target.max_response_bytes).unwrap_or(usize::MAX),
        })
    }

    /// Returns this client with other delays between retries.
    #[must_use]
    pub fn with_backoff(self, backoff: Backoff) -> Self {
        HttpClient { backoff, ..self }
    }

    /// Returns this client with another lookup of names than the system's.
    #[must_use]
    pub fn with_lookup(self, lookup: NameLookup) -> Self {
        self.network.guard().set_lookup(lookup);
        self
    }

    /// Returns this client with a fixed boundary for multipart bodies instead of a random one, for tests.
    #[must_use]
    pub fn with_boundary(self, boundary: fn() -> String) -> Self {
        HttpClient { boundary, ..self }
    }

    /// Runs one validated call. `next_page` is the address of another page of its list.
    async fn call(
        &self,
        operation: &Operation,
        args: &Args,
        caller: &Caller,
        next_page: Option<&str>,
    ) -> Result<Answer, OpError> {
        let Binding::Http(binding) = &operation.binding else {
            return Err(OpError::new(
                Code::Internal,
                "This operation has no HTTP request; tell the operator.",
            ));
        };
        let base = self.base_of(binding)?;
        let (auth, reserved) = self.authentication(binding.auth.as_ref())?;
        let defaults = RequestDefaults {
            base: &base,
            headers: &self.headers,
            reserved: &reserved,
            boundary: self.boundary,
        };
        let with_fixed = with_fixed_values(operation, binding, args);
        let (operation, args) =
            with_fixed.as_ref().map_or((operation, args), |(operation, args)| (operation, args));
        let mut outgoing = request::build(&defaults, operation, binding, args)?;
        if let Some(address) = next_page {
            next_page::follow(&mut outgoing, address, &reserved)?;
        }
        let key = operation.idempotency_header();
        let has_idempotency_key = key.is_some_and(|name| add_idempotency_key(&mut outgoing.headers, name));
        let background = operation.lifecycle.map(|lifecycle| Duration::from_millis(lifecycle.limit_ms()));
        let timeout = background.unwrap_or(self.timeout);
        let started = Instant::now();
        let mut call = HttpCall {
            client: self,
            operation,
            binding,
            args,
            caller,
            auth,
            credentials: Credentials::default(),
            status: AtomicU16::new(0),
            has_idempotency_key,
            // A timeout beyond the range of the clock counts as a year.
            deadline: started.checked_add(timeout).unwrap_or(started + Duration::from_secs(86_400 * 365)),
        };
        let first = Hop { outgoing, with_credentials: true };
        let outcome =
            timeout_at(call.deadline, call.run(first)).await.unwrap_or_else(|_| Err(timed_out(timeout)));
        call.log(started, &outcome);
        outcome
    }

    /// Returns the operation's own base address or else the adapter's.
    fn base_of(&self, binding: &HttpBinding) -> Result<Url, OpError> {
        match &binding.base_url {
            Some(text) => self.network.resolve(text, &self.env),
            None => self.base.url(&self.network, &self.env),
        }
    }

    /// Returns the address in the document, if it has variables.
    fn written_address<'a>(&'a self, binding: &'a HttpBinding) -> Option<&'a str> {
        match (&binding.base_url, &self.base) {
            (Some(own), _) => Some(own),
            (None, BaseAddress::Template(text)) => Some(text),
            (None, BaseAddress::Fixed(_)) => None,
        }
    }

    /// Returns the operation's own authentication or else the adapter's, and the names that it reserves.
    fn authentication<'a>(
        &'a self,
        own: Option<&'a Auth>,
    ) -> Result<(&'a Auth, Cow<'a, ReservedNames>), OpError> {
        let Some(auth) = own else { return Ok((&self.auth, Cow::Borrowed(&self.reserved))) };
        let mut reserved = self.fixed.clone();
        reserved.add(auth).map_err(|name| {
            request::unusable_document().with_cause(format_args!("header name {name:?} in auth"))
        })?;
        Ok((auth, Cow::Owned(reserved)))
    }
}

/// Adds a key that is new for this call, and the same for all its repetitions. A value of the caller is kept. Returns
/// whether the request has a key.
fn add_idempotency_key(headers: &mut HeaderMap, name: &str) -> bool {
    let (Ok(name), Ok(key)) =
        (HeaderName::from_bytes(name.as_bytes()), HeaderValue::try_from(uuid::Uuid::new_v4().to_string()))
    else {
        return false;
    };
    headers.entry(name).or_insert(key);
    true
}

/// Adds the fixed values of an operation to the caller's; `None` if it has none. A name with a space cannot be the name
/// of a parameter.
fn with_fixed_values(operation: &Operation, binding: &HttpBinding, args: &Args) -> Option<(Operation, Args)> {
    if binding.fixed.is_empty() {
        return None;
    }
    let (mut operation, mut args) = (operation.clone(), args.clone());
    for FixedValue { param, value } in &binding.fixed {
        let name = format!("fixed {} {}", param.location.as_str(), param.wire);
        args.insert(name.clone(), value.clone());
        operation.params.push(Param { name, ..param.clone() });
    }
    Some((operation, args))
}

impl Target for HttpClient {
    fn can_be_down(&self) -> bool {
        true
    }

    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(self.call(call.operation, call.args, call.caller, call.next_page))
    }

    fn preview<'a>(
        &'a self,
        operation: &'a Operation,
        args: &'a Args,
    ) -> BoxFuture<'a, Result<Value, OpError>> {
        Box::pin(std::future::ready(self.preview_request(operation, args)))
    }
}

/// The kind of HTTP APIs.
pub(super) const TARGET_KIND: TargetKind = TargetKind {
    name: "http",
    open: |request| match request.target {
        adapter::TargetConfig::Http(target) => Some(Box::pin(async move {
            match HttpClient::new(target, request.auth, request.lookup()) {
                Ok(client) => Ok(Arc::new(client) as Arc<dyn Target>),
                Err(error) => {
                    let user_message = error.to_string();
                    Err(request.error(error, user_message))
                }
            }
        })),
        _ => None,
    },
};

fn timed_out(timeout: Duration) -> OpError {
    let millis = timeout.as_millis();
    OpError::new(
        Code::TransportTimeout,
        format!(
            "The API did not answer within {millis} ms. Try later; if it was a write, first check whether it took effect."
        ),
    )
}

type SecretHeaders = Vec<(HeaderName, EnvTemplate)>;

/// The target's headers, plain and secret. Adds the names that they reserve.
fn target_headers(
    target: &HttpTarget,
    reserved: &mut ReservedNames,
) -> Result<(HeaderMap, SecretHeaders), HttpSetupError> {
    let mut headers = HeaderMap::new();
    let mut secret_headers = Vec::new();
    for (name, value) in &target.headers {
        let invalid = |reason| HttpSetupError::Header { name: name.clone(), reason };
        if let Some(reason) = header::problem(name, value) {
            return Err(invalid(reason));
        }
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("is too long; shorten it"))?;
        if key == COOKIE {
            let names = value.split(';').map(|pair| pair.split('=').next().unwrap_or_default().trim());
            reserved.cookies.extend(names.map(str::to_owned));
        }
        match EnvTemplate::parse(value).filter(EnvTemplate::has_variables) {
            Some(template) => {
                reserved.headers.push(key.clone());
                secret_headers.push((key, template));
            }
            None => {
                let value = HeaderValue::from_bytes(value.as_bytes())
                    .map_err(|_| invalid("contains invalid characters; correct its value"))?;
                headers.insert(key, value);
            }
        }
    }
    Ok((headers, secret_headers))
}

/// Describes a failed request for the operator: the origin of its address, and the cause.
pub(crate) fn connection_failure(error: &reqwest::Error) -> String {
    let origin =
        error.url().map_or_else(|| "the server".to_owned(), |url| url.origin().ascii_serialization());
    let cause = fetch::root_cause(error);
    if error.is_connect() {
        format!("cannot connect to {origin}: {cause}")
    } else {
        format!("the connection to {origin} broke: {cause}")
    }
}
