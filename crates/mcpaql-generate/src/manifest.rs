//! Compares the manifest of a project with the generated one. The author owns the manifest, so it is not overwritten and may become
//! outdated.
//!
//! ```
//! use mcpaql_generate::manifest::differences;
//!
//! let (kept, generated) = ("[package]\nname = \"old\"\n", "[package]\nname = \"shop\"\n");
//! let found = differences("Cargo.toml", kept, generated);
//! assert_eq!(found[0].line, Some(2));
//! ```
//!
//! What always holds: a member is compared only if the manifest sets it itself. Inherited values (`version.workspace`) are the
//! author's choice.

use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use serde_json::Value;

/// A member of a manifest that differs from the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The current member: `name = "old"`; `None` if it is missing.
    pub actual: Option<String>,
    /// The expected member.
    pub expected: String,
    /// The line of the current member, counted from 1.
    pub line: Option<usize>,
}

/// Returns the differences between the kept manifest and the generated one. Other files than manifests have none.
#[must_use]
pub fn differences(path: &str, kept: &str, generated: &str) -> Vec<Difference> {
    match path {
        "Cargo.toml" => toml(kept, generated, "package", &CARGO),
        "pyproject.toml" => toml(kept, generated, "project", &PYTHON),
        "package.json" => npm(kept, generated),
        _ => Vec::new(),
    }
}

/// Members of `[package]`. Each entry lists alternatives, one of which is present.
const CARGO: [&[&str]; 3] = [&["name"], &["version"], &["license", "license-file"]];

/// Members of `[project]`.
const PYTHON: [&[&str]; 2] = [&["name"], &["version"]];

fn toml(kept: &str, generated: &str, table: &str, members: &[&[&str]]) -> Vec<Difference> {
    let compared = members.iter().filter_map(|keys| {
        let wanted = member(generated, table, keys)?;
        let (key, value) = (wanted.key, wanted.value?);
        let should = format!("{key} = {}", Value::from(value.as_str()));
        let (says, line) = match member(kept, table, keys) {
            None => (None, None),
            Some(TomlMember { value: None, .. }) => return None,
            Some(found) if found.key == key && found.value.as_deref() == Some(&value) => return None,
            Some(found) => (Some(found.text.to_owned()), Some(found.line)),
        };
        Some(Difference { actual: says, expected: should, line })
    });
    compared.collect()
}

/// A member of a table in TOML.
struct TomlMember<'t> {
    key: &'t str,
    /// `None` if the value is not a plain string.
    value: Option<String>,
    /// The line, trimmed.
    text: &'t str,
    line: usize,
}

/// Returns the first of these members in the table. Only the usual layout is supported: one member per line, strings on one line.
fn member<'t>(text: &'t str, table: &str, keys: &[&str]) -> Option<TomlMember<'t>> {
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            inside = header.split(']').next().map(str::trim) == Some(table);
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else { continue };
        let (key, value) = (key.trim(), value.trim());
        // `version.workspace = true`
        let name = key.split('.').next().unwrap_or(key).trim().trim_matches(['"', '\'']);
        if !keys.contains(&name) {
            continue;
        }
        let value = if name.len() < key.len() && key.contains('.') { None } else { string(value) };
        return Some(TomlMember { key: name, value, text: line, line: index + 1 });
    }
    None
}

/// Reads a TOML string on one line. Basic strings of TOML and JSON have the same escapes here.
fn string(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        return rest.split('\'').next().map(str::to_owned);
    }
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
    values.next()?.ok()?.as_str().map(str::to_owned)
}

fn npm(kept: &str, generated: &str) -> Vec<Difference> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (Some(old), Some(new)) = (parse(kept), parse(generated)) else { return Vec::new() };
    let source = Source::new("package.json", kept);
    let compared = ["name", "version", "license"].into_iter().filter_map(|key| {
        let (says, should) = (old.get(key), new.get(key)?);
        if says == Some(should) {
            return None;
        }
        let mut at = [Diagnostic::error(Code::SchemaInvalidValue, format!("/{key}"), "")];
        if says.is_some() {
            source.locate(&mut at);
        }
        let [at] = at;
        Some(Difference {
            actual: says.map(|value| format!("\"{key}\": {value}")),
            expected: format!("\"{key}\": {should}"),
            line: at.span.map(|span| span.line),
        })
    });
    compared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATED: &str = "[package]\nname = \"desk-adapter\"\nversion = \"2.0.0\"\nlicense = \"MIT\"\n";

    #[test]
    fn differences_of_a_kept_manifest_have_their_line() {
        let kept = "# mine\n[package]\nname = 'tickets-adapter' # old\nversion.workspace = true\nlicense-file = \"LICENSE\"\n\n\
                    [dependencies]\nname = \"x\"\n";
        let found = differences("Cargo.toml", kept, GENERATED);
        let lines: Vec<(Option<usize>, &str)> =
            found.iter().map(|one| (one.line, one.expected.as_str())).collect();
        assert_eq!(lines, [(Some(3), "name = \"desk-adapter\""), (Some(5), "license = \"MIT\"")]);
        let nothing = differences("Cargo.toml", "[package]\nname = \"desk-adapter\"\n", GENERATED);
        assert_eq!(nothing.iter().filter(|one| one.actual.is_none()).count(), 2, "{nothing:?}");
        assert_eq!(differences("Cargo.toml", GENERATED, GENERATED), []);
        let edited = format!("{GENERATED}\n[dependencies]\nrand = {{ version = \"1\" }}\n");
        assert_eq!(differences("Cargo.toml", &edited, GENERATED), []);
        let python = |name: &str| format!("[project]\nname = \"{name}\"\nversion = \"2.0.0\"\n");
        let found = differences("pyproject.toml", &python("tickets-adapter"), &python("desk-adapter"));
        assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [Some(2)]);
    }

    #[test]
    fn a_package_json_is_compared_member_by_member() {
        let generated = r#"{"name": "desk-adapter", "version": "2.0.0", "license": "MIT"}"#;
        let kept = "{\n  \"version\": \"2.0.0\",\n  \"name\": \"tickets-adapter\",\n  \"x\": 1\n}";
        let found = differences("package.json", kept, generated);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].actual.as_deref(), Some("\"name\": \"tickets-adapter\""));
        assert_eq!((found[0].line, found[0].expected.as_str()), (Some(3), "\"name\": \"desk-adapter\""));
        assert_eq!((found[1].line, found[1].actual.as_deref()), (None, None));
        assert_eq!(differences("package.json", "{", generated), []);
        assert_eq!(differences("src/handlers.ts", "x", "y"), []);
    }
}
