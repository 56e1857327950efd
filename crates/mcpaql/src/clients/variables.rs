//! Environment variables of an imported configuration: references of clients become `${env:NAME}`, and each credential becomes a
//! variable.
//!
//! What always holds: one name never means two values, and the same configuration always gives the same names.

use mcpaql_core::suggest::snake_case;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// A part of a text in a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigTextPart {
    Text(String),
    Variable {
        name: String,
        fallback: Option<String>,
    },
    /// Text in the syntax of mcpaql.yaml.
    Rendered(String),
}

/// Returns the text in the syntax of mcpaql.yaml.
pub(crate) fn render_parts(parts: &[ConfigTextPart]) -> String {
    parts
        .iter()
        .map(|part| match part {
            ConfigTextPart::Text(text) | ConfigTextPart::Rendered(text) => text.clone(),
            ConfigTextPart::Variable { name, fallback: None } => format!("${{env:{name}}}"),
            ConfigTextPart::Variable { name, fallback: Some(fallback) } => {
                format!("${{env:{name}:-{fallback}}}")
            }
        })
        .collect()
}

/// How a client resolves the references in its configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct References {
    /// The workspace folder, if the configuration belongs to one.
    pub(crate) workspace: Option<PathBuf>,
    /// Whether `$NAME` is a reference, too.
    pub(crate) allows_bare_names: bool,
    /// Default values of inputs, by the id of the input.
    pub(crate) input_defaults: BTreeMap<String, String>,
}

impl References {
    /// Splits a text into parts, or returns the reason why only the client can resolve it.
    pub(crate) fn parse(&self, text: &str) -> Result<Vec<ConfigTextPart>, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            let found = if let Some(inside) = after.strip_prefix('{') {
                let Some((inside, behind)) = inside.split_once('}') else {
                    return Err("it has a `${` without a closing `}`".into());
                };
                Some((self.reference(inside)?, behind))
            } else {
                self.allows_bare_names.then(|| parse_bare_reference(after)).flatten()
            };
            push_text(&mut parts, before);
            match found {
                Some((part, behind)) => {
                    match part {
                        ConfigTextPart::Text(text) => push_text(&mut parts, &text),
                        part => parts.push(part),
                    }
                    rest = behind;
                }
                None => {
                    push_text(&mut parts, "$");
                    rest = after;
                }
            }
        }
        push_text(&mut parts, rest);
        Ok(parts)
    }

    /// Parses the text between `${` and `}`.
    fn reference(&self, inside: &str) -> Result<ConfigTextPart, String> {
        let variable = |name: &str, fallback: Option<&str>| ConfigTextPart::Variable {
            name: name.to_owned(),
            fallback: fallback.map(str::to_owned),
        };
        let separator = if cfg!(windows) { "\\" } else { "/" };
        let folder = |part: fn(&PathBuf) -> Option<String>| {
            let known = self.workspace.as_ref().and_then(part);
            known.map_or_else(|| variable("WORKSPACE_FOLDER", None), ConfigTextPart::Text)
        };
        match inside {
            "workspaceFolder" | "workspaceRoot" | "cwd" => {
                return Ok(folder(|path| path.to_str().map(str::to_owned)));
            }
            "workspaceFolderBasename" if self.workspace.is_some() => {
                return Ok(folder(|path| path.file_name()?.to_str().map(str::to_owned)));
            }
            "userHome" => return Ok(variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" }, None)),
            "pathSeparator" | "/" => return Ok(ConfigTextPart::Text(separator.to_owned())),
            _ => {}
        }
        if let Some(id) = inside.strip_prefix("input:") {
            let fallback = self.input_defaults.get(id).filter(|answer| !answer.contains(['{', '}', '$']));
            return Ok(variable(&variable_name("INPUT", &[id]), fallback.map(String::as_str)));
        }
        let (name, fallback) = match inside.strip_prefix("env:").unwrap_or(inside).split_once(":-") {
            Some((name, fallback)) => (name, Some(fallback)),
            None => (inside.strip_prefix("env:").unwrap_or(inside), None),
        };
        if !is_variable_name(name) || fallback.is_some_and(|fallback| fallback.contains(['{', '$'])) {
            let kind = inside.split(':').next().unwrap_or_default();
            let plain =
                !kind.is_empty() && kind.len() < 20 && kind.bytes().all(|byte| byte.is_ascii_alphabetic());
            let kind = if plain && kind.len() < inside.len() { format!("{kind}:") } else { String::new() };
            return Err(format!("it uses `${{{kind}…}}`, which only its client can resolve"));
        }
        Ok(variable(name, fallback))
    }
}

