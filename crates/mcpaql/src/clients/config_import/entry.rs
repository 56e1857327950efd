//! Imports one server: converts the keys of clients to those of `mcpaql.yaml`.

use crate::clients::secrets;
use crate::clients::secrets::spans::{self, REFERENCE_MARK, SecretSpan};
use crate::clients::variables::{
    ConfigTextPart, ImportVariables, References, is_plain_reference, is_variable_name, render_parts,
    variable_name,
};
use crate::file;
use mcpaql_core::adapter::{McpCommand, McpLink, McpTarget};
use mcpaql_core::host;
use mcpaql_document::load::is_credential_name;
use serde_json::{Map, Value};
use std::path::Path;

/// Keys that are imported, and keys that only concern the client.
const KNOWN_KEYS: &[&str] = &[
    "allowedTools",
    "alwaysAllow",
    "args",
    "autoApprove",
    "autoStart",
    "command",
    "cwd",
    "description",
    "dev",
    "disabled",
    "disabledTools",
    "enabled",
    "env",
    "envFile",
    "environment",
    "excludeTools",
    "gallery",
    "headers",
    "httpUrl",
    "includeTools",
    "metadata",
    "serverUrl",
    "source",
    "timeout",
    "tools",
    "transport",
    "trust",
    "type",
    "url",
    "version",
];
const HTTP_TYPES: &[&str] = &["http", "streamable-http", "streamablehttp", "streamable_http", "remote"];
const STDIO_TYPES: &[&str] = &["stdio", "local"];

/// The location of a server in a configuration.
pub(super) struct ServerLocation<'a> {
    /// The keys that lead to the server.
    pub(super) keys: String,
    pub(super) file: &'a str,
}

/// A server that was read from its entry.
#[derive(Debug)]
pub(super) struct ParsedEntry {
    pub(super) target: McpTarget,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// Reads the entry of a server, or returns the reason why it cannot be imported.
pub(super) fn read_server(
    server: &str,
    value: &Value,
    references: &References,
    variables: &mut ImportVariables,
    location: &ServerLocation<'_>,
) -> Result<ParsedEntry, String> {
    let Value::Object(entry) = value else { return Err("its entry is not an object".into()) };
    if crate::clients::is_mcpaql_entry(value) {
        return Err("it is mcpaql itself".into());
    }
    let flag = |key: &str| entry.get(key).and_then(Value::as_bool);
    if flag("disabled") == Some(true) || flag("enabled") == Some(false) {
        return Err("it is disabled".into());
    }
    let mut reader = ServerReader { server, entry, references, variables, location, notes: Vec::new() };
    let link = reader.link()?;
    let mut target = McpTarget::new(link);
    if let Some(timeout) = reader.timeout() {
        target.timeout_ms = timeout;
    }
    let is_set = |value: &Value| !matches!(value, Value::Null) && *value != Value::Object(Map::new());
    let unknown = entry.iter().filter(|(key, value)| !KNOWN_KEYS.contains(&key.as_str()) && is_set(value));
    let notes: Vec<String> =
        unknown.map(|(key, _)| format!("`{key}` is not supported and was ignored")).collect();
    reader.notes.extend(notes);
    Ok(ParsedEntry {
        include: rules(entry, &["includeTools", "allowedTools", "tools"]),
        exclude: rules(entry, &["excludeTools", "disabledTools"]),
        notes: reader.notes,
        target,
    })
}

/// Returns the variables that a server is started with. Older versions of Zed have them one level deeper.
pub(super) fn env(entry: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let nested = entry.get("command").and_then(|command| command.get("env"));
    nested.or_else(|| entry.get("env")).or_else(|| entry.get("environment")).and_then(Value::as_object)
}

/// Converts lists of tools to selection rules.
fn rules(entry: &Map<String, Value>, keys: &[&str]) -> Vec<String> {
    let lists = keys.iter().filter_map(|key| entry.get(*key)?.as_array()).flatten();
    lists.filter_map(Value::as_str).filter(|tool| *tool != "*").map(|tool| format!("op:{tool}")).collect()
}

/// Reads the entry of one server.
struct ServerReader<'a> {
    server: &'a str,
    entry: &'a Map<String, Value>,
    references: &'a References,
    variables: &'a mut ImportVariables,
    location: &'a ServerLocation<'a>,
    notes: Vec<String>,
}

