//! `mcpaql import mcp`: an MCP server → an adapter document that passes calls on to it.
//!
//! What always holds: no tool is called, and no value of a variable gets into what is written.

use super::{Done, check_ours, check_overwrite, tell, write};
use crate::documents::corrections;
use crate::output::Hinted;
use crate::{Outcome, args, descriptions, output};
use anyhow::{Context, Result};
use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget, is_credential_name, without_credentials};
use mcpaql_core::capture::Capture;
use mcpaql_core::diagnostic::{Diagnostic, render};
use mcpaql_core::source::Source;
use mcpaql_import::emit::Provenance;
use mcpaql_import::mcp::{self, Imported, Options};
use mcpaql_import::select::Selection;
use mcpaql_runtime::environment;
use mcpaql_runtime::upstream::{Upstream, UpstreamError};
use serde_json::Value;
use std::path::Path;

pub(crate) async fn run(args: args::ImportMcp) -> Result<Outcome> {
    let (target, auth) = reached(&args)?;
    let (source, overrides) = corrections(&args.importing)?;
    let selection = Selection::parse(&args.importing.include, &args.importing.exclude)?;
    let options = Options { name: args.importing.name.clone(), selection, overrides };
    check_overwrite(&args.written)?;
    if let Some(path) = args.bundle.as_deref().filter(|_| !args.written.force) {
        check_ours(path, "a discovery bundle", is_bundle)?;
    }
    let capture = match &args.tools {
        Some(path) => saved(path)?,
        None => heard(&target, &auth).await?,
    };
    if capture.tools.is_empty() {
        let hint = "a server with resources or prompts alone has no operations to import";
        return Err(hinted("the server has no tools", hint));
    }
    let imported = match mcp::import(&capture, target, auth, &options) {
        Ok(imported) => imported,
        Err(diagnostics) => {
            tell_wrong(source, diagnostics);
            return Ok(Outcome::Findings);
        }
    };
    let fingerprint = descriptions::fingerprint(&mcp::canonical(&capture));
    if let Some(path) = &args.bundle {
        let bundle = mcp::bundle(&capture, &imported, &fingerprint);
        write(path, &format!("{}\n", serde_json::to_string_pretty(&bundle)?))?;
    }
    let from = source_name(&capture, &imported, args.tools.as_deref());
    let Imported { adapter, report, version, notes } = imported;
    let provenance = Provenance { source: from, version, fingerprint: Some(fingerprint) };
    tell(&Done { adapter, report, notes, provenance }, &args.written)?;
    if let Some(path) = &args.bundle {
        output::talk(&format!("Wrote {}", path.display()));
    }
    Ok(Outcome::Clean)
}

fn hinted(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Hinted { message: message.into(), hint: hint.into() }.into()
}

fn tell_wrong(source: Option<Source>, mut diagnostics: Vec<Diagnostic>) {
    let source = source.unwrap_or_else(|| Source::new("overrides", String::new()));
    source.locate(&mut diagnostics);
    output::talk(&render::full(&[(&source, &diagnostics)], output::stderr_is_terminal()));
}

/// What the document says it comes from: the server's own name, else the file, else the adapter's name.
fn source_name(capture: &Capture, imported: &Imported, tools: Option<&Path>) -> String {
    let server = capture.server().and_then(|server| server.get("name")).and_then(Value::as_str);
    let file = tools.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    server.map(str::to_owned).or(file).unwrap_or_else(|| imported.adapter.name.clone())
}

/// Asks a running server, which is started and ended for it.
async fn heard(target: &McpTarget, auth: &Auth) -> Result<Capture> {
    let upstream = Upstream::new(target, auth, &environment::process())?;
    if output::stderr_is_terminal() {
        let name = match &target.link {
            McpLink::Command(program) => program.command.first().cloned().unwrap_or_default(),
            McpLink::Url { url, .. } => without_credentials("base_url", url).into_owned(),
        };
        output::talk(&format!("Asking {name} for its tools"));
    }
    let capture = upstream.capture().await;
    upstream.close().await;
    capture.map_err(|error| {
        let hint = hint(&error, &target.link);
        hinted(error.to_string(), hint)
    })
}

