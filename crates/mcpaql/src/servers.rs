//! MCP servers that are named on the command line: how to reach them, and how to list their tools.
//!
//! What always holds: this module calls no tool, and never prints the value of an environment variable.

use crate::args::AccessArgs;
use crate::file;
use crate::openapi_files;
use crate::output::{self, HintedError, error_with_hint};
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::{Code, OpError};
use mcpaql_document::load::{is_credential_name, without_credentials};
use mcpaql_document::source::{NOT_JSON, Parsed, Source};
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::target::http::HttpSetupError;
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError, UpstreamSetupError};
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

/// Waits until the user presses Ctrl-C, or the process should stop for another reason.
#[cfg(unix)]
pub(crate) async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = signals else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Waits until the user presses Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn stop_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// How the user names the credentials and variables of a server, for hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessSyntax {
    /// With flags of the command line.
    Flags,
    /// With keys of a configuration or a document.
    Keys,
}

/// Starts a server, asks it for its tools and stops it.
pub(crate) async fn capture_server(
    target: &McpTarget,
    auth: &Auth,
    environment: &Environment,
) -> Result<Capture> {
    capture_server_with(target, auth, environment, async |_, _| Ok(())).await.map(|(capture, ())| capture)
}

/// Like [`capture_server`], but runs `then` before the server is stopped.
pub(crate) async fn capture_server_with<T>(
    target: &McpTarget,
    auth: &Auth,
    environment: &Environment,
    then: impl AsyncFnOnce(&Upstream, &Capture) -> Result<T>,
) -> Result<(Capture, T)> {
    warn_unset_variables(&target.link, environment);
    let upstream = Upstream::new(target, auth, environment).map_err(setup_error)?;
    if output::stderr_is_terminal() {
        output::status_line(&format!("Asking {} for its tools", link_name(&target.link)));
    }
    let asking = async {
        let capture = upstream
            .capture()
            .await
            .map_err(|error| capture_error(error, &target.link, AccessSyntax::Flags))?;
        let more = then(&upstream, &capture).await?;
        Ok((capture, more))
    };
    let result = tokio::select! {
        result = asking => result,
        () = stop_signal() => Err(Interrupted.into()),
    };
    upstream.close().await;
    result
}

/// Warns about variables that should be passed to the server but are not set.
fn warn_unset_variables(link: &McpLink, environment: &Environment) {
    let McpLink::Command(program) = link else { return };
    for name in program.env.iter().filter(|name| environment(name).is_none()) {
        output::status_line(&format!("warning: the environment variable {name} is not set"));
    }
}

/// Returns the name of a server for messages, without credentials.
fn link_name(link: &McpLink) -> String {
    match link {
        McpLink::Command(program) => program.command.first().cloned().unwrap_or_default(),
        McpLink::Url { url, .. } => without_credentials("base_url", url).into_owned(),
    }
}

pub(crate) fn setup_error(error: UpstreamSetupError) -> anyhow::Error {
    match error {
        UpstreamSetupError::Http(HttpSetupError::PlainHttp) => error_with_hint(
            "the URL uses plain http to another machine",
            "use https, or allow plain http with --allow-http (in mcpaql.yaml: `allow_http: true`)",
        ),
        other => other.into(),
    }
}

/// Adds a hint to the error of a server that did not list its tools.
pub(crate) fn capture_error(error: UpstreamError, link: &McpLink, syntax: AccessSyntax) -> anyhow::Error {
    match (&error, link) {
        (UpstreamError::Refusal(refusal), McpLink::Url { .. }) => refusal_error(refusal, link, syntax),
        (UpstreamError::Unavailable { cause: Some(cause), .. }, McpLink::Command(_)) => {
            error_with_hint(cause.clone(), "install the program, or correct the command")
        }
        (UpstreamError::Unavailable { cause: Some(cause), .. }, McpLink::Url { .. }) => error_with_hint(
            cause.clone(),
            format!("check the URL {}, and that the server is running", link_name(link)),
        ),
        (UpstreamError::NotMcp { .. }, McpLink::Url { .. }) => {
            anyhow::Error::new(error).context(not_an_mcp_server(link, ""))
        }
        _ => {
            let hint = hint(&error, link, syntax);
            error_with_hint(error.to_string(), hint)
        }
    }
}

