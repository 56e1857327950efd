//! Addresses that a document names: with their variables filled in, checked, and with a client that reaches them.
//!
//! What always holds: an address is `https`, or `http` to this machine, or `http` where the document allows it; it holds
//! neither credentials nor a fragment. Variables are read on every call, like those of headers.

use super::redirect::is_loopback;
use super::{HttpSetupError, chain};
use crate::environment::{EnvPiece, EnvTemplate};
use crate::target::auth::EnvLookup;
use mcpaql_core::adapter::HttpTarget;
use mcpaql_core::error::{Code, OpError};
use std::sync::OnceLock;
use std::time::Duration;
use url::Url;

/// How a target reaches other machines.
#[derive(Debug)]
pub(crate) struct Network {
    allow_http: bool,
    /// Whether an address may have a query.
    query: bool,
    connect_timeout: Duration,
    /// Loopback addresses are reached without a proxy.
    direct: OnceLock<reqwest::Client>,
    usual: OnceLock<reqwest::Client>,
}

/// An address as the document writes it.
#[derive(Debug)]
pub(super) enum BaseAddress {
    Fixed(Url),
    /// With variables.
    Open(String),
}

/// Why there is no address now.
enum AddressError<'t> {
    /// The variable is not set.
    Unset(&'t str),
    Wrong(HttpSetupError),
}

impl Network {
    pub(super) fn new(target: &HttpTarget) -> Network {
        Network {
            allow_http: target.allow_http,
            query: false,
            connect_timeout: Duration::from_millis(target.connect_timeout_ms),
            direct: OnceLock::new(),
            usual: OnceLock::new(),
        }
    }

    /// For addresses that are whole and not the beginning of others.
    pub(super) fn with_queries(self) -> Network {
        Network { query: true, ..self }
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Network {
        Network {
            allow_http: false,
            query: false,
            connect_timeout: Duration::from_secs(5),
            direct: OnceLock::new(),
            usual: OnceLock::new(),
        }
    }

    /// The address of the target. One with variables is checked now where they are set.
    pub(super) fn base(&self, text: &str, env: &EnvLookup) -> Result<BaseAddress, HttpSetupError> {
        let template = EnvTemplate::parse(text)
            .ok_or(HttpSetupError::BaseUrl { reason: "holds a ${env:NAME} that is not closed" })?;
        match self.fill(&template, env) {
            Ok(url) => {
                self.build(&url)?;
                Ok(if template.has_variables() {
                    BaseAddress::Open(text.to_owned())
                } else {
                    BaseAddress::Fixed(url)
                })
            }
            Err(AddressError::Unset(_)) => Ok(BaseAddress::Open(text.to_owned())),
            Err(AddressError::Wrong(error)) => Err(error),
        }
    }

    /// The address behind a text of the document, for this call.
    pub(crate) fn resolve(&self, text: &str, env: &EnvLookup) -> Result<Url, OpError> {
        let not_closed = HttpSetupError::BaseUrl { reason: "holds a ${env:NAME} that is not closed" };
        let template = EnvTemplate::parse(text).ok_or_else(|| wrong(text, &not_closed))?;
        self.fill(&template, env).map_err(|lack| match lack {
            AddressError::Unset(name) => OpError::new(
                Code::Internal,
                format!(
                    "The address of this API is not set up; tell the user to set the environment variable {name} for \
                     this server and to start it again."
                ),
            )
            .with_detail("variable", name),
            AddressError::Wrong(error) => wrong(text, &error),
        })
    }

    fn fill<'t>(&self, template: &'t EnvTemplate, env: &EnvLookup) -> Result<Url, AddressError<'t>> {
        let text = template.fill(|name| env.get_plain(name)).map_err(AddressError::Unset)?;
        self.check(&text).map_err(AddressError::Wrong)
    }

    fn check(&self, text: &str) -> Result<Url, HttpSetupError> {
        let wrong = |reason| HttpSetupError::BaseUrl { reason };
        let url = Url::parse(text).map_err(|_| wrong("is not an absolute URL; write https://host/path"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "holds credentials; put them into environment variables and name those in auth",
            ));
        }
        if (url.query().is_some() && !self.query) || url.fragment().is_some() {
            return Err(wrong("holds a query or a fragment; declare parameters instead"));
        }
        match url.scheme() {
            "https" => Ok(url),
            "http" if self.allow_http || is_loopback(&url) => Ok(url),
            "http" => Err(HttpSetupError::PlainHttp),
            _ => Err(wrong("is neither https nor http")),
        }
    }

    /// The client that reaches the address.
    pub(crate) fn client(&self, url: &Url) -> Result<&reqwest::Client, OpError> {
        self.build(url).map_err(|error| {
            OpError::new(Code::Internal, "The connection to the API cannot be set up; tell the operator.")
                .with_cause(error)
        })
    }

    fn build(&self, url: &Url) -> Result<&reqwest::Client, HttpSetupError> {
        let local = is_loopback(url);
        let slot = if local { &self.direct } else { &self.usual };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        // Fails when a provider is installed already, by another client or by the embedding program: either will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("mcpaql/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(self.connect_timeout)
                .tcp_nodelay(true);
            if local { builder.no_proxy() } else { builder }
        };
        let built = match builder().build() {
            // A machine without certificates can still reach a plain target.
            Err(_) if url.scheme() == "http" => builder().tls_certs_only([]).build(),
            built => built,
        };
        let client = built.map_err(|error| HttpSetupError::Client(chain(&error)))?;
        Ok(slot.get_or_init(|| client))
    }
}

