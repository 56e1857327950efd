//! What a content can do, in a few lines, and how it differs from another one. For the person who decides about a grant.

use crate::output::sanitize_line;
use mcpaql_core::gate::fingerprint::diff;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of lines of each kind.
const MAX_LINES: usize = 20;
/// Maximum characters of a value in a line.
const MAX_VALUE: usize = 100;

/// What a content can do. Every text comes from the content.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustSummary {
    runs: BTreeSet<String>,
    connects: BTreeSet<String>,
    variables: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl TrustSummary {
    pub(crate) fn of(content: &Value) -> TrustSummary {
        let mut summary = TrustSummary::default();
        summary.add("", content);
        summary
    }

    fn add(&mut self, key: &str, value: &Value) {
        match (key, value) {
            ("command", Value::Array(words)) if words.iter().any(Value::is_string) => {
                let words: Vec<String> = words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).collect();
                words.iter().for_each(|word| self.add_variables(word));
                self.runs.insert(words.join(" "));
            }
            ("env", Value::Array(names)) => {
                self.variables.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            ("files" | "programs", Value::Object(files)) => {
                self.files.extend(files.keys().cloned());
                files.values().for_each(|file| self.add("", file));
            }
            (_, Value::Object(members)) => members.iter().for_each(|(key, value)| self.add(key, value)),
            (_, Value::Array(items)) => items.iter().for_each(|item| self.add(key, item)),
            (_, Value::String(text)) => self.add_text(key, text),
            _ => {}
        }
    }

    fn add_text(&mut self, key: &str, text: &str) {
        self.add_variables(text);
        if key.ends_with("_env") {
            self.variables.insert(text.to_owned());
        } else if ["base_url", "url", "token_url", "openapi"].contains(&key) && text.contains("://") {
            self.connects.insert(text.to_owned());
        } else if key == "command" {
            self.runs.insert(text.to_owned());
        } else if key == "data" {
            self.files.insert(text.to_owned());
        }
    }

    /// Adds the names in `${env:NAME}` and `${env:NAME:-default}`.
    fn add_variables(&mut self, text: &str) {
        for rest in text.split("${env:").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            self.variables.insert(name);
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let rows = [("runs", &self.runs), ("connects to", &self.connects), ("reads variables", &self.variables), ("uses files", &self.files)];
        let mut lines = Vec::new();
        for (what, items) in rows {
            for item in items.iter().take(MAX_LINES) {
                lines.push(format!("  {what:<16}{}", shortened(item)));
            }
            if items.len() > MAX_LINES {
                lines.push(format!("  {what:<16}… and {} more", items.len() - MAX_LINES));
            }
        }
        if lines.is_empty() {
            lines.push("  runs nothing, connects to nothing and reads nothing by itself".to_owned());
        }
        lines
    }

    pub(crate) fn to_json(&self) -> Value {
        serde_json::json!({
            "runs": self.runs, "connects_to": self.connects, "variables": self.variables, "files": self.files,
        })
    }
}

/// Returns the differences of two contents, one per line.
pub(crate) fn changes(old: &Value, new: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for change in diff(old, new) {
        let path = sanitize_line(&change.path);
        lines.push(match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("~ {path}: {} → {}", shown(before), shown(after)),
            (None, Some(after)) => format!("+ {path}: {}", shown(after)),
            (Some(before), None) => format!("- {path}: {}", shown(before)),
            (None, None) => continue,
        });
    }
    lines
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text),
        other => shortened(&other.to_string()),
    }
}

fn shortened(text: &str) -> String {
    let line = sanitize_line(text);
    if line.chars().count() <= MAX_VALUE {
        return line;
    }
    let start: String = line.chars().take(MAX_VALUE - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_summary_names_programs_hosts_variables_and_files() {
        let content = json!({
            "configuration": {"data": "./data", "adapters": [
                {"name": "files", "mcp": {"command": ["npx", "-y", "server", "${env:ROOT}"], "env": ["KEY"]}},
                {"document": "shop.yaml"},
            ]},
            "files": {"shop.yaml": {
                "target": {"base_url": "https://shop.example.com"}, "auth": {"type": "bearer", "token_env": "TOKEN"},
                "operations": {"read": [{"maps_to": "GET /a", "command": ["git", {"when": "all", "args": ["-a"]}]}]},
            }},
        });
        let text = TrustSummary::of(&content).lines().join("\n");
        for expected in ["npx -y server ${env:ROOT}", "git {", "https://shop.example.com", "KEY", "ROOT", "TOKEN", "shop.yaml", "./data"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn changes_are_shown_with_both_values_and_no_control_character() {
        let (old, new) = (json!({"host": "a", "x": 1}), json!({"host": "b\u{1b}[2J", "y": [1]}));
        assert_eq!(changes(&old, &new), ["~ host: a → b\u{fffd}[2J", "- x: 1", "+ y: [1]"]);
    }
}
