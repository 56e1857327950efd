//! `mcpaql import config`: the servers of an MCP client → a mcpaql.yaml with all of them behind one gateway.
//!
//! What always holds: no credential is copied or shown; the file that is written loads.

use crate::clients::config_import::{ClientConfig, ConfigImport, ImportedEntry, SkippedServer};
use crate::clients::variables::RequiredVariable;
use crate::clients::{self, ClientApp, ConfigScope, jsonc};
use crate::file;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, openapi_files, output};
use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::Path;

/// How every file begins that this command wrote.
const HEADER_PREFIX: &str = "# Written by `mcpaql import config` from ";
/// What stands before the fingerprint of everything below it.
const FINGERPRINT_PREFIX: &str = "# Changed by hand it is not written over. ";

pub(crate) fn run(args: &args::ImportConfigArgs) -> Result<CommandOutcome> {
    let configurations = read_client_configs(&args.source)?;
    let takeover = ConfigImport::from_configs(&configurations);
    let labels: Vec<&str> = configurations.iter().map(|configuration| configuration.label.as_str()).collect();
    if takeover.imported.is_empty() {
        report(args, &takeover, &labels, &[])?;
        return Ok(CommandOutcome::Findings);
    }
    let yaml = takeover.yaml();
    let needed = required_variables(&takeover, &yaml);
    let text = document(&labels, &needed, &yaml);
    if is_stdout(args) {
        output::print_data(&text);
    } else {
        file::check_not_input(&args.output, [Path::new(&args.source)])?;
        if !args.force {
            file::check_written_by_us(&args.output, "was written or changed by hand", is_unmodified)?;
        }
        file::write(&args.output, &text)?;
    }
    report(args, &takeover, &labels, &needed)?;
    Ok(CommandOutcome::Clean)
}

fn is_stdout(args: &args::ImportConfigArgs) -> bool {
    file::is_dash(&args.output)
}

/// The configuration that was named, or all of a client's.
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
        return Err(error_with_hint(
            format!("there is no file '{source}'"),
            format!("name a configuration file, or a client ({})", known.join(", ")),
        ));
    };
    // What is for a folder goes before what is for everything.
    let paths: Vec<_> =
        [ConfigScope::Project, ConfigScope::User].iter().filter_map(|scope| client.path(*scope)).collect();
    let mut found: Vec<_> = paths.iter().filter(|path| path.is_file()).collect();
    // In the home itself both are the same file.
    found.dedup_by_key(|path| path.canonicalize().ok());
    if found.is_empty() {
        let places: Vec<String> = paths.iter().map(|path| clients::display_path(path)).collect();
        return Err(error_with_hint(
            format!("{} has no configuration here", client.title()),
            format!("name its file; looked for {}", places.join(" and ")),
        ));
    }
    found.into_iter().map(|path| read_file(path, Some(client))).collect()
}

fn read_file(path: &Path, client: Option<ClientApp>) -> Result<ClientConfig> {
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
                format!("{label} is not JSON: {problem}"),
                "fix it there; comments and trailing commas are fine",
            )
        })?;
        jsonc::to_json(&document.root)
    };
    Ok(ClientConfig { label, value, client, workspace })
}

/// The variables to set. A home is always set.
fn required_variables(takeover: &ConfigImport, yaml: &str) -> Vec<RequiredVariable> {
    let mut needed = takeover.variables.required_in(yaml);
    needed.retain(|needed| !["HOME", "USERPROFILE"].contains(&needed.name.as_str()));
    needed
}

fn document(labels: &[&str], needed: &[RequiredVariable], yaml: &str) -> String {
    let mut body = String::new();
    if !needed.is_empty() {
        body.push_str("# It needs these environment variables:\n");
        for needed in needed {
            body.push_str(&format!("#   {}\n", needed.name));
        }
    }
    body.push_str(yaml);
    let from = labels.join(" and ").replace(['\n', '\r'], " ");
    format!("{HEADER_PREFIX}{from}.\n{FINGERPRINT_PREFIX}({})\n{body}", short_fingerprint(&body))
}

fn short_fingerprint(body: &str) -> String {
    openapi_files::fingerprint(body).trim_start_matches("sha256:").chars().take(12).collect()
}

