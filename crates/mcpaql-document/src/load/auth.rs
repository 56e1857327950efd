//! Reads `auth`: how calls are authenticated. It contains names of environment variables, never credentials.

use super::address::{self, is_variable};
use super::target::parse_word;
use super::{secrets, texts, wire};
use mcpaql_core::adapter::{Auth, KeyLocation, OAuth2};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::header;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child};
use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value};

pub(super) const AUTH_KEYS: &[&str] = &[
    "type",
    "config",
    "token_env",
    "key_env",
    "username_env",
    "password_env",
    "header",
    "header_name",
    "query",
    "query_name",
    "cookie",
    "cookie_name",
    "prefix",
    "token_url",
    "client_id_env",
    "client_secret_env",
    "refresh_token_env",
    "scopes",
    "schemes",
];

/// The values of `type`.
pub(super) const AUTH_KINDS: &[&str] = &["none", "bearer", "api_key", "basic", "oauth2", "all", "any"];

/// Reads `auth` of a document or an operation. `allow_http` is the setting of the target.
pub(crate) fn read(reader: &mut DocumentReader, parent: &DocumentObject<'_>, allow_http: bool) -> Auth {
    match reader.member(parent, "auth") {
        Some(object) => scheme(reader, &object, allow_http),
        None => Auth::None,
    }
}

/// Reads `auth` of a document. The specification allows a token or key without the name of its variable; then the name
/// comes from that of the adapter, and a warning says which one.
pub(super) fn read_of_adapter(
    reader: &mut DocumentReader,
    parent: &DocumentObject<'_>,
    allow_http: bool,
    adapter: Option<&str>,
) -> Auth {
    let Some(object) = reader.member(parent, "auth") else { return Auth::None };
    let mut map = object.map.clone();
    if let Some((key, variable)) = adapter.and_then(|adapter| default_variable(&object, adapter)) {
        reader.push(
            Diagnostic::warning(
                Code::SchemaMissingField,
                object.pointer.clone(),
                format!("`{key}` is missing: the credential is read from the variable {variable}"),
            )
            .suggest(format!("write `{key}: {variable}`, or the name of another variable")),
        );
        map.insert(key.to_owned(), variable.into());
    }
    scheme(reader, &DocumentObject { map: &map, pointer: object.pointer.clone() }, allow_http)
}

/// Returns the missing key for the variable of a credential, and a name for the variable.
fn default_variable(object: &DocumentObject<'_>, adapter: &str) -> Option<(&'static str, String)> {
    let setting = |key: &str| object.get(key).or_else(|| object.get("config")?.get(key));
    let (key, suffix) = match setting("type")?.as_str()? {
        "bearer" => ("token_env", "TOKEN"),
        "api_key" => ("key_env", "API_KEY"),
        _ => return None,
    };
    let name = format!("{}_{suffix}", snake_case(adapter).to_uppercase());
    (setting(key).is_none() && is_variable(&name)).then_some((key, name))
}

