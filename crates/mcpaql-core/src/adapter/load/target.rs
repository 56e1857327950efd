//! `target` and `auth`: where calls go and who they say they are.

use super::binding::{BODIES, parse_body};
use super::dialect;
use super::operation::title_of;
use super::{params, secrets};
use crate::adapter::{Auth, CommandTarget, HttpTarget, KeyPlace, Resource, StoreTarget, Target};
use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::operation::BodyForm;
use crate::reader::{Object, Reader, child};
use indexmap::IndexMap;
use serde_json::{Map, Value};

pub(super) const HTTP_KEYS: &[&str] = &[
    "transport",
    "protocol",
    "serialization",
    "base_url",
    "headers",
    "allow_http",
    "connect_timeout",
    "timeout",
    "retries",
    "max_response_bytes",
    "name",
    "version",
];
pub(super) const STORE_KEYS: &[&str] = &["transport", "protocol", "serialization", "resources"];
pub(super) const RESOURCE_KEYS: &[&str] =
    &["description", "plural", "fields", "properties", "required", "search"];
pub(super) const COMMAND_KEYS: &[&str] =
    &["transport", "protocol", "serialization", "cwd", "env", "set_env", "timeout", "max_output_bytes"];

pub(super) const TRANSPORTS: &[&str] = &["http", "native"];
pub(super) const PROTOCOLS: &[&str] = &["rest", "store", "command"];

/// Reads `target`, or `target_api` of the generator form.
pub(super) fn read(reader: &mut Reader, parent: &Object<'_>, key: &str, types: &[String]) -> Option<Target> {
    if parent.get(key).is_none() {
        reader.missing(parent, key, "where the API is: base_url, transport, protocol, serialization");
        return None;
    }
    let target = reader.member(parent, key)?;
    let transport = reader.choice(&target, "transport", TRANSPORTS, word(TRANSPORTS));
    let protocol = reader.choice(&target, "protocol", PROTOCOLS, word(PROTOCOLS));
    match (transport.unwrap_or("http"), protocol.unwrap_or("rest")) {
        ("native", "store") => store(reader, &target, types),
        ("native", "command") => Some(command(reader, &target)),
        ("http", "rest") => http(reader, &target),
        (transport, protocol) => {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    target.at("protocol"),
                    format!("Transport '{transport}' does not speak '{protocol}'"),
                )
                .expected("http with rest, or native with store or command")
                .found(format!("{transport} with {protocol}")),
            );
            None
        }
    }
}

fn word<'w>(words: &'w [&'static str]) -> impl Fn(&str) -> Option<&'static str> + 'w {
    move |text| words.iter().copied().find(|word| *word == text)
}

fn http(reader: &mut Reader, target: &Object<'_>) -> Option<Target> {
    reader.known(target, HTTP_KEYS);
    let serialization = reader.choice(target, "serialization", BODIES, parse_body).unwrap_or(BodyForm::Json);
    let base_url = reader.required_string(target, "base_url");
    let allow_http = reader.boolean(target, "allow_http").unwrap_or(false);
    let base_url = base_url.and_then(|text| base_url_of(reader, target, &text, allow_http));
    let headers = text_map(reader, target, "headers");
    report_plain(reader, &target.at("headers"), &headers, "write `${env:NAME}` instead, or use `auth`");
    Some(Target::Http(HttpTarget {
        allow_http,
        serialization,
        ..http_target(reader, target, base_url?, headers)
    }))
}

fn http_target(
    reader: &mut Reader,
    target: &Object<'_>,
    base_url: String,
    headers: IndexMap<String, String>,
) -> HttpTarget {
    HttpTarget {
        base_url,
        headers,
        allow_http: false,
        serialization: BodyForm::Json,
        connect_timeout_ms: reader.seconds(target, "connect_timeout").unwrap_or(10_000),
        timeout_ms: reader.seconds(target, "timeout").unwrap_or(60_000),
        retries: reader
            .unsigned(target, "retries")
            .map_or(2, |count| u32::try_from(count.min(10)).unwrap_or(10)),
        max_response_bytes: reader.unsigned(target, "max_response_bytes").unwrap_or(10 << 20),
    }
}

/// Values that only a variable may hold.
fn report_plain(reader: &mut Reader, pointer: &str, values: &IndexMap<String, String>, suggestion: &str) {
    for (name, value) in values {
        if secrets::is_credential_name(name) && !value.contains("${env:") {
            secrets::report(reader, &child(pointer, name), suggestion);
        }
    }
}

/// A target of the kind that the document probably means, so that its operations can be checked.
pub(super) fn stand_in(document: &Object<'_>) -> Target {
    let written = document
        .get("target")
        .or_else(|| document.get("adapter").and_then(|adapter| adapter.get("target_api")));
    let nothing = Map::new();
    let empty = Object { map: &nothing, pointer: String::new() };
    match written.and_then(|target| target.get("protocol")).and_then(Value::as_str) {
        Some("command") => command(&mut Reader::default(), &empty),
        Some("store") => Target::Store(StoreTarget { resources: IndexMap::new() }),
        _ => Target::Http(http_target(&mut Reader::default(), &empty, String::new(), IndexMap::new())),
    }
}

