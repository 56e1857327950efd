//! MCP servers that were named at the command line: how they are reached, and what they say about themselves.
//!
//! What always holds: this module calls no tool, and no value of a variable is shown.

use crate::args::AccessArgs;
use crate::file;
use crate::output;
use crate::output::error_with_hint;
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_document::load::{is_credential_name, without_credentials};
use mcpaql_document::source::{NOT_JSON, Parsed, Source};
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::Path;

/// The user pressed Ctrl-C.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Asks a running server, which is started and ended for it.
pub(crate) async fn capture_server(
    target: &McpTarget,
    auth: &Auth,
    environment: &Environment,
) -> Result<Capture> {
    capture_server_with(target, auth, environment, async |_, _| Ok(())).await.map(|(capture, ())| capture)
}

/// The same; `then` may go on with the server before it is ended.
pub(crate) async fn capture_server_with<T>(
    target: &McpTarget,
    auth: &Auth,
    environment: &Environment,
    then: impl AsyncFnOnce(&Upstream, &Capture) -> Result<T>,
) -> Result<(Capture, T)> {
    let upstream = Upstream::new(target, auth, environment)?;
    if output::stderr_is_terminal() {
        output::status_line(&format!("Asking {} for its tools", link_name(&target.link)));
    }
    let asking = async {
        let capture = upstream.capture().await.map_err(|error| {
            let hint = hint(&error, &target.link);
            error_with_hint(error.to_string(), hint)
        })?;
        let more = then(&upstream, &capture).await?;
        Ok((capture, more))
    };
    let heard = tokio::select! {
        heard = asking => heard,
        _ = tokio::signal::ctrl_c() => Err(Interrupted.into()),
    };
    upstream.close().await;
    heard
}

/// A server as people may see it.
fn link_name(link: &McpLink) -> String {
    match link {
        McpLink::Command(program) => program.command.first().cloned().unwrap_or_default(),
        McpLink::Url { url, .. } => without_credentials("base_url", url).into_owned(),
    }
}

fn hint(error: &UpstreamError, link: &McpLink) -> &'static str {
    match (error, link) {
        (UpstreamError::Refusal(_), McpLink::Command(_)) => "set the variable, or name another one",
        (UpstreamError::Refusal(_), McpLink::Url { .. }) => {
            "set the variable, or name the one that holds the credential with --bearer-env or --header"
        }
        (UpstreamError::Timeout { .. }, McpLink::Command(_)) => {
            "is it an MCP server that speaks over standard input and output?"
        }
        (UpstreamError::Unreadable { .. }, _) => {
            "report it to the authors of the server: no client can read it"
        }
        (_, McpLink::Command(_)) => {
            "try the command by itself, and pass on the variables it needs with --env NAME"
        }
        (_, McpLink::Url { .. }) => {
            "check the address, and name the variable of the credential with --bearer-env or --header"
        }
    }
}

/// A saved answer of `tools/list`.
pub(crate) fn read_saved_tools(path: &Path) -> Result<Capture> {
    let source = Source::new(path.display().to_string(), file::read_text(path)?);
    let SavedTools { capture, duplicate_names: twice, .. } = parse_saved_tools(&source)?;
    output::print_diagnostics(&source, &twice);
    Ok(capture)
}

/// A saved answer as it was read.
pub(crate) struct SavedTools {
    pub(crate) capture: Capture,
    /// Where the list of tools stands in the text.
    pub(crate) pointer: String,
    /// Names that stand twice in one object.
    pub(crate) duplicate_names: Vec<Diagnostic>,
}

