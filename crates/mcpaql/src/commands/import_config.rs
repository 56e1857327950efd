//! `mcpaql import config`: writes a mcpaql.yaml with all servers of an MCP client.
//!
//! What always holds: no credential is copied or printed; the written file loads without errors.

use crate::clients::config_file::read_client_configs;
use crate::clients::config_import::{ConfigImport, ImportedEntry, SkippedServer};
use crate::clients::variables::RequiredVariable;
use crate::clients::{ClientApp, SERVERS_PATHS};
use crate::commands::trust;
use crate::documents::CONFIG_FILE;
use crate::file;
use crate::{CommandOutcome, args, openapi_files, output};
use anyhow::Result;
use mcpaql_runtime::environment::is_set;
use serde_json::{Value, json};
use std::path::Path;

/// First line of every file that this command writes.
const HEADER_PREFIX: &str = "# Written by `mcpaql import config` from ";
/// Start of the second line, which ends with the fingerprint of the rest of the file.
const FINGERPRINT_PREFIX: &str = "# If you edit this file, `mcpaql import config` does not overwrite it. ";

pub(crate) fn run(args: &args::ImportConfigArgs) -> Result<CommandOutcome> {
    let configurations = read_client_configs(&args.source)?;
    let import = ConfigImport::from_configs(&configurations);
    let labels: Vec<&str> = configurations.iter().map(|configuration| configuration.label.as_str()).collect();
    if import.imported.is_empty() {
        report(args, &import, &labels, &[])?;
        return Ok(CommandOutcome::Findings);
    }
    let yaml = import.yaml();
    let required = required_variables(&import, &yaml);
    let text = document(&labels, &required, &yaml);
    if is_stdout(args) {
        output::print_data(&text);
    } else {
        file::check_not_input(&args.output, [Path::new(&args.source)])?;
        if !args.force {
            file::check_written_by_us(
                &args.output,
                "was not written by this command or was edited since",
                is_unmodified,
            )?;
        }
        file::write(&args.output, &text)?;
        if !file::is_stream(&args.output) {
            trust::grant_written(&args.output)?;
        }
    }
    report(args, &import, &labels, &required)?;
    Ok(CommandOutcome::Clean)
}

fn is_stdout(args: &args::ImportConfigArgs) -> bool {
    file::is_dash(&args.output)
}

/// Returns the variables that the user must set, except the home folder, which is always set.
fn required_variables(import: &ConfigImport, yaml: &str) -> Vec<RequiredVariable> {
    let mut required = import.variables.required_in(yaml);
    required.retain(|required| !["HOME", "USERPROFILE"].contains(&required.name.as_str()));
    required
}

fn document(labels: &[&str], required: &[RequiredVariable], yaml: &str) -> String {
    let mut body = String::new();
    if !required.is_empty() {
        body.push_str("# Required environment variables:\n");
        for required in required {
            body.push_str(&format!("#   {}\n", required.name));
        }
    }
    body.push_str(yaml);
    let from = labels.join(" and ").replace(['\n', '\r'], " ");
    format!("{HEADER_PREFIX}{from}.\n{FINGERPRINT_PREFIX}({})\n{body}", short_fingerprint(&body))
}

fn short_fingerprint(body: &str) -> String {
    openapi_files::fingerprint(body).trim_start_matches("sha256:").chars().take(12).collect()
}

/// Whether this command wrote the text and it was not edited since.
fn is_unmodified(text: &str) -> bool {
    let below =
        text.strip_prefix(HEADER_PREFIX).and_then(|rest| rest.split_once('\n')).map(|(_, below)| below);
    let Some((line, body)) = below.and_then(|below| below.split_once('\n')) else { return false };
    line == format!("{FINGERPRINT_PREFIX}({})", short_fingerprint(body))
}

fn report(
    args: &args::ImportConfigArgs,
    import: &ConfigImport,
    labels: &[&str],
    required: &[RequiredVariable],
) -> Result<()> {
    if args.json && !is_stdout(args) {
        output::print_data(&serde_json::to_string_pretty(&as_json(args, import, labels, required))?);
    } else {
        output::status_lines(as_text(args, import, labels, required).trim_end());
    }
    Ok(())
}

