//! The HTTP target: one operation is one request to one API, with one pooled client.
//!
//! What always holds: the whole call, with its redirects and retries, ends within the target's timeout; credentials go to
//! the base's origin alone; dropping the future aborts the request; logs name the method, the path's template, the status
//! and the duration, never a value.
//!
//! Proxies: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` of the process are honoured as usual, except that a
//! loopback target is always reached directly.

mod failure;
mod redirect;
mod request;
mod response;
mod retry;
#[cfg(test)]
mod samples;
mod style;

pub use retry::Backoff;

use super::Args;
use super::auth::{Credentials, Env, Scheme};
use crate::environment::Template;
use crate::secret::Mask;
use failure::Refusal;
use mcpaql_core::adapter::{Auth, HttpTarget};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Binding, Category, HttpBinding, Operation};
use mcpaql_core::response::{Answer, Warning};
use redirect::{Hop, Step};
use request::Base;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use response::End;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, timeout_at};
use url::Url;

/// Why a client cannot be made. Written for the operator.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The base URL cannot be used.
    #[error("the base URL {reason}")]
    BaseUrl {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Plain `http` to another machine.
    #[error("the base URL uses plain http to another machine; use https, or set allow_http in the target")]
    PlainHttp,
    /// A header of the target or of its credentials cannot be used.
    #[error("the header '{name}' {reason}")]
    Header {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// TLS or the system's certificates are not usable.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
}

/// The HTTP target.
#[derive(Debug)]
pub struct HttpClient {
    http: reqwest::Client,
    base: Base,
    secret_headers: Vec<(HeaderName, Template)>,
    scheme: Scheme,
    env: Env,
    allow_http: bool,
    timeout: Duration,
    retries: u32,
    backoff: Backoff,
    max_response_bytes: usize,
}

impl HttpClient {
    /// A client for one target. `env` looks up environment variables on every call.
    ///
    /// # Errors
    /// What is wrong with the target; a variable that is not set is an error of the calls, not of the setup.
    pub fn new(
        target: &HttpTarget,
        auth: &Auth,
        env: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<HttpClient, SetupError> {
        let url = base_url(target)?;
        let scheme = Scheme::new(auth).map_err(|name| SetupError::Header {
            name,
            reason: "is not a header name; correct it in auth",
        })?;
        let mut base = Base {
            url,
            headers: Default::default(),
            reserved: Vec::new(),
            key: scheme.query().map(str::to_owned),
        };
        let mut secret_headers = Vec::new();
        for (name, value) in &target.headers {
            let wrong = |reason| SetupError::Header { name: name.clone(), reason };
            let header = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| wrong("is not a header name; correct it"))?;
            if request::is_framing(&header) {
                return Err(wrong("is set by the connection itself; remove it from the target"));
            }
            let template =
                Template::parse(value).ok_or_else(|| wrong("holds a ${env:NAME} that is not closed"))?;
            if template.has_variables() {
                base.reserved.push(header.clone());
                secret_headers.push((header, template));
            } else {
                let value = HeaderValue::from_bytes(value.as_bytes())
                    .map_err(|_| wrong("holds characters that cannot be sent; correct its value"))?;
                base.headers.insert(header, value);
            }
        }
        base.reserved.extend(scheme.header().cloned());
        Ok(HttpClient {
            http: client(target, &base.url)?,
            base,
            secret_headers,
            scheme,
            env: Env::new(env),
            allow_http: target.allow_http,
            timeout: Duration::from_millis(target.timeout_ms),
            retries: target.retries,
            backoff: Backoff::default(),
            max_response_bytes: usize::try_from(target.max_response_bytes).unwrap_or(usize::MAX),
        })
    }

    /// Waits differently between attempts.
    #[must_use]
    pub fn with_backoff(self, backoff: Backoff) -> Self {
        HttpClient { backoff, ..self }
    }

    /// Runs one call whose arguments are validated and completed with defaults.
    ///
    /// # Errors
    /// What the API, or the way to it, had against the call.
    pub async fn call(&self, operation: &Operation, args: &Args) -> Result<Answer, OpError> {
        let Binding::Http(binding) = &operation.binding else {
            return Err(OpError::new(
                Code::Internal,
                "This operation has no HTTP request; tell the operator.",
            ));
        };
        let credentials = Credentials::read(&self.scheme, &self.secret_headers, &self.env)?;
        let outgoing = request::build(&self.base, operation, binding, args)?;
        let started = Instant::now();
        let call = Call {
            client: self,
            operation,
            binding,
            args,
            credentials,
            status: AtomicU16::new(0),
            // A timeout past what the clock can hold is no timeout.
            deadline: started
                .checked_add(self.timeout)
                .unwrap_or(started + Duration::from_secs(86_400 * 365)),
        };
        let first = Hop { outgoing, trusted: true };
        let outcome =
            timeout_at(call.deadline, call.run(first)).await.unwrap_or_else(|_| Err(self.timed_out()));
        call.log(started, &outcome);
        outcome
    }

    fn timed_out(&self) -> OpError {
        let millis = self.timeout.as_millis();
        OpError::new(
            Code::TransportTimeout,
            format!(
                "The API did not answer within {millis} ms; try later, and after a write first read whether it took effect."
            ),
        )
    }
}

fn base_url(target: &HttpTarget) -> Result<Url, SetupError> {
    let wrong = |reason| SetupError::BaseUrl { reason };
    let url =
        Url::parse(&target.base_url).map_err(|_| wrong("is not an absolute URL; write https://host/path"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds credentials; put them into environment variables and name those in auth"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("holds a query or a fragment; declare parameters instead"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if target.allow_http || redirect::is_loopback(&url) => Ok(url),
        "http" => Err(SetupError::PlainHttp),
        _ => Err(wrong("is neither https nor http")),
    }
}

fn client(target: &HttpTarget, base: &Url) -> Result<reqwest::Client, SetupError> {
    // Fails when a provider is installed already, by another client or by the embedding program: either will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("mcpaql/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_millis(target.connect_timeout_ms))
            .tcp_nodelay(true);
        if redirect::is_loopback(base) { builder.no_proxy() } else { builder }
    };
    match builder().build() {
        // A machine without certificates can still reach a plain target.
        Err(_) if base.scheme() == "http" => builder().tls_certs_only([]).build(),
        built => built,
    }
    .map_err(|error| SetupError::Client(chain(&error)))
}

/// One call on its way.
struct Call<'a> {
    client: &'a HttpClient,
    operation: &'a Operation,
    args: &'a Args,
    binding: &'a HttpBinding,
    credentials: Credentials,
    deadline: Instant,
    /// Of the last answer, for the log; 0 without one.
    status: AtomicU16,
}