/// Of a name that stands twice, clients take the last.
fn parse_last_wins(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

fn duplicate_name_message(pointer: &str) -> String {
    let name = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    format!("`{name}` stands twice in the same object; clients take the last")
}

/// Why a list cannot be read, with the tool that is to blame.
fn parse_error(source: &Source, problems: &[Diagnostic]) -> anyhow::Error {
    let name = &source.name;
    let Some(problem) = problems.first() else { return anyhow::anyhow!("{name} is not JSON") };
    let Some(reason) = problem.message.strip_prefix(NOT_JSON) else {
        return anyhow::anyhow!("{name} is nested too deeply to be read");
    };
    let reason = match reason {
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "half of a surrogate pair, such as \\ud800, is no character"
        }
        "number out of range" => "the number is too large to be held",
        reason => reason,
    };
    let place = problem.span.map(|span| format!("line {}, column {}", span.line, span.column));
    let tool = first_invalid_tool(&source.text).map(|index| format!("in tools[{index}]"));
    let place: Vec<String> = place.into_iter().chain(tool).collect();
    anyhow::anyhow!("{name} is not JSON: {}: {reason}", place.join(", "))
}

/// The first tool that cannot be read, where everything around it can.
fn first_invalid_tool(text: &str) -> Option<usize> {
    let mut list = text.trim_start_matches('\u{feff}');
    while !list.trim_start().starts_with('[') {
        let members: HashMap<String, &RawValue> = serde_json::from_str(list).ok()?;
        let inner = ["tools", "result", "capture"].iter().find_map(|key| members.get(*key))?;
        list = inner.get();
    }
    let tools: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    tools.iter().position(|tool| serde_json::from_str::<Value>(tool.get()).is_err())
}

/// A saved answer, whatever its file is called.
pub(crate) fn parse_saved_tools(source: &Source) -> Result<SavedTools> {
    let name = &source.name;
    let Parsed { mut value, diagnostics: mut twice, .. } =
        source.parse_json().map_err(|problems| parse_error(source, &problems))?;
    if !twice.is_empty() {
        value = parse_last_wins(&source.text).unwrap_or(value);
        twice.iter_mut().for_each(|problem| problem.message = duplicate_name_message(&problem.pointer));
    }
    let mut pointer = String::new();
    // A bundle holds what was captured.
    let is_bundle = value.get("provenance").is_some() && value.get("capture").is_some();
    if is_bundle {
        pointer.push_str("/capture");
    }
    let mut inner = value.pointer(&pointer);
    while let Some(result) = inner.filter(|inner| !inner.get("tools").is_some_and(Value::is_array)) {
        if result.is_array() {
            break;
        }
        inner = result.get("result");
        pointer.push_str("/result");
    }
    if inner.is_some_and(Value::is_object) {
        pointer.push_str("/tools");
    }
    let captured = value.get("capture").filter(|_| is_bundle).cloned();
    let capture = Capture::from_json(captured.unwrap_or(value)).ok_or_else(|| {
        let hint = "save the answer of tools/list, with its `tools`";
        error_with_hint(format!("{name} holds no list of tools"), hint)
    })?;
    Ok(SavedTools { capture, pointer, duplicate_names: twice })
}

impl AccessArgs {
    /// Refuses a flag that no server that was named could mean.
    pub(crate) fn check_flags(&self, addresses: bool, commands: bool) -> Result<()> {
        let given = [
            ("--header", !self.header.is_empty(), addresses),
            ("--bearer-env", self.bearer_env.is_some(), addresses),
            ("--allow-http", self.allow_http, addresses),
            ("--env", !self.env.is_empty(), commands),
        ];
        let Some((flag, ..)) = given.iter().find(|(_, given, meant)| *given && !meant) else { return Ok(()) };
        let message = match (addresses, commands) {
            (true, _) => format!("{flag} means nothing to a server with an address"),
            (_, true) => format!("{flag} means nothing to a server with a command"),
            _ => format!("{flag} means nothing without a server that is asked"),
        };
        Err(error_with_hint(message, "leave it out"))
    }
}

/// The server that was named by an address or a command which will be written down; `None` where neither was.
pub(crate) fn server_target(
    url: Option<&str>,
    command: &[String],
    access: &AccessArgs,
) -> Result<Option<(McpTarget, Auth)>> {
    let reached = match url {
        Some(url) => target_of_url(url, access)?,
        None if command.first().is_none_or(String::is_empty) => return Ok(None),
        None => {
            check_credentials(command)?;
            target_of_command(command, access)?
        }
    };
    let remote = url.is_some();
    access.check_flags(remote, !remote)?;
    Ok(Some(reached))
}

