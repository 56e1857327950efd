//! Writes the `adapters` of `mcpaql.yaml`.

use super::operation::MembersBuilder;
use super::target::{auth, mcp_members};
use super::yaml::{self, YamlValue};
use mcpaql_document::config::{AdapterEntry, AdapterOrigin};

/// Returns a configuration with these adapters, without settings.
pub(super) fn write(entries: &[AdapterEntry]) -> String {
    let mut out = String::from("adapters:\n");
    for entry in entries {
        let mut lines = MembersBuilder::default();
        lines.put_some("name", entry.name.as_deref());
        match &entry.origin {
            AdapterOrigin::Document(path) => lines.put("document", path.as_str()),
            AdapterOrigin::Builtin(name) => lines.put("builtin", name.as_str()),
            AdapterOrigin::Openapi(source) => lines.put("openapi", source.as_str()),
            AdapterOrigin::Mcp(target) => lines.put("mcp", YamlValue::Tall(mcp_members(target))),
        }
        if let Some(own) = &entry.auth {
            lines.put("auth", auth(own));
        }
        lines.put_texts("include", &entry.include);
        lines.put_texts("exclude", &entry.exclude);
        lines.put_some("overrides", entry.overrides.as_deref());
        let mut node = YamlValue::Tall(lines.0);
        super::mask("", &mut node);
        yaml::item(&mut out, &node, 2);
    }
    out
}

#[cfg(test)]
mod tests {
    use mcpaql_document::config;
    use mcpaql_document::source::Source;
    use serde_json::json;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let written = json!({"adapters": [
            {"name": "files", "include": ["op:read_*"], "exclude": ["op:read_all"], "mcp": {
                "command": ["npx", "-y", "a: b", "#c", "${env:X}"], "cwd": "/srv", "env": ["LANG"],
                "set_env": {"A": "1", "B_TOKEN": "${env:B_TOKEN}", "C": "true"}, "timeout": 1.5}},
            {"name": "remote", "mcp": {"url": "https://example.com/mcp", "headers": {"X-A": "b"},
                "caller_headers": ["X-Token", "X-Team"]}},
            {"name": "plain", "mcp": {"url": "http://10.0.0.1/mcp", "allow_http": true}},
            {"document": "a-adapter.md", "auth": {"type": "bearer", "token_env": "A_TOKEN"}},
            {"builtin": "notebook"},
            {"name": "shop", "openapi": "shop.json", "overrides": "fix.yaml"},
        ]});
        let (expected, problems) = config::load(&written);
        assert_eq!(problems, []);
        let text = super::write(&expected.adapters);
        let parsed = Source::new("mcpaql.yaml", text.as_str()).parse().unwrap();
        let (read, problems) = config::load(&parsed.value);
        assert_eq!((read, problems), (expected, vec![]), "{text}");
    }
}