/// Why there is no answer.
enum Fault {
    /// The connection failed before the head of an answer came.
    Connection(reqwest::Error),
    Refused(OpError),
}

impl Call<'_> {
    /// Credentials, and the values of parameters that must not be echoed.
    fn error_mask(&self) -> Mask {
        let mut mask = self.credentials.mask.clone();
        let sensitive = self.operation.params.iter().filter(|param| param.sensitive);
        mask.add_values(sensitive.filter_map(|param| self.args.get(&param.name)));
        mask
    }

    /// Attempts until an answer is final, then reads it.
    async fn run(&self, first: Hop) -> Result<Answer, OpError> {
        let attempts = if retry::may_repeat(self.operation) { self.client.retries } else { 0 };
        let mut n = 0;
        loop {
            let backoff = self.client.backoff.delay(n);
            let outcome = self.follow(first.clone()).await;
            let left = self.deadline.saturating_duration_since(Instant::now());
            let wait = match &outcome {
                _ if n >= attempts => None,
                Ok((_, response)) => {
                    retry::wait_after(response.status(), response.headers(), backoff, left, SystemTime::now())
                }
                Err(Fault::Connection(_)) => (backoff < left).then_some(backoff),
                Err(Fault::Refused(_)) => None,
            };
            let Some(wait) = wait else { return self.conclude(outcome, n > 0).await };
            drop(outcome);
            n += 1;
            tracing::debug!(operation = %self.operation.name, attempt = n, ?wait, "trying again");
            tokio::time::sleep(wait).await;
        }
    }

    /// One attempt, with its redirects.
    async fn follow(&self, mut hop: Hop) -> Result<(Method, Response), Fault> {
        for _ in 0..=redirect::MAX_HOPS {
            let request = self.request(&hop);
            let response = self.client.http.execute(request).await.map_err(Fault::Connection)?;
            let (status, allow_http) = (response.status(), self.client.allow_http);
            self.status.store(status.as_u16(), Ordering::Relaxed);
            match redirect::step(&hop, status, response.headers(), allow_http, &self.credentials.mask) {
                Step::Final => return Ok((hop.outgoing.method, response)),
                Step::Follow(next) => hop = *next,
                Step::Refuse(reason) => return Err(Fault::Refused(refused_redirect(status, reason))),
            }
        }
        Err(Fault::Refused(refused_redirect(StatusCode::FOUND, "too many redirects")))
    }

    fn request(&self, hop: &Hop) -> reqwest::Request {
        let mut url = hop.outgoing.url.clone();
        let mut headers = hop.outgoing.headers.clone();
        if hop.trusted {
            headers.extend(self.credentials.headers.clone());
            if let Some((name, key)) = &self.credentials.query
                && !url.query_pairs().any(|(given, _)| given == name.as_str())
            {
                let mut query = url.query().unwrap_or_default().to_owned();
                style::append_encoded(&mut query, &style::encode(name), &style::encode(key.expose()));
                url.set_query(Some(&query));
            }
        }
        let mut request = reqwest::Request::new(hop.outgoing.method.clone(), url);
        *request.headers_mut() = headers;
        *request.body_mut() = hop.outgoing.body.clone().map(Into::into);
        request
    }

    async fn conclude(
        &self,
        outcome: Result<(Method, Response), Fault>,
        repeated: bool,
    ) -> Result<Answer, OpError> {
        match outcome {
            Ok((method, response)) if response.status().is_success() => self.success(&method, response).await,
            Ok((_, response)) if response.status() == StatusCode::NOT_MODIFIED => {
                let message = "Nothing changed since the version that the call named.".to_owned();
                let mut answer = Answer::new(serde_json::Value::Null);
                answer.warnings.push(Warning { code: "NOT_MODIFIED", message });
                Ok(answer)
            }
            Ok((_, response)) => Err(self.failure(response, repeated).await),
            Err(Fault::Connection(error)) => Err(self.broken(error)),
            Err(Fault::Refused(error)) => Err(error),
        }
    }

    async fn success(&self, method: &Method, mut response: Response) -> Result<Answer, OpError> {
        let mask = &self.credentials.mask;
        if method == Method::HEAD {
            return Ok(response::head(response.status(), response.headers(), mask));
        }
        if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
            return Ok(Answer::new(serde_json::Value::Null));
        }
        let limit = self.client.max_response_bytes;
        if response
            .content_length()
            .is_some_and(|length| usize::try_from(length).is_ok_and(|length| length > limit))
        {
            return Err(response::too_large(limit));
        }
        let mut body = Vec::new();
        match response::read(&mut response, limit, &mut body).await {
            Ok(End::Whole) => Ok(response::decode(response.headers(), body, mask)),
            Ok(End::Cut) => Err(response::too_large(limit)),
            Err(error) => Err(self.broken(error)),
        }
    }

    async fn failure(&self, mut response: Response, repeated: bool) -> OpError {
        let limit = self.client.max_response_bytes.min(failure::READ_BYTES);
        let mut body = Vec::new();
        // What arrived of a slow or broken error is enough: the status is known.
        let end = timeout_at(self.deadline, response::read(&mut response, limit, &mut body)).await;
        let cut = !matches!(end, Ok(Ok(End::Whole)));
        let refusal = Refusal { status: response.status(), headers: response.headers(), body: &body, cut };
        let mut error = refusal.into_error(&self.error_mask());
        if repeated && error.code == Code::NotFoundResource && self.operation.category == Category::Delete {
            error.message.push_str(" An earlier attempt of this very call may have removed it.");
        }
        error
    }

    fn broken(&self, error: reqwest::Error) -> OpError {
        let message = if error.is_connect() {
            "The API could not be reached; try later or tell the user."
        } else {
            "The connection to the API broke before the answer was complete; try later, and after a write first read \
             whether it took effect."
        };
        let cause = chain(&error.without_url());
        OpError::new(Code::TransportConnection, message).because(self.error_mask().apply(&cause))
    }

    fn log(&self, started: Instant, outcome: &Result<Answer, OpError>) {
        let (method, path) = (self.binding.method.as_str(), request::template(self.binding));
        let (status, elapsed) = (self.status.load(Ordering::Relaxed), started.elapsed());
        match outcome {
            Ok(_) => tracing::debug!(method, path, status, ?elapsed, "answered"),
            Err(OpError { code, cause, .. }) => {
                tracing::debug!(method, path, status, ?elapsed, %code, cause, "failed");
            }
        }
    }
}

fn refused_redirect(status: StatusCode, reason: &'static str) -> OpError {
    let number = status.as_u16();
    OpError::new(
        Code::Internal,
        format!("The API answered {number} with a redirect that is not safe to follow; tell the operator to check the address."),
    )
    .with("upstream", serde_json::json!({ "status": number }))
    .because(reason)
}

/// An error with everything behind it, for the log.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
