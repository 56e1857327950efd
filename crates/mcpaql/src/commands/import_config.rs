//! `mcpaql import config`: the servers of an MCP client → a mcpaql.yaml with all of them behind one gateway.
//!
//! What always holds: no credential is copied or shown; the file that is written loads.

use crate::clients::takeover::{Configuration, LeftOut, Taken, Takeover};
use crate::clients::variables::Needed;
use crate::clients::{self, Client, Scope, jsonc};
use crate::file;
use crate::output::hinted;
use crate::{Outcome, args, descriptions, output};
use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::Path;

/// How every file begins that this command wrote.
const WRITTEN: &str = "# Written by `mcpaql import config` from ";
/// What stands before the fingerprint of everything below it.
const FINGERPRINT: &str = "# Changed by hand it is not written over. ";

pub(crate) fn run(args: &args::ImportConfig) -> Result<Outcome> {
    let configurations = read(&args.source)?;
    let takeover = Takeover::of(&configurations);
    let labels: Vec<&str> = configurations.iter().map(|configuration| configuration.label.as_str()).collect();
    if takeover.taken.is_empty() {
        report(args, &takeover, &labels, &[])?;
        return Ok(Outcome::Findings);
    }
    let yaml = takeover.yaml();
    let needed = needed(&takeover, &yaml);
    let text = document(&labels, &needed, &yaml);
    if is_stdout(args) {
        output::data(&text);
    } else {
        file::check_apart(&args.output, [Path::new(&args.source)])?;
        if !args.force {
            file::check_ours(&args.output, "was written or changed by hand", is_untouched)?;
        }
        file::write(&args.output, &text)?;
    }
    report(args, &takeover, &labels, &needed)?;
    Ok(Outcome::Clean)
}

fn is_stdout(args: &args::ImportConfig) -> bool {
    file::is_dash(&args.output)
}

/// The configuration that was named, or all of a client's.
pub(crate) fn read(source: &str) -> Result<Vec<Configuration>> {
    let path = Path::new(source);
    if source == "-" {
        return Ok(vec![parse("standard input".into(), &file::read_stdin()?, None, None)?]);
    }
    if path.is_file() || file::is_stream(path) {
        return Ok(vec![read_file(path, None)?]);
    }
    let Some(client) = Client::parse(source) else {
        let known: Vec<&str> = Client::value_variants().iter().map(|client| client.id()).collect();
        return Err(hinted(
            format!("there is no file '{source}'"),
            format!("name a configuration file, or a client ({})", known.join(", ")),
        ));
    };
    // What is for a folder goes before what is for everything.
    let paths: Vec<_> =
        [Scope::Project, Scope::User].iter().filter_map(|scope| client.path(*scope)).collect();
    let mut found: Vec<_> = paths.iter().filter(|path| path.is_file()).collect();
    // In the home itself both are the same file.
    found.dedup_by_key(|path| path.canonicalize().ok());
    if found.is_empty() {
        let places: Vec<String> = paths.iter().map(|path| clients::shown(path)).collect();
        return Err(hinted(
            format!("{} has no configuration here", client.title()),
            format!("name its file; looked for {}", places.join(" and ")),
        ));
    }
    found.into_iter().map(|path| read_file(path, Some(client))).collect()
}

fn read_file(path: &Path, client: Option<Client>) -> Result<Configuration> {
    let text = file::read_text(path)?;
    let gemini = path.components().any(|part| part.as_os_str() == ".gemini").then_some(Client::Gemini);
    parse(clients::shown(path), &text, client.or(gemini), Configuration::workspace_of(path))
}

fn parse(
    label: String,
    text: &str,
    client: Option<Client>,
    workspace: Option<std::path::PathBuf>,
) -> Result<Configuration> {
    let value = if jsonc::is_blank(text) {
        json!({})
    } else {
        let document = jsonc::parse(text).map_err(|problem| {
            hinted(
                format!("{label} is not JSON: {problem}"),
                "fix it there; comments and trailing commas are fine",
            )
        })?;
        jsonc::value(&document.root)
    };
    Ok(Configuration { label, value, client, workspace })
}

/// The variables to set. A home is always set.
fn needed(takeover: &Takeover, yaml: &str) -> Vec<Needed> {
    let mut needed = takeover.variables.needed(yaml);
    needed.retain(|needed| !["HOME", "USERPROFILE"].contains(&needed.name.as_str()));
    needed
}