/// Returns the error for a URL that answered with an HTTP error, or that could not be asked because a credential is missing.
fn refusal_error(refusal: &OpError, link: &McpLink, syntax: AccessSyntax) -> anyhow::Error {
    let status = refusal.details.get("upstream").and_then(|upstream| upstream.get("status")?.as_u64());
    let Some(status) = status else {
        let problem = refusal.cause.as_deref().unwrap_or(&refusal.message);
        let set = refusal.hint.as_deref().unwrap_or("set the variable");
        let hint = match syntax {
            AccessSyntax::Flags => format!("{set}, or pass another variable with --bearer-env or --header"),
            AccessSyntax::Keys => set.to_owned(),
        };
        return error_with_hint(problem, hint);
    };
    let hint = match (refusal.code, status) {
        (Code::PermissionDenied, _) => match syntax {
            AccessSyntax::Flags => {
                "pass the environment variable with the credential: --bearer-env NAME or --header HEADER=NAME"
            }
            AccessSyntax::Keys => "check the credential, and add `auth` or `headers` if there is none",
        },
        (Code::RateLimitExceeded | Code::TransportTimeout, _) | (_, 500 | 502..=504) => {
            "try again later, or check the URL"
        }
        _ => return not_an_mcp_server(link, &format!(" (HTTP {status})")).into(),
    };
    let message = format!("{} rejected the request (HTTP {status})", link_name(link));
    let has_body = refusal.details.get("upstream").is_some_and(|upstream| upstream.get("body").is_some());
    match refusal.cause.as_ref().filter(|_| has_body) {
        Some(cause) => anyhow::anyhow!(cause.clone()).context(HintedError { message, hint: hint.to_owned() }),
        None => error_with_hint(message, hint),
    }
}

fn not_an_mcp_server(link: &McpLink, detail: &str) -> HintedError {
    HintedError {
        message: format!("{} does not answer as an MCP server{detail}", link_name(link)),
        hint: "check the URL: it must be the endpoint of a server that speaks streamable HTTP, such as https://example.com/mcp"
            .to_owned(),
    }
}

fn hint(error: &UpstreamError, link: &McpLink, syntax: AccessSyntax) -> &'static str {
    match (error, link, syntax) {
        (UpstreamError::Refusal(_), McpLink::Command(_), _) => "set the variable, or pass another one",
        (UpstreamError::Timeout { .. } | UpstreamError::NotMcp { .. }, McpLink::Command(_), _) => {
            "check that the command starts an MCP server that speaks over standard input and output"
        }
        (UpstreamError::Unreadable { .. }, _, _) => {
            "report it to the authors of the server: no MCP client can read this answer"
        }
        (_, McpLink::Command(_), AccessSyntax::Flags) => {
            "run the command by itself: it must keep running and wait for input; pass the variables it needs with --env NAME"
        }
        (_, McpLink::Command(_), AccessSyntax::Keys) => {
            "run the command by itself: it must keep running and wait for input; list the variables it needs under `env`"
        }
        (_, McpLink::Url { .. }, AccessSyntax::Flags) => {
            "check the URL; if the server needs a credential, pass its variable with --bearer-env or --header"
        }
        (_, McpLink::Url { .. }, AccessSyntax::Keys) => {
            "check the URL; if the server needs a credential, add `auth` or `headers`"
        }
    }
}

/// Reads a saved result of `tools/list`, and prints warnings about duplicate names in it.
pub(crate) fn read_saved_tools(path: &Path) -> Result<Capture> {
    let source = Source::new(path.display().to_string(), file::read_flag("--tools", path)?);
    let SavedTools { capture, duplicate_names, .. } = parse_saved_tools(&source)?;
    output::print_diagnostics(&source, &duplicate_names);
    Ok(capture)
}

