//! Requests to a fixed address without an operation. As for calls, credentials stay with the origin of the address.
//! Redirects never leave that origin, and answers come with a mask of the secrets that must not be shown.

use super::address::{BaseAddress, Network};
use super::failure::{ErrorResponse, MAX_READ_BYTES};
use super::redirect::Hop;
use super::request::OutgoingRequest;
use super::response_body::{self, BodyEnd};
use super::send::{HttpRequestError, Sender};
use super::{HttpSetupError, SecretHeaders, connection_failure, target_headers};
use crate::secret::Mask;
use crate::target::auth::{Credentials, EnvLookup, ReservedNames, Tokens};
use bytes::Bytes;
use indexmap::IndexMap;
use mcpaql_core::adapter::{Auth, HttpTarget};
use mcpaql_core::error::OpError;
use mcpaql_core::host::NetworkAccess;
use mcpaql_core::operation::BodyForm;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response, StatusCode};
use std::sync::Arc;

/// Time limit for connecting.
const CONNECT_TIMEOUT_MS: u64 = 10_000;

/// An address and its authentication.
#[derive(Debug)]
pub(crate) struct HttpEndpoint {
    network: Arc<Network>,
    base: BaseAddress,
    headers: HeaderMap,
    secret_headers: SecretHeaders,
    auth: Auth,
    tokens: Tokens,
    env: EnvLookup,
    allow_http: bool,
}

/// A response, and the mask for it.
pub(crate) struct EndpointResponse {
    pub(crate) response: Response,
    pub(crate) mask: Mask,
}

/// Headers that replace those of the target and of its credentials, and the mask for their values.
#[derive(Default)]
pub(crate) struct HeaderOverrides {
    pub(crate) headers: HeaderMap,
    pub(crate) mask: Mask,
}

impl HeaderOverrides {
    /// Returns whether the overrides replace all parts of these credentials.
    fn replaces(&self, auth: &Auth) -> bool {
        let mut used = ReservedNames::default();
        let is_known = used.add(auth).is_ok() && used.query.is_empty() && used.cookies.is_empty();
        is_known && used.headers.iter().all(|name| self.headers.contains_key(name))
    }
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum SendError {
    /// The connection failed or broke. The reason is for the operator; it contains no secrets.
    Connection {
        /// The connection was never established, so nothing was sent.
        unreachable: bool,
        reason: String,
    },
    /// Credentials are missing, or a redirect was not followed.
    Refused(OpError),
}

impl HttpEndpoint {
    pub(crate) fn new(
        url: &str,
        headers: &IndexMap<String, String>,
        allow_http: bool,
        access: &NetworkAccess,
        auth: &Auth,
        env: EnvLookup,
    ) -> Result<HttpEndpoint, HttpSetupError> {
        let target = HttpTarget {
            base_url: url.to_owned(),
            headers: headers.clone(),
            serialization: BodyForm::Json,
            allow_http,
            connect_timeout_ms: CONNECT_TIMEOUT_MS,
            timeout_ms: u64::MAX,
            retries: 0,
            max_response_bytes: u64::MAX,
            idempotency_header: None,
            access: access.clone(),
        };
        let network = Arc::new(Network::new(&target).with_queries());
        let base = network.base(url, &env)?;
        let mut reserved = ReservedNames::default();
        let (headers, secret_headers) = target_headers(&target, &mut reserved)?;
        reserved.add(auth).map_err(|name| HttpSetupError::Header {
            name,
            reason: "is not a header name; correct it in auth",
        })?;
        let tokens = Tokens::new(Arc::clone(&network));
        Ok(HttpEndpoint {
            network,
            base,
            headers,
            secret_headers,
            auth: auth.clone(),
            tokens,
            env,
            allow_http,
        })
    }

    /// Sends a request. A refused token is fetched again, once.
    pub(crate) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Option<Bytes>,
        overrides: &HeaderOverrides,
    ) -> Result<EndpointResponse, SendError> {
        let mut mask = Mask::default();
        let mut renewed = false;
        loop {
            let mut credentials = self.credentials(overrides).await.map_err(SendError::Refused)?;
            if let BaseAddress::Template(text) = &self.base {
                self.network.add_secrets(text, &self.env, &mut credentials.mask);
            }
            mask.join(credentials.mask.clone());
            let outcome = self.follow(&method, &headers, body.as_ref(), &credentials).await;
            match outcome {
                Ok(response)
                    if response.status() == StatusCode::UNAUTHORIZED
                        && !renewed
                        && credentials.discard_tokens().await =>
                {
                    renewed = true;
                }
                Ok(response) => return Ok(EndpointResponse { response, mask }),
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the credentials of a request.
    async fn credentials(&self, overrides: &HeaderOverrides) -> Result<Credentials, OpError> {
        if overrides.headers.is_empty() {
            return Credentials::read(&self.auth, &self.secret_headers, &self.env, &self.tokens).await;
        }
        let auth = if overrides.replaces(&self.auth) { &Auth::None } else { &self.auth };
        let own = self.secret_headers.iter().filter(|(name, _)| !overrides.headers.contains_key(name));
        let own: SecretHeaders = own.cloned().collect();
        let mut credentials = Credentials::read(auth, &own, &self.env, &self.tokens).await?;
        for (name, value) in &overrides.headers {
            credentials.headers.insert(name, value.clone());
        }
        credentials.mask.join(overrides.mask.clone());
        Ok(credentials)
    }

    async fn follow(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Option<&Bytes>,
        credentials: &Credentials,
    ) -> Result<Response, SendError> {
        let url = self.base.url(&self.network, &self.env).map_err(SendError::Refused)?;
        let mut all = self.headers.clone();
        all.extend(headers.clone());
        let body = body.cloned().map(Into::into);
        let outgoing = OutgoingRequest { method: method.clone(), url, headers: all, body };
        let sender = Sender {
            network: &self.network,
            allow_http: self.allow_http,
            credentials,
            same_origin_only: true,
        };
        match sender.send(Hop { outgoing, with_credentials: true }, |_| {}).await {
            Ok(reply) => Ok(reply.response),
            Err(HttpRequestError::Connection(error)) => Err(connection_error(error, &credentials.mask)),
            Err(HttpRequestError::Refused(error)) => Err(SendError::Refused(error)),
        }
    }
}

/// Converts the error of a failed connection.
pub(crate) fn connection_error(error: reqwest::Error, mask: &Mask) -> SendError {
    let reason = mask.apply(&connection_failure(&error)).into_owned();
    SendError::Connection { unreachable: error.is_connect(), reason }
}

/// Returns the part of an error response's body that was read, and an error to use if the body contains no better
/// message.
pub(crate) async fn read_refusal(mut refused: EndpointResponse) -> (Vec<u8>, OpError) {
    let mut body = Vec::new();
    let end = response_body::read(&mut refused.response, MAX_READ_BYTES, &mut body).await;
    let cut = !matches!(end, Ok(BodyEnd::Whole));
    let (status, headers) = (refused.response.status(), refused.response.headers());
    let error = ErrorResponse { status, headers, body: &body, cut }.into_error(&refused.mask);
    (body, error)
}
