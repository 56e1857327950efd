//! `mcpaql import mcp`: creates an adapter document that forwards calls to an MCP server.
//!
//! What always holds: no tool is called, and the output never contains the value of an environment variable.

use super::{ImportResult, check_overwrite, write_to_existing_folder};
use crate::documents::read_overrides;
use crate::file;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, openapi_files, output, servers};
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_document::source::Source;
use mcpaql_import::emit::Provenance;
use mcpaql_import::mcp::{self, ImportedServer, McpImportOptions};
use mcpaql_runtime::environment;
use serde_json::Value;
use std::path::Path;

pub(crate) async fn run(args: args::ImportMcpArgs) -> Result<CommandOutcome> {
    let (target, auth) = server_target(&args)?;
    let (source, overrides) = read_overrides(&args.import_options)?;
    let selection = args.import_options.selection()?;
    let options = McpImportOptions {
        name: args.import_options.name.clone(),
        selection,
        overrides,
        keep_input_schemas: false,
    };
    let inputs = || args.tools.as_deref().into_iter().chain(args.import_options.overrides.as_deref());
    check_overwrite(&args.output_args, inputs())?;
    if let Some(path) = &args.bundle {
        file::check_not_input(path, inputs())?;
        if !args.output_args.force {
            file::check_written_by_us(path, "is not a discovery bundle", is_bundle)?;
        }
    }
    let capture = match &args.tools {
        Some(path) => servers::read_saved_tools(path)?,
        None => servers::capture_server(&target, &auth, &environment::process()).await?,
    };
    if let Some(gap) = capture.incomplete_reason {
        output::status_line(&format!("warning: the list of tools is incomplete: {gap}"));
    }
    if capture.tools.is_empty() {
        let hint = "only tools can be imported, not resources or prompts";
        return Err(error_with_hint("the server has no tools", hint));
    }
    let imported = match mcp::import(&capture, target, auth, &options) {
        Ok(imported) => imported,
        Err(diagnostics) => {
            show_problems(source, diagnostics);
            return Ok(CommandOutcome::Findings);
        }
    };
    let fingerprint = openapi_files::fingerprint(&mcp::canonical(&capture));
    let mut bundled = None;
    if let Some(path) = &args.bundle {
        let bundle = mcp::bundle(&capture, &imported, &fingerprint);
        bundled =
            Some(write_to_existing_folder(path, &format!("{}\n", serde_json::to_string_pretty(&bundle)?))?);
    }
    let from = source_name(&capture, &imported, args.tools.as_deref());
    let ImportedServer { adapter, report, version, notes } = imported;
    let provenance = Provenance { source: from, version, fingerprint: Some(fingerprint) };
    ImportResult { adapter, report, notes, provenance }.checked().write(&args.output_args)?;
    if let Some(written) = bundled {
        output::status_line(&format!("Wrote {written}"));
    }
    Ok(CommandOutcome::Clean)
}

fn show_problems(source: Option<Source>, mut diagnostics: Vec<Diagnostic>) {
    let source = source.unwrap_or_else(|| Source::new("overrides", String::new()));
    source.locate(&mut diagnostics);
    output::print_diagnostics(&source, &diagnostics);
}

/// Returns the source to write into the document: the name of the server, or of the file, or of the adapter.
pub(crate) fn source_name(capture: &Capture, imported: &ImportedServer, tools: Option<&Path>) -> String {
    let server = capture.server().and_then(|server| server.get("name")).and_then(Value::as_str);
    let file = tools.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    server.map(str::to_owned).or(file).unwrap_or_else(|| imported.adapter.name.clone())
}

fn is_bundle(text: &str) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value.get("provenance").is_some() && value.get("capture").is_some())
}

/// Returns the server that the arguments name.
fn server_target(args: &args::ImportMcpArgs) -> Result<(McpTarget, Auth)> {
    let words = args
        .target
        .as_deref()
        .filter(|target| !openapi_files::is_url(target))
        .map(|line| servers::split_command_line("--target", line))
        .transpose()?;
    let url = args.url.clone().or_else(|| args.target.clone().filter(|target| openapi_files::is_url(target)));
    let command = words.unwrap_or_else(|| args.command.clone());
    servers::server_target(url.as_deref(), &command, &args.access)?.ok_or_else(|| {
        let message = match args.tools {
            Some(_) => "--tools needs the command or the URL of the server",
            None => "no server to import",
        };
        let hint =
            "pass the server's command after `--`, or --url URL; with --tools, you can also use --target";
        error_with_hint(message, hint)
    })
}
