//! `mcpaql trust`: grants trust to exactly the current content of a file or an adapter, shows it, and takes it back.
//!
//! What always holds: nothing is started or fetched.

mod server_tools;

use crate::documents::{
    AdapterPlan, AdapterRequest, CONFIG_FILE, is_configuration, trusted_configuration, unknown_adapter_error,
};
use crate::output::error_with_hint;
use crate::trust::summary::{TrustSummary, changes};
use crate::trust::{self, TrustState, TrustSubject, UntrustedConfig};
use crate::{CommandOutcome, args, openapi_files, output, servers};
use anyhow::Result;
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_core::timestamp::timestamp;
use mcpaql_runtime::builtin;
use mcpaql_runtime::operator::TrustGrant;
use serde_json::{Value, json};
use server_tools::PinnedServer;
use std::path::Path;

pub(crate) fn run(args: &args::TrustArgs) -> Result<CommandOutcome> {
    let name = match (&args.subject, &args.edits) {
        (Some(name), _) => name.clone(),
        (None, Some(path)) => path.display().to_string(),
        (None, None) if args.level.is_some() => {
            return Err(error_with_hint(
                "--level needs a file or the name of an adapter",
                "mcpaql trust NAME --level LEVEL",
            ));
        }
        (None, None) => return list(args),
    };
    if args.remove {
        return remove(&name, args);
    }
    let subject = find(&name, args.config.as_deref())?;
    if args.show {
        return show(&subject, args);
    }
    grant(&subject, args)
}

/// What the user means.
struct Found {
    subject: TrustSubject,
    /// The tools of an MCP server.
    tools: Option<PinnedServer>,
}

impl From<TrustSubject> for Found {
    fn from(subject: TrustSubject) -> Self {
        Found { subject, tools: None }
    }
}

/// Returns the subject that the user means.
fn find(name: &str, config: Option<&Path>) -> Result<Found> {
    let path = Path::new(name);
    if let Some(config) = config {
        // The operator names the configuration, so it needs no grant of its own.
        let plan = AdapterPlan::of_configured(name, config)?;
        let tools = plan.only_server().map(PinnedServer::of).transpose()?;
        let subject = plan.adapter_subject().ok_or_else(|| unknown_adapter_error(name, &[]))?;
        return Ok(Found { subject, tools });
    }
    let is_named_so = path.file_name().is_some_and(|name| name == CONFIG_FILE);
    if path.is_file() && (is_named_so || is_configuration(path)) {
        return trusted_configuration(path).map(Found::from);
    }
    if openapi_files::is_url(name) && !servers::is_mcp_url(name) {
        let content = json!({ "openapi": name });
        let kind = trust::TrustKind::Address;
        return Ok(TrustSubject { id: name.to_owned(), kind, shown: name.to_owned(), content }.into());
    }
    let is_elsewhere = openapi_files::is_url(name) || path.is_file();
    if !is_elsewhere
        && builtin::document(name).is_none()
        && !name.starts_with("builtin:")
        && !Path::new(CONFIG_FILE).exists()
    {
        let hint = "pass a file such as ./mcpaql.yaml, or the name of an adapter of a configuration: mcpaql trust NAME --config FILE";
        return Err(crate::file::not_found_error(name, builtin::names(), hint));
    }
    let name = name.to_owned();
    let mut plan = AdapterRequest::single(&name).resolve()?;
    if let Some(untrusted) = &plan.untrusted {
        // The level of an adapter has no effect before its configuration is trusted.
        return Err(untrusted.error());
    }
    if let Some((_, error)) = plan.unreadable.pop() {
        return Err(error);
    }
    let tools = plan.only_server().map(PinnedServer::of).transpose()?;
    let subject = if plan.trusted_config.is_some() {
        plan.adapter_subject()
    } else {
        plan.subjects().into_iter().next()
    };
    let subject = subject.ok_or_else(|| unknown_adapter_error(&name, &[]))?;
    Ok(Found { subject, tools })
}

