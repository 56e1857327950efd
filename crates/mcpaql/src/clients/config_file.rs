//! Reads the configuration files of MCP clients: JSON with comments and trailing commas, or TOML.

use super::config_format::ConfigFormat;
use super::config_import::ClientConfig;
use super::{ClientApp, ConfigScope, codex};
use crate::output::error_with_hint;
use crate::{clients, file};
use anyhow::Result;
use clap::ValueEnum;
use std::path::Path;

/// Reads the named configuration file, or all configuration files of a client.
pub(crate) fn read_client_configs(source: &str) -> Result<Vec<ClientConfig>> {
    let path = Path::new(source);
    if source == "-" {
        let text = file::read_stdin()?;
        let is_toml = ConfigFormat::Json.parse(&text).is_err() && ConfigFormat::Toml.parse(&text).is_ok();
        let format = if is_toml { ConfigFormat::Toml } else { ConfigFormat::Json };
        return Ok(vec![parse("standard input".into(), &text, format, None, None)?]);
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
    let format = client.map_or_else(|| ConfigFormat::of_path(path), ClientApp::format);
    parse(clients::display_path(path), &text, format, client.or(gemini), ClientConfig::workspace_of(path))
}

fn parse(
    label: String,
    text: &str,
    format: ConfigFormat,
    client: Option<ClientApp>,
    workspace: Option<std::path::PathBuf>,
) -> Result<ClientConfig> {
    let value = format.parse(text).map_err(|problem| {
        let hint = match format {
            ConfigFormat::Json => "fix the file; comments and trailing commas are allowed",
            ConfigFormat::Toml => "fix the file",
        };
        error_with_hint(format!("{label} is not valid {}: {problem}", format.title()), hint)
    })?;
    let value = if format == ConfigFormat::Toml { codex::with_common_keys(value) } else { value };
    Ok(ClientConfig { label, value, client, workspace })
}