fn push_text(parts: &mut Vec<ConfigTextPart>, text: &str) {
    if text.is_empty() {
        return;
    }
    match parts.last_mut() {
        Some(ConfigTextPart::Text(last)) => last.push_str(text),
        _ => parts.push(ConfigTextPart::Text(text.to_owned())),
    }
}

/// Parses `$NAME`, and returns the rest of the text, too.
fn parse_bare_reference(after: &str) -> Option<(ConfigTextPart, &str)> {
    let behind = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = after.get(..after.len() - behind.len()).filter(|name| is_variable_name(name))?;
    Some((ConfigTextPart::Variable { name: name.to_owned(), fallback: None }, behind))
}

pub(crate) fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a text refers to a variable as `$NAME` or `${NAME}`, which servers resolve themselves; `${env:…}` and `${input:…}` are
/// resolved by the client.
pub(crate) fn is_plain_reference(text: &str, name: &str) -> bool {
    ["${", "$"].iter().any(|sign| text.contains(&format!("{sign}{name}")))
}

/// Derives the name of a variable from words. It starts with `prefix` if the words start with a digit or contain no letters.
pub(crate) fn variable_name(prefix: &str, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| snake_case(word)).collect();
    let name = words.join("_").to_ascii_uppercase();
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let name = name.trim_matches('_');
    if is_variable_name(name) {
        name.to_owned()
    } else {
        format!("{prefix}_{name}").trim_matches('_').to_owned()
    }
}

/// A variable that must be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequiredVariable {
    pub(crate) name: String,
    /// Where the configuration of the client has its value.
    pub(crate) places: Vec<String>,
}

/// The variables of an import.
#[derive(Debug, Default)]
pub(crate) struct ImportVariables {
    /// Each variable with its value, in order of appearance; the value is `None` if the configuration does not contain it.
    all: Vec<(RequiredVariable, Option<String>)>,
}