fn base_url_of(reader: &mut Reader, target: &Object<'_>, text: &str, allow_http: bool) -> Option<String> {
    let pointer = target.at("base_url");
    let problem = |reader: &mut Reader, message: &str, suggestion: &str| {
        reader.push(
            Diagnostic::error(Code::SchemaInvalidValue, &pointer, message)
                .expected("https://host/optional/path")
                .suggest(suggestion),
        );
    };
    let trimmed = text.trim_end_matches('/');
    let Some((scheme, rest)) = trimmed.split_once("://") else {
        problem(reader, "base_url is not a URL", "begin with https://");
        return None;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() || rest.contains(['?', '#', ' ', '{', '}']) {
        problem(
            reader,
            "base_url must be a scheme, a host and an optional path",
            "leave out query, fragment and placeholders",
        );
        return None;
    }
    if authority.contains('@') {
        secrets::report(reader, &pointer, "remove the user and password and use `auth: { type: basic, … }`");
        return None;
    }
    match scheme {
        "https" => {}
        "http" if allow_http || is_loopback(authority) => {}
        "http" => {
            problem(
                reader,
                "Plain http:// is only for this machine",
                "use https://, or say `allow_http: true` if you must",
            );
            return None;
        }
        _ => {
            problem(reader, "base_url must be https:// (http:// for this machine)", "begin with https://");
            return None;
        }
    }
    if trimmed.len() != text.len() {
        reader.push(
            Diagnostic::warning(Code::SchemaInvalidValue, &pointer, "base_url ends with a slash")
                .suggest(format!("write `{trimmed}`")),
        );
    }
    Some(trimmed.to_owned())
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn text_map(reader: &mut Reader, object: &Object<'_>, key: &str) -> IndexMap<String, String> {
    let mut out = IndexMap::new();
    if let Some(map) = reader.member(object, key) {
        for name in map.map.keys() {
            if let Some(text) = reader.string(&map, name) {
                out.insert(name.clone(), text);
            }
        }
    }
    out
}

fn store(reader: &mut Reader, target: &Object<'_>, types: &[String]) -> Option<Target> {
    reader.known(target, STORE_KEYS);
    let Some(map) = reader.member(target, "resources") else {
        reader.missing(target, "resources", "resource types, each with its fields");
        return None;
    };
    let mut resources = IndexMap::new();
    for (name, value) in map.map {
        let pointer = map.at(name);
        if !params::is_snake_case(name) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidName,
                    &pointer,
                    format!("Resource name '{name}' must be snake_case"),
                )
                .at_key()
                .found(name.as_str()),
            );
            continue;
        }
        if let Some(object) = reader.object(value, &pointer) {
            resources.insert(name.clone(), resource(reader, name, &object, types));
        }
    }
    Some(Target::Store(StoreTarget { resources }))
}

/// Fields every record has; a resource cannot declare them.
const RECORD_FIELDS: &[&str] =
    &["id", "created_at", "updated_at", "_etag", "input", "if_match", "first", "after", "query"];

fn resource(reader: &mut Reader, name: &str, object: &Object<'_>, types: &[String]) -> Resource {
    reader.known(object, RESOURCE_KEYS);
    let key = if object.get("fields").is_some() { "fields" } else { "properties" };
    let mut fields = IndexMap::new();
    let mut required = reader.strings(object, "required");
    match reader.member(object, key) {
        Some(map) => {
            for (field, value) in map.map {
                let pointer = map.at(field);
                if !params::is_snake_case(field) || RECORD_FIELDS.contains(&field.as_str()) {
                    reader.push(
                        Diagnostic::error(
                            Code::SchemaInvalidName,
                            &pointer,
                            format!(
                                "Field name '{field}' must be snake_case and not one the store uses itself"
                            ),
                        )
                        .at_key()
                        .found(field.as_str()),
                    );
                    continue;
                }
                if matches!(value.get("required"), Some(Value::Bool(true))) {
                    required.push(field.clone());
                }
                fields.insert(field.clone(), dialect::schema(reader, value, &pointer, types));
            }
        }
        None => reader.missing(object, "fields", "the fields of a record"),
    }
    for (index, field) in required.iter().enumerate() {
        if !fields.contains_key(field) {
            let pointer = child(&object.at("required"), index);
            reader.push(Diagnostic::error(
                Code::SchemaUnresolvedRef,
                pointer,
                format!("Required field '{field}' is not declared"),
            ));
        }
    }
    required.retain(|field| fields.contains_key(field));
    let search = search_fields(reader, object, &fields);
    Resource {
        description: reader
            .string(object, "description")
            .unwrap_or_else(|| format!("A {}", title_of(name).to_lowercase())),
        plural: reader.string(object, "plural").unwrap_or_else(|| plural_of(name)),
        fields,
        required,
        search,
    }
}