/// A saved result of `tools/list`.
pub(crate) struct SavedTools {
    pub(crate) capture: Capture,
    /// JSON pointer to the list of tools.
    pub(crate) pointer: String,
    /// Names that occur twice in one object.
    pub(crate) duplicate_names: Vec<Diagnostic>,
}

/// Parses JSON as clients do: if a name occurs twice, the last one counts.
fn parse_last_wins(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

fn duplicate_name_message(pointer: &str) -> String {
    let name = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    format!("`{name}` occurs twice in the same object; clients use the last one")
}

/// Returns the error for a list that is not valid JSON, with the index of the invalid tool.
fn parse_error(source: &Source, problems: &[Diagnostic]) -> anyhow::Error {
    let name = &source.name;
    let Some(problem) = problems.first() else { return anyhow::anyhow!("{name} is not valid JSON") };
    let Some(reason) = problem.message.strip_prefix(NOT_JSON) else {
        return anyhow::anyhow!("{name} is nested too deeply to be read");
    };
    let position = problem.span.map(|span| format!("line {}, column {}", span.line, span.column));
    let tool = first_invalid_tool(&source.text).map(|index| format!("in tools[{index}]"));
    let position: Vec<String> = position.into_iter().chain(tool).collect();
    error_with_hint(
        format!("{name} is not valid JSON: {}: {reason}", position.join(", ")),
        "--tools takes the saved result of tools/list, as JSON",
    )
}

/// Returns the index of the first invalid tool, if everything around the tools is valid.
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

/// Parses a saved result of `tools/list`: the result itself, a JSON-RPC response, or a bundle of `import mcp`.
pub(crate) fn parse_saved_tools(source: &Source) -> Result<SavedTools> {
    let name = &source.name;
    let Parsed { mut value, diagnostics: mut duplicate_names, .. } =
        source.parse_json().map_err(|problems| parse_error(source, &problems))?;
    if !duplicate_names.is_empty() {
        value = parse_last_wins(&source.text).unwrap_or(value);
        duplicate_names
            .iter_mut()
            .for_each(|problem| problem.message = duplicate_name_message(&problem.pointer));
    }
    let mut pointer = String::new();
    // A bundle of `import mcp` holds the result under `capture`.
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
        let hint = "it must contain the result of tools/list: {\"tools\": […]}";
        error_with_hint(format!("{name} contains no list of tools"), hint)
    })?;
    Ok(SavedTools { capture, pointer, duplicate_names })
}

impl AccessArgs {
    /// Refuses flags that apply to none of the named servers.
    pub(crate) fn check_flags(&self, has_url: bool, has_command: bool) -> Result<()> {
        let given = [
            ("--header", !self.header.is_empty(), has_url),
            ("--bearer-env", self.bearer_env.is_some(), has_url),
            ("--allow-http", self.allow_http, has_url),
            ("--env", !self.env.is_empty(), has_command),
        ];
        let Some((flag, ..)) = given.iter().find(|(_, given, applies)| *given && !applies) else {
            return Ok(());
        };
        let message = match (has_url, has_command) {
            (true, _) => format!("{flag} has no effect on a server with a URL"),
            (_, true) => format!("{flag} has no effect on a server with a command"),
            _ => format!("{flag} has no effect without --url or a command"),
        };
        Err(error_with_hint(message, format!("remove {flag}")))
    }
}

/// Returns the server with this URL or command, or `None` if there is neither. Both will be written to a document, so
/// credentials in them are refused.
pub(crate) fn server_target(
    url: Option<&str>,
    command: &[String],
    access: &AccessArgs,
) -> Result<Option<(McpTarget, Auth)>> {
    let server = match url {
        Some(url) => target_of_url(url, access)?,
        None if command.first().is_none_or(String::is_empty) => return Ok(None),
        None => {
            check_credentials(command)?;
            target_of_command(command, access)?
        }
    };
    let remote = url.is_some();
    access.check_flags(remote, !remote)?;
    Ok(Some(server))
}

