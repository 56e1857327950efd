//! Converts security schemes to `auth`, with names of environment variables for the credentials.

use super::document::OpenApiDocument;
use super::refs::{Documents, Refs};
use super::scan;
use super::servers::{is_plain, join, screaming_snake};
use indexmap::IndexMap;
use mcpaql_core::adapter::{Auth, KeyLocation, OAuth2};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::header;
use mcpaql_core::host::address_problem;
use mcpaql_core::operation::ParamLocation;
use serde_json::Value;
use std::collections::HashMap;

/// The security schemes of a document.
#[derive(Debug)]
pub(crate) struct Security {
    schemes: IndexMap<String, Option<Scheme>>,
    keys: Vec<(ParamLocation, String)>,
    prefix: String,
}

#[derive(Debug, Clone)]
enum Scheme {
    Fixed(Auth),
    /// OAuth 2.0, with the token URLs of its flows.
    OAuth {
        /// The flow with client credentials.
        client: Option<String>,
        /// Flows with a user; their token URL may be unknown.
        user: Option<Option<String>>,
    },
}

/// The `security` of a document or an operation: alternatives, each with schemes and their scopes.
type Requirements = Vec<IndexMap<String, Vec<String>>>;

impl Security {
    /// Reads the schemes; schemes that are not supported are reported.
    pub(crate) fn read(
        documents: &Documents,
        url: Option<&str>,
        prefix: &str,
        notes: &mut Vec<Diagnostic>,
    ) -> Security {
        let main = &documents.main;
        let mut found: IndexMap<String, (String, Value)> = IndexMap::new();
        for section in ["components/securitySchemes", "securityDefinitions"] {
            for (name, text) in main.section(section) {
                let Ok(mut value) = OpenApiDocument::value(text) else { continue };
                if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
                    let Some(resolved) = documents.resolve("", reference) else { continue };
                    value = (*resolved.value).clone();
                }
                found.insert(name.to_owned(), (format!("/{section}/{name}"), value));
            }
        }
        let mut keys: Vec<(&str, &str)> = found.values().filter_map(|(_, scheme)| key_of(scheme)).collect();
        keys.sort_unstable();
        keys.dedup();
        let many = keys.len() > 1;
        let schemes = found
            .iter()
            .map(|(name, (pointer, value))| {
                let scheme = scheme(name, value, prefix, many, url);
                if scheme.is_none() {
                    let message = format!("The security scheme '{name}' is not supported");
                    notes.push(
                        Diagnostic::warning(Code::SchemaUnsupported, pointer, message)
                            .expected("apiKey, http basic or bearer, oauth2 or openIdConnect"),
                    );
                }
                if matches!(scheme, Some(Scheme::OAuth { client: None, .. })) && has_client_flow(value) {
                    let message = format!(
                        "The client credentials flow of the security scheme '{name}' has no usable token URL"
                    );
                    notes.push(
                        Diagnostic::warning(Code::SchemaMissingField, pointer, message)
                            .expected("tokenUrl: https://host/path")
                            .suggest(format!("set {prefix}_TOKEN to a token")),
                    );
                }
                (name.clone(), scheme)
            })
            .collect();
        let keys = keys.into_iter().map(|(word, name)| (location_of(word), name.to_owned())).collect();
        Security { schemes, keys, prefix: prefix.to_owned() }
    }

    /// Returns the authentication for a `security` member.
    pub(crate) fn auth(&self, requirements: &str, notes: &mut Vec<Diagnostic>) -> Auth {
        let mut alternatives: Vec<Auth> = Vec::new();
        let requirements = parse(requirements);
        let mut optional = requirements.is_empty();
        for requirement in &requirements {
            if requirement.is_empty() {
                optional = true;
                continue;
            }
            let together: Option<Vec<Auth>> =
                requirement.iter().map(|(name, scopes)| self.scheme(name, scopes, notes)).collect();
            match together.map(all) {
                Some(Auth::Any(several)) => alternatives.extend(several),
                Some(auth) => alternatives.push(auth),
                None => {}
            }
        }
        any(alternatives, optional)
    }

    /// Returns the authentication for a document that never requires one: any scheme whose credentials are set.
    pub(crate) fn any_scheme(&self) -> Auth {
        let mut alternatives = Vec::new();
        for scheme in self.schemes.values().flatten() {
            match self.expand(scheme, &[]) {
                Auth::Any(several) => alternatives.extend(several),
                auth => alternatives.push(auth),
            }
        }
        if self.schemes.is_empty() {
            alternatives.push(bearer(&self.prefix));
        }
        any(alternatives, true)
    }

    /// Returns locations and names of all API keys. They are not parameters of operations.
    pub(crate) fn keys(&self) -> Vec<(ParamLocation, String)> {
        self.keys.clone()
    }

    /// Whether the document has no schemes.
    pub(crate) fn is_empty(&self) -> bool {
        self.schemes.is_empty()
    }

    fn scheme(&self, name: &str, scopes: &[String], notes: &mut Vec<Diagnostic>) -> Option<Auth> {
        match self.schemes.get(name) {
            Some(scheme) => scheme.as_ref().map(|scheme| self.expand(scheme, scopes)),
            None => {
                let message = format!("The security scheme '{name}' is not defined");
                if !notes.iter().any(|note| note.message == message) {
                    notes.push(
                        Diagnostic::warning(Code::SchemaUnresolvedRef, "/security", message).found(name),
                    );
                }
                None
            }
        }
    }

    fn expand(&self, scheme: &Scheme, scopes: &[String]) -> Auth {
        let (client, user) = match scheme {
            Scheme::Fixed(auth) => return auth.clone(),
            Scheme::OAuth { client, user } => (client, user),
        };
        let prefix = &self.prefix;
        let mut ways = Vec::new();
        if let Some(token_url) = user {
            ways.push(bearer(prefix));
            ways.extend(token_url.as_ref().map(|token_url| {
                Auth::OAuth2(OAuth2 {
                    token_url: token_url.clone(),
                    client_id_env: format!("{prefix}_CLIENT_ID"),
                    client_secret_env: Some(format!("{prefix}_CLIENT_SECRET")),
                    refresh_token_env: Some(format!("{prefix}_REFRESH_TOKEN")),
                    // The scopes that the token was granted for.
                    scopes: Vec::new(),
                })
            }));
        }
        ways.extend(client.as_ref().map(|token_url| {
            Auth::OAuth2(OAuth2 {
                token_url: token_url.clone(),
                client_id_env: format!("{prefix}_CLIENT_ID"),
                client_secret_env: Some(format!("{prefix}_CLIENT_SECRET")),
                refresh_token_env: None,
                scopes: scopes.to_vec(),
            })
        }));
        any(ways, false)
    }
}

