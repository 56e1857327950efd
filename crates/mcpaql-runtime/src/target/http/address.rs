//! Addresses in documents: fills in their variables, checks them, and provides a client for them.
//!
//! What always holds: an address is `https`, or `http` to this machine, or `http` if the document allows it. It has
//! no credentials and no fragment. Variables are read on every call, like those of headers. The client connects only to
//! addresses that the guard of the target allows, and never sends a request twice by itself.

use super::HttpSetupError;
use super::redirect::is_loopback;
use crate::fetch;
use crate::outgoing::{GuardedResolver, OutgoingGuard};
use crate::secret::{Mask, is_credential};
use crate::target::auth::EnvLookup;
use mcpaql_core::adapter::HttpTarget;
use mcpaql_core::error::{Code, OpError};
#[cfg(test)]
use mcpaql_core::host::NetworkAccess;
use mcpaql_core::host::{self, address_problem};
use mcpaql_core::template::{EnvPiece, EnvTemplate};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use url::Url;

/// Shorter parts of an address are settings, such as a version.
const MIN_SECRET_LENGTH: usize = 4;

/// How a target connects to other machines.
#[derive(Debug)]
pub(crate) struct Network {
    allow_http: bool,
    /// Whether addresses may have a query.
    allow_query: bool,
    connect_timeout: Duration,
    guard: Arc<OutgoingGuard>,
    /// For loopback addresses, without a proxy.
    direct: OnceLock<reqwest::Client>,
    default: OnceLock<reqwest::Client>,
}

/// The base address of a target.
#[derive(Debug)]
pub(super) enum BaseAddress {
    Fixed(Url),
    /// With variables.
    Template(String),
}

/// Why an address is not available.
enum AddressError<'t> {
    /// The variable is not set.
    Unset(&'t str),
    Invalid(HttpSetupError),
}

impl Network {
    pub(super) fn new(target: &HttpTarget) -> Network {
        Network {
            allow_http: target.allow_http,
            allow_query: false,
            connect_timeout: Duration::from_millis(target.connect_timeout_ms),
            guard: Arc::new(OutgoingGuard::new(target.access.clone())),
            direct: OnceLock::new(),
            default: OnceLock::new(),
        }
    }

