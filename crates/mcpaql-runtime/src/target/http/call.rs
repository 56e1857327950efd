//! One call: attempts, redirects, renewed tokens, and the reading of the answer.

use super::answer_rules;
use super::failure::{self, ErrorResponse};
use super::next_page;
use super::redirect::Hop;
use super::request;
use super::response;
use super::response_body::{self, BodyEnd};
use super::send::{HttpReply, HttpRequestError, Sender};
use super::{HttpClient, connection_failure, retry};
use crate::caller::{Caller, Progress};
use crate::secret::Mask;
use crate::target::Args;
use crate::target::auth::Credentials;
use mcpaql_core::adapter::Auth;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::{Category, HttpBinding, Operation};
use mcpaql_core::response::{Answer, Warning};
use mcpaql_core::variables::missing_credentials;
use reqwest::{Method, Response, StatusCode};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, timeout_at};

/// A wait of at least this time is reported.
const NOTICEABLE_WAIT: Duration = Duration::from_secs(1);

/// A running call.
pub(super) struct HttpCall<'a> {
    pub(super) client: &'a HttpClient,
    pub(super) operation: &'a Operation,
    pub(super) args: &'a Args,
    pub(super) caller: &'a Caller,
    pub(super) binding: &'a HttpBinding,
    /// The authentication of this operation.
    pub(super) auth: &'a Auth,
    /// The credentials of the last attempt.
    pub(super) credentials: Credentials,
    /// The request has a header by which the API recognises a repetition.
    pub(super) has_idempotency_key: bool,
    pub(super) deadline: Instant,
    /// The status of the last answer, for the log; 0 if there is none.
    pub(super) status: AtomicU16,
}