fn grant(found: &Found, args: &args::TrustArgs) -> Result<CommandOutcome> {
    let Found { subject, tools } = found;
    let old = trust::grant_of(&subject.id)?;
    let level = args.level.or(old.as_ref().map(|old| old.level)).unwrap_or(TrustLevel::Validated);
    let accepts_edits = args.edits.is_some();
    let grant = subject.grant(level, accepts_edits);
    trust::store(std::slice::from_ref(&grant))?;
    if let Some(tools) = tools {
        tools.approve()?;
    }
    if args.json {
        output::print_data(&serde_json::to_string_pretty(&grant_json(
            subject,
            TrustState::Granted(level),
            &grant,
        ))?);
        return Ok(CommandOutcome::Clean);
    }
    output::status_line(&format!("Trusted {} ({})", subject.shown, level.as_str()));
    output::status_lines(&TrustSummary::of(&subject.content).lines().join("\n"));
    if let Some(tools) = tools.as_ref().filter(|tools| !tools.withheld.is_empty()) {
        output::status_line(&format!("  tools           approved: {}", tools.names().join(", ")));
    }
    if accepts_edits {
        output::status_line(&format!(
            "Later edits are trusted, too: whoever can write {} or a file that it names can run programs as you",
            subject.shown
        ));
    }
    Ok(CommandOutcome::Clean)
}

fn show(found: &Found, args: &args::TrustArgs) -> Result<CommandOutcome> {
    let Found { subject, tools } = found;
    let grant = trust::grant_of(&subject.id)?;
    let state = subject.state(grant.as_ref());
    let outcome = match state {
        TrustState::Granted(_) => CommandOutcome::Clean,
        TrustState::Changed(_) | TrustState::Absent => CommandOutcome::Findings,
    };
    let withheld = tools.as_ref().is_some_and(|tools| !tools.withheld.is_empty());
    let outcome = if withheld { CommandOutcome::Findings } else { outcome };
    let differences =
        grant.as_ref().map(|grant| changes(&grant.content, &subject.content)).unwrap_or_default();
    if args.json {
        let mut shown = match &grant {
            Some(grant) => grant_json(subject, state, grant),
            None => json!({"subject": subject.id, "kind": subject.kind.as_str(), "state": state_word(state)}),
        };
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("current_fingerprint".to_owned(), subject.fingerprint().into());
            shown.insert("can".to_owned(), TrustSummary::of(&subject.content).to_json());
            shown.insert("changes".to_owned(), differences.into());
            shown.insert("withheld_tools".to_owned(), tools.iter().flat_map(PinnedServer::names).collect());
        }
        output::print_data(&serde_json::to_string_pretty(&shown)?);
        return Ok(outcome);
    }
    let (name, typed) = (&subject.shown, trust::typed_path(&subject.shown));
    let typed = if subject.id.starts_with("file:") { typed } else { name.clone() };
    let mut lines = Vec::new();
    match (state, &grant) {
        (TrustState::Granted(level), Some(grant)) => {
            lines.push(format!("{name} is trusted ({}, since {})", level.as_str(), time(grant)));
        }
        (TrustState::Changed(_), Some(grant)) => {
            lines.push(format!("{name} has changed since it was trusted ({}):", time(grant)));
            lines.extend(differences.iter().map(|line| format!("  {line}")));
            lines.push("Now it".to_owned());
        }
        _ => lines.push(format!("{name} is not trusted. It")),
    }
    lines.extend(TrustSummary::of(&subject.content).lines());
    lines.extend(tools.iter().flat_map(PinnedServer::lines));
    output::print_data(&output::sanitize(&lines.join("\n")));
    if outcome == CommandOutcome::Findings {
        output::print_hint(&format!("to trust it as it is now: mcpaql trust {typed}"));
    }
    Ok(outcome)
}

