//! Chooses the conventions, the policy and the rule levels of an audit, from flags and configuration.

use crate::args;
use crate::documents::{CONFIG_FILE, load_config};
use crate::output;
use crate::output::error_with_hint;
use anyhow::{Result, bail};
use mcpaql_audit::convention::{CLIENTS, Convention, ConventionKind, RuleLevel, Standard};
use mcpaql_audit::{all_rules, load, settings};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::policy::{self, Policy};
use mcpaql_core::suggest;
use mcpaql_document::config::Config;
use mcpaql_document::source::Source;
use std::path::Path;

/// The chosen standard, and everything that could have been chosen.
pub(super) struct ChosenStandard {
    pub(super) standard: Standard,
    /// All conventions, the user's own first.
    pub(super) known_conventions: Vec<Convention>,
    /// The user's own policies.
    pub(super) policies: Vec<Policy>,
}

/// Chooses the standard by the flags, or by the configuration of this folder where a flag is missing.
pub(super) fn choose_standard(args: &args::AuditArgs) -> Result<ChosenStandard> {
    let (config, settings) = configured()?;
    let mut own = args.conventions.as_deref().map(read).transpose()?.unwrap_or_default();
    for convention in settings.defined {
        if own.iter().all(|other| other.name != convention.name) {
            own.push(convention);
        }
    }
    let builtins = load::builtins().iter();
    let others = builtins.filter(|builtin| own.iter().all(|own| own.name != builtin.name));
    let known: Vec<Convention> = own.iter().chain(others).cloned().collect();
    let named = if args.convention.is_empty() { &settings.conventions } else { &args.convention };
    let policies = config.settings.policies;
    let conventions = conventions(named, &own, &known)?;
    for policy in conventions.iter().filter_map(|convention| convention.policy.as_deref()) {
        find_policy(policy, &policies)?;
    }
    let mut standard = Standard::with_policies(conventions, &policies);
    if let Some(name) = args.policy.as_ref().or(settings.policy.as_ref()) {
        (standard.policy, standard.policy_chosen) = (find_policy(name, &policies)?, true);
    }
    standard.rules = settings.rules;
    for pair in &args.rule {
        let (code, level) = rule(pair)?;
        standard.rules.insert(code, level);
    }
    Ok(ChosenStandard { standard, known_conventions: known, policies })
}

/// Finds a policy by its name: one of the user's own, or a built-in one.
pub(super) fn find_policy(name: &str, own: &[Policy]) -> Result<Policy> {
    policy::find(name, own).cloned().ok_or_else(|| {
        let names = own.iter().map(|policy| policy.name.as_str());
        let known = names.chain(policy::policies().map(|policy| policy.name.as_str()));
        unknown("policy", name, known)
    })
}

/// Loads the configuration of this folder, if there is one.
fn configured() -> Result<(Config, settings::AuditSettings)> {
    let path = Path::new(CONFIG_FILE);
    if !path.exists() {
        return Ok(Default::default());
    }
    let source = Source::new(CONFIG_FILE, crate::file::read_text(path)?);
    let (config, settings, mut diagnostics) = load_config(&source);
    let concerns_audit = |diagnostic: &Diagnostic| {
        let part = |part: &str| diagnostic.pointer.starts_with(part);
        part("/audit") || part("/policies") || part("/conventions") || diagnostic.pointer.is_empty()
    };
    diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error && concerns_audit(diagnostic));
    if !diagnostics.is_empty() {
        source.locate(&mut diagnostics);
        output::print_diagnostics(&source, &diagnostics);
        bail!("{CONFIG_FILE} has errors in its audit settings");
    }
    Ok((config, settings))
}

/// Returns MCP itself and the named conventions. If none is named, every client and the user's own conventions.
fn conventions(named: &[String], own: &[Convention], known: &[Convention]) -> Result<Vec<Convention>> {
    let mut chosen: Vec<Convention> = Vec::new();
    let mut add = |convention: &Convention| {
        if chosen.iter().all(|other| other.name != convention.name) {
            chosen.push(convention.clone());
        }
    };
    known.iter().filter(|convention| convention.name == "mcp").for_each(&mut add);
    let clients = || known.iter().filter(|convention| convention.kind == ConventionKind::Client);
    if named.is_empty() {
        clients().for_each(&mut add);
        own.iter().for_each(&mut add);
    }
    for name in named.iter().map(|name| name.trim()) {
        if name.is_empty() {
            return Err(error_with_hint(
                "--convention has an empty name",
                "remove --convention to check for all known clients",
            ));
        }
        if name == CLIENTS {
            clients().for_each(&mut add);
            continue;
        }
        let Some(convention) = known.iter().find(|convention| convention.name == name) else {
            let names = known.iter().map(|convention| convention.name.as_str()).chain([CLIENTS]);
            return Err(unknown("convention", name, names));
        };
        add(convention);
    }
    Ok(chosen)
}

/// Reads a file of conventions.
fn read(path: &Path) -> Result<Vec<Convention>> {
    let source = Source::new(path.display().to_string(), crate::file::read_flag("--conventions", path)?);
    load::parse(&source).or_else(|diagnostics| {
        output::print_diagnostics(&source, &diagnostics);
        bail!("{} has errors", source.name)
    })
}

/// Parses the level of a rule, such as `NAME-001=off`.
fn rule(pair: &str) -> Result<(String, Option<RuleLevel>)> {
    let Some((code, level)) = pair.split_once('=') else {
        return Err(error_with_hint("--rule takes CODE=LEVEL", "for example --rule TITLE-001=off"));
    };
    let wanted = code.trim();
    let named = || all_rules().find(|rule| rule.name.eq_ignore_ascii_case(wanted));
    let Some(rule) = mcpaql_audit::find_rule(wanted).or_else(named) else {
        return Err(unknown("rule", wanted, all_rules().map(|rule| rule.code)));
    };
    let code = rule.code.to_owned();
    match level.trim() {
        "off" => Ok((code, None)),
        word => match RuleLevel::parse(word) {
            Some(level) => Ok((code, Some(level))),
            None => {
                Err(error_with_hint(format!("unknown level '{word}'"), "use off, advice, warning or error"))
            }
        },
    }
}

fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> anyhow::Error {
    let known: Vec<&str> = known.collect();
    let near = suggest::nearest(name, known.iter().copied());
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None if kind == "rule" => "`mcpaql explain` lists all rules".to_owned(),
        None => format!("use one of {}", known.join(", ")),
    };
    error_with_hint(format!("unknown {kind} '{name}'"), hint)
}
