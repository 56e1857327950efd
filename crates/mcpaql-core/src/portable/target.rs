//! Where calls go and what they carry, as far as it is not an operation's own. Variables are named, never read.

use crate::adapter::{Adapter, Auth, HttpTarget, McpLink, McpTarget, OAuth2, Target};
use serde_json::{Map, Value, json};

/// The target, its alternatives and the credentials of each.
pub(super) fn target(adapter: &Adapter) -> Value {
    let mut out = one(&adapter.target, &adapter.auth);
    if !adapter.targets.is_empty() {
        let alternatives: Map<String, Value> = adapter
            .targets
            .iter()
            .map(|(name, own)| (name.clone(), one(&own.target, &own.auth).into()))
            .collect();
        out.insert("alternatives".into(), alternatives.into());
        out.insert("default".into(), json!(adapter.default_target));
    }
    out.into()
}

fn one(target: &Target, auth: &Auth) -> Map<String, Value> {
    let told = match target {
        Target::Http(http) => self::http(http),
        Target::Store(store) => {
            let resources: Map<String, Value> = store
                .resources
                .iter()
                .map(|(name, resource)| {
                    let told = json!({
                        "description": resource.description,
                        "plural": resource.plural,
                        "fields": resource.fields,
                        "required": resource.required,
                        "search": resource.search,
                    });
                    (name.clone(), told)
                })
                .collect();
            json!({"protocol": "store", "resources": resources})
        }
        Target::Command(command) => json!({
            "protocol": "command",
            "cwd": command.cwd,
            "env": command.env,
            "set_env": command.set_env,
            "timeout_ms": command.timeout_ms,
            "max_output_bytes": command.max_output_bytes,
        }),
        Target::Mcp(server) => self::mcp(server),
        Target::Code(code) => json!({"protocol": "code", "remote": code.remote}),
    };
    let mut out = match told {
        Value::Object(out) => out,
        _ => Map::new(),
    };
    out.insert("auth".into(), self::auth(auth));
    out
}

fn http(http: &HttpTarget) -> Value {
    json!({
        "protocol": "http",
        "base_url": http.base_url,
        "headers": http.headers,
        "serialization": http.serialization.as_str(),
        "allow_http": http.allow_http,
        "connect_timeout_ms": http.connect_timeout_ms,
        "timeout_ms": http.timeout_ms,
        "retries": http.retries,
        "max_response_bytes": http.max_response_bytes,
    })
}

/// Another server: how it is reached, and how long it is waited for.
fn mcp(server: &McpTarget) -> Value {
    let link = match &server.link {
        McpLink::Command(program) => json!({
            "command": program.command,
            "cwd": program.cwd,
            "env": program.env,
            "set_env": program.set_env,
        }),
        McpLink::Url { url, headers, allow_http } => {
            json!({"url": url, "headers": headers, "allow_http": allow_http})
        }
    };
    json!({
        "protocol": "mcp",
        "link": link,
        "caller_headers": server.caller_headers,
        "eager": server.eager,
        "start_timeout_ms": server.start_timeout_ms,
        "timeout_ms": server.timeout_ms,
        "max_response_bytes": server.max_response_bytes,
    })
}

/// How calls are authenticated, by the names of variables.
#[must_use]
pub fn auth(auth: &Auth) -> Value {
    match auth {
        Auth::None => Value::Null,
        Auth::Bearer { token_env, header, prefix } => {
            json!({"type": "bearer", "token_env": token_env, "header": header, "prefix": prefix})
        }
        Auth::ApiKey { key_env, place, prefix } => {
            let (place, name) = place.parts();
            json!({"type": "api_key", "key_env": key_env, "in": place, "name": name, "prefix": prefix})
        }
        Auth::Basic { username_env, password_env } => {
            json!({"type": "basic", "username_env": username_env, "password_env": password_env})
        }
        Auth::OAuth2(oauth) => oauth2(oauth),
        Auth::All(several) => {
            json!({"type": "all", "of": several.iter().map(self::auth).collect::<Vec<_>>()})
        }
        Auth::Any(several) => {
            json!({"type": "any", "of": several.iter().map(self::auth).collect::<Vec<_>>()})
        }
    }
}

fn oauth2(oauth: &OAuth2) -> Value {
    json!({
        "type": "oauth2",
        "token_url": oauth.token_url,
        "client_id_env": oauth.client_id_env,
        "client_secret_env": oauth.client_secret_env,
        "refresh_token_env": oauth.refresh_token_env,
        "scopes": oauth.scopes,
    })
}