/// Whether this command wrote the text and it was not changed since.
fn is_unmodified(text: &str) -> bool {
    let below =
        text.strip_prefix(HEADER_PREFIX).and_then(|rest| rest.split_once('\n')).map(|(_, below)| below);
    let Some((line, body)) = below.and_then(|below| below.split_once('\n')) else { return false };
    line == format!("{FINGERPRINT_PREFIX}({})", short_fingerprint(body))
}

fn report(
    args: &args::ImportConfigArgs,
    takeover: &ConfigImport,
    labels: &[&str],
    needed: &[RequiredVariable],
) -> Result<()> {
    if args.json && !is_stdout(args) {
        output::print_data(&serde_json::to_string_pretty(&as_json(args, takeover, labels, needed))?);
    } else {
        output::status_lines(as_text(args, takeover, labels, needed).trim_end());
    }
    Ok(())
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn as_json(
    args: &args::ImportConfigArgs,
    takeover: &ConfigImport,
    labels: &[&str],
    needed: &[RequiredVariable],
) -> Value {
    let servers = |taken: &ImportedEntry| json!({"server": taken.server, "adapter": taken.entry.name, "notes": taken.notes});
    let left_out = |left: &SkippedServer| json!({"server": left.server, "reason": left.reason});
    let variables = |needed: &RequiredVariable| json!({"name": needed.name, "set": is_set(&needed.name), "places": needed.places});
    json!({
        "from": labels,
        "written": (!takeover.imported.is_empty()).then(|| args.output.display().to_string()),
        "servers": takeover.imported.iter().map(servers).collect::<Vec<_>>(),
        "left_out": takeover.skipped.iter().map(left_out).collect::<Vec<_>>(),
        "variables": needed.iter().map(variables).collect::<Vec<_>>(),
    })
}

fn as_text(
    args: &args::ImportConfigArgs,
    takeover: &ConfigImport,
    labels: &[&str],
    needed: &[RequiredVariable],
) -> String {
    let mut out = String::new();
    let from = output::sanitize_line(&labels.join(" and "));
    let (taken, all) = (takeover.imported.len(), takeover.imported.len() + takeover.skipped.len());
    out.push_str(&match all {
        0 => format!("There are no servers in {from}\n"),
        _ => format!("Took over {taken} of {all} servers of {from}\n"),
    });
    for server in &takeover.imported {
        let name = server.entry.name.as_deref().unwrap_or_default();
        let was = if name == server.server {
            String::new()
        } else {
            format!(" (was '{}')", output::sanitize_line(&server.server))
        };
        out.push_str(&format!("  {name}{was}\n"));
        server.notes.iter().for_each(|note| out.push_str(&format!("    {}\n", output::sanitize_line(note))));
    }
    if !takeover.skipped.is_empty() {
        out.push_str("Left out\n");
    }
    for left in &takeover.skipped {
        out.push_str(&format!("  {}\n", output::sanitize_line(&format!("{}: {}", left.server, left.reason))));
    }
    let (set, unset): (Vec<&RequiredVariable>, Vec<&RequiredVariable>) =
        needed.iter().partition(|needed| is_set(&needed.name));
    if !unset.is_empty() {
        out.push_str("Set these variables; each line says where the value stands today\n");
    }
    for needed in unset {
        let places = output::sanitize_line(&needed.places.join("; "));
        out.push_str(&format!("  export {}=…  # {places}\n", needed.name));
    }
    if !set.is_empty() {
        let names: Vec<&str> = set.iter().map(|needed| needed.name.as_str()).collect();
        out.push_str(&format!("Set already: {}\n", names.join(", ")));
    }
    if taken > 0 && !is_stdout(args) {
        out.push_str(&format!("Wrote {}\n", output::sanitize_line(&args.output.display().to_string())));
        let client = ClientApp::parse(&args.source).map_or("CLIENT", ClientApp::id);
        out.push_str(&format!(
            "Next: `mcpaql install {client}`, then take these servers out of the client's own configuration\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_by_hand_is_known() {
        let text = document(&["x.json"], &[], "adapters:\n  - builtin: notebook\n");
        assert!(is_unmodified(&text));
        assert!(!is_unmodified(&text.replace("notebook", "other")));
        assert!(!is_unmodified(&format!("{text}# mine\n")));
        assert!(!is_unmodified("adapters: []\n"));
        assert!(!is_unmodified(HEADER_PREFIX));
    }
}
