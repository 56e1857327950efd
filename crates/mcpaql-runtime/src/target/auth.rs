//! Credentials of an HTTP target: where they go, and their values for one call.
//!
//! Values are read from the environment on every call, so a rotated variable works without a restart and a missing one
//! fails only the calls that need it. What always holds: header values that carry a secret are marked sensitive, and
//! whatever was read is in the [`Mask`] of the call.

use crate::environment::{Piece, Template};
use crate::secret::{Mask, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpaql_core::adapter::{Auth, KeyPlace};
use mcpaql_core::error::{Code, OpError};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::sync::Arc;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up environment variables.
#[derive(Clone)]
pub(crate) struct Env(Arc<Lookup>);

impl Env {
    pub(crate) fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Env(Arc::new(lookup))
    }

    /// The variable's value without surrounding white space (a trailing line feed is common in secret files).
    fn get(&self, name: &str) -> Option<Secret> {
        (self.0)(name).map(|value| Secret::new(value.trim()))
    }

    /// The variable's value, which must not be empty.
    fn require(&self, name: &str) -> Result<Secret, OpError> {
        self.get(name).filter(|secret| !secret.expose().is_empty()).ok_or_else(|| missing(name))
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Env")
    }
}

fn missing(name: &str) -> OpError {
    OpError::new(
        Code::PermissionDenied,
        format!(
            "The credentials for this API are not set up; tell the user to set the environment variable {name} \
             for this server and to start it again."
        ),
    )
    .with("variable", name)
}

fn unsendable(name: &str) -> OpError {
    OpError::new(
        Code::PermissionDenied,
        format!(
            "The environment variable {name} holds characters that cannot be sent in a header; tell the user to \
             correct its value."
        ),
    )
    .with("variable", name)
}

/// Where the credentials of a target go.
#[derive(Debug)]
pub(crate) enum Scheme {
    None,
    Header { name: HeaderName, prefix: String, variable: String },
    Query { name: String, prefix: String, variable: String },
    Basic { username: String, password: String },
}

impl Scheme {
    /// # Errors
    /// The header's name, where it is not one.
    pub(crate) fn new(auth: &Auth) -> Result<Scheme, String> {
        let header = |name: &str, prefix: &str, variable: &str| {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| name.to_owned())?;
            Ok(Scheme::Header { name, prefix: prefix.to_owned(), variable: variable.to_owned() })
        };
        match auth {
            Auth::None | Auth::OAuth2(_) | Auth::All(_) | Auth::Any(_) => Ok(Scheme::None),
            Auth::Bearer { token_env, header: name, prefix } => header(name, prefix, token_env),
            Auth::ApiKey { key_env, place: KeyPlace::Header(name), prefix } => header(name, prefix, key_env),
            Auth::ApiKey { key_env, place: KeyPlace::Query(name), prefix } => {
                Ok(Scheme::Query { name: name.clone(), prefix: prefix.clone(), variable: key_env.clone() })
            }
            Auth::Basic { username_env, password_env } => {
                Ok(Scheme::Basic { username: username_env.clone(), password: password_env.clone() })
            }
        }
    }

    /// The header that only the server itself may set.
    pub(crate) fn header(&self) -> Option<&HeaderName> {
        match self {
            Scheme::Header { name, .. } => Some(name),
            Scheme::Basic { .. } => Some(&AUTHORIZATION),
            Scheme::None | Scheme::Query { .. } => None,
        }
    }

    /// The query parameter that only the server itself may set.
    pub(crate) fn query(&self) -> Option<&str> {
        match self {
            Scheme::Query { name, .. } => Some(name),
            Scheme::None | Scheme::Header { .. } | Scheme::Basic { .. } => None,
        }
    }
}

/// The credentials of one call.
#[derive(Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) headers: HeaderMap,
    pub(crate) query: Option<(String, Secret)>,
    pub(crate) mask: Mask,
}

impl Credentials {
    /// Reads what the scheme and the secret headers of the target need.
    pub(crate) fn read(
        scheme: &Scheme,
        headers: &[(HeaderName, Template)],
        env: &Env,
    ) -> Result<Credentials, OpError> {
        let mut credentials = Credentials::default();
        for (name, template) in headers {
            credentials.fill(name, template, env)?;
        }
        match scheme {
            Scheme::None => {}
            Scheme::Header { name, prefix, variable } => {
                let secret = env.require(variable)?;
                credentials.mask.add(secret.expose());
                credentials.set(name, &format!("{prefix}{}", secret.expose()), variable)?;
            }
            Scheme::Query { name, prefix, variable } => {
                let secret = env.require(variable)?;
                credentials.mask.add(secret.expose());
                credentials.query = Some((name.clone(), Secret::new(format!("{prefix}{}", secret.expose()))));
            }
            Scheme::Basic { username, password } => credentials.basic(username, password, env)?,
        }
        Ok(credentials)
    }

    fn fill(&mut self, name: &HeaderName, template: &Template, env: &Env) -> Result<(), OpError> {
        let mut value = String::new();
        let mut last = "";
        for piece in template.pieces() {
            match piece {
                Piece::Text(text) => value.push_str(text),
                Piece::Variable { name: variable, fallback } => {
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

    /// An API key as user name with an empty password is common; then the user name is the secret.
    fn basic(&mut self, username: &str, password: &str, env: &Env) -> Result<(), OpError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&'static str, &'static str)]) -> Env {
        Env::new(move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    fn bearer() -> Scheme {
        let auth = Auth::Bearer {
            token_env: "TOKEN".into(),
            header: "Authorization".into(),
            prefix: "Bearer ".into(),
        };
        Scheme::new(&auth).unwrap()
    }

    #[test]
    fn a_token_is_trimmed_sent_as_sensitive_and_masked() {
        let credentials = Credentials::read(&bearer(), &[], &env(&[("TOKEN", "s3cret-token\n")])).unwrap();
        let value = &credentials.headers["authorization"];
        assert_eq!(value.to_str().unwrap(), "Bearer s3cret-token");
        assert!(value.is_sensitive());
        assert!(credentials.mask.finds("echo s3cret-token"));
        assert!(!format!("{credentials:?}").contains("s3cret"));
    }

    #[test]
    fn a_missing_or_empty_variable_is_named_and_says_what_to_do() {
        for env in [env(&[]), env(&[("TOKEN", " ")])] {
            let error = Credentials::read(&bearer(), &[], &env).unwrap_err();
            assert_eq!(error.code, Code::PermissionDenied);
            assert!(error.message.contains("environment variable TOKEN"), "{}", error.message);
        }
    }

    #[test]
    fn a_value_that_would_break_the_header_is_refused_without_showing_it() {
        let error = Credentials::read(&bearer(), &[], &env(&[("TOKEN", "a\r\nX-Evil: 1")])).unwrap_err();
        assert_eq!(error.code, Code::PermissionDenied);
        assert!(error.message.contains("TOKEN") && !error.message.contains("Evil"));
    }

    #[test]
    fn an_api_key_as_user_name_needs_no_password_and_is_masked() {
        let auth = Auth::Basic { username_env: "KEY".into(), password_env: "NONE".into() };
        let scheme = Scheme::new(&auth).unwrap();
        let credentials =
            Credentials::read(&scheme, &[], &env(&[("KEY", "sk_live_1"), ("NONE", "")])).unwrap();
        assert_eq!(credentials.headers["authorization"].to_str().unwrap(), "Basic c2tfbGl2ZV8xOg==");
        assert!(credentials.mask.finds("key sk_live_1") && credentials.mask.finds("c2tfbGl2ZV8xOg"));
    }
}