    /// Allows queries, for addresses that are complete and not the base of others.
    pub(super) fn with_queries(self) -> Network {
        Network { allow_query: true, ..self }
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Network {
        Network {
            allow_http: false,
            allow_query: false,
            connect_timeout: Duration::from_secs(5),
            guard: Arc::new(OutgoingGuard::new(NetworkAccess::default())),
            direct: OnceLock::new(),
            default: OnceLock::new(),
        }
    }

    /// Returns the base address. One with variables is checked now if they are set.
    pub(super) fn base(&self, text: &str, env: &EnvLookup) -> Result<BaseAddress, HttpSetupError> {
        let template = EnvTemplate::parse(text)
            .ok_or(HttpSetupError::BaseUrl { reason: "contains an unclosed ${env:NAME}" })?;
        match self.fill(&template, env) {
            Ok(url) => {
                self.build(&url)?;
                Ok(if template.has_variables() {
                    BaseAddress::Template(text.to_owned())
                } else {
                    BaseAddress::Fixed(url)
                })
            }
            Err(AddressError::Unset(_)) => Ok(BaseAddress::Template(text.to_owned())),
            Err(AddressError::Invalid(error)) => Err(error),
        }
    }

    /// Returns the address for this call.
    pub(crate) fn resolve(&self, text: &str, env: &EnvLookup) -> Result<Url, OpError> {
        let not_closed = HttpSetupError::BaseUrl { reason: "contains an unclosed ${env:NAME}" };
        let template = EnvTemplate::parse(text).ok_or_else(|| invalid_address(text, &not_closed))?;
        self.fill(&template, env).map_err(|error| match error {
            AddressError::Unset(name) => OpError::new(
                Code::Internal,
                format!(
                    "The address of this API is not set up; tell the user to set the environment variable {name} for \
                     this server and to restart it."
                ),
            )
            .with_detail("variable", name)
            .for_operator(
                format_args!("the environment variable {name} in the address of this API is not set"),
                format!("export {name}=…"),
            ),
            AddressError::Invalid(error) => invalid_address(text, &error),
        })
    }

    fn fill<'t>(&self, template: &'t EnvTemplate, env: &EnvLookup) -> Result<Url, AddressError<'t>> {
        let text = template.fill(|name| env.get_plain(name)).map_err(AddressError::Unset)?;
        self.check(&text).map_err(AddressError::Invalid)
    }

    fn check(&self, text: &str) -> Result<Url, HttpSetupError> {
        let invalid_address = |reason| HttpSetupError::BaseUrl { reason };
        if let Some(reason) = address_problem(text) {
            return Err(invalid_address(reason));
        }
        let url = Url::parse(text)
            .map_err(|_| invalid_address("is not an absolute URL; write https://host/path"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid_address(
                "contains credentials; put them in environment variables and name the variables in auth",
            ));
        }
        if (url.query().is_some() && !self.allow_query) || url.fragment().is_some() {
            return Err(invalid_address("contains a query or a fragment; declare parameters instead"));
        }
        match url.scheme() {
            "https" => Ok(url),
            "http" if self.allow_http || is_loopback(&url) => Ok(url),
            "http" => Err(HttpSetupError::PlainHttp),
            _ => Err(invalid_address("is neither https nor http")),
        }
    }

    /// Adds what is secret in an address to the mask: the values of variables in its path and query. A host is visible on
    /// the network anyway, and errors have to name it.
    pub(super) fn add_secrets(&self, text: &str, env: &EnvLookup, mask: &mut Mask) {
        let Some(template) = EnvTemplate::parse(text).filter(EnvTemplate::has_variables) else { return };
        let mut address = String::new();
        for piece in template.pieces() {
            match piece {
                EnvPiece::Text(text) => address.push_str(text),
                EnvPiece::Variable { name, fallback } => {
                    let value = env.get_plain(name);
                    let start = address.len();
                    address.push_str(value.as_deref().or(fallback.as_deref()).unwrap_or_default());
                    let path = host::path_start(&address).and_then(|path| address.get(path.max(start)..));
                    if value.is_some() {
                        add_path(name, path.unwrap_or_default(), mask);
                    }
                }
            }
        }
    }

    /// Decides where requests may go.
    pub(crate) fn guard(&self) -> &OutgoingGuard {
        &self.guard
    }

    /// Returns the client for an address.
    pub(crate) fn client(&self, url: &Url) -> Result<&reqwest::Client, OpError> {
        self.build(url).map_err(|error| {
            OpError::new(Code::Internal, "The connection to the API cannot be set up; tell the operator.")
                .with_cause(error)
        })
    }

    fn build(&self, url: &Url) -> Result<&reqwest::Client, HttpSetupError> {
        let local = is_loopback(url);
        let slot = if local { &self.direct } else { &self.default };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        // Fails if a provider is already installed, by another client or by the embedding program; any provider
        // works.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("mcpaql/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(self.connect_timeout)
                .tcp_nodelay(true)
                .dns_resolver(Arc::new(GuardedResolver(Arc::clone(&self.guard))))
                // What is repeated is decided by call.
                .retry(reqwest::retry::never())
                // Bodies are decompressed while they are read, with all members.
                .no_gzip();
            if local { builder.no_proxy() } else { builder }
        };
        let built = match builder().build() {
            // Without certificates, plain http targets still work.
            Err(_) if url.scheme() == "http" => builder().tls_certs_only([]).build(),
            built => built,
        };
        let client = built.map_err(|error| HttpSetupError::Client(fetch::root_cause(&error)))?;
        Ok(slot.get_or_init(|| client))
    }
}