fn scheme(reader: &mut DocumentReader, object: &DocumentObject<'_>, allow_http: bool) -> Auth {
    // The generator form has the same keys under `config`.
    let mut flat: Map<String, Value> = object.map.clone();
    if let Some(config) = reader.member(object, "config") {
        report_credentials(reader, &config);
        reader.check_keys(&config, AUTH_KEYS);
        flat.extend(config.map.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    report_credentials(reader, object);
    let known: Vec<&str> = AUTH_KEYS
        .iter()
        .copied()
        .chain(object.map.keys().map(String::as_str).filter(|key| secrets::env_key(key).is_some()))
        .collect();
    reader.check_keys(object, &known);
    let settings = DocumentObject { map: &flat, pointer: object.pointer.clone() };
    if settings.get("type").is_none() {
        reader.missing(&settings, "type", &AUTH_KINDS.join(", "));
        return Auth::None;
    }
    let kind = reader.choice(&settings, "type", AUTH_KINDS, parse_word(AUTH_KINDS));
    match kind {
        Some("bearer") => Auth::Bearer {
            token_env: variable(reader, &settings, "token_env").unwrap_or_default(),
            header: header_name(reader, &settings).unwrap_or_else(|| "Authorization".into()),
            prefix: texts::credential_prefix(reader, &settings).unwrap_or_else(|| "Bearer ".into()),
        },
        Some("api_key") => {
            let header = header_name(reader, &settings);
            let query = query_name(reader, &settings);
            let cookie = reader.string(&settings, either(&settings, "cookie_name", "cookie"));
            Auth::ApiKey {
                key_env: variable(reader, &settings, "key_env").unwrap_or_default(),
                location: key_location(reader, &settings, header, query, cookie),
                prefix: texts::credential_prefix(reader, &settings).unwrap_or_default(),
            }
        }
        Some("basic") => Auth::Basic {
            username_env: variable(reader, &settings, "username_env").unwrap_or_default(),
            password_env: variable(reader, &settings, "password_env").unwrap_or_default(),
        },
        Some("oauth2") => oauth2(reader, &settings, allow_http),
        Some("all") => Auth::All(combined_schemes(reader, &settings, allow_http)),
        Some("any") => Auth::Any(schemes(reader, &settings, allow_http)),
        _ => Auth::None,
    }
}

/// Reads the name of the header for a credential, if the document sets one.
fn header_name(reader: &mut DocumentReader, settings: &DocumentObject<'_>) -> Option<String> {
    let key = either(settings, "header_name", "header");
    let name = reader.string(settings, key)?;
    let pointer = settings.pointer_to(key);
    if wire::check_token(reader, &name, "header", "X-API-Key", &pointer) && header::is_framing(&name) {
        let message =
            format!("The header '{name}' belongs to the connection and cannot contain a credential");
        reader.push(
            Diagnostic::error(Code::SchemaInvalidValue, pointer, message)
                .found(name.as_str())
                .suggest("name the header that the API reads, such as `Authorization` or `X-API-Key`"),
        );
    }
    Some(name)
}

/// Reads the name of the query parameter for a key, if the document sets one.
fn query_name(reader: &mut DocumentReader, settings: &DocumentObject<'_>) -> Option<String> {
    let key = either(settings, "query_name", "query");
    let name = reader.string(settings, key)?;
    if name.is_empty() {
        let message = "The name of the query parameter is empty";
        reader.push(
            Diagnostic::error(Code::SchemaInvalidName, settings.pointer_to(key), message)
                .expected("the name of a parameter, such as api_key"),
        );
    }
    Some(name)
}

/// Returns the key that the document uses: the long one, or else the short one.
fn either<'k>(settings: &DocumentObject<'_>, long: &'k str, short: &'k str) -> &'k str {
    if settings.get(long).is_some() { long } else { short }
}

/// The location of an API key. If several are given, the header wins, then the query.
fn key_location(
    reader: &mut DocumentReader,
    settings: &DocumentObject<'_>,
    header: Option<String>,
    query: Option<String>,
    cookie: Option<String>,
) -> KeyLocation {
    match (header, query, cookie) {
        (None, Some(query), _) => KeyLocation::Query(query),
        (None, None, Some(cookie)) => {
            let pointer = settings.pointer_to(either(settings, "cookie_name", "cookie"));
            wire::check_token(reader, &cookie, "cookie", "session_id", &pointer);
            KeyLocation::Cookie(cookie)
        }
        (header, ..) => KeyLocation::Header(header.unwrap_or_else(|| "X-API-Key".into())),
    }
}

