//! The text that `init` writes: an adapter document, or a configuration with one adapter.

use super::questions::InitAnswers;
use crate::args::{AccessArgs, InitKind};
use crate::documents::CONFIG_FILE;
use crate::openapi_files::is_url;
use crate::output::error_with_hint;
use crate::servers::{self, check_credentials, check_url, check_variable_name, split_command_line};
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpCommand, McpLink};
use mcpaql_document::config::{AdapterEntry, AdapterOrigin, CallLimits};
use mcpaql_import::{emit, mcp};
use mcpaql_lexicon::{plural, singular, snake_case};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A text to write.
#[derive(Debug)]
pub(super) enum InitDraft {
    /// An adapter document, and the name of the adapter.
    Document { name: String, text: String },
    /// The adapter of a configuration.
    Config(Box<AdapterEntry>),
}

impl InitDraft {
    /// Returns the text for these answers; `file` is where it will be written, if the user chose that.
    pub(super) fn new(answers: &InitAnswers, file: Option<&Path>) -> Result<InitDraft> {
        if answers.source.is_empty() {
            let message = format!("{} is empty", answers.source_label());
            return Err(error_with_hint(message, "see `mcpaql init --help` for examples"));
        }
        if let Some(name) = &answers.token_env {
            check_variable_name("--token-env", name)?;
        }
        match answers.kind {
            InitKind::Http => http(answers),
            InitKind::Command => command(answers),
            InitKind::Store => store(answers),
            InitKind::Openapi => openapi(answers, file),
            InitKind::Mcp => server(answers),
        }
    }

    /// Returns the file to write, unless the user names one.
    pub(super) fn default_file(&self) -> PathBuf {
        match self {
            InitDraft::Document { name, .. } => PathBuf::from(format!("{name}-adapter.yaml")),
            InitDraft::Config(_) => PathBuf::from(CONFIG_FILE),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            InitDraft::Document { text, .. } => text.clone(),
            InitDraft::Config(entry) => {
                let comment = "# The adapters that `mcpaql serve` serves in this folder. `mcpaql doctor` checks them.\n";
                format!("{comment}{}", emit::configuration(std::slice::from_ref(&**entry)))
            }
        }
    }
}

fn bearer(token_env: &Option<String>) -> Option<Auth> {
    token_env.as_ref().map(|name| Auth::Bearer {
        token_env: name.clone(),
        header: "Authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
    })
}

/// Returns the given name, or one that is derived from a command or an address.
fn name(answers: &InitAnswers, link: &McpLink, otherwise: &str) -> String {
    let derived = || match mcp::name_from_link(link).as_str() {
        // No word of the command or the address says something about it.
        "server" => otherwise.to_owned(),
        name => name.to_owned(),
    };
    answers.name.clone().unwrap_or_else(derived)
}

/// Returns a text as a YAML scalar: without quotes if it is made of plain words, otherwise as a JSON string, which is also YAML.
fn scalar(text: &str) -> String {
    const OTHER_VALUES: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " ._/-".contains(c))
        && !text.ends_with(' ')
        && !OTHER_VALUES.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { json!(text).to_string() }
}

fn head(name: &str, description: &str) -> String {
    format!(
        "name: {name}\ntype: adapter\nversion: \"0.1.0\"\ndescription: {}\n",
        scalar(description),
        name = scalar(name)
    )
}

fn http(answers: &InitAnswers) -> Result<InitDraft> {
    if !is_url(&answers.source) {
        let hint = match answers.source.contains("://") {
            true => "write the URL of the API, such as https://api.example.com/v1".to_owned(),
            false => format!("write the whole URL, such as https://{}", answers.source),
        };
        return Err(error_with_hint("the source of an HTTP API must start with https:// or http://", hint));
    }
    let url = check_url(&answers.source)?;
    let link = McpLink::Url { url: url.clone(), headers: Default::default(), allow_http: false };
    let name = name(answers, &link, "api");
    let mut text = format!(
        "# An adapter for an HTTP API. Replace the operations with those of the API.\n{}",
        head(&name, &format!("The API at {url}"))
    );
    text.push_str(&format!("target:\n  base_url: {}\n", scalar(url.trim_end_matches('/'))));
    if let Some(variable) = &answers.token_env {
        text.push_str(&format!("auth:\n  type: bearer\n  token_env: {variable}\n"));
    }
    text.push_str(
        "operations:\n  read:\n    - name: get_start\n      maps_to: GET /\n      description: Get the start page of the API\n    \
         # - name: list_items\n    #   maps_to: GET /items\n    #   description: List items, newest first\n    #   params:\n    \
         #     limit: { type: integer, minimum: 1, description: Maximum number of items }\n  \
         # create:\n  #   - name: create_item\n  #     maps_to: POST /items\n  #     description: Create an item\n  #     params:\n  \
         #       title: { type: string, required: true, description: Title of the item }\n",
    );
    Ok(InitDraft::Document { name, text })
}

fn command(answers: &InitAnswers) -> Result<InitDraft> {
    let words = split_command_line(answers.source_label(), &answers.source)?;
    check_credentials(&words)?;
    if answers.token_env.is_some() {
        return Err(error_with_hint(
            "--token-env has no effect on a program",
            "remove it, and list variables under `env` of `target` in the document",
        ));
    }
    let program =
        McpCommand { command: words.clone(), cwd: None, env: Vec::new(), set_env: Default::default() };
    let name = name(answers, &McpLink::Command(program), "program");
    let list: Vec<String> = words.iter().map(|word| scalar(word)).collect();
    let mut text = format!(
        "# An adapter for a program. There is no shell: each element of `command` is one argument.\n{}\
         target:\n  transport: native\n  protocol: command\noperations:\n  \
         # Move the operation to `read` if the program only reads.\n  execute:\n    - name: run_{}\n      \
         description: {}\n      command: [{}]\n",
        head(&name, &format!("The program {}", words.first().map_or("", String::as_str))),
        snake_case(&name),
        scalar(&format!("Run {}", answers.source)),
        list.join(", "),
    );
    let parameters = parameters(&words);
    if !parameters.is_empty() {
        text.push_str("      params:\n");
    }
    for parameter in parameters {
        text.push_str(&format!("        {parameter}: {{ type: string, required: true }}\n"));
    }
    Ok(InitDraft::Document { name, text })
}