impl ImportVariables {
    /// Reserves every name that a value refers to, except those in `own`, so that no credential gets this name.
    pub(crate) fn reserve(&mut self, references: &References, value: &Value, own: &[&str]) {
        match value {
            Value::String(text) => {
                for part in references.parse(text).unwrap_or_default() {
                    if let ConfigTextPart::Variable { name, .. } = part
                        && !(own.contains(&name.as_str()) && is_plain_reference(text, &name))
                        && self.all.iter().all(|(needed, _)| needed.name != name)
                    {
                        self.all.push((RequiredVariable { name, places: Vec::new() }, None));
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.reserve(references, item, own)),
            Value::Object(map) => map.values().for_each(|item| self.reserve(references, item, own)),
            _ => {}
        }
    }

    /// Adds a variable that the configuration refers to.
    pub(crate) fn add_reference(&mut self, name: &str, place: &str) {
        match self.all.iter_mut().find(|(needed, value)| needed.name == name && value.is_none()) {
            Some((needed, _)) => needed.places.push(place.to_owned()),
            None => self
                .all
                .push((RequiredVariable { name: name.to_owned(), places: vec![place.to_owned()] }, None)),
        }
    }

    /// Returns the variable for a value: `name`, or a name that starts with `server` if `name` already has another value.
    pub(crate) fn assign_variable(&mut self, server: &str, name: &str, value: &str, place: &str) -> String {
        let own = variable_name("SERVER", &[server, name]);
        let numbered = (2..).map(|number| format!("{own}_{number}"));
        for candidate in [name.to_owned(), own.clone()].into_iter().chain(numbered) {
            match self.all.iter_mut().find(|(needed, _)| needed.name == candidate) {
                None => {
                    let needed = RequiredVariable { name: candidate.clone(), places: vec![place.to_owned()] };
                    self.all.push((needed, Some(value.to_owned())));
                    return candidate;
                }
                Some((needed, Some(same))) if same == value => {
                    needed.places.push(place.to_owned());
                    return candidate;
                }
                Some(_) => {}
            }
        }
        own
    }

    /// Returns the variables whose values the configuration contains, with these values. They are secrets.
    pub(crate) fn values(&self) -> HashMap<String, String> {
        let known = self.all.iter().filter_map(|(needed, value)| Some((needed.name.clone(), value.clone()?)));
        known.collect()
    }

    /// Returns every variable that a text refers to, in the order of the text.
    pub(crate) fn required_in(&self, text: &str) -> Vec<RequiredVariable> {
        let place = |needed: &RequiredVariable| text.find(&format!("${{env:{}}}", needed.name));
        let named = self.all.iter().filter_map(|(needed, _)| Some((place(needed)?, needed)));
        let mut named: Vec<(usize, &RequiredVariable)> = named.collect();
        named.sort_by_key(|(place, _)| *place);
        named.into_iter().map(|(_, needed)| needed.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_every_client_become_variables() {
        let references = References {
            workspace: Some("/work space/shop".into()),
            allows_bare_names: false,
            input_defaults: BTreeMap::from([("level".to_owned(), "info".to_owned())]),
        };
        for (text, expected) in [
            ("plain $HOME {x} $", "plain $HOME {x} $"),
            ("a ${TOKEN} b", "a ${env:TOKEN} b"),
            ("${env:TOKEN}", "${env:TOKEN}"),
            ("${TOKEN:-x}/y", "${env:TOKEN:-x}/y"),
            ("${workspaceFolder}/a", "/work space/shop/a"),
            ("${workspaceFolderBasename}", "shop"),
            ("${input:github-pat}", "${env:GITHUB_PAT}"),
            ("${input:level}", "${env:LEVEL:-info}"),
            ("${input:1}", "${env:INPUT_1}"),
        ] {
            assert_eq!(render_parts(&references.parse(text).unwrap()), expected, "{text}");
        }
        let bare = References { allows_bare_names: true, ..References::default() };
        assert_eq!(render_parts(&bare.parse("Bearer $TOKEN.").unwrap()), "Bearer ${env:TOKEN}.");
        assert_eq!(render_parts(&bare.parse("${workspaceFolder}").unwrap()), "${env:WORKSPACE_FOLDER}");
    }

    #[test]
    fn references_that_only_the_client_can_resolve_are_refused_without_quoting_them() {
        let references = References::default();
        for text in
            ["${command:pick.hunter2}", "${config:a.hunter2}", "${A:-${hunter2}}", "${hunter2", "${a b}"]
        {
            let reason = references.parse(text).unwrap_err();
            assert!(!reason.contains("hunter2"), "{reason}");
        }
    }

    #[test]
    fn a_name_has_one_value() {
        let mut variables = ImportVariables::default();
        variables.add_reference("SET_ELSEWHERE", "a");
        assert_eq!(variables.assign_variable("git-hub", "TOKEN", "1", "b"), "TOKEN");
        assert_eq!(variables.assign_variable("other", "TOKEN", "1", "c"), "TOKEN");
        assert_eq!(variables.assign_variable("git-hub", "TOKEN", "2", "d"), "GIT_HUB_TOKEN");
        assert_eq!(variables.assign_variable("git-hub", "TOKEN", "3", "e"), "GIT_HUB_TOKEN_2");
        assert_eq!(variables.assign_variable("x", "SET_ELSEWHERE", "4", "f"), "X_SET_ELSEWHERE");
        let needed = variables.required_in("${env:TOKEN} ${env:SET_ELSEWHERE:-x}");
        assert_eq!(needed, [RequiredVariable { name: "TOKEN".into(), places: vec!["b".into(), "c".into()] }]);
    }
}
