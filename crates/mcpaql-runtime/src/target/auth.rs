//! Credentials of HTTP targets: where they go, and their values for one call.
//!
//! Values are read from the environment on every call. So a rotated secret works without a restart, and a missing one
//! fails only the calls that need it. Of several alternatives, the first one whose variables are all set is used.
//!
//! What always holds: header values with a secret are marked as sensitive, and everything that was read or fetched is
//! in the call's [`Mask`].

mod oauth;

pub(crate) use oauth::Tokens;

use crate::secret::{Mask, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::adapter::{Auth, KeyLocation};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::template::{EnvPiece, EnvTemplate};
use oauth::IssuedToken;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::sync::Arc;

type LookupFn = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up environment variables.
#[derive(Clone)]
pub(crate) struct EnvLookup(Arc<LookupFn>);

impl EnvLookup {
    pub(crate) fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        EnvLookup(Arc::new(lookup))
    }

    /// The value of a variable without surrounding white space (secret files often end with a line feed).
    fn get(&self, name: &str) -> Option<Secret> {
        (self.0)(name).map(|value| Secret::new(value.trim()))
    }

    /// The value of a variable that is not secret, such as a part of an address.
    pub(crate) fn get_plain(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.expose().to_owned()).filter(|value| !value.is_empty())
    }

    /// The value of a variable, which must not be empty.
    fn require(&self, name: &str) -> Result<Secret, OpError> {
        self.get(name).filter(|secret| !secret.expose().is_empty()).ok_or_else(|| missing(name))
    }
}

impl fmt::Debug for EnvLookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnvLookup")
    }
}

fn missing(name: &str) -> OpError {
    OpError::new(
        Code::PermissionDenied,
        format!(
            "The credentials for this API are not set up; tell the user to set the environment variable {name} \
             for this server and to restart it."
        ),
    )
    .with_detail("variable", name)
    .for_operator(format_args!("the environment variable {name} is not set"), format!("export {name}=…"))
}

fn unsendable(name: &str) -> OpError {
    OpError::new(
        Code::PermissionDenied,
        format!(
            "The environment variable {name} contains characters not allowed in a header; tell the user to \
             correct its value."
        ),
    )
    .with_detail("variable", name)
    .for_operator(
        format_args!("the environment variable {name} contains characters not allowed in a header"),
        "check its value, for example for a trailing line break",
    )
}

/// The names that only the server sets. A parameter with such a name is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReservedNames {
    pub(crate) headers: Vec<HeaderName>,
    pub(crate) query: Vec<String>,
    pub(crate) cookies: Vec<String>,
}

impl ReservedNames {
    /// Adds the names that these credentials use, including all alternatives.
    ///
    /// # Errors
    /// The header's name, if it is invalid.
    pub(crate) fn add(&mut self, auth: &Auth) -> Result<(), String> {
        match auth {
            Auth::None => {}
            Auth::Bearer { header: name, .. } | Auth::ApiKey { location: KeyLocation::Header(name), .. } => {
                self.headers.push(header_name(name)?);
            }
            Auth::ApiKey { location: KeyLocation::Query(name), .. } => self.query.push(name.clone()),
            Auth::ApiKey { location: KeyLocation::Cookie(name), .. } => self.cookies.push(name.clone()),
            Auth::Basic { .. } | Auth::OAuth2(_) => self.headers.push(AUTHORIZATION),
            Auth::All(schemes) | Auth::Any(schemes) => schemes.iter().try_for_each(|auth| self.add(auth))?,
        }
        Ok(())
    }
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| name.to_owned())
}

/// The credentials of one call.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) headers: HeaderMap,
    pub(crate) query: Vec<(String, Secret)>,
    pub(crate) cookies: Vec<(String, Secret)>,
    pub(crate) mask: Mask,
    /// The fetched tokens, so that a refused one can be discarded.
    tokens: Vec<IssuedToken>,
}

impl Credentials {
    /// Reads the values for the authentication and for the secret headers of the target.
    pub(crate) async fn read(
        auth: &Auth,
        headers: &[(HeaderName, EnvTemplate)],
        env: &EnvLookup,
        tokens: &Tokens,
    ) -> Result<Credentials, OpError> {
        let mut credentials = Credentials::default();
        for (name, template) in headers {
            credentials.fill(name, template, env)?;
        }
        let mut simple = Vec::new();
        choose(auth, env, &mut simple)?;
        for auth in simple {
            credentials.add(auth, env, tokens).await?;
        }
        Ok(credentials)
    }