fn search_fields(reader: &mut Reader, object: &Object<'_>, fields: &IndexMap<String, Value>) -> Vec<String> {
    let declared = reader.strings(object, "search");
    for field in declared.iter().filter(|field| !fields.contains_key(*field)) {
        reader.push(
            Diagnostic::error(
                Code::SchemaUnresolvedRef,
                object.at("search"),
                format!("Search field '{field}' is not declared"),
            )
            .found(field.as_str()),
        );
    }
    declared.into_iter().filter(|field| fields.contains_key(field)).collect()
}

fn plural_of(name: &str) -> String {
    match name {
        _ if name.ends_with("ss") || name.ends_with('x') || name.ends_with("ch") || name.ends_with("sh") => {
            format!("{name}es")
        }
        _ if name.ends_with('y') && !["ay", "ey", "oy", "uy"].iter().any(|end| name.ends_with(end)) => {
            format!("{}ies", name.strip_suffix('y').unwrap_or(name))
        }
        _ if name.ends_with('s') => name.to_owned(),
        _ => format!("{name}s"),
    }
}

fn command(reader: &mut Reader, target: &Object<'_>) -> Target {
    reader.known(target, COMMAND_KEYS);
    let set_env = text_map(reader, target, "set_env");
    report_plain(reader, &target.at("set_env"), &set_env, "list the variable under `env` instead");
    Target::Command(CommandTarget {
        cwd: reader.string(target, "cwd"),
        env: reader.strings(target, "env"),
        set_env,
        timeout_ms: reader.seconds(target, "timeout").unwrap_or(30_000),
        max_output_bytes: reader.unsigned(target, "max_output_bytes").unwrap_or(1 << 20),
    })
}

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
    "prefix",
];

/// The ways to authenticate.
pub(super) const AUTH_KINDS: &[&str] = &["none", "bearer", "api_key", "basic"];

/// Reads `auth`; names of environment variables only.
pub(super) fn auth(reader: &mut Reader, parent: &Object<'_>) -> Auth {
    let Some(object) = reader.member(parent, "auth") else { return Auth::None };
    // The generator form keeps the same keys in `config`.
    let mut flat: Map<String, Value> = object.map.clone();
    if let Some(config) = reader.member(&object, "config") {
        report_credentials(reader, &config);
        reader.known(&config, AUTH_KEYS);
        flat.extend(config.map.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    report_credentials(reader, &object);
    let known: Vec<&str> = AUTH_KEYS
        .iter()
        .copied()
        .chain(object.map.keys().map(String::as_str).filter(|key| secrets::env_twin(key).is_some()))
        .collect();
    reader.known(&object, &known);
    let settings = Object { map: &flat, pointer: object.pointer.clone() };
    if reader.string(&settings, "type").as_deref() == Some("oauth2") {
        reader.push(
            Diagnostic::error(Code::SchemaUnsupported, settings.at("type"), "OAuth 2.0 is not supported yet")
                .expected(AUTH_KINDS.join(", "))
                .suggest("get a token yourself and use `type: bearer` with `token_env`"),
        );
        return Auth::None;
    }
    if settings.get("type").is_none() {
        reader.missing(&settings, "type", "none, bearer, api_key or basic");
        return Auth::None;
    }
    let header = reader.string(&settings, "header_name").or_else(|| reader.string(&settings, "header"));
    let prefix = reader.string(&settings, "prefix");
    match reader.choice(&settings, "type", AUTH_KINDS, word(AUTH_KINDS)) {
        Some("bearer") => Auth::Bearer {
            token_env: variable(reader, &settings, "token_env").unwrap_or_default(),
            header: header.unwrap_or_else(|| "Authorization".into()),
            prefix: prefix.unwrap_or_else(|| "Bearer ".into()),
        },
        Some("api_key") => {
            let query = reader.string(&settings, "query_name").or_else(|| reader.string(&settings, "query"));
            Auth::ApiKey {
                key_env: variable(reader, &settings, "key_env").unwrap_or_default(),
                place: match (header, query) {
                    (None, Some(query)) => KeyPlace::Query(query),
                    (header, _) => KeyPlace::Header(header.unwrap_or_else(|| "X-API-Key".into())),
                },
                prefix: prefix.unwrap_or_default(),
            }
        }
        Some("basic") => Auth::Basic {
            username_env: variable(reader, &settings, "username_env").unwrap_or_default(),
            password_env: variable(reader, &settings, "password_env").unwrap_or_default(),
        },
        _ => Auth::None,
    }
}

fn report_credentials(reader: &mut Reader, object: &Object<'_>) {
    for (key, value) in object.map {
        if let Some(twin) = secrets::env_twin(key)
            && !value.is_null()
        {
            secrets::report(
                reader,
                &object.at(key),
                &format!("use `{twin}: NAME_OF_A_VARIABLE` and revoke this credential"),
            );
        }
    }
}

/// The name of an environment variable; anything else might be the credential itself.
fn variable(reader: &mut Reader, object: &Object<'_>, key: &str) -> Option<String> {
    let name = reader.required_string(object, key)?;
    let legal = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !legal {
        secrets::report(reader, &object.at(key), "write the variable's name, such as `API_TOKEN`");
        return None;
    }
    Some(name)
}