impl BaseAddress {
    /// Returns the address for this call.
    pub(super) fn url(&self, network: &Network, env: &EnvLookup) -> Result<Url, OpError> {
        match self {
            BaseAddress::Fixed(url) => Ok(url.clone()),
            BaseAddress::Template(text) => network.resolve(text, env),
        }
    }
}

/// Adds the parts of a path that came from a variable, as far as they are credentials.
fn add_path(name: &str, path: &str, mask: &mut Mask) {
    if path.len() >= MIN_SECRET_LENGTH && is_credential(name, path) {
        mask.add(path);
    }
    let parts = path.split(['/', '?', '&', '=', ':']).filter(|part| part.len() >= MIN_SECRET_LENGTH);
    parts.filter(|part| is_credential(name, part)).for_each(|part| mask.add(part));
}

fn invalid_address(text: &str, error: &HttpSetupError) -> OpError {
    let names: Vec<String> = EnvTemplate::parse(text)
        .iter()
        .flat_map(EnvTemplate::pieces)
        .filter_map(|piece| match piece {
            EnvPiece::Variable { name, .. } => Some(name.clone()),
            EnvPiece::Text(_) => None,
        })
        .collect();
    let (who, what) = match names.as_slice() {
        [] => ("operator", "correct it in the document".to_owned()),
        names => ("user", format!("correct the environment variables in it: {}", names.join(", "))),
    };
    OpError::new(Code::Internal, format!("The address of this API cannot be used; tell the {who} to {what}."))
        .for_operator(error, what)
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
    fn values_in_the_path_of_an_address_are_secret_and_its_host_is_not() {
        let set = env(&[
            ("BOT", "123456:AAF-x9"),
            ("REGION", "eu-west-1"),
            ("HOOK", "https://hooks.example/services/T0A9B8C7D/q8w7e6r5"),
            ("VERSION", "v2"),
            ("HOST", "x9y8z7w6.example.com"),
        ]);
        let masked = |text: &str, shown: &str| {
            let mut mask = Mask::default();
            Network::for_tests().add_secrets(text, &set, &mut mask);
            mask.apply(shown).into_owned()
        };
        let bot = masked(
            "https://api.example/bot${env:BOT}/${env:VERSION}",
            "/bot123456:AAF-x9/v2 bot123456%3AAAF-x9",
        );
        assert_eq!(bot, "/bot[redacted]/v2 bot[redacted]");
        assert_eq!(masked("https://${env:REGION}.example/x", "eu-west-1.example"), "eu-west-1.example");
        assert_eq!(masked("https://${env:HOST}/x", "x9y8z7w6.example.com"), "x9y8z7w6.example.com");
        let hook = masked(
            "${env:HOOK}",
            "cannot connect to https://hooks.example/services/T0A9B8C7D/q8w7e6r5: T0A9B8C7D",
        );
        assert!(
            hook.starts_with("cannot connect to https://hooks.example/")
                && !hook.contains("T0A9")
                && !hook.contains("q8w7"),
            "{hook}"
        );
    }

    #[test]
    fn errors_name_variables_that_are_unset_or_invalid() {
        let network = Network::for_tests();
        let error = network.resolve("https://${env:HOST}/v1", &env(&[])).unwrap_err();
        assert!(error.message.contains("environment variable HOST"), "{}", error.message);
        for value in ["api.example/x?y=1", "http://other.example", "user:word@x", "a b", "x#y"] {
            let set: &'static [(&str, &str)] = vec![("WHERE", value)].leak();
            let text = if value.starts_with("http") { "${env:WHERE}" } else { "https://${env:WHERE}" };
            let error = network.resolve(text, &env(set)).unwrap_err();
            assert!(error.message.contains("WHERE") && !error.message.contains("word"), "{}", error.message);
            assert!(network.base(text, &env(set)).is_err(), "{value} is reported when the server starts");
        }
        assert!(network.base("https://${env:HOST}/v1", &env(&[])).is_ok(), "the other calls still work");
    }
}
