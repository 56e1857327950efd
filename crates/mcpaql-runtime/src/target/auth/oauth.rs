//! OAuth 2.0 without user interaction: a token is fetched with client credentials or a refresh token, cached and
//! renewed.
//!
//! What always holds:
//! - Calls that need a token at the same time share one fetch and its outcome.
//! - A fetch outlives the call that started it, so a cancelled call never loses a rotated refresh token.
//! - The response of the token endpoint is limited in size and time, and errors contain only OAuth's error code from
//!   it.
//! - Every value is in the call's [`Mask`].

use super::EnvLookup;
use crate::outgoing::{self, refused_host};
use crate::secret::{Mask, Secret};
use crate::target::http::address::Network;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::adapter::OAuth2;
use mcpaql_core::error::{Code, OpError};
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use serde_json::Value;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout};
use url::form_urlencoded::byte_serialize;

/// How long a call waits for a token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a token endpoint's response.
const MAX_TOKEN_RESPONSE_BYTES: usize = 64 * 1024;
/// A token is renewed this long before it expires, or after 90 % of its lifetime if that is later.
const EXPIRY_MARGIN: Duration = Duration::from_secs(60);
/// Maximum lifetime of a token; also used if the response has no valid lifetime.
const MAX_TOKEN_AGE: Duration = Duration::from_secs(24 * 3600);

/// The environment variables that a grant needs.
pub(super) fn variables(oauth: &OAuth2) -> Vec<&str> {
    let optional = [&oauth.client_secret_env, &oauth.refresh_token_env].into_iter().flatten();
    std::iter::once(&oauth.client_id_env).chain(optional).map(String::as_str).collect()
}

/// The tokens of a target, one per grant.
pub(crate) struct Tokens {
    network: Arc<Network>,
    grants: Mutex<Vec<(OAuth2, Arc<Grant>)>>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens")
    }
}

/// A grant and its token.
#[derive(Default)]
struct Grant {
    state: Arc<tokio::sync::Mutex<GrantState>>,
    /// The number of completed fetches.
    fetches: AtomicU64,
}

#[derive(Default)]
struct GrantState {
    /// The keys that the token was fetched with. Other keys in the environment need another token.
    keys: Option<ClientKeys>,
    token: Option<Token>,
    /// The refresh token that replaced the one in the environment.
    rotated: Option<Secret>,
    /// The server accepts the client's secret only in the body.
    in_body: bool,
    /// How the last fetch failed, for the calls that waited for it.
    failure: Option<OpError>,
}

#[derive(Clone)]
struct Token {
    secret: Secret,
    until: Instant,
}

/// The client's keys as they are in the environment now.
#[derive(Clone, PartialEq, Eq)]
struct ClientKeys {
    id: Secret,
    secret: Option<Secret>,
    refresh: Option<Secret>,
}

impl ClientKeys {
    fn read(oauth: &OAuth2, env: &EnvLookup) -> Result<ClientKeys, OpError> {
        let optional = |name: &Option<String>| name.as_deref().map(|name| env.require(name)).transpose();
        Ok(ClientKeys {
            id: env.require(&oauth.client_id_env)?,
            secret: optional(&oauth.client_secret_env)?,
            refresh: optional(&oauth.refresh_token_env)?,
        })
    }

    fn add_to_mask(&self, mask: &mut Mask) {
        for secret in [&self.secret, &self.refresh].into_iter().flatten() {
            mask.add(secret.expose());
        }
        mask.add(&self.basic());
    }

    /// RFC 6749, 2.3.1: both parts are form-encoded first.
    fn basic(&self) -> String {
        let encode = |secret: &Secret| byte_serialize(secret.expose().as_bytes()).collect::<String>();
        let secret = self.secret.as_ref().map(encode).unwrap_or_default();
        format!("{}:{secret}", encode(&self.id))
    }
}

/// A token that a call uses.
pub(crate) struct IssuedToken {
    token: Secret,
    state: Arc<tokio::sync::Mutex<GrantState>>,
}

impl fmt::Debug for IssuedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IssuedToken")
    }
}

impl IssuedToken {
    pub(super) fn token(&self) -> &Secret {
        &self.token
    }

    /// Discards the token because the API refused it, unless another call has already renewed it. The next call
    /// fetches a new one.
    pub(super) async fn discard(&self) {
        let mut state = self.state.lock().await;
        if state.token.as_ref().is_some_and(|token| token.secret == self.token) {
            state.token = None;
        }
    }
}

impl Tokens {
    pub(crate) fn new(network: Arc<Network>) -> Tokens {
        Tokens { network, grants: Mutex::default() }
    }

