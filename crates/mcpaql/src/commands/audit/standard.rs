//! From flags and files to what tools are held against.

use crate::args;
use crate::documents::tell;
use crate::output::Hinted;
use anyhow::{Result, bail};
use mcpaql_core::audit::all_rules;
use mcpaql_core::convention::{self, Convention, Kind, Level, Standard};
use mcpaql_core::policy::{Policy, policies};
use mcpaql_core::source::Source;
use mcpaql_core::suggest;
use std::path::Path;

/// The word for every known client.
const CLIENTS: &str = "clients";

/// What was chosen, and what could have been.
pub(super) struct Chosen {
    pub(super) standard: Standard,
    /// Every convention, a team's own first.
    pub(super) known: Vec<Convention>,
}

pub(super) fn chosen(args: &args::Audit) -> Result<Chosen> {
    let own = args.conventions.as_deref().map(read).transpose()?.unwrap_or_default();
    let builtins = convention::builtins().iter();
    let others = builtins.filter(|builtin| own.iter().all(|own| own.name != builtin.name));
    let known: Vec<Convention> = own.iter().chain(others).cloned().collect();
    let mut standard = Standard::of(conventions(&args.convention, &own, &known)?);
    if let Some(name) = &args.policy {
        let policy = Policy::named(name)
            .ok_or_else(|| unknown("policy", name, policies().map(|policy| policy.name.as_str())))?;
        (standard.policy, standard.policy_chosen) = (policy.clone(), true);
    }
    for pair in &args.rule {
        let (code, level) = rule(pair)?;
        standard.rules.insert(code, level);
    }
    Ok(Chosen { standard, known })
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
    let clients = || known.iter().filter(|convention| convention.kind == Kind::Client);
    if named.is_empty() {
        clients().for_each(&mut add);
        own.iter().for_each(&mut add);
    }
    for name in named.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
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
    let source = Source::new(path.display().to_string(), crate::descriptions::read_text(path)?);
    convention::parse(&source).or_else(|diagnostics| {
        tell(&source, &diagnostics);
        bail!("{} cannot be used", source.name)
    })
}

/// `NAME-001=off`.
fn rule(pair: &str) -> Result<(String, Option<Level>)> {
    let Some((code, level)) = pair.split_once('=') else {
        return Err(hinted("--rule takes CODE=LEVEL".into(), "such as --rule TITLE-001=off"));
    };
    let code = code.trim().to_ascii_uppercase();
    if mcpaql_core::audit::rule(&code).is_none() {
        return Err(unknown("rule", &code, all_rules().map(|rule| rule.code)));
    }
    match level.trim() {
        "off" => Ok((code, None)),
        word => match Level::parse(word) {
            Some(level) => Ok((code, Some(level))),
            None => {
                Err(hinted(format!("there is no level '{word}'"), "choose off, advice, warning or error"))
            }
        },
    }
}

fn hinted(message: String, hint: &str) -> anyhow::Error {
    Hinted { message, hint: hint.to_owned() }.into()
}

fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> anyhow::Error {
    let known: Vec<&str> = known.collect();
    let near = suggest::nearest(name, known.iter().copied());
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None if kind == "rule" => "`mcpaql explain` lists all rules".to_owned(),
        None => format!("there is {}", known.join(", ")),
    };
    Hinted { message: format!("there is no {kind} '{name}'"), hint }.into()
}