/// Whether a URL is the endpoint of an MCP server, by its path: descriptions of APIs have other names.
pub(crate) fn is_mcp_url(source: &str) -> bool {
    let path = source.split(['?', '#']).next().unwrap_or(source);
    openapi_files::is_url(source) && path.trim_end_matches('/').ends_with("/mcp")
}

/// Returns the target for a server that speaks streamable HTTP.
pub(crate) fn target_of_url(url: &str, access: &AccessArgs) -> Result<(McpTarget, Auth)> {
    let link = McpLink::Url {
        url: check_url(url)?,
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
    let mut target = McpTarget::new(link);
    target.grant_own_host();
    Ok((target, auth))
}

/// Returns the target for a server that is started by a command.
pub(crate) fn target_of_command(command: &[String], access: &AccessArgs) -> Result<(McpTarget, Auth)> {
    let link = McpLink::Command(McpCommand {
        command: command.to_vec(),
        cwd: None,
        env: access.env.iter().map(|name| check_variable_name("--env", name)).collect::<Result<_>>()?,
        set_env: Default::default(),
    });
    Ok((McpTarget::new(link), Auth::None))
}

/// Refuses a command with a credential in it, because the command will be written to a document.
pub(crate) fn check_credentials(command: &[String]) -> Result<()> {
    match find_credential(command) {
        None => Ok(()),
        Some(word) => Err(error_with_hint(
            format!("word {word} of the command contains a credential"),
            "put it in an environment variable and write '${env:NAME}' instead, or pass the variable with --env NAME",
        )),
    }
}

/// Checks the name of an environment variable. An invalid name may be the secret itself, so the error does not show it.
pub(crate) fn check_variable_name(flag: &str, name: &str) -> Result<String> {
    let is_valid = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_valid && name.len() <= 128 {
        return Ok(name.to_owned());
    }
    Err(error_with_hint(
        format!("{flag} takes the name of an environment variable, not its value"),
        "set the variable to the secret, and pass only its name",
    ))
}

fn header(pair: &str) -> Result<(String, String)> {
    let Some((name, value)) = pair.split_once('=') else {
        return Err(error_with_hint(
            "--header takes NAME=VARIABLE",
            "for example --header X-Api-Key=EXAMPLE_KEY",
        ));
    };
    Ok((name.trim().to_owned(), format!("${{env:{}}}", check_variable_name("--header", value)?)))
}

/// Checks that a URL contains no credentials, because it will be written to a document.
pub(crate) fn check_url(url: &str) -> Result<String> {
    if without_credentials("base_url", url) == url {
        return Ok(url.to_owned());
    }
    Err(error_with_hint(
        "the URL contains a credential",
        "put it in an environment variable and write '${env:NAME}' instead, or use --bearer-env or --header",
    ))
}

/// Returns the position (from 1) of the first word that is a credential, by its form or by the name before it.
fn find_credential(command: &[String]) -> Option<usize> {
    let mut expects_credential = false;
    command
        .iter()
        .position(|word| {
            let is_expected = std::mem::take(&mut expects_credential);
            let (name, value) =
                word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            expects_credential = value.is_none() && word.starts_with('-') && is_credential_name(name);
            let plain = |value: &str| {
                !value.is_empty()
                    && !value.contains("${env:")
                    && !value.starts_with('-')
                    && value.parse::<f64>().is_err()
            };
            let is_assigned = value.is_some_and(|value| is_credential_name(name) && plain(value));
            is_assigned
                || (is_expected && plain(word))
                || without_credentials("base_url", word) != word.as_str()
        })
        .map(|index| index + 1)
}

/// Splits a command line into words. Quotes keep words together; no other character is special.
pub(crate) fn split_command_line(flag: &str, line: &str) -> Result<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(_) => Err(error_with_hint(format!("{flag} has an unclosed quote"), "close the quote")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_at_spaces_outside_quotes() {
        let words = split_command_line("--target", "npx -y  '@a/b c' \"\" x").unwrap();
        assert_eq!(words, ["npx", "-y", "@a/b c", "", "x"]);
        assert!(split_command_line("--target", "npx 'a").is_err());
    }

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