    /// For authentication that fetches no tokens.
    #[cfg(test)]
    pub(super) fn for_tests() -> Tokens {
        Tokens::new(Arc::new(Network::for_tests()))
    }

    /// Returns a token that is still valid: the cached one, or a new one.
    pub(super) async fn issue(
        &self,
        oauth: &OAuth2,
        env: &EnvLookup,
        mask: &mut Mask,
    ) -> Result<IssuedToken, OpError> {
        let keys = ClientKeys::read(oauth, env)?;
        keys.add_to_mask(mask);
        let grant = self.grant(oauth);
        let seen = grant.fetches.load(Ordering::Acquire);
        let mut state = Arc::clone(&grant.state).lock_owned().await;
        if state.keys.as_ref() != Some(&keys) {
            *state = GrantState { keys: Some(keys.clone()), ..GrantState::default() };
        }
        let cached = state.token.as_ref().filter(|token| Instant::now() < token.until);
        let token = match (cached, &state.failure) {
            (Some(token), _) => token.secret.clone(),
            // This call waited for a fetch that failed.
            (None, Some(failure)) if grant.fetches.load(Ordering::Acquire) != seen => {
                return Err(failure.clone());
            }
            (None, _) => {
                let url = self.network.resolve(&oauth.token_url, env)?;
                let guard = self.network.guard();
                if !guard.gets_credentials(&url) {
                    return Err(outgoing::unapproved_host(url.host_str().unwrap_or_default()));
                }
                guard.check(&url, &url).await.map_err(|refused| refused.to_op_error())?;
                let http = self.network.client(&url)?.clone();
                let fetch = TokenFetch {
                    grant: Arc::clone(&grant),
                    http,
                    url,
                    oauth: oauth.clone(),
                    keys,
                    deadline: Instant::now() + TOKEN_TIMEOUT,
                };
                // In a separate task, so that a cancelled call does not lose a rotated refresh token.
                tokio::spawn(fetch.run(state))
                    .await
                    .unwrap_or_else(|_| Err(unreachable_service("the task ended")))?
            }
        };
        mask.add(token.expose());
        Ok(IssuedToken { token, state: Arc::clone(&grant.state) })
    }

    fn grant(&self, oauth: &OAuth2) -> Arc<Grant> {
        let mut grants = self.grants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, grant)) = grants.iter().find(|(known, _)| known == oauth) {
            return Arc::clone(grant);
        }
        let grant = Arc::new(Grant::default());
        grants.push((oauth.clone(), Arc::clone(&grant)));
        grant
    }
}

/// One request to the token endpoint.
struct TokenFetch {
    grant: Arc<Grant>,
    http: reqwest::Client,
    url: url::Url,
    oauth: OAuth2,
    keys: ClientKeys,
    deadline: Instant,
}

/// The response of the token endpoint.
struct TokenResponse {
    status: StatusCode,
    body: Option<Value>,
}

impl TokenResponse {
    fn text(&self, key: &str) -> Option<&str> {
        self.body.as_ref()?.get(key)?.as_str()
    }

    /// Returns whether the endpoint rejected the client, or how it authenticated.
    fn refuses_client(&self) -> bool {
        match self.text("error") {
            Some(error) => matches!(error, "invalid_client" | "invalid_request" | "unauthorized_client"),
            None => true,
        }
    }
}

impl TokenFetch {
    async fn run(self, mut state: OwnedMutexGuard<GrantState>) -> Result<Secret, OpError> {
        let outcome = self.token(&mut state).await;
        match &outcome {
            Ok(token) => {
                state.token = Some(token.clone());
                state.failure = None;
            }
            Err(error) => state.failure = Some(error.clone()),
        }
        self.grant.fetches.fetch_add(1, Ordering::AcqRel);
        outcome.map(|token| token.secret)
    }

    async fn token(&self, state: &mut GrantState) -> Result<Token, OpError> {
        let refresh = state.rotated.clone().or_else(|| self.keys.refresh.clone());
        let started = Instant::now();
        let mut in_body = state.in_body || self.keys.secret.is_none();
        let mut response = self.request_token(refresh.as_ref(), in_body).await?;
        let refused = matches!(response.status, StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED);
        if refused && !in_body && response.refuses_client() {
            in_body = true;
            response = self.request_token(refresh.as_ref(), in_body).await?;
        }
        let Some(access) = response.text("access_token").filter(|_| response.status.is_success()) else {
            return Err(self.refused(&response));
        };
        state.in_body = in_body;
        if let Some(rotated) = response.text("refresh_token").filter(|_| refresh.is_some()) {
            state.rotated = Some(Secret::new(rotated));
        }
        let expires_in = response.body.as_ref().and_then(|body| body.get("expires_in"));
        Ok(Token { secret: Secret::new(access), until: started + usable_for(expires_in) })
    }

