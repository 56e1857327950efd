//! What stands in for a value: references of clients as `${env:NAME}`, and a variable for every credential.
//!
//! What always holds: one name never stands for two values, and the same configuration always gives the same names.

use mcpaql_core::suggest::snake_case;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// A text of a configuration, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigTextPart {
    Text(String),
    Variable {
        name: String,
        fallback: Option<String>,
    },
    /// As mcpaql.yaml has it already.
    Rendered(String),
}

/// The text as mcpaql.yaml has it.
pub(crate) fn render_parts(pieces: &[ConfigTextPart]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            ConfigTextPart::Text(text) | ConfigTextPart::Rendered(text) => text.clone(),
            ConfigTextPart::Variable { name, fallback: None } => format!("${{env:{name}}}"),
            ConfigTextPart::Variable { name, fallback: Some(fallback) } => {
                format!("${{env:{name}:-{fallback}}}")
            }
        })
        .collect()
}

/// What a client would put in place of its own references.
#[derive(Debug, Clone, Default)]
pub(crate) struct References {
    /// The folder that is open, where the configuration stands in one.
    pub(crate) workspace: Option<PathBuf>,
    /// Whether `$NAME` is a reference too.
    pub(crate) allows_bare_names: bool,
    /// Default answers, by the name of the question.
    pub(crate) input_defaults: BTreeMap<String, String>,
}

impl References {
    /// Splits a text into pieces, or says why only the client can.
    pub(crate) fn parse(&self, text: &str) -> Result<Vec<ConfigTextPart>, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            let found = if let Some(inside) = after.strip_prefix('{') {
                let Some((inside, behind)) = inside.split_once('}') else {
                    return Err("it has a `${` that is never closed".into());
                };
                Some((self.reference(inside)?, behind))
            } else {
                self.allows_bare_names.then(|| parse_bare_reference(after)).flatten()
            };
            push_text(&mut pieces, before);
            match found {
                Some((piece, behind)) => {
                    match piece {
                        ConfigTextPart::Text(text) => push_text(&mut pieces, &text),
                        piece => pieces.push(piece),
                    }
                    rest = behind;
                }
                None => {
                    push_text(&mut pieces, "$");
                    rest = after;
                }
            }
        }
        push_text(&mut pieces, rest);
        Ok(pieces)
    }

    /// What stands between `${` and `}`.
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
            return Err(format!("it uses `${{{kind}…}}`, which only its client can fill in"));
        }
        Ok(variable(name, fallback))
    }
}

fn push_text(pieces: &mut Vec<ConfigTextPart>, text: &str) {
    if text.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(ConfigTextPart::Text(last)) => last.push_str(text),
        _ => pieces.push(ConfigTextPart::Text(text.to_owned())),
    }
}

/// `$NAME` and what stands behind it.
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

/// Whether a text refers to a variable in the way that servers themselves understand; `${env:…}` and `${input:…}` ask
/// the client.
pub(crate) fn is_plain_reference(text: &str, name: &str) -> bool {
    ["${", "$"].iter().any(|sign| text.contains(&format!("{sign}{name}")))
}

/// A name for a variable, made from words; `otherwise` begins it where they begin with a digit or say nothing.
pub(crate) fn variable_name(otherwise: &str, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| snake_case(word)).collect();
    let name = words.join("_").to_ascii_uppercase();
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let name = name.trim_matches('_');
    if is_variable_name(name) {
        name.to_owned()
    } else {
        format!("{otherwise}_{name}").trim_matches('_').to_owned()
    }
}

/// A variable that must be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequiredVariable {
    pub(crate) name: String,
    /// Where its value stands today.
    pub(crate) places: Vec<String>,
}

/// The variables of a whole takeover.
#[derive(Debug, Default)]
pub(crate) struct ImportVariables {
    /// In the order they were met, each with the value it stands for; `None` where the configuration does not say.
    all: Vec<(RequiredVariable, Option<String>)>,
}

impl ImportVariables {
    /// Keeps every name that a value refers to from standing for anything else, but for those in `own`.
    pub(crate) fn reserve(&mut self, references: &References, value: &Value, own: &[&str]) {
        match value {
            Value::String(text) => {
                for piece in references.parse(text).unwrap_or_default() {
                    if let ConfigTextPart::Variable { name, .. } = piece
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

    /// Notes a variable that the configuration itself refers to.
    pub(crate) fn add_reference(&mut self, name: &str, place: &str) {
        match self.all.iter_mut().find(|(needed, value)| needed.name == name && value.is_none()) {
            Some((needed, _)) => needed.places.push(place.to_owned()),
            None => self
                .all
                .push((RequiredVariable { name: name.to_owned(), places: vec![place.to_owned()] }, None)),
        }
    }

    /// The variable for a value: `name`, else one with `server` before it where that stands for something else.
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

    /// The values that the configuration itself holds, each with the variable that stands for it. They are secrets.
    pub(crate) fn values(&self) -> HashMap<String, String> {
        let known = self.all.iter().filter_map(|(needed, value)| Some((needed.name.clone(), value.clone()?)));
        known.collect()
    }

    /// Every variable that a text names, in its order and without its value.
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
    fn what_only_the_client_knows_is_refused_without_showing_it() {
        let references = References::default();
        for text in
            ["${command:pick.hunter2}", "${config:a.hunter2}", "${A:-${hunter2}}", "${hunter2", "${a b}"]
        {
            let reason = references.parse(text).unwrap_err();
            assert!(!reason.contains("hunter2"), "{reason}");
        }
    }

    #[test]
    fn a_name_stands_for_one_value() {
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