fn remove(name: &str, args: &args::TrustArgs) -> Result<CommandOutcome> {
    // The file may be missing or broken by now.
    let path = Path::new(name);
    let by_path = trust::grant_of(&trust::file_id(path))?;
    let by_path = by_path.or_else(|| trust::grant_of(name).ok().flatten());
    let found = match by_path {
        Some(grant) => Some(grant),
        None => find(name, args.config.as_deref())
            .ok()
            .map(|found| trust::grant_of(&found.subject.id))
            .transpose()?
            .flatten(),
    };
    let is_removed = match &found {
        Some(grant) => trust::remove(grant)?,
        None => false,
    };
    if args.json {
        output::print_data(
            &json!({"subject": found.map(|grant| grant.subject), "removed": is_removed}).to_string(),
        );
    } else if is_removed {
        output::status_line(&format!("{name} is no longer trusted"));
    } else {
        output::status_line(&format!("{name} was not trusted; `mcpaql trust` lists what is"));
    }
    Ok(if is_removed { CommandOutcome::Clean } else { CommandOutcome::Findings })
}

fn list(args: &args::TrustArgs) -> Result<CommandOutcome> {
    let grants = trust::grants()?;
    if args.json {
        let list: Vec<Value> = grants.iter().map(listed_json).collect();
        output::print_data(&serde_json::to_string_pretty(&list)?);
        return Ok(CommandOutcome::Clean);
    }
    if grants.is_empty() {
        output::status_line("Nothing is trusted yet");
    } else {
        let head = ["LEVEL", "KIND", "SINCE", "BY", "SUBJECT"].map(str::to_owned);
        let rows = grants.iter().map(|grant| {
            let edits = if grant.accepts_edits { " (and its edits)" } else { "" };
            [
                grant.level.as_str().to_owned(),
                grant.kind.clone(),
                time(grant),
                grant.granted_by.clone(),
                output::sanitize_line(&format!("{}{edits}", shown_subject(grant))),
            ]
        });
        let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
        output::print_data(&output::format_table(&rows, 5));
    }
    if let Some(untrusted) = untrusted_here() {
        output::status_line(&format!("{} here; run `{}`", untrusted.message(), untrusted.command()));
    }
    Ok(CommandOutcome::Clean)
}

/// Returns the configuration of this folder, if it is not trusted.
fn untrusted_here() -> Option<UntrustedConfig> {
    let path = Path::new(CONFIG_FILE);
    let subject = path.exists().then(|| trusted_configuration(path).ok()).flatten()?;
    let grant = trust::grant_of(&subject.id).ok()?;
    UntrustedConfig::of(&subject, subject.state(grant.as_ref()))
}

fn time(grant: &TrustGrant) -> String {
    timestamp(grant.granted_at / 1000)
}

/// Returns the subject as the user writes it.
fn shown_subject(grant: &TrustGrant) -> &str {
    let subject = grant.subject.as_str();
    subject.strip_prefix("file:").or_else(|| subject.strip_prefix("adapter:")).unwrap_or(subject)
}

fn state_word(state: TrustState) -> &'static str {
    match state {
        TrustState::Granted(_) => "trusted",
        TrustState::Changed(_) => "changed",
        TrustState::Absent => "not trusted",
    }
}

fn listed_json(grant: &TrustGrant) -> Value {
    json!({
        "subject": grant.subject,
        "kind": grant.kind,
        "level": grant.level.as_str(),
        "fingerprint": grant.fingerprint,
        "accepts_edits": grant.accepts_edits,
        "granted_at": time(grant),
        "granted_by": grant.granted_by,
    })
}

fn grant_json(subject: &TrustSubject, state: TrustState, grant: &TrustGrant) -> Value {
    let mut shown = listed_json(grant);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("state".to_owned(), state_word(state).into());
        if grant.granted_at == 0 {
            shown.shift_remove("granted_at");
        }
        shown.insert("can".to_owned(), TrustSummary::of(&subject.content).to_json());
    }
    shown
}

/// Grants trust to a configuration that a command of the operator has just written or named.
pub(crate) fn grant_written(path: &Path) -> Result<()> {
    grant_named(&trusted_configuration(path)?)
}

/// Grants trust to what a command of the operator has just written or named.
pub(crate) fn grant_named(subject: &TrustSubject) -> Result<()> {
    let old = trust::grant_of(&subject.id)?;
    let level = old.as_ref().map_or(TrustLevel::Validated, |old| old.level);
    let accepts_edits = old.is_some_and(|old| old.accepts_edits);
    trust::store(&[subject.grant(level, accepts_edits)])?;
    Ok(())
}
