//! The tokens of a server, and the addresses that sent wrong ones.
//!
//! What always holds: a token is compared in constant time and never logged. At most [`MAX_ADDRESSES`] addresses are
//! remembered, the latest ones.

use super::ServeError;
use super::clients::ClientAddress;
use super::limits::HttpLimits;
use crate::caller::CallerName;
use crate::secret::Secret;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use indexmap::IndexMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Minimum length of a token, in bytes. Shorter ones can be guessed.
pub const MIN_TOKEN_BYTES: usize = 16;
/// Maximum number of addresses whose wrong tokens are counted.
const MAX_ADDRESSES: usize = 4096;

/// A token that gives access to a server.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// The name of the callers with this token.
    pub name: Option<String>,
    /// The token.
    pub secret: Secret,
}

/// The result of a check of a request's token.
#[derive(Debug, PartialEq)]
pub(super) enum Login {
    Granted(Option<CallerName>),
    /// The request has no token.
    Missing,
    Wrong,
    /// The address has sent too many wrong tokens. It may try again after this time.
    Throttled(Duration),
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    since: Instant,
}

/// Checks the tokens of requests.
#[derive(Debug)]
pub(super) struct Logins {
    tokens: Vec<(Option<CallerName>, Secret)>,
    failures: Mutex<IndexMap<ClientAddress, Failures>>,
    limit: u32,
    window: Duration,
}

impl Logins {
    /// # Errors
    /// When a token is too short, or two tokens have the same name or the same value.
    pub(super) fn new(tokens: &[AccessToken], limits: &HttpLimits) -> Result<Logins, ServeError> {
        let mut known: Vec<(Option<CallerName>, Secret)> = Vec::new();
        for AccessToken { name, secret } in tokens {
            let problem = |problem| ServeError::Token { name: name.clone(), problem };
            let caller = match name {
                Some(name) => Some(CallerName::new(name).ok_or_else(|| problem(TokenProblem::InvalidName))?),
                None => None,
            };
            if secret.expose().len() < MIN_TOKEN_BYTES {
                return Err(problem(TokenProblem::TooShort));
            }
            if known.iter().any(|(other, _)| caller.is_some() && *other == caller) {
                return Err(problem(TokenProblem::SameName));
            }
            if known.iter().any(|(_, other)| other.matches(secret.expose().as_bytes())) {
                return Err(problem(TokenProblem::SameToken));
            }
            known.push((caller, secret.clone()));
        }
        Ok(Logins {
            tokens: known,
            failures: Mutex::default(),
            limit: limits.failed_logins,
            window: limits.failed_login_window,
        })
    }

    /// Returns whether requests need a token.
    pub(super) fn is_required(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// Checks the token of a request. Without tokens, every request is granted.
    pub(super) fn check(&self, address: ClientAddress, headers: &HeaderMap) -> Login {
        if !self.is_required() {
            return Login::Granted(None);
        }
        if let Some(wait) = self.remaining(address) {
            return Login::Throttled(wait);
        }
        let Some(presented) = bearer(headers) else { return Login::Missing };
        // All tokens are compared, so that the time does not tell which one matched.
        let mut granted = None;
        for (name, secret) in &self.tokens {
            if secret.matches(presented) {
                granted = Some(name.clone());
            }
        }
        match granted {
            Some(name) => Login::Granted(name),
            None => {
                self.record_failure(address);
                Login::Wrong
            }
        }
    }

    /// Returns how long an address must wait, if it must.
    fn remaining(&self, address: ClientAddress) -> Option<Duration> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures.get(&address)?;
        if self.limit == 0 || known.count < self.limit {
            return None;
        }
        self.window.checked_sub(known.since.elapsed()).filter(|left| !left.is_zero())
    }

    fn record_failure(&self, address: ClientAddress) {
        tracing::warn!(%address, "a client sent a wrong token");
        let now = Instant::now();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |known: &Failures| now.duration_since(known.since) >= self.window;
        if !failures.contains_key(&address) && failures.len() >= MAX_ADDRESSES {
            failures.retain(|_, known| !is_over(known));
            if failures.len() >= MAX_ADDRESSES {
                failures.shift_remove_index(0);
            }
        }
        let known = failures.entry(address).or_insert(Failures { count: 0, since: now });
        if is_over(known) {
            *known = Failures { count: 0, since: now };
        }
        known.count = known.count.saturating_add(1);
        if known.count == self.limit {
            tracing::warn!(
                %address,
                "{} wrong tokens: requests from this address get status 429 for up to {} s",
                self.limit,
                self.window.as_secs()
            );
        }
    }
}