    /// Returns whether there is anything to send.
    pub(crate) fn is_present(&self) -> bool {
        !self.headers.is_empty() || !self.query.is_empty() || !self.cookies.is_empty()
    }

    /// Discards the fetched tokens, because the API refused them; `false` if there are none.
    pub(crate) async fn discard_tokens(&self) -> bool {
        for issued in &self.tokens {
            issued.discard().await;
        }
        !self.tokens.is_empty()
    }

    async fn add(&mut self, auth: &Auth, env: &EnvLookup, tokens: &Tokens) -> Result<(), OpError> {
        match auth {
            Auth::None | Auth::All(_) | Auth::Any(_) => Ok(()),
            Auth::Bearer { token_env, header, prefix } => self.header(header, prefix, token_env, env),
            Auth::ApiKey { key_env, location: KeyLocation::Header(name), prefix } => {
                self.header(name, prefix, key_env, env)
            }
            Auth::ApiKey { key_env, location: KeyLocation::Query(name), prefix } => {
                let value = self.prefixed(prefix, key_env, env)?;
                self.query.push((name.clone(), value));
                Ok(())
            }
            Auth::ApiKey { key_env, location: KeyLocation::Cookie(name), prefix } => {
                let value = self.prefixed(prefix, key_env, env)?;
                // Other characters would end the cookie or change its value.
                if value.expose().bytes().any(|byte| !byte.is_ascii_graphic() || b"\",;\\".contains(&byte)) {
                    return Err(unsendable(key_env));
                }
                self.cookies.push((name.clone(), value));
                Ok(())
            }
            Auth::Basic { username_env, password_env } => self.basic(username_env, password_env, env),
            Auth::OAuth2(oauth) => {
                let issued = tokens.issue(oauth, env, &mut self.mask).await?;
                self.set(
                    &AUTHORIZATION,
                    &format!("Bearer {}", issued.token().expose()),
                    &oauth.client_id_env,
                )?;
                self.tokens.push(issued);
                Ok(())
            }
        }
    }

    fn header(&mut self, name: &str, prefix: &str, variable: &str, env: &EnvLookup) -> Result<(), OpError> {
        let name = header_name(name).map_err(|_| unsendable(variable))?;
        let value = self.prefixed(prefix, variable, env)?;
        self.set(&name, value.expose(), variable)
    }

    fn prefixed(&mut self, prefix: &str, variable: &str, env: &EnvLookup) -> Result<Secret, OpError> {
        let secret = env.require(variable)?;
        self.mask.add(secret.expose());
        Ok(Secret::new(format!("{prefix}{}", secret.expose())))
    }

    fn fill(&mut self, name: &HeaderName, template: &EnvTemplate, env: &EnvLookup) -> Result<(), OpError> {
        let mut value = String::new();
        let mut last = "";
        for piece in template.pieces() {
            match piece {
                EnvPiece::Text(text) => value.push_str(text),
                EnvPiece::Variable { name: variable, fallback } => {
                    match (env.require(variable), fallback) {
                        (Ok(secret), _) => {
                            self.mask.add(secret.expose());
                            value.push_str(secret.expose());
                        }
                        (Err(_), Some(fallback)) => value.push_str(fallback),
                        (Err(error), None) => return Err(error),
                    }
                    last = variable;
                }
            }
        }
        self.set(name, &value, last)
    }

    /// An API key is often sent as user name with an empty password; then the user name is the secret.
    fn basic(&mut self, username: &str, password: &str, env: &EnvLookup) -> Result<(), OpError> {
        let user = env.require(username)?;
        let word = env.get(password).ok_or_else(|| missing(password))?;
        if user.expose().contains(':') {
            return Err(unsendable(username));
        }
        let pair = format!("{}:{}", user.expose(), word.expose());
        self.mask.add(&pair);
        self.mask.add(if word.expose().is_empty() { user.expose() } else { word.expose() });
        self.set(&AUTHORIZATION, &format!("Basic {}", STANDARD.encode(pair)), username)
    }

    fn set(&mut self, name: &HeaderName, value: &str, variable: &str) -> Result<(), OpError> {
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| unsendable(variable))?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(())
    }
}