impl BaseAddress {
    /// The address for this call.
    pub(super) fn url(&self, network: &Network, env: &EnvLookup) -> Result<Url, OpError> {
        match self {
            BaseAddress::Fixed(url) => Ok(url.clone()),
            BaseAddress::Open(text) => network.resolve(text, env),
        }
    }
}

fn wrong(text: &str, error: &HttpSetupError) -> OpError {
    let names: Vec<String> = EnvTemplate::parse(text)
        .iter()
        .flat_map(EnvTemplate::pieces)
        .filter_map(|piece| match piece {
            EnvPiece::Variable { name, .. } => Some(name.clone()),
            EnvPiece::Text(_) => None,
        })
        .collect();
    let whom = match names.as_slice() {
        [] => "tell the operator to correct it in the document".to_owned(),
        names => {
            format!("tell the user to correct the environment variables it is made of: {}", names.join(", "))
        }
    };
    OpError::new(Code::Internal, format!("The address of this API cannot be used; {whom}.")).with_cause(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &'static [(&'static str, &'static str)]) -> EnvLookup {
        EnvLookup::new(move |name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn variables_are_filled_in_on_every_call() {
        let network = Network::for_tests();
        let resolve = |text: &str, env: &EnvLookup| network.resolve(text, env).map(String::from);
        let set = env(&[("REGION", "eu\n"), ("URL", "http://127.0.0.1:8080/v2"), ("EMPTY", "")]);
        let regional = "https://${env:REGION:-us}.api.example/${env:EMPTY:-v1}";
        assert_eq!(resolve(regional, &set).unwrap(), "https://eu.api.example/v1");
        assert_eq!(resolve(regional, &env(&[])).unwrap(), "https://us.api.example/v1");
        assert_eq!(resolve("${env:URL}", &set).unwrap(), "http://127.0.0.1:8080/v2");
    }

    #[test]
    fn what_is_not_set_or_no_address_is_named() {
        let network = Network::for_tests();
        let error = network.resolve("https://${env:HOST}/v1", &env(&[])).unwrap_err();
        assert!(error.message.contains("environment variable HOST"), "{}", error.message);
        for value in ["api.example/x?y=1", "http://other.example", "user:word@x", "a b", "x#y"] {
            let set: &'static [(&str, &str)] = vec![("WHERE", value)].leak();
            let text = if value.starts_with("http") { "${env:WHERE}" } else { "https://${env:WHERE}" };
            let error = network.resolve(text, &env(set)).unwrap_err();
            assert!(error.message.contains("WHERE") && !error.message.contains("word"), "{}", error.message);
            assert!(network.base(text, &env(set)).is_err(), "{value} is seen when the server starts");
        }
        assert!(network.base("https://${env:HOST}/v1", &env(&[])).is_ok(), "the other calls still work");
    }
}