/// A server that speaks streamable HTTP.
pub(crate) fn target_of_url(url: &str, access: &AccessArgs) -> Result<(McpTarget, Auth)> {
    let link = McpLink::Url {
        url: address(url)?,
        headers: access.header.iter().map(|pair| header(pair)).collect::<Result<_>>()?,
        allow_http: access.allow_http,
    };
    let auth = match &access.bearer_env {
        None => Auth::None,
        Some(name) => Auth::Bearer {
            token_env: check_variable_name("--bearer-env", name)?,
            header: "Authorization".to_owned(),
            prefix: "Bearer ".to_owned(),
        },
    };
    Ok((McpTarget::new(link), auth))
}

/// A server that is a program.
pub(crate) fn target_of_command(command: &[String], access: &AccessArgs) -> Result<(McpTarget, Auth)> {
    let link = McpLink::Command(McpCommand {
        command: command.to_vec(),
        cwd: None,
        env: access.env.iter().map(|name| check_variable_name("--env", name)).collect::<Result<_>>()?,
        set_env: Default::default(),
    });
    Ok((McpTarget::new(link), Auth::None))
}

/// Refuses a command that will be written down and holds a credential.
pub(crate) fn check_credentials(command: &[String]) -> Result<()> {
    match find_credential(command) {
        None => Ok(()),
        Some(word) => Err(error_with_hint(
            format!("word {word} of the command holds a credential"),
            "put it in a variable and write '${env:NAME}' there, or pass the variable on with --env NAME",
        )),
    }
}

/// The name of a variable. What is none may be its value, so it is not shown.
fn check_variable_name(flag: &str, name: &str) -> Result<String> {
    let legal = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if legal && name.len() <= 128 {
        return Ok(name.to_owned());
    }
    Err(error_with_hint(
        format!("{flag} takes the name of an environment variable"),
        "set the variable to the secret, and give only its name here",
    ))
}

fn header(pair: &str) -> Result<(String, String)> {
    let Some((name, value)) = pair.split_once('=') else {
        return Err(error_with_hint(
            "--header takes NAME=VARIABLE",
            "such as --header X-Api-Key=EXAMPLE_KEY",
        ));
    };
    Ok((name.trim().to_owned(), format!("${{env:{}}}", check_variable_name("--header", value)?)))
}

/// An address without credentials in it: it will stand in the document.
fn address(url: &str) -> Result<String> {
    if without_credentials("base_url", url) == url {
        return Ok(url.to_owned());
    }
    Err(error_with_hint(
        "the address holds a credential",
        "put it in a variable and write '${env:NAME}' there, or use --bearer-env or --header",
    ))
}

/// The number of a word that is a credential, by its shape or by the name before it.
fn find_credential(command: &[String]) -> Option<usize> {
    let mut named = false;
    command
        .iter()
        .position(|word| {
            let after = std::mem::take(&mut named);
            let (name, value) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            named = value.is_none() && word.starts_with('-') && is_credential_name(name);
            let plain = |value: &str| {
                !value.is_empty()
                    && !value.contains("${env:")
                    && !value.starts_with('-')
                    && value.parse::<f64>().is_err()
            };
            let held = value.is_some_and(|value| is_credential_name(name) && plain(value));
            held || (after && plain(word)) || without_credentials("base_url", word) != word.as_str()
        })
        .map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn credentials_in_a_command_are_found_by_shape_and_by_name() {
        let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ"].concat();
        for (line, found) in [
            (format!("server {token}"), Some(2)),
            ("server --api-key hunter2".to_owned(), Some(3)),
            ("docker run -e TOKEN=hunter2 x".to_owned(), Some(4)),
            ("server postgres://me:hunter2@db/x".to_owned(), Some(2)),
            ("server --api-key ${env:KEY}".to_owned(), None),
            ("docker run -e TOKEN x".to_owned(), None),
            ("server --max-token 5 --token --verbose".to_owned(), None),
        ] {
            assert_eq!(find_credential(&words(&line)), found, "{line}");
        }
    }
}
