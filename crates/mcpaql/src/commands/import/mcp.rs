//! `mcpaql import mcp`: an MCP server → an adapter document that passes calls on to it.
//!
//! What always holds: no tool is called, and no value of a variable gets into what is written.

use super::{Done, check_overwrite, write};
use crate::documents::corrections;
use crate::file;
use crate::output::hinted;
use crate::{Outcome, args, descriptions, output, servers};
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_document::source::Source;
use mcpaql_import::emit::Provenance;
use mcpaql_import::mcp::{self, Imported, Options};
use mcpaql_import::select::Selection;
use mcpaql_runtime::environment;
use serde_json::Value;
use std::path::Path;

pub(crate) async fn run(args: args::ImportMcp) -> Result<Outcome> {
    let (target, auth) = reached(&args)?;
    let (source, overrides) = corrections(&args.importing)?;
    let selection = Selection::parse(&args.importing.include, &args.importing.exclude)?;
    let options = Options { name: args.importing.name.clone(), selection, overrides };
    let read = || args.tools.as_deref().into_iter().chain(args.importing.overrides.as_deref());
    check_overwrite(&args.written, read())?;
    if let Some(path) = &args.bundle {
        file::check_apart(path, read())?;
        if !args.written.force {
            file::check_ours(path, "is not a discovery bundle", is_bundle)?;
        }
    }
    let capture = match &args.tools {
        Some(path) => servers::saved(path)?,
        None => servers::heard(&target, &auth, &environment::process()).await?,
    };
    if let Some(gap) = capture.gap {
        output::status_line(&format!("warning: these are not all tools: {gap}"));
    }
    if capture.tools.is_empty() {
        let hint = "a server with resources or prompts alone has no operations to import";
        return Err(hinted("the server has no tools", hint));
    }
    let imported = match mcp::import(&capture, target, auth, &options) {
        Ok(imported) => imported,
        Err(diagnostics) => {
            show_problems(source, diagnostics);
            return Ok(Outcome::Findings);
        }
    };
    let fingerprint = descriptions::fingerprint(&mcp::canonical(&capture));
    let mut bundled = None;
    if let Some(path) = &args.bundle {
        let bundle = mcp::bundle(&capture, &imported, &fingerprint);
        bundled = Some(write(path, &format!("{}\n", serde_json::to_string_pretty(&bundle)?))?);
    }
    let from = source_name(&capture, &imported, args.tools.as_deref());
    let Imported { adapter, report, version, notes } = imported;
    let provenance = Provenance { source: from, version, fingerprint: Some(fingerprint) };
    Done { adapter, report, notes, provenance }.write(&args.written)?;
    if let Some(written) = bundled {
        output::status_line(&format!("Wrote {written}"));
    }
    Ok(Outcome::Clean)
}

fn show_problems(source: Option<Source>, mut diagnostics: Vec<Diagnostic>) {
    let source = source.unwrap_or_else(|| Source::new("overrides", String::new()));
    source.locate(&mut diagnostics);
    output::diagnostics(&source, &diagnostics);
}

/// What the document says it comes from: the server's own name, else the file, else the adapter's name.
pub(crate) fn source_name(capture: &Capture, imported: &Imported, tools: Option<&Path>) -> String {
    let server = capture.server().and_then(|server| server.get("name")).and_then(Value::as_str);
    let file = tools.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    server.map(str::to_owned).or(file).unwrap_or_else(|| imported.adapter.name.clone())
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
    servers::reached(url.as_deref(), &command, &args.access)?.ok_or_else(|| {
        let message = match args.tools {
            Some(_) => "nothing says how the server of these tools is reached",
            None => "nothing says which server to import",
        };
        let hint = "name its command behind `--`, or its address with --url; with --tools also by --target";
        hinted(message, hint)
    })
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
}
