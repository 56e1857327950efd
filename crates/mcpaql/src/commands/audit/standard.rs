//! From flags and files to what tools are held against.

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

/// What was chosen, and what could have been.
pub(super) struct ChosenStandard {
    pub(super) standard: Standard,
    /// Every convention, a team's own first.
    pub(super) known_conventions: Vec<Convention>,
    /// A team's own policies.
    pub(super) policies: Vec<Policy>,
}

/// What flags say, and where they say nothing the configuration of this folder.
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

/// A policy by its name: a team's own, or one of this version.
pub(super) fn find_policy(name: &str, own: &[Policy]) -> Result<Policy> {
    policy::find(name, own).cloned().ok_or_else(|| {
        let names = own.iter().map(|policy| policy.name.as_str());
        let known = names.chain(policy::policies().map(|policy| policy.name.as_str()));
        unknown("policy", name, known)
    })
}

/// The configuration of this folder, where there is one.
fn configured() -> Result<(Config, settings::AuditSettings)> {
    let path = Path::new(CONFIG_FILE);
    if !path.exists() {
        return Ok(Default::default());
    }
    let source = Source::new(CONFIG_FILE, crate::file::read_text(path)?);
    let (config, settings, mut diagnostics) = load_config(&source);
    let decides = |diagnostic: &Diagnostic| {
        let part = |part: &str| diagnostic.pointer.starts_with(part);
        part("/audit") || part("/policies") || part("/conventions") || diagnostic.pointer.is_empty()
    };
    diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error && decides(diagnostic));
    if !diagnostics.is_empty() {
        source.locate(&mut diagnostics);
        output::print_diagnostics(&source, &diagnostics);
        bail!("{CONFIG_FILE} does not say what tools are held against");
    }
    Ok((config, settings))
}

/// MCP itself, then what was named; every client and a team's own where nothing was.
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
                "a convention has no name",
                "leave --convention out for every known client",
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

/// A file of conventions.
fn read(path: &Path) -> Result<Vec<Convention>> {
    let source = Source::new(path.display().to_string(), crate::file::read_text(path)?);
    load::parse(&source).or_else(|diagnostics| {
        output::print_diagnostics(&source, &diagnostics);
        bail!("{} cannot be used", source.name)
    })
}

/// `NAME-001=off`.
fn rule(pair: &str) -> Result<(String, Option<RuleLevel>)> {
    let Some((code, level)) = pair.split_once('=') else {
        return Err(error_with_hint("--rule takes CODE=LEVEL", "such as --rule TITLE-001=off"));
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
            None => Err(error_with_hint(
                format!("there is no level '{word}'"),
                "choose off, advice, warning or error",
            )),
        },
    }
}

fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> anyhow::Error {
    let known: Vec<&str> = known.collect();
    let near = suggest::nearest(name, known.iter().copied());
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None if kind == "rule" => "`mcpaql explain` lists all rules".to_owned(),
        None => format!("there is {}", known.join(", ")),
    };
    error_with_hint(format!("there is no {kind} '{name}'"), hint)
}