impl ServerReader<'_> {
    fn link(&mut self) -> Result<McpLink, String> {
        let text = |key: &str| self.entry.get(key).and_then(Value::as_str);
        let kind = text("type").or_else(|| text("transport")).unwrap_or_default().to_ascii_lowercase();
        let url = ["httpUrl", "serverUrl", "url"].iter().find_map(|key| text(key));
        let known = |kinds: &[&str]| kind.is_empty() || kinds.contains(&kind.as_str());
        if kind == "sse" || (kind.is_empty() && url.is_some_and(is_sse)) {
            return Err(
                "it uses the old HTTP+SSE transport; use the server's streamable HTTP URL instead".into()
            );
        }
        match (self.entry.get("command"), url) {
            (Some(_), _) if known(STDIO_TYPES) => self.command().map(McpLink::Command),
            (_, Some(url)) if known(HTTP_TYPES) => self.url(url),
            (None, None) => Err("it has neither a command nor a URL; only its client can start it".into()),
            _ => Err("its `type` is not supported".into()),
        }
    }

    fn command(&mut self) -> Result<McpCommand, String> {
        let (entry, command) = (self.entry, self.entry.get("command"));
        // Older versions of Zed have the program one level deeper.
        let nested = command.and_then(Value::as_object);
        let of = |key: &str| nested.and_then(|nested| nested.get(key)).or_else(|| entry.get(key));
        let listed = |value: Option<&'_ Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        let mut words: Vec<Value> = match command {
            Some(Value::Array(words)) => words.clone(),
            Some(Value::Object(_)) => of("path").cloned().into_iter().collect(),
            program => program.cloned().into_iter().collect(),
        };
        words.extend(listed(of("args")));
        let count = words.len();
        let words: Vec<String> = words.iter().filter_map(scalar).collect();
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err("its command is empty".into());
        }
        if words.len() < count {
            self.notes.push("an argument that is not a string, number or boolean was ignored".into());
        }
        let cwd = self.cwd(&words)?;
        let handed = self.credential_variables(&words)?;
        let mut set_env = self.env_file()?;
        for (name, value) in env(entry).into_iter().flatten() {
            let Some(value) = scalar(value) else {
                self.notes
                    .push(format!("`env` › `{name}` is not a string, number or boolean and was ignored"));
                continue;
            };
            set_env.retain(|(known, _)| known != name);
            let own = if is_variable_name(name) { name.clone() } else { variable_name("VARIABLE", &[name]) };
            let kind = if handed.contains(name) { "password" } else { name };
            set_env.push((name.clone(), self.value(kind, &own, &value, &format!("env › {name}"))?));
        }
        let mut line = Vec::new();
        let mut before = None;
        for (index, word) in words.iter().enumerate() {
            line.push(self.argument(index, before, word, &set_env)?);
            before = Some(word.as_str());
        }
        Ok(McpCommand { command: line, cwd, env: Vec::new(), set_env: set_env.into_iter().collect() })
    }

    /// Returns the working directory: the `cwd` of the server, or the project folder if the command names files in it.
    fn cwd(&mut self, words: &[String]) -> Result<Option<String>, String> {
        let workspace = self.references.workspace.as_deref();
        let inside = |path: &str| match workspace {
            Some(folder) if !secrets::is_path(path) || path.starts_with('.') => {
                folder.join(path).display().to_string()
            }
            _ => path.to_owned(),
        };
        if let Some(cwd) = self.entry.get("cwd").and_then(Value::as_str) {
            let parts = self.parse_text(cwd, "cwd")?;
            let text = render_parts(&parts);
            return Ok(Some(if text.starts_with("${") { text } else { inside(&text) }));
        }
        // Clients start the servers of a project in the project folder.
        let is_inside = |folder: &&Path| {
            let names_file = |word: &String| {
                word.starts_with("./")
                    || word.starts_with("../")
                    || (!word.is_empty() && folder.join(word).exists())
            };
            words.iter().filter(|word| !secrets::is_path(word) || word.starts_with('.')).any(names_file)
        };
        Ok(workspace.filter(is_inside).map(|folder| folder.display().to_string()))
    }

    /// Returns a variable for every name in `envFile`.
    fn env_file(&mut self) -> Result<Vec<(String, String)>, String> {
        let Some(file) = self.entry.get("envFile").and_then(Value::as_str) else { return Ok(Vec::new()) };
        let file = render_parts(&self.references.parse(file)?);
        let folder = self.references.workspace.clone().unwrap_or_default();
        let path = folder.join(&file);
        let Ok(text) = file::read_text(&path) else {
            self.notes.push("`envFile` cannot be read, so its variables are missing".into());
            return Ok(Vec::new());
        };
        let assignments = text.lines().filter_map(|line| {
            let line = line.trim().trim_start_matches("export ").trim_start();
            let (name, value) = line.split_once('=')?;
            is_variable_name(name.trim()).then(|| (name.trim().to_owned(), env_file_value(value)))
        });
        let label = super::clients::display_path(Path::new(&path));
        let mut found: Vec<(String, String)> = Vec::new();
        for (name, value) in assignments {
            // The last value of a name counts.
            found.retain(|(known, _)| *known != name);
            let variable = self.variables.assign_variable(self.server, &name, value, &label);
            found.push((name, format!("${{env:{variable}}}")));
        }
        Ok(found)
    }

    fn url(&mut self, url: &str) -> Result<McpLink, String> {
        let url = url.split('#').next().unwrap_or(url);
        if secrets::has_token(url) && authority(url).contains('@') {
            return Err("its URL contains a user and a password; use `auth: {type: basic, …}` instead".into());
        }
        let parts = self.parse_text(url, "url")?;
        let (text, references) = mask_references(parts)?;
        let found = spans::secrets_in_text(&text);
        let url = render_parts(&self.replace_secrets(&text, references, &found, "url", "URL"));
        let allow_http = url.starts_with("http://") && !host::is_loopback(&url);
        if allow_http {
            self.notes.push("its URL uses plain http, so `allow_http: true` was set".into());
        }
        let mut headers = Vec::new();
        for (name, value) in self.entry.get("headers").and_then(Value::as_object).into_iter().flatten() {
            let Some(value) = scalar(value) else { continue };
            let own = variable_name("SERVER", &[self.server, name]);
            headers.push((name.clone(), self.value(name, &own, &value, &format!("headers › {name}"))?));
        }
        Ok(McpLink::Url { url, headers: headers.into_iter().collect(), allow_http })
    }

    /// Returns the timeout in milliseconds. Some clients write seconds, so a value below 1000 is taken as seconds. A timeout above one
    /// hour is ignored.
    fn timeout(&self) -> Option<u64> {
        let timeout = self.entry.get("timeout")?.as_u64()?;
        let milliseconds = if timeout < 1000 { timeout * 1000 } else { timeout };
        (1000..=3_600_000).contains(&milliseconds).then_some(milliseconds)
    }

    /// Splits a text into parts and records the variables that it refers to.
    fn parse_text(&mut self, text: &str, key: &str) -> Result<Vec<ConfigTextPart>, String> {
        let parts = self.references.parse(text)?;
        for part in &parts {
            if let ConfigTextPart::Variable { name, .. } = part {
                self.variables.add_reference(name, &self.location_of(key));
            }
        }
        Ok(parts)
    }

    fn location_of(&self, key: &str) -> String {
        format!("{} › {key} in {}", self.location.keys, self.location.file)
    }

    fn replace_with_variable(&mut self, name: &str, value: &str, key: &str) -> ConfigTextPart {
        let location = self.location_of(key);
        let name = self.variables.assign_variable(self.server, name, value, &location);
        ConfigTextPart::Variable { name, fallback: None }
    }

    /// Converts the value of a variable or header; `own` is the variable that replaces a credential in it.
    fn value(&mut self, name: &str, own: &str, text: &str, key: &str) -> Result<String, String> {
        let mut parts = self.parse_text(text, key)?;
        if parts.is_empty() && is_credential_name(name) {
            return Ok(format!("${{env:{own}:-}}"));
        }
        if let [ConfigTextPart::Text(whole)] = parts.as_slice() {
            if secrets::is_secret(name, whole) {
                return Ok(render_parts(&[self.replace_with_variable(own, text, key)]));
            }
            return Ok(whole.clone());
        }
        for part in &mut parts {
            match part {
                ConfigTextPart::Variable { fallback, .. } => {
                    fallback.take_if(|fallback| secrets::is_secret(name, fallback));
                }
                ConfigTextPart::Text(literal)
                    if secrets::is_secret_value(literal)
                        || (is_credential_name(name) && !is_scheme(literal)) =>
                {
                    *part = self.replace_with_variable(own, &literal.clone(), key)
                }
                ConfigTextPart::Text(_) | ConfigTextPart::Rendered(_) => {}
            }
        }
        Ok(render_parts(&parts))
    }

    /// Returns the variables that the command line uses as credentials, whatever their names are.
    fn credential_variables(&self, words: &[String]) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        let mut before = None;
        for (index, word) in words.iter().enumerate() {
            let (text, references) = mask_references(self.references.parse(word)?)?;
            let found = spans::secrets_in_argument(before.filter(|_| index > 1), &text);
            let signs = text.match_indices(REFERENCE_MARK).map(|(at, _)| at);
            for (at, reference) in signs.zip(references) {
                if let ConfigTextPart::Variable { name, .. } = reference
                    && found.iter().any(|secret| secret.range.contains(&at))
                {
                    names.push(name);
                }
            }
            before = Some(word.as_str());
        }
        Ok(names)
    }

    /// Converts one word of the command line; `set` are the server's own variables.
    fn argument(
        &mut self,
        index: usize,
        before: Option<&str>,
        word: &str,
        set: &[(String, String)],
    ) -> Result<String, String> {
        let key = if index == 0 { "command".to_owned() } else { format!("args › {}", index - 1) };
        let mut parts = self.references.parse(word)?;
        for part in &mut parts {
            let ConfigTextPart::Variable { name, .. } = part else { continue };
            match set.iter().find(|(known, _)| known == name && is_plain_reference(word, name)) {
                // Its credentials are already replaced and recorded.
                Some((_, value)) => *part = ConfigTextPart::Rendered(value.clone()),
                None => self.variables.add_reference(name, &self.location_of(&key)),
            }
        }
        let (text, references) = mask_references(parts)?;
        let found = spans::secrets_in_argument(before.filter(|_| index > 1), &text);
        Ok(render_parts(&self.replace_secrets(&text, references, &found, &key, "ARGUMENT")))
    }

    /// Replaces credentials with variables; `word` is the name for credentials without one.
    fn replace_secrets(
        &mut self,
        text: &str,
        references: Vec<ConfigTextPart>,
        found: &[SecretSpan],
        key: &str,
        word: &str,
    ) -> Vec<ConfigTextPart> {
        let mut references = references.into_iter();
        let mut out = Vec::new();
        let mut at = 0;
        for secret in found {
            let before = text.get(at..secret.range.start).unwrap_or_default();
            let value = text.get(secret.range.clone()).unwrap_or_default();
            self.append_text(before, &mut references, key, word, &mut out);
            // `-e NAME=value` names a variable already.
            let plain = text.get(..secret.range.start).and_then(|head| head.strip_suffix('='));
            let is_name = is_variable_name(&secret.name) && !secret.name.contains(char::is_lowercase);
            let own = if is_name && plain == Some(secret.name.as_str()) {
                secret.name.clone()
            } else {
                let name = if secret.name.is_empty() { word } else { &secret.name };
                variable_name("SERVER", &[self.server, name])
            };
            for (index, part) in value.split(REFERENCE_MARK).enumerate() {
                if index > 0 {
                    out.extend(references.next().map(|reference| without_secret(reference, &secret.name)));
                }
                match part {
                    "" => {}
                    scheme if value.contains(REFERENCE_MARK) && is_scheme(scheme) => {
                        out.push(ConfigTextPart::Text(scheme.to_owned()));
                    }
                    part => out.push(self.replace_with_variable(&own, part, key)),
                }
            }
            at = secret.range.end;
        }
        self.append_text(text.get(at..).unwrap_or_default(), &mut references, key, word, &mut out);
        out
    }

    /// Appends the text around credentials. A part that contains a token becomes a variable, too.
    fn append_text(
        &mut self,
        text: &str,
        references: &mut impl Iterator<Item = ConfigTextPart>,
        key: &str,
        word: &str,
        out: &mut Vec<ConfigTextPart>,
    ) {
        for (index, part) in text.split(REFERENCE_MARK).enumerate() {
            if index > 0 {
                out.extend(references.next().map(|reference| without_secret(reference, "")));
            }
            if secrets::has_token(part) {
                let own = variable_name("SERVER", &[self.server, word]);
                out.push(self.replace_with_variable(&own, part, key));
            } else if !part.is_empty() {
                out.push(ConfigTextPart::Text(part.to_owned()));
            }
        }
    }
}