/// Resolves combinations to simple schemes: all of `All`, and the first alternative of `Any` whose variables are set.
fn choose<'a>(auth: &'a Auth, env: &EnvLookup, chosen: &mut Vec<&'a Auth>) -> Result<(), OpError> {
    match auth {
        Auth::All(schemes) => schemes.iter().try_for_each(|auth| choose(auth, env, chosen)),
        Auth::Any(schemes) => match schemes.iter().find(|auth| is_set(auth, env)) {
            Some(auth) => choose(auth, env, chosen),
            None => none_set(schemes),
        },
        simple => {
            chosen.push(simple);
            Ok(())
        }
    }
}

fn is_set(auth: &Auth, env: &EnvLookup) -> bool {
    match auth {
        Auth::All(schemes) => schemes.iter().all(|auth| is_set(auth, env)),
        Auth::Any(schemes) => schemes.iter().any(|auth| is_set(auth, env)),
        // A password may be empty if the user name is the secret.
        Auth::Basic { username_env, password_env } => {
            env.require(username_env).is_ok() && env.get(password_env).is_some()
        }
        simple => variables(simple).iter().all(|name| env.require(name).is_ok()),
    }
}

/// The variables that a scheme needs, for messages. Alternatives are not distinguished.
fn variables(auth: &Auth) -> Vec<&str> {
    match auth {
        Auth::None => Vec::new(),
        Auth::Bearer { token_env: name, .. } | Auth::ApiKey { key_env: name, .. } => vec![name],
        Auth::Basic { username_env, password_env } => vec![username_env, password_env],
        Auth::OAuth2(oauth) => oauth::variables(oauth),
        Auth::All(schemes) | Auth::Any(schemes) => schemes.iter().flat_map(variables).collect(),
    }
}

