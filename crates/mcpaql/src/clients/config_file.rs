//! Reads the configuration files of MCP clients: JSON, with comments and trailing commas.

use super::config_import::ClientConfig;
use super::{ClientApp, ConfigScope, jsonc};
use crate::output::error_with_hint;
use crate::{clients, file};
use anyhow::Result;
use clap::ValueEnum;
use serde_json::json;
use std::path::Path;

/// Reads the named configuration file, or all configuration files of a client.
pub(crate) fn read_client_configs(source: &str) -> Result<Vec<ClientConfig>> {
    let path = Path::new(source);
    if source == "-" {
        return Ok(vec![parse("standard input".into(), &file::read_stdin()?, None, None)?]);
    }
    if path.is_file() || file::is_stream(path) {
        return Ok(vec![read_file(path, None)?]);
    }
    let Some(client) = ClientApp::parse(source) else {
        let known: Vec<&str> = ClientApp::value_variants().iter().map(|client| client.id()).collect();
        let hint = format!("pass a configuration file, or a client ({})", known.join(", "));
        return Err(file::not_found_error(source, known, &hint));
    };
    // The project configuration takes precedence over the user configuration.
    let paths: Vec<_> =
        [ConfigScope::Project, ConfigScope::User].iter().filter_map(|scope| client.path(*scope)).collect();
    let mut found: Vec<_> = paths.iter().filter(|path| path.is_file()).collect();
    // In the home folder, both are the same file.
    found.dedup_by_key(|path| path.canonicalize().ok());
    if found.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| clients::display_path(path)).collect();
        return Err(error_with_hint(
            format!("no configuration of {} found", client.title()),
            format!("pass the file; looked for {}", paths.join(" and ")),
        ));
    }
    found.into_iter().map(|path| read_file(path, Some(client))).collect()
}

/// Reads one configuration file.
pub(crate) fn read_file(path: &Path, client: Option<ClientApp>) -> Result<ClientConfig> {
    let text = file::read_text(path)?;
    let gemini = path.components().any(|part| part.as_os_str() == ".gemini").then_some(ClientApp::Gemini);
    parse(clients::display_path(path), &text, client.or(gemini), ClientConfig::workspace_of(path))
}

fn parse(
    label: String,
    text: &str,
    client: Option<ClientApp>,
    workspace: Option<std::path::PathBuf>,
) -> Result<ClientConfig> {
    let value = if jsonc::is_blank(text) {
        json!({})
    } else {
        let document = jsonc::parse(text).map_err(|problem| {
            error_with_hint(
                format!("{label} is not valid JSON: {problem}"),
                "fix the file; comments and trailing commas are allowed",
            )
        })?;
        jsonc::to_json(&document.root)
    };
    Ok(ClientConfig { label, value, client, workspace })
}