fn document(labels: &[&str], needed: &[Needed], yaml: &str) -> String {
    let mut body = String::new();
    if !needed.is_empty() {
        body.push_str("# It needs these environment variables:\n");
        for needed in needed {
            body.push_str(&format!("#   {}\n", needed.name));
        }
    }
    body.push_str(yaml);
    let from = labels.join(" and ").replace(['\n', '\r'], " ");
    format!("{WRITTEN}{from}.\n{FINGERPRINT}({})\n{body}", short_fingerprint(&body))
}

fn short_fingerprint(body: &str) -> String {
    descriptions::fingerprint(body).trim_start_matches("sha256:").chars().take(12).collect()
}

/// Whether this command wrote the text and it was not changed since.
fn is_untouched(text: &str) -> bool {
    let below = text.strip_prefix(WRITTEN).and_then(|rest| rest.split_once('\n')).map(|(_, below)| below);
    let Some((line, body)) = below.and_then(|below| below.split_once('\n')) else { return false };
    line == format!("{FINGERPRINT}({})", short_fingerprint(body))
}

fn report(args: &args::ImportConfig, takeover: &Takeover, labels: &[&str], needed: &[Needed]) -> Result<()> {
    if args.json && !is_stdout(args) {
        output::data(&serde_json::to_string_pretty(&as_json(args, takeover, labels, needed))?);
    } else {
        output::status_lines(as_text(args, takeover, labels, needed).trim_end());
    }
    Ok(())
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn as_json(args: &args::ImportConfig, takeover: &Takeover, labels: &[&str], needed: &[Needed]) -> Value {
    let servers =
        |taken: &Taken| json!({"server": taken.server, "adapter": taken.entry.name, "notes": taken.notes});
    let left_out = |left: &LeftOut| json!({"server": left.server, "reason": left.reason});
    let variables =
        |needed: &Needed| json!({"name": needed.name, "set": is_set(&needed.name), "places": needed.places});
    json!({
        "from": labels,
        "written": (!takeover.taken.is_empty()).then(|| args.output.display().to_string()),
        "servers": takeover.taken.iter().map(servers).collect::<Vec<_>>(),
        "left_out": takeover.left_out.iter().map(left_out).collect::<Vec<_>>(),
        "variables": needed.iter().map(variables).collect::<Vec<_>>(),
    })
}

fn as_text(args: &args::ImportConfig, takeover: &Takeover, labels: &[&str], needed: &[Needed]) -> String {
    let mut out = String::new();
    let from = output::line(&labels.join(" and "));
    let (taken, all) = (takeover.taken.len(), takeover.taken.len() + takeover.left_out.len());
    out.push_str(&match all {
        0 => format!("There are no servers in {from}\n"),
        _ => format!("Took over {taken} of {all} servers of {from}\n"),
    });
    for server in &takeover.taken {
        let name = server.entry.name.as_deref().unwrap_or_default();
        let was = if name == server.server {
            String::new()
        } else {
            format!(" (was '{}')", output::line(&server.server))
        };
        out.push_str(&format!("  {name}{was}\n"));
        server.notes.iter().for_each(|note| out.push_str(&format!("    {}\n", output::line(note))));
    }
    if !takeover.left_out.is_empty() {
        out.push_str("Left out\n");
    }
    for left in &takeover.left_out {
        out.push_str(&format!("  {}\n", output::line(&format!("{}: {}", left.server, left.reason))));
    }
    let (set, unset): (Vec<&Needed>, Vec<&Needed>) = needed.iter().partition(|needed| is_set(&needed.name));
    if !unset.is_empty() {
        out.push_str("Set these variables; each line says where the value stands today\n");
    }
    for needed in unset {
        let places = output::line(&needed.places.join("; "));
        out.push_str(&format!("  export {}=…  # {places}\n", needed.name));
    }
    if !set.is_empty() {
        let names: Vec<&str> = set.iter().map(|needed| needed.name.as_str()).collect();
        out.push_str(&format!("Set already: {}\n", names.join(", ")));
    }
    if taken > 0 && !is_stdout(args) {
        out.push_str(&format!("Wrote {}\n", output::line(&args.output.display().to_string())));
        let client = Client::parse(&args.source).map_or("CLIENT", Client::id);
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
        assert!(is_untouched(&text));
        assert!(!is_untouched(&text.replace("notebook", "other")));
        assert!(!is_untouched(&format!("{text}# mine\n")));
        assert!(!is_untouched("adapters: []\n"));
        assert!(!is_untouched(WRITTEN));
    }
}