    async fn request_token(&self, refresh: Option<&Secret>, in_body: bool) -> Result<TokenResponse, OpError> {
        let scope = self.oauth.scopes.join(" ");
        let mut form = match refresh {
            Some(refresh) => vec![("grant_type", "refresh_token"), ("refresh_token", refresh.expose())],
            None => vec![("grant_type", "client_credentials")],
        };
        if !scope.is_empty() {
            form.push(("scope", &scope));
        }
        let mut request = self.http.post(self.url.clone()).header(ACCEPT, "application/json");
        if in_body {
            form.push(("client_id", self.keys.id.expose()));
            form.extend(self.keys.secret.as_ref().map(|secret| ("client_secret", secret.expose())));
        } else {
            let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(self.keys.basic())))
                .map_err(unreachable_service)?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        let answer = async {
            let mut response = request.form(&form).send().await?;
            let mut bytes = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                bytes.extend_from_slice(&chunk);
                if bytes.len() > MAX_TOKEN_RESPONSE_BYTES {
                    bytes.clear();
                    break;
                }
            }
            Ok::<_, reqwest::Error>(TokenResponse {
                status: response.status(),
                body: serde_json::from_slice(&bytes).ok(),
            })
        };
        match timeout(left, answer).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(match refused_host(&error) {
                Some(refused) => refused.to_op_error(),
                None => unreachable_service(crate::target::http::connection_failure(&error)),
            }),
            Err(_) => Err(unreachable_service("no answer in time")),
        }
    }

    fn refused(&self, response: &TokenResponse) -> OpError {
        let status = response.status.as_u16();
        if response.status.is_server_error() || response.status == StatusCode::TOO_MANY_REQUESTS {
            return unreachable_service(format_args!("status {status}"));
        }
        // OAuth's error codes have this form; anything else might repeat a secret.
        let error_code = response.text("error").filter(|word| {
            word.len() <= 40 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        });
        let problem = match error_code {
            Some(error_code) => format!("refused the credentials ({error_code})"),
            None if response.status.is_success() => "answered without a token".to_owned(),
            None => format!("refused the credentials with status {status}"),
        };
        let names = variables(&self.oauth).join(", ");
        OpError::new(
            Code::PermissionDenied,
            format!(
                "The token service of this API {problem}; tell the user to check the environment variables \
                 {names} of this server."
            ),
        )
        .with_detail("variables", variables(&self.oauth))
        .for_operator(
            format_args!("the token service of this API {problem}"),
            format!("check the environment variables {names}"),
        )
    }
}

/// How long a token with this `expires_in` is used.
fn usable_for(expires_in: Option<&Value>) -> Duration {
    let seconds = match expires_in {
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    match seconds {
        Some(seconds) if seconds >= 0.0 => {
            let life = Duration::try_from_secs_f64(seconds).unwrap_or(MAX_TOKEN_AGE).min(MAX_TOKEN_AGE);
            life - EXPIRY_MARGIN.min(life / 10)
        }
        _ => MAX_TOKEN_AGE,
    }
}

fn unreachable_service(cause: impl fmt::Display) -> OpError {
    OpError::new(
        Code::TransportConnection,
        "The token service of this API could not be reached; try later or tell the user.",
    )
    .for_operator(
        format_args!("no answer from the token service of this API: {cause}"),
        "check the URL of the token service, or try again later",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_renewed_shortly_before_they_expire() {
        for (life, seconds) in [
            (json!(3600), 3540),
            (json!("3600"), 3540),
            (json!(100), 90),
            (json!(0), 0),
            (json!(1e300), 24 * 3600 - 60),
            (json!(-5), 24 * 3600),
            (json!("soon"), 24 * 3600),
            (json!(null), 24 * 3600),
        ] {
            assert_eq!(usable_for(Some(&life)).as_secs(), seconds, "{life}");
        }
        assert_eq!(usable_for(None), MAX_TOKEN_AGE);
    }

    #[test]
    fn both_halves_of_the_client_are_encoded_before_they_are_joined() {
        let keys = ClientKeys { id: Secret::new("a:b-c"), secret: Some(Secret::new("p w%")), refresh: None };
        assert_eq!(keys.basic(), "a%3Ab-c:p+w%25");
    }
}