/// Returns a value of an `envFile` without its quotes, or without the comment after it.
fn env_file_value(text: &str) -> &str {
    let text = text.trim();
    let quoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.split(*quote).next());
    quoted.unwrap_or_else(|| text.split(" #").next().unwrap_or(text).trim_end())
}

/// Returns the text with a mark in place of every reference, and the references.
fn mask_references(parts: Vec<ConfigTextPart>) -> Result<(String, Vec<ConfigTextPart>), String> {
    let (mut text, mut references) = (String::new(), Vec::new());
    for part in parts {
        match part {
            ConfigTextPart::Text(literal) if literal.contains(REFERENCE_MARK) => {
                return Err("it contains a NUL character".into());
            }
            ConfigTextPart::Text(literal) => text.push_str(&literal),
            reference => {
                text.push(REFERENCE_MARK);
                references.push(reference);
            }
        }
    }
    Ok((text, references))
}

/// Removes the default value of a reference if it is a credential; `name_before` is the name that the reference is assigned to.
fn without_secret(reference: ConfigTextPart, name_before: &str) -> ConfigTextPart {
    match reference {
        ConfigTextPart::Variable { name, fallback } => {
            let is_secret = |fallback: &String| {
                secrets::is_secret(&name, fallback)
                    || secrets::is_secret_name(name_before, fallback)
                    || (name_before.len() == 1 && !secrets::is_plain_value(fallback))
            };
            let fallback = fallback.filter(|fallback| !is_secret(fallback));
            ConfigTextPart::Variable { name, fallback }
        }
        other => other,
    }
}

/// Returns a value as text. Clients accept numbers and booleans as text, too.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Whether a part of a credential is only its scheme, as in `Bearer ${TOKEN}`.
fn is_scheme(part: &str) -> bool {
    let word = part.trim();
    let is_word = part.ends_with(' ') && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
    word.len() <= 10 && (is_word || word.bytes().all(|byte| b"-:".contains(&byte)))
}

fn is_sse(url: &str) -> bool {
    url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/').ends_with("/sse")
}

fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}