fn hint(error: &UpstreamError, link: &McpLink) -> &'static str {
    match (error, link) {
        (UpstreamError::Refusal(_), _) => "set the variable, or name another one",
        (UpstreamError::Timeout { .. }, McpLink::Command(_)) => {
            "is it an MCP server that speaks over standard input and output?"
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
fn saved(path: &Path) -> Result<Capture> {
    let shown = path.display().to_string();
    let text = descriptions::read_text(path)?;
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .with_context(|| format!("{shown} is not JSON"))?;
    // A bundle holds what was captured.
    let captured = value.get("capture").filter(|_| value.get("provenance").is_some()).cloned();
    Capture::from_json(captured.unwrap_or(value)).ok_or_else(|| {
        let hint = "save the answer of tools/list, with its `tools`";
        hinted(format!("{shown} holds no list of tools"), hint)
    })
}

fn is_bundle(text: &str) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value.get("provenance").is_some() && value.get("capture").is_some())
}

/// Where the server is, from what was typed.
fn reached(args: &args::ImportMcp) -> Result<(McpTarget, Auth)> {
    let words =
        args.target.as_deref().filter(|target| !descriptions::is_address(target)).map(split).transpose()?;
    let url =
        args.url.clone().or_else(|| args.target.clone().filter(|target| descriptions::is_address(target)));
    let command = words.unwrap_or_else(|| args.command.clone());
    let link = match url {
        Some(url) => McpLink::Url {
            url: address(url)?,
            headers: args.header.iter().map(|pair| header(pair)).collect::<Result<_>>()?,
            allow_http: args.allow_http,
        },
        None if command.first().is_none_or(String::is_empty) => {
            let message = match args.tools {
                Some(_) => "nothing says how the server of these tools is reached",
                None => "nothing says which server to import",
            };
            let hint =
                "name its command behind `--`, or its address with --url; with --tools also by --target";
            return Err(hinted(message, hint));
        }
        None => {
            if let Some(word) = credential(&command) {
                let hint = "put it in a variable and write '${env:NAME}' there, or pass the variable on with --env NAME";
                return Err(hinted(format!("word {word} of the command holds a credential"), hint));
            }
            McpLink::Command(McpCommand {
                command,
                cwd: None,
                env: args.env.iter().map(|name| variable("--env", name)).collect::<Result<_>>()?,
                set_env: Default::default(),
            })
        }
    };
    let remote = matches!(link, McpLink::Url { .. });
    let given = [
        ("--header", !args.header.is_empty(), true),
        ("--bearer-env", args.bearer_env.is_some(), true),
        ("--allow-http", args.allow_http, true),
        ("--env", !args.env.is_empty(), false),
    ];
    if let Some((flag, ..)) = given.iter().find(|(_, given, of_url)| *given && *of_url != remote) {
        let kind = if remote { "an address" } else { "a command" };
        return Err(hinted(format!("{flag} means nothing to a server with {kind}"), "leave it out"));
    }
    let auth = match &args.bearer_env {
        None => Auth::None,
        Some(name) => Auth::Bearer {
            token_env: variable("--bearer-env", name)?,
            header: "Authorization".to_owned(),
            prefix: "Bearer ".to_owned(),
        },
    };
    Ok((McpTarget::new(link), auth))
}

/// The name of a variable. What is none may be its value, so it is not shown.
fn variable(flag: &str, name: &str) -> Result<String> {
    let legal = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if legal && name.len() <= 128 {
        return Ok(name.to_owned());
    }
    Err(hinted(
        format!("{flag} takes the name of an environment variable"),
        "set the variable to the secret, and give only its name here",
    ))
}

fn header(pair: &str) -> Result<(String, String)> {
    let Some((name, value)) = pair.split_once('=') else {
        return Err(hinted("--header takes NAME=VARIABLE", "such as --header X-Api-Key=EXAMPLE_KEY"));
    };
    Ok((name.trim().to_owned(), format!("${{env:{}}}", variable("--header", value)?)))
}

/// An address without credentials in it: it will stand in the document.
fn address(url: String) -> Result<String> {
    if without_credentials("base_url", &url) == url.as_str() {
        return Ok(url);
    }
    Err(hinted(
        "the address holds a credential",
        "put it in a variable and write '${env:NAME}' there, or use --bearer-env or --header",
    ))
}

/// The number of a word that is a credential, by its shape or by the name before it.
fn credential(command: &[String]) -> Option<usize> {
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

/// A command line as words; quotes hold words together, and nothing else is special.
fn split(line: &str) -> Result<Vec<String>> {
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
        Some(_) => Err(hinted("--target has a quote that does not end", "close it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        split(line).unwrap()
    }

    #[test]
    fn a_command_line_is_split_at_spaces_outside_quotes() {
        assert_eq!(words("npx -y  '@a/b c' \"\" x"), ["npx", "-y", "@a/b c", "", "x"]);
        assert!(split("npx 'a").is_err());
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
            assert_eq!(credential(&words(&line)), found, "{line}");
        }
    }
}