/// Why a server cannot use a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenProblem {
    /// It can be guessed.
    #[error("is shorter than {MIN_TOKEN_BYTES} characters")]
    TooShort,
    /// Its name is no name for a caller.
    #[error("has an invalid name: use 1 to 64 letters, digits, '_', '.' or '-'")]
    InvalidName,
    /// Another token has the same name.
    #[error("has the name of another token")]
    SameName,
    /// Another token has the same value.
    #[error("has the same value as another token")]
    SameToken,
}

/// Returns the token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "right-token-of-the-server";

    fn headers(token: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().unwrap())])
    }

    fn token(name: Option<&str>, secret: &str) -> AccessToken {
        AccessToken { name: name.map(str::to_owned), secret: Secret::new(secret) }
    }

    fn address(index: u32) -> ClientAddress {
        ClientAddress::new(std::net::Ipv4Addr::from(index).into())
    }

    fn logins() -> Logins {
        let limits = HttpLimits { failed_logins: 3, ..HttpLimits::default() };
        Logins::new(&[token(None, RIGHT), token(Some("alice"), "the-token-of-alice")], &limits).unwrap()
    }

    #[test]
    fn the_bearer_scheme_is_read_in_any_case() {
        let header = |value: &str| HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
        assert_eq!(bearer(&header("Bearer abc")), Some(&b"abc"[..]));
        assert_eq!(bearer(&header("bearer  abc ")), Some(&b"abc"[..]));
        assert_eq!(bearer(&header("Basic abc")), None);
        assert_eq!(bearer(&header("Bea")), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn unusable_tokens_are_refused() {
        let limits = HttpLimits::default();
        let long = "0123456789abcdef";
        for (tokens, expected) in [
            (vec![token(None, "0123456789abcde")], TokenProblem::TooShort),
            (vec![token(Some("a b"), long)], TokenProblem::InvalidName),
            (vec![token(Some("a"), long), token(Some("a"), "fedcba9876543210")], TokenProblem::SameName),
            (vec![token(Some("a"), long), token(None, long)], TokenProblem::SameToken),
        ] {
            let error = Logins::new(&tokens, &limits).unwrap_err();
            assert!(matches!(error, ServeError::Token { problem, .. } if problem == expected), "{error}");
            assert!(!format!("{error} {error:?}").contains(long), "{error:?}");
        }
        assert!(Logins::new(&[token(None, long)], &limits).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_stop_an_address_and_no_other() {
        let logins = logins();
        assert_eq!(logins.check(address(1), &HeaderMap::new()), Login::Missing);
        for _ in 0..3 {
            assert_eq!(logins.check(address(1), &headers("wrong-wrong-wrong")), Login::Wrong);
        }
        assert!(matches!(logins.check(address(1), &headers(RIGHT)), Login::Throttled(_)));
        assert!(matches!(logins.check(address(1), &HeaderMap::new()), Login::Throttled(_)));
        assert_eq!(logins.check(address(2), &headers(RIGHT)), Login::Granted(None));
        let alice = CallerName::new("alice");
        assert_eq!(logins.check(address(2), &headers("the-token-of-alice")), Login::Granted(alice));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(logins.check(address(1), &headers(RIGHT)), Login::Granted(None));
        // A new window starts.
        assert_eq!(logins.check(address(1), &headers("wrong-wrong-wrong")), Login::Wrong);
        assert_eq!(logins.check(address(1), &headers(RIGHT)), Login::Granted(None));
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_latest_addresses_are_remembered() {
        let logins = logins();
        for index in 0..2 * u32::try_from(MAX_ADDRESSES).unwrap() {
            logins.check(address(index), &headers("wrong-wrong-wrong"));
        }
        assert_eq!(logins.failures.lock().unwrap().len(), MAX_ADDRESSES);
    }
}
