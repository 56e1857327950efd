//! Reads `targets`: several upstreams of one kind. Each has only the settings that differ from `target`.

use super::mcp;
use super::{address, auth, caller_headers, params, texts};
use indexmap::IndexMap;
use mcpaql_core::adapter::{AlternativeTarget, Auth, HttpTarget, McpCommand, McpLink, TargetConfig};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::reader::{DocumentObject, DocumentReader};

/// Keys of one alternative target.
pub(super) const TARGET_KEYS: &[&str] =
    &["description", "auth", "base_url", "url", "headers", "allow_http", "command", "cwd", "env", "set_env"];

/// The suggestion for a credential in `set_env`.
const SET_ENV_SUGGESTION: &str = "write `${env:NAME}` instead";

/// Reads `targets` of a document or of an entry in `mcpaql.yaml`.
pub(crate) fn read(
    reader: &mut DocumentReader,
    parent: &DocumentObject<'_>,
    base: &TargetConfig,
    auth: &Auth,
) -> IndexMap<String, AlternativeTarget> {
    let mut targets = IndexMap::new();
    let Some(members) = reader.member(parent, "targets") else { return targets };
    if matches!(base, TargetConfig::Store(_) | TargetConfig::Code(_)) {
        reader.push(
            Diagnostic::error(
                Code::SchemaUnsupported,
                &members.pointer,
                "A store or code cannot have `targets`",
            )
            .suggest("serve a second document with another name"),
        );
        return targets;
    }
    for (name, value) in members.map {
        let pointer = members.pointer_to(name);
        if !name.split('-').all(params::is_snake_case) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidName,
                    &pointer,
                    format!("Target name '{name}' must be lower case words, joined by '_' or '-'"),
                )
                .at_key()
                .found(name.as_str()),
            );
            continue;
        }
        if let Some(object) = reader.object(value, &pointer) {
            targets.extend(alternative(reader, &object, base, auth).map(|found| (name.clone(), found)));
        }
    }
    targets
}

/// Reads `default_target`, the target of calls that choose none.
pub(crate) fn default(
    reader: &mut DocumentReader,
    parent: &DocumentObject<'_>,
    targets: &IndexMap<String, AlternativeTarget>,
) -> Option<String> {
    let name = reader.string(parent, "default_target")?;
    if targets.contains_key(&name) {
        return Some(name);
    }
    let known: Vec<&str> = targets.keys().map(String::as_str).collect();
    let diagnostic = Diagnostic::error(
        Code::SchemaUnresolvedRef,
        parent.pointer_to("default_target"),
        format!("There is no target '{name}'"),
    )
    .found(name);
    reader.push(if known.is_empty() {
        diagnostic.expected("a name under `targets`")
    } else {
        diagnostic.expected_one_of(&known)
    });
    None
}

fn alternative(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    base: &TargetConfig,
    auth: &Auth,
) -> Option<AlternativeTarget> {
    reader.check_keys(object, TARGET_KEYS);
    let allow_http = reader.boolean(object, "allow_http");
    let target = match base {
        TargetConfig::Http(http) => {
            let http = HttpTarget { allow_http: allow_http.unwrap_or(http.allow_http), ..http.clone() };
            let mut access = http.access.clone();
            let base_url = match reader.string(object, "base_url") {
                Some(text) => address::base_url(reader, object, &text, http.allow_http)?,
                None => http.base_url.clone(),
            };
            if access.is_fetched && base_url != http.base_url {
                // Targets of a fetched description are written in the operator's configuration.
                access.grant_address(&base_url);
            }
            let headers = headers(reader, object, &http.headers);
            TargetConfig::Http(HttpTarget { base_url, headers, access, ..http })
        }
        TargetConfig::Command(command) => {
            let mut command = command.clone();
            command.cwd = texts::working_directory(reader, object).or(command.cwd);
            command.env.extend(texts::variable_names(reader, object));
            command.set_env.extend(texts::variables(reader, object, SET_ENV_SUGGESTION));
            TargetConfig::Command(command)
        }
        TargetConfig::Mcp(server) => {
            let mut server = server.clone();
            let replaced = ["command", "url"].iter().any(|key| object.get(key).is_some());
            match (&mut server.link, replaced) {
                (_, true) => server.link = mcp::link(reader, object)?,
                (McpLink::Command(command), false) => {
                    let set_env = texts::template_variables(reader, object, SET_ENV_SUGGESTION);
                    *command = McpCommand {
                        cwd: texts::working_directory(reader, object).or_else(|| command.cwd.clone()),
                        env: [command.env.clone(), texts::variable_names(reader, object)].concat(),
                        set_env: command.set_env.clone().into_iter().chain(set_env).collect(),
                        command: command.command.clone(),
                    };
                }
                (McpLink::Url { headers: own, .. }, false) => *own = headers(reader, object, own),
            }
            let is_program = matches!(server.link, McpLink::Command(_));
            if is_program && replaced && !server.caller_headers.is_empty() {
                caller_headers::report_program(reader, &object.pointer_to("command"));
            }
            TargetConfig::Mcp(server)
        }
        TargetConfig::Store(_) | TargetConfig::Code(_) => return None,
    };
    let auth = match object.get("auth") {
        Some(_) => auth::read(reader, object, allow_http.unwrap_or_else(|| super::allows_http(Some(base)))),
        None => auth.clone(),
    };
    let description = reader.string(object, "description").unwrap_or_default();
    Some(AlternativeTarget { description, target, auth })
}

fn headers(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    base: &IndexMap<String, String>,
) -> IndexMap<String, String> {
    base.clone().into_iter().chain(texts::headers(reader, object)).collect()
}