fn none_set(schemes: &[Auth]) -> Result<(), OpError> {
    let alternatives: Vec<String> = schemes.iter().map(|auth| variables(auth).join(" and ")).collect();
    if alternatives.is_empty() {
        return Ok(());
    }
    let names = alternatives.join(", or ");
    Err(OpError::new(
        Code::PermissionDenied,
        format!(
            "The credentials for this API are not set up; tell the user to set the environment variables {names} \
             for this server and to restart it."
        ),
    )
    .for_operator(
        format_args!("no credentials are set; the alternatives are {names}"),
        "export the environment variables of one alternative",
    )
    .with_detail("variables", alternatives))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&'static str, &'static str)]) -> EnvLookup {
        EnvLookup::new(move |name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn bearer(token_env: &str) -> Auth {
        Auth::Bearer { token_env: token_env.into(), header: "Authorization".into(), prefix: "Bearer ".into() }
    }

    fn key(key_env: &str, location: KeyLocation) -> Auth {
        Auth::ApiKey { key_env: key_env.into(), location, prefix: String::new() }
    }

    async fn read(
        auth: &Auth,
        pairs: &'static [(&'static str, &'static str)],
    ) -> Result<Credentials, OpError> {
        Credentials::read(auth, &[], &env(pairs), &Tokens::for_tests()).await
    }

    #[tokio::test]
    async fn a_token_is_trimmed_sent_as_sensitive_and_masked() {
        let credentials = read(&bearer("TOKEN"), &[("TOKEN", "s3cret-token\n")]).await.unwrap();
        let value = &credentials.headers["authorization"];
        assert_eq!(value.to_str().unwrap(), "Bearer s3cret-token");
        assert!(value.is_sensitive());
        assert!(credentials.mask.contains_secret("echo s3cret-token"));
        assert!(!format!("{credentials:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn the_error_for_a_missing_or_empty_variable_names_it() {
        for pairs in [&[][..], &[("TOKEN", " ")]] {
            let error = read(&bearer("TOKEN"), pairs).await.unwrap_err();
            assert_eq!(error.code, Code::PermissionDenied);
            assert!(error.message.contains("environment variable TOKEN"), "{}", error.message);
        }
    }

    #[tokio::test]
    async fn a_value_that_would_break_the_request_is_refused_without_showing_it() {
        let cookie = key("TOKEN", KeyLocation::Cookie("sid".into()));
        for (auth, value) in [
            (bearer("TOKEN"), &[("TOKEN", "a\r\nX-Evil: 1")]),
            (cookie.clone(), &[("TOKEN", "a; Evil=1")]),
            (cookie, &[("TOKEN", "a\r\nEvil")]),
        ] {
            let error = read(&auth, value).await.unwrap_err();
            assert_eq!(error.code, Code::PermissionDenied);
            assert!(error.message.contains("TOKEN") && !error.message.contains("Evil"));
        }
    }

    #[tokio::test]
    async fn an_api_key_as_user_name_needs_no_password_and_is_masked() {
        let auth = Auth::Basic { username_env: "KEY".into(), password_env: "NONE".into() };
        let credentials = read(&auth, &[("KEY", "sk_live_1"), ("NONE", "")]).await.unwrap();
        assert_eq!(credentials.headers["authorization"].to_str().unwrap(), "Basic c2tfbGl2ZV8xOg==");
        assert!(
            credentials.mask.contains_secret("key sk_live_1")
                && credentials.mask.contains_secret("c2tfbGl2ZV8xOg")
        );
    }

    #[tokio::test]
    async fn several_schemes_go_together() {
        let auth = Auth::All(vec![
            bearer("TOKEN"),
            key("KEY", KeyLocation::Query("key".into())),
            key("SESSION", KeyLocation::Cookie("sid".into())),
        ]);
        let set: &[_] = &[("TOKEN", "token-1"), ("KEY", "key-22"), ("SESSION", "session-3")];
        let credentials = read(&auth, set).await.unwrap();
        assert_eq!(credentials.headers["authorization"], "Bearer token-1");
        assert_eq!(credentials.query, [("key".to_owned(), Secret::new("key-22"))]);
        assert_eq!(credentials.cookies, [("sid".to_owned(), Secret::new("session-3"))]);
        for secret in ["token-1", "key-22", "session-3"] {
            assert!(credentials.mask.contains_secret(secret), "{secret}");
        }
        let error = read(&auth, &[("TOKEN", "t"), ("SESSION", "s")]).await.unwrap_err();
        assert!(error.message.contains("environment variable KEY"), "{}", error.message);
    }

    #[tokio::test]
    async fn the_first_alternative_whose_variables_are_set_is_taken() {
        let pair = Auth::All(vec![
            key("A", KeyLocation::Header("X-A".into())),
            key("B", KeyLocation::Header("X-B".into())),
        ]);
        let auth = Auth::Any(vec![pair, bearer("TOKEN")]);
        let both = read(&auth, &[("A", "a"), ("B", "b"), ("TOKEN", "t")]).await.unwrap();
        assert_eq!(both.headers.keys().collect::<Vec<_>>(), ["x-a", "x-b"]);
        let half = read(&auth, &[("A", "a"), ("TOKEN", "t")]).await.unwrap();
        assert_eq!(half.headers.keys().collect::<Vec<_>>(), ["authorization"]);
        let error = read(&auth, &[("A", "a")]).await.unwrap_err();
        assert_eq!(error.code, Code::PermissionDenied);
        assert!(error.message.contains("A and B, or TOKEN"), "{}", error.message);
        assert_eq!(error.details["variables"], serde_json::json!(["A and B", "TOKEN"]));
    }

    #[tokio::test]
    async fn no_credentials_are_an_alternative_too() {
        let auth = Auth::Any(vec![bearer("TOKEN"), Auth::None]);
        assert!(read(&auth, &[]).await.unwrap().headers.is_empty());
        assert_eq!(read(&auth, &[("TOKEN", "t")]).await.unwrap().headers.len(), 1);
    }

    #[test]
    fn names_of_unused_alternatives_are_reserved_too() {
        let mut reserved = ReservedNames::default();
        let auth = Auth::Any(vec![
            bearer("TOKEN"),
            Auth::All(vec![
                key("A", KeyLocation::Query("key".into())),
                key("B", KeyLocation::Cookie("sid".into())),
            ]),
        ]);
        reserved.add(&auth).unwrap();
        let expected = ReservedNames {
            headers: vec![AUTHORIZATION],
            query: vec!["key".into()],
            cookies: vec!["sid".into()],
        };
        assert_eq!(reserved, expected);
        assert_eq!(reserved.add(&key("A", KeyLocation::Header("a b".into()))), Err("a b".to_owned()));
    }
}