/// Returns the first word of a command that only has a meaning in a shell.
pub(super) fn shell_sign(answers: &InitAnswers) -> Option<String> {
    const SIGNS: &[&str] = &["|", ">", ">>", "<", "&&", "||", ";", "&", "2>", "2>&1", "&>"];
    let is_command = match answers.kind {
        InitKind::Command => true,
        InitKind::Mcp => !is_url(&answers.source),
        InitKind::Http | InitKind::Openapi | InitKind::Store => false,
    };
    let words = split_command_line("", &answers.source).ok().filter(|_| is_command)?;
    words.into_iter().find(|word| SIGNS.contains(&word.as_str()))
}

/// Returns the names in braces, each once.
fn parameters(words: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    for piece in words.iter().flat_map(|word| word.split('{').skip(1)) {
        let Some((name, _)) = piece.split_once('}') else { continue };
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.is_empty() && name.chars().all(is_name) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn store(answers: &InitAnswers) -> Result<InitDraft> {
    if answers.token_env.is_some() {
        return Err(error_with_hint("--token-env has no effect on a store", "remove it"));
    }
    let record = singular(&snake_case(&answers.source)).into_owned();
    if record.is_empty() {
        return Err(error_with_hint("the kind of record must have a letter", "use one word, such as task"));
    }
    let records = plural(&record);
    let name = answers.name.clone().unwrap_or_else(|| records.replace('_', "-"));
    let words = record.replace('_', " ");
    let text = format!(
        "# Records that mcpaql stores. Each resource gets operations to create, get, list, search, update and delete.\n{}\
         target:\n  transport: native\n  protocol: store\n  resources:\n    {record}:\n      \
         description: {}\n      search: [title, notes]\n      fields:\n        \
         title: {{ type: string, required: true, maxLength: 200 }}\n        \
         notes: {{ type: string, description: Details as Markdown }}\n        \
         # state: {{ type: string, enum: [open, done], default: open }}\n",
        head(&name, &format!("A list of {}", records.replace('_', " "))),
        scalar(&format!("One {words}")),
    );
    Ok(InitDraft::Document { name, text })
}

fn entry(
    answers: &InitAnswers,
    origin: AdapterOrigin,
    name: Option<String>,
    auth: Option<Auth>,
) -> InitDraft {
    InitDraft::Config(Box::new(AdapterEntry {
        origin,
        name: name.or_else(|| answers.name.clone()),
        include: Vec::new(),
        exclude: Vec::new(),
        overrides: None,
        auth,
        limits: CallLimits::default(),
        access: Default::default(),
        pin: true,
        settings: Default::default(),
        pointer: "/adapters/0".to_owned(),
    }))
}

fn openapi(answers: &InitAnswers, file: Option<&Path>) -> Result<InitDraft> {
    let source = match is_url(&answers.source) {
        true => check_url(&answers.source)?,
        // A path in the configuration is relative to its folder.
        false if file.and_then(Path::parent).is_some_and(|folder| !folder.as_os_str().is_empty()) => {
            std::path::absolute(&answers.source)?.display().to_string()
        }
        false => answers.source.clone(),
    };
    Ok(entry(answers, AdapterOrigin::Openapi(source), None, bearer(&answers.token_env)))
}

fn server(answers: &InitAnswers) -> Result<InitDraft> {
    let is_address = is_url(&answers.source);
    let words =
        if is_address { Vec::new() } else { split_command_line(answers.source_label(), &answers.source)? };
    let access = AccessArgs {
        bearer_env: answers.token_env.clone().filter(|_| is_address),
        env: answers.token_env.iter().filter(|_| !is_address).cloned().collect(),
        ..AccessArgs::default()
    };
    let server = servers::server_target(is_address.then_some(answers.source.as_str()), &words, &access)?;
    let Some((target, auth)) = server else {
        let message = format!("{} has no command", answers.source_label());
        return Err(error_with_hint(message, "pass the URL or the command of the server"));
    };
    let name = name(answers, &target.link, "server");
    let auth = Some(auth).filter(|auth| *auth != Auth::None);
    Ok(entry(answers, AdapterOrigin::Mcp(Box::new(target)), Some(name), auth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_document::source::Source;

    #[test]
    fn every_text_is_read_as_it_was_written() {
        let texts = [
            "shop",
            "Run it",
            "true",
            "No",
            "1.0",
            "a: b",
            "a #b",
            "- a",
            "a ",
            "",
            "@a",
            "{x}",
            "a, b",
            "\"'\\\n\u{7}",
            "ä",
        ];
        for text in texts {
            let written = format!("a: {0}\nb: [{0}, {0}]\n", scalar(text));
            let value = Source::new("a.yaml", written).parse().unwrap().value;
            assert_eq!(value, json!({"a": text, "b": [text, text]}), "{text}");
        }
    }

    #[test]
    fn parameters_are_names_in_braces() {
        let words = ["x", "{a}", "--b={b_1}{a}", "{}", "{C}", "{d", "e}"].map(str::to_owned);
        assert_eq!(parameters(&words), ["a", "b_1"]);
    }
}