/// The authentication for each `security` text, because many operations have the same.
#[derive(Debug, Default)]
pub(crate) struct AuthCache {
    known: HashMap<String, Auth>,
}

impl AuthCache {
    pub(crate) fn auth(&mut self, security: &Security, text: &str, notes: &mut Vec<Diagnostic>) -> Auth {
        if let Some(auth) = self.known.get(text) {
            return auth.clone();
        }
        let auth = security.auth(text, notes);
        self.known.insert(text.to_owned(), auth.clone());
        auth
    }

    /// Returns the authentication of the adapter, and that of operations without `security` if it differs.
    pub(crate) fn common<'t, I: Iterator<Item = Option<&'t str>>>(
        &mut self,
        security: &Security,
        document: Option<&str>,
        operations: impl Fn() -> I,
        notes: &mut Vec<Diagnostic>,
    ) -> (Auth, Option<Auth>) {
        if let Some(text) = document.filter(|text| text.starts_with(['[', '{'])) {
            return (self.auth(security, text, notes), None);
        }
        let mut counts: IndexMap<&str, usize> = IndexMap::new();
        for text in operations().flatten() {
            *counts.entry(text).or_default() += 1;
        }
        let mut best: Option<(Auth, usize)> = None;
        for (text, count) in &counts {
            let auth = self.auth(security, text, notes);
            if auth != Auth::None && best.as_ref().is_none_or(|(_, most)| count > most) {
                best = Some((auth, *count));
            }
        }
        let undeclared = operations().any(|text| text.is_none()).then_some(Auth::None);
        match best {
            Some((auth, _)) => (auth, undeclared),
            None if counts.is_empty() => {
                notes.push(no_requirements(security));
                (security.any_scheme(), None)
            }
            None => (Auth::None, None),
        }
    }
}

/// The warning for a document that requires no credentials, which is more often an omission than correct.
fn no_requirements(security: &Security) -> Diagnostic {
    let message = if security.is_empty() {
        "The description defines no security schemes"
    } else {
        "The document defines security schemes but never requires one"
    };
    Diagnostic::warning(Code::SchemaMissingField, "/security", message)
        .suggest(format!("set {}_TOKEN or a similar variable to send a credential", security.prefix))
}

fn parse(text: &str) -> Requirements {
    let scopes =
        |text: &str| scan::items(text).into_iter().filter_map(scan::string).map(Into::into).collect();
    let one = |text: &str| {
        scan::members(text).into_iter().map(|(name, value)| (name.into_owned(), scopes(value))).collect()
    };
    // Some documents write a single requirement without a list.
    if text.starts_with('{') {
        return vec![one(text)];
    }
    scan::items(text).into_iter().filter(|item| item.starts_with('{')).map(one).collect()
}

fn all(mut together: Vec<Auth>) -> Auth {
    if together.len() > 1 {
        return Auth::All(together);
    }
    together.pop().unwrap_or_default()
}