fn oauth2(reader: &mut DocumentReader, settings: &DocumentObject<'_>, allow_http: bool) -> Auth {
    let token_url = reader.required_string(settings, "token_url");
    if let Some(text) = &token_url {
        address::check(reader, settings, "token_url", text, allow_http);
    }
    let client_id_env = variable(reader, settings, "client_id_env").unwrap_or_default();
    let mut optional =
        |key: &str| settings.get(key).is_some().then(|| variable(reader, settings, key)).flatten();
    let (client_secret_env, refresh_token_env) =
        (optional("client_secret_env"), optional("refresh_token_env"));
    if settings.get("client_secret_env").is_none() && settings.get("refresh_token_env").is_none() {
        reader.push(
            Diagnostic::error(
                Code::SchemaMissingField,
                settings.pointer_to("client_secret_env"),
                "OAuth 2.0 needs a client secret, a refresh token, or both",
            )
            .expected("client_secret_env or refresh_token_env")
            .suggest("add `client_secret_env: NAME_OF_A_VARIABLE`"),
        );
    }
    Auth::OAuth2(OAuth2 {
        token_url: token_url.unwrap_or_default(),
        client_id_env,
        client_secret_env,
        refresh_token_env,
        scopes: reader.strings(settings, "scopes"),
    })
}

fn schemes(reader: &mut DocumentReader, settings: &DocumentObject<'_>, allow_http: bool) -> Vec<Auth> {
    if settings.get("schemes").is_none() {
        reader.missing(settings, "schemes", "a list of ways to authenticate");
    }
    let Some(items) = reader.array(settings, "schemes") else { return Vec::new() };
    let pointer = settings.pointer_to("schemes");
    let mut schemes = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(object) = reader.object(item, &child(&pointer, index)) {
            schemes.push(scheme(reader, &object, allow_http));
        }
    }
    if items.is_empty() {
        reader.push(
            Diagnostic::error(Code::SchemaInvalidValue, &pointer, "The list of schemes is empty")
                .expected("at least one way to authenticate")
                .suggest("write `type: none` if the API needs no authentication"),
        );
    }
    schemes
}

/// Reads schemes that are all sent, and warns if two of them write the same header, parameter or cookie.
fn combined_schemes(
    reader: &mut DocumentReader,
    settings: &DocumentObject<'_>,
    allow_http: bool,
) -> Vec<Auth> {
    let schemes = schemes(reader, settings, allow_http);
    let mut seen = Vec::new();
    for (index, auth) in schemes.iter().enumerate() {
        let Some(location) = credential_location(auth) else { continue };
        if seen.contains(&location) {
            reader.push(
                Diagnostic::warning(
                    Code::SchemaInvalidValue,
                    child(&settings.pointer_to("schemes"), index),
                    format!("Two schemes of `type: all` both write the {location}; the last one wins"),
                )
                .suggest("write `type: any` if either scheme is enough"),
            );
        }
        seen.push(location);
    }
    schemes
}

fn credential_location(auth: &Auth) -> Option<String> {
    match auth {
        Auth::Bearer { header, .. } | Auth::ApiKey { location: KeyLocation::Header(header), .. } => {
            Some(format!("header '{}'", header.to_ascii_lowercase()))
        }
        Auth::ApiKey { location: KeyLocation::Query(name), .. } => Some(format!("query parameter '{name}'")),
        Auth::ApiKey { location: KeyLocation::Cookie(name), .. } => Some(format!("cookie '{name}'")),
        Auth::Basic { .. } | Auth::OAuth2(_) => Some("header 'authorization'".to_owned()),
        Auth::None | Auth::All(_) | Auth::Any(_) => None,
    }
}

fn report_credentials(reader: &mut DocumentReader, object: &DocumentObject<'_>) {
    for (key, value) in object.map {
        if let Some(env_key) = secrets::env_key(key)
            && !value.is_null()
        {
            secrets::report_credential(
                reader,
                &object.pointer_to(key),
                &format!("use `{env_key}: NAME_OF_A_VARIABLE` and revoke this credential"),
            );
        }
    }
}

/// Reads the name of an environment variable. Anything else could be the credential itself and is reported as one.
fn variable(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<String> {
    let name = reader.required_string(object, key)?;
    if !is_variable(&name) {
        secrets::report_credential(
            reader,
            &object.pointer_to(key),
            "write the name of the variable, such as `API_TOKEN`",
        );
        return None;
    }
    Some(name)
}