fn as_json(
    args: &args::ImportConfigArgs,
    import: &ConfigImport,
    labels: &[&str],
    required: &[RequiredVariable],
) -> Value {
    let servers = |imported: &ImportedEntry| json!({"server": imported.server, "adapter": imported.entry.name, "notes": imported.notes});
    let left_out = |skipped: &SkippedServer| json!({"server": skipped.server, "reason": skipped.reason});
    let variables = |required: &RequiredVariable| json!({"name": required.name, "set": is_set(&required.name), "places": required.places});
    json!({
        "from": labels,
        "written": (!import.imported.is_empty()).then(|| args.output.display().to_string()),
        "servers": import.imported.iter().map(servers).collect::<Vec<_>>(),
        "left_out": import.skipped.iter().map(left_out).collect::<Vec<_>>(),
        "variables": required.iter().map(variables).collect::<Vec<_>>(),
    })
}

fn as_text(
    args: &args::ImportConfigArgs,
    import: &ConfigImport,
    labels: &[&str],
    required: &[RequiredVariable],
) -> String {
    let mut out = String::new();
    let from = output::sanitize_line(&labels.join(" and "));
    let (imported, all) = (import.imported.len(), import.imported.len() + import.skipped.len());
    out.push_str(&match all {
        0 => {
            let keys: Vec<String> =
                SERVERS_PATHS.iter().map(|path| format!("`{}`", path.join("."))).collect();
            format!("No servers found in {from}; expected one of the keys {}\n", keys.join(", "))
        }
        _ => format!("Imported {imported} of {all} servers from {from}\n"),
    });
    for server in &import.imported {
        let name = server.entry.name.as_deref().unwrap_or_default();
        let was = if name == server.server {
            String::new()
        } else {
            format!(" (was '{}')", output::sanitize_line(&server.server))
        };
        out.push_str(&format!("  {name}{was}\n"));
        server.notes.iter().for_each(|note| out.push_str(&format!("    {}\n", output::sanitize_line(note))));
    }
    if !import.skipped.is_empty() {
        out.push_str("Skipped:\n");
    }
    for SkippedServer { server, reason } in &import.skipped {
        out.push_str(&format!("  {}\n", output::sanitize_line(&format!("{server}: {reason}"))));
    }
    let (set, unset): (Vec<&RequiredVariable>, Vec<&RequiredVariable>) =
        required.iter().partition(|required| is_set(&required.name));
    if !unset.is_empty() {
        out.push_str("Set these variables (the comment says where the client has the value):\n");
    }
    for required in unset {
        let places = output::sanitize_line(&required.places.join("; "));
        out.push_str(&format!("  export {}=…  # {places}\n", required.name));
    }
    if !set.is_empty() {
        let names: Vec<&str> = set.iter().map(|required| required.name.as_str()).collect();
        out.push_str(&format!("Already set: {}\n", names.join(", ")));
    }
    if imported > 0 && !is_stdout(args) {
        out.push_str(&format!("Wrote {}\n", output::sanitize_line(&args.output.display().to_string())));
        let client = ClientApp::parse(&args.source).map_or("CLIENT", ClientApp::id);
        // Without arguments, `install` takes the configuration of the folder.
        let config = match args.output == Path::new(CONFIG_FILE) {
            true => String::new(),
            false => format!(" --config {}", output::shell_word(&args.output.display().to_string())),
        };
        out.push_str(&format!(
            "Next: `mcpaql install {client}{config}`, then remove these servers from the client's configuration\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_file_is_recognized() {
        let text = document(&["x.json"], &[], "adapters:\n  - builtin: notebook\n");
        assert!(is_unmodified(&text));
        assert!(!is_unmodified(&text.replace("notebook", "other")));
        assert!(!is_unmodified(&format!("{text}# mine\n")));
        assert!(!is_unmodified("adapters: []\n"));
        assert!(!is_unmodified(HEADER_PREFIX));
    }
}