fn any(alternatives: Vec<Auth>, optional: bool) -> Auth {
    let mut ways: Vec<Auth> = Vec::with_capacity(alternatives.len() + 1);
    for way in alternatives {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    if optional && !ways.is_empty() {
        ways.push(Auth::None);
    }
    if ways.len() > 1 { Auth::Any(ways) } else { ways.pop().unwrap_or_default() }
}

fn bearer(prefix: &str) -> Auth {
    Auth::Bearer {
        token_env: format!("{prefix}_TOKEN"),
        header: "Authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default().trim()
}

/// Returns location and name of an API key.
fn key_of(scheme: &Value) -> Option<(&str, &str)> {
    (text(scheme, "type") == "apiKey").then(|| (text(scheme, "in"), text(scheme, "name")))
}

fn location_of(word: &str) -> ParamLocation {
    match word {
        "query" => ParamLocation::Query,
        "cookie" => ParamLocation::Cookie,
        _ => ParamLocation::Header,
    }
}

fn scheme(id: &str, value: &Value, prefix: &str, many: bool, url: Option<&str>) -> Option<Scheme> {
    let fixed = match text(value, "type").to_ascii_lowercase().as_str() {
        "apikey" => api_key(id, value, prefix, many)?,
        "basic" => basic(prefix),
        "http" => match text(value, "scheme").to_ascii_lowercase().as_str() {
            "basic" => basic(prefix),
            "bearer" | "" => bearer(prefix),
            // These need a challenge and a response, not a fixed credential.
            "digest" | "hoba" | "mutual" | "negotiate" | "scram-sha-1" | "scram-sha-256" | "vapid" => {
                return None;
            }
            scheme if !header::is_name(scheme) => return None,
            _ => Auth::ApiKey {
                key_env: format!("{prefix}_API_KEY"),
                location: KeyLocation::Header("Authorization".to_owned()),
                prefix: format!("{} ", text(value, "scheme")),
            },
        },
        "oauth2" => return Some(oauth(value, url)),
        "openidconnect" => bearer(prefix),
        _ => return None,
    };
    Some(Scheme::Fixed(fixed))
}

fn basic(prefix: &str) -> Auth {
    Auth::Basic { username_env: format!("{prefix}_USERNAME"), password_env: format!("{prefix}_PASSWORD") }
}

fn api_key(id: &str, value: &Value, prefix: &str, many: bool) -> Option<Auth> {
    let (location, name) = (text(value, "in"), text(value, "name"));
    let is_usable = match location {
        "query" => !name.is_empty(),
        "cookie" => header::is_name(name),
        _ => header::is_name(name) && !header::is_framing(name),
    };
    if !is_usable {
        return None;
    }
    let texts = [id, text(value, "description"), text(value, "bearerFormat")];
    let is_bearer = texts.iter().any(|text| text.to_ascii_lowercase().contains("bearer"));
    if location == "header" && name.eq_ignore_ascii_case("authorization") && is_bearer {
        return Some(bearer(prefix));
    }
    let key_env = if many {
        let own = screaming_snake(name);
        format!("{prefix}_{}", own.strip_prefix("X_").unwrap_or(&own))
    } else {
        format!("{prefix}_API_KEY")
    };
    let location = match location {
        "query" => KeyLocation::Query(name.to_owned()),
        "cookie" => KeyLocation::Cookie(name.to_owned()),
        _ => KeyLocation::Header(name.to_owned()),
    };
    Some(Auth::ApiKey { key_env, location, prefix: String::new() })
}

/// Whether an OAuth 2.0 scheme has the flow with client credentials.
fn has_client_flow(scheme: &Value) -> bool {
    scheme.pointer("/flows/clientCredentials").is_some() || text(scheme, "flow") == "application"
}

fn oauth(value: &Value, url: Option<&str>) -> Scheme {
    let token_url = |flow: &Value| {
        let written = Some(text(flow, "tokenUrl")).filter(|url| !url.is_empty() && is_plain(url))?;
        let url = join(url, written)?;
        let is_sent_as_written =
            address_problem(&url).is_none() && !url.contains(['?', '#', ' ', '{', '}', '@']);
        (is_sent_as_written && (url.starts_with("https://") || url.starts_with("http://"))).then_some(url)
    };
    let (mut client, mut user) = (None, None);
    // Swagger 2.0 has one flow, next to the type.
    let swagger = value.get("flow").and_then(Value::as_str).map(|flow| (flow, value));
    let flows = value.get("flows").and_then(Value::as_object);
    for (name, flow) in flows.into_iter().flatten().map(|(name, flow)| (name.as_str(), flow)).chain(swagger) {
        match (name, token_url(flow)) {
            ("clientCredentials" | "application", url) => client = url.or(client),
            (_, url) => user = Some(user.flatten().or(url)),
        }
    }
    if client.is_none() && user.is_none() {
        // No flow can be used, so the operator brings a token.
        user = Some(None);
    }
    Scheme::OAuth { client, user }
}