impl HttpCall<'_> {
    /// The mask for errors: credentials, and the values of sensitive parameters.
    fn error_mask(&self) -> Mask {
        let mut mask = self.credentials.mask.clone();
        let sensitive = self.operation.params.iter().filter(|param| param.sensitive);
        mask.add_values(sensitive.filter_map(|param| self.args.get(&param.name)));
        mask
    }

    /// Sends the request until an answer is final, and reads it.
    pub(super) async fn run(&mut self, first: Hop<'_>) -> Result<Answer, OpError> {
        self.read_credentials().await?;
        let may_repeat = self.operation.may_repeat() || self.has_idempotency_key;
        let attempts = if may_repeat { self.client.retries } else { 0 };
        let mut n = 0;
        let mut renewed = false;
        loop {
            let backoff = self.client.backoff.delay(n);
            let outcome = self.follow(first.clone()).await;
            // The API refused the credentials before it ran anything, so every operation may send its request again, once.
            if !renewed && is_refused(&outcome) && self.credentials.discard_tokens().await {
                renewed = true;
                drop(outcome);
                tracing::debug!(operation = %self.operation.name, "token refused; fetching a new one");
                self.read_credentials().await?;
                continue;
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            let wait = match &outcome {
                _ if n >= attempts => None,
                Ok(HttpReply { response, .. }) => {
                    retry::wait_after(response.status(), response.headers(), backoff, left, SystemTime::now())
                }
                Err(HttpRequestError::Connection(_)) => (backoff < left).then_some(backoff),
                Err(HttpRequestError::Refused(_)) => None,
            };
            let Some(wait) = wait else { return self.conclude(outcome, n > 0).await };
            n += 1;
            self.report_wait(n, wait, outcome.as_ref().ok().map(|reply| reply.response.status()));
            drop(outcome);
            tracing::debug!(operation = %self.operation.name, attempt = n, ?wait, "retrying");
            tokio::time::sleep(wait).await;
        }
    }

    /// Tells the caller about a wait that people notice.
    fn report_wait(&self, attempt: u32, wait: Duration, status: Option<StatusCode>) {
        if wait < NOTICEABLE_WAIT {
            return;
        }
        let reason = match status {
            Some(StatusCode::TOO_MANY_REQUESTS) => "the API limits the rate of calls (HTTP 429)".to_owned(),
            Some(status) => format!("the API is not available (HTTP {})", status.as_u16()),
            None => "the API does not answer".to_owned(),
        };
        let message = format!("Waiting {} s before the next attempt: {reason}", retry::whole_seconds(wait));
        self.caller.report_progress(Progress::new(f64::from(attempt)).with_message(message));
    }

    /// Reads or fetches the credentials. Earlier values stay in the mask.
    async fn read_credentials(&mut self) -> Result<(), OpError> {
        let client = self.client;
        let mut credentials =
            Credentials::read(self.auth, &client.secret_headers, &client.env, &client.tokens).await?;
        credentials.mask.join(std::mem::take(&mut self.credentials.mask));
        if let Some(address) = client.written_address(self.binding) {
            client.network.add_secrets(address, &client.env, &mut credentials.mask);
        }
        self.credentials = credentials;
        Ok(())
    }

    /// One attempt, with its redirects.
    async fn follow(&self, hop: Hop<'_>) -> Result<HttpReply, HttpRequestError> {
        let HttpClient { network, allow_http, .. } = self.client;
        let sender = Sender {
            network,
            allow_http: *allow_http,
            credentials: &self.credentials,
            same_origin_only: false,
        };
        sender.send(hop, |status| self.status.store(status.as_u16(), Ordering::Relaxed)).await
    }

    async fn conclude(
        &self,
        outcome: Result<HttpReply, HttpRequestError>,
        repeated: bool,
    ) -> Result<Answer, OpError> {
        match outcome {
            Ok(HttpReply { method, response, .. }) if response.status().is_success() => {
                self.success(&method, response).await
            }
            Ok(HttpReply { response, .. }) if response.status() == StatusCode::NOT_MODIFIED => {
                let message = "Nothing has changed since the version in the call.".to_owned();
                let mut answer = Answer::new(serde_json::Value::Null);
                answer.warnings.push(Warning::new("NOT_MODIFIED", message));
                Ok(answer)
            }
            Ok(HttpReply { response, .. }) => Err(self.failure(response, repeated).await),
            Err(HttpRequestError::Connection(error)) => Err(self.connection_error(error)),
            Err(HttpRequestError::Refused(error)) => Err(error),
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
            return Err(response::too_large(limit, response.headers()));
        }
        let mut body = Vec::new();
        match response_body::read(&mut response, limit, &mut body).await {
            Ok(BodyEnd::Whole) => {
                let (status, headers) = (response.status(), response.headers());
                let next_page = next_page::linked(headers);
                let answer = response::decode(self.operation, status, headers, body, mask)?;
                let mut answer = answer_rules::apply(&self.binding.answer, answer, &self.error_mask())?;
                answer.next_page = next_page;
                Ok(answer)
            }
            Ok(BodyEnd::Cut) => Err(response::too_large(limit, response.headers())),
            Ok(BodyEnd::Corrupt) => Err(corrupt_body()),
            Err(error) => Err(self.connection_error(error)),
        }
    }

    async fn failure(&self, mut response: Response, repeated: bool) -> OpError {
        let limit = self.client.max_response_bytes.min(failure::MAX_READ_BYTES);
        let mut body = Vec::new();
        // A partial error body is enough, because the status is known.
        let end = timeout_at(self.deadline, response_body::read(&mut response, limit, &mut body)).await;
        let cut = !matches!(end, Ok(Ok(BodyEnd::Whole)));
        let refusal =
            ErrorResponse { status: response.status(), headers: response.headers(), body: &body, cut };
        let mut error = refusal.into_error(&self.error_mask());
        let names = missing_credentials(self.auth, &|_| false);
        if error.code == Code::PermissionDenied && !names.is_empty() {
            error.hint = Some(format!("check the value of {}", names.join(" and ")).into());
        }
        if repeated && error.code == Code::NotFoundResource && self.operation.category == Category::Delete {
            error.message.push_str(" An earlier attempt of this call may have deleted it.");
        }
        error
    }

    fn connection_error(&self, error: reqwest::Error) -> OpError {
        let (message, hint) = if error.is_connect() {
            (
                "The API could not be reached; try later or tell the user.",
                "check `base_url` in the document, and that the API is running",
            )
        } else {
            (
                "The connection to the API broke before the answer was complete. Try later; if it was a write, first \
                 check whether it took effect.",
                "try again; after a write, first check whether it took effect",
            )
        };
        let cause = connection_failure(&error);
        OpError::new(Code::TransportConnection, message).for_operator(self.error_mask().apply(&cause), hint)
    }

    pub(super) fn log(&self, started: Instant, outcome: &Result<Answer, OpError>) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
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

fn corrupt_body() -> OpError {
    let message = "The compressed answer of the API is damaged. Try later; if it was a write, first check whether it took effect.";
    OpError::new(Code::TransportConnection, message).for_operator(
        "the answer is not valid gzip",
        "try again; after a write, first check whether it took effect",
    )
}

/// Returns whether the API rejected the credentials of the request.
fn is_refused(outcome: &Result<HttpReply, HttpRequestError>) -> bool {
    matches!(outcome, Ok(reply) if reply.with_credentials && reply.response.status() == StatusCode::UNAUTHORIZED)
}
