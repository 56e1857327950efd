//! Codex's configuration: its servers have keys of their own, which are converted to those of other clients.

use serde_json::{Map, Value};
use std::time::Duration;

/// Keys that only concern Codex.
const CLIENT_KEYS: &[&str] = &[
    "default_tools_approval_mode",
    "required",
    "startup_timeout_ms",
    "startup_timeout_sec",
    "supports_parallel_tool_calls",
    "tools",
];

/// Converts the servers of a configuration. Values of Codex are literal, and variables have keys of their own.
pub(crate) fn with_common_keys(mut configuration: Value) -> Value {
    let servers = configuration.get_mut("mcp_servers").and_then(Value::as_object_mut);
    for server in servers.into_iter().flat_map(Map::values_mut) {
        if let Value::Object(entry) = server {
            *server = Value::Object(common_entry(entry));
        }
    }
    configuration
}

fn common_entry(entry: &Map<String, Value>) -> Map<String, Value> {
    let (mut common, mut env, mut headers) = (Map::new(), Map::new(), Map::new());
    let reference = |name: &str| format!("${{{name}}}");
    let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
    for (key, value) in entry.iter().filter(|(key, _)| !CLIENT_KEYS.contains(&key.as_str())) {
        match key.as_str() {
            "env_vars" => {
                let names = value.as_array().into_iter().flatten();
                let names = names.filter_map(|name| name.as_str().or_else(|| name.get("name")?.as_str()));
                for name in names.filter(|name| entry.get("env").is_none_or(|own| own.get(name).is_none())) {
                    env.insert(name.to_owned(), reference(name).into());
                }
            }
            "env" => env.extend(object(value)),
            "http_headers" => headers.extend(object(value)),
            "env_http_headers" => headers.extend(object(value).into_iter().filter_map(|(header, name)| {
                let value = reference(name.as_str()?);
                Some((header, value.into()))
            })),
            "bearer_token_env_var" => headers.extend(value.as_str().map(|name| {
                let value = format!("Bearer {}", reference(name));
                ("Authorization".to_owned(), value.into())
            })),
            "enabled_tools" => drop(common.insert("includeTools".into(), value.clone())),
            "disabled_tools" => drop(common.insert("excludeTools".into(), value.clone())),
            "tool_timeout_sec" => {
                let timeout = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let milliseconds = timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok());
                common.extend(milliseconds.map(|number| ("timeout".to_owned(), number.into())));
            }
            _ => drop(common.insert(key.clone(), value.clone())),
        }
    }
    for (key, values) in [("env", env), ("headers", headers)] {
        if !values.is_empty() {
            common.insert(key.to_owned(), Value::Object(values));
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_of_codex_become_those_of_other_clients() {
        let converted = with_common_keys(json!({"model": "x", "mcp_servers": {
            "a": {"command": "x", "env_vars": ["A", {"name": "B", "source": "local"}], "env": {"A": "1"}, "startup_timeout_sec": 20,
                "enabled_tools": ["t"], "tool_timeout_sec": 1.5},
            "b": {"url": "https://x/mcp", "bearer_token_env_var": "T", "http_headers": {"X": "1"}, "env_http_headers": {"Y": "V"}},
            "c": 1,
        }}));
        let expected = json!({"model": "x", "mcp_servers": {
            "a": {"command": "x", "env": {"A": "1", "B": "${B}"}, "includeTools": ["t"], "timeout": 1500},
            "b": {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${T}", "X": "1", "Y": "${V}"}},
            "c": 1,
        }});
        assert_eq!(converted, expected);
    }
}
