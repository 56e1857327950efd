//! `mcpaql doctor`: checks everything between a client and an API, and says what to do about each problem.
//!
//! What always holds: nothing is changed; no value of a variable is printed; no tool and no operation is called; no program that was
//! started outlives this process.

mod adapters;
mod clients;
mod data;
mod programs;
mod report;
mod servers;

use crate::documents::{AdapterPlan, AdapterRequest, CONFIG_FILE, collision_error, default_data};
use crate::operator::{self, OperatorConfig};
use crate::output::counted;
use crate::{CommandOutcome, args, output, status};
use adapters::{AdapterChecks, CheckedAdapters};
use anyhow::Result;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::diagnostic::Severity;
use mcpaql_runtime::environment;
use mcpaql_runtime::gateway::check_names;
use report::{DoctorReport, DoctorSection, NextStep, describe};
use serde_json::Value;
use std::time::Duration;

/// Maximum number of problems of the configuration that are shown.
const MAX_CONFIG_PROBLEMS: usize = 20;

pub(crate) async fn run(args: args::DoctorArgs) -> Result<CommandOutcome> {
    let mut report = DoctorReport::new(args.json);
    let is_complete = args.documents.is_empty();
    let mut plan = resolve(&args, &mut report);
    check_operator(&mut report).await;
    report.print_section();

    let environment = plan.environment.take().map_or_else(environment::process, |own| own.lookup());
    let checks = AdapterChecks {
        environment: &environment,
        is_default_config: is_complete && args.config.is_none() && !plan.is_default,
    };
    let mut checked = CheckedAdapters::default();
    for adapter in std::mem::take(&mut plan.adapters) {
        checks.check(adapter, &mut report, &mut checked).await;
    }
    let CheckedAdapters { mut catalogs, servers } = checked;
    let names_are_unique = check_collisions(&catalogs, DoctorSection::Adapters, &mut report);
    report.print_section();

    let is_needed = catalogs.iter().any(|(_, catalog)| data::needs_data(catalog));
    if is_needed || (is_complete && plan.data.as_ref().is_some_and(|folder| folder.exists())) {
        data::check(plan.data.as_deref(), is_needed, &mut report).await;
    }
    report.print_section();
    if is_complete {
        clients::check(&mut report);
        check_running_servers(&mut report);
        report.print_section();
    }

    if !servers.is_empty() && output::stderr_is_terminal() {
        output::status_line(&format!("Asking {} for their tools", counted(servers.len(), "MCP server")));
    }
    let limit = Duration::from_secs(args.timeout);
    let of_servers = servers::ask_all(servers, &environment, limit, &mut report).await?;
    if names_are_unique && !of_servers.is_empty() {
        catalogs.extend(of_servers);
        check_collisions(&catalogs, DoctorSection::McpServers, &mut report);
    }
    report.finish()?;
    Ok(if report.has_problems() { CommandOutcome::Findings } else { CommandOutcome::Clean })
}

/// Returns the adapters to check, and reports the configuration.
fn resolve(args: &args::DoctorArgs, report: &mut DoctorReport) -> AdapterPlan {
    const SECTION: DoctorSection = DoctorSection::Configuration;
    let request = AdapterRequest {
        documents: &args.documents,
        by_name: true,
        config: args.config.as_deref(),
        ..AdapterRequest::default()
    };
    let mut plan = match request.resolve() {
        Ok(plan) => plan,
        Err(error) => {
            let config = args.config.as_ref().map(|path| path.display().to_string());
            let subject = config.or_else(|| args.documents.first().cloned());
            report.error(SECTION, subject.unwrap_or_else(|| CONFIG_FILE.to_owned()), &error, "correct it");
            return AdapterPlan { data: default_data(), ..AdapterPlan::default() };
        }
    };
    if plan.is_default {
        let message = "not in this folder, so that `mcpaql serve` serves the built-in notebook";
        report.ok(SECTION, CONFIG_FILE, message);
    }
    let Some((source, diagnostics)) = &plan.config else {
        for (name, error) in std::mem::take(&mut plan.unreadable) {
            report.error(DoctorSection::Adapters, name, &error, "check the file or the address");
        }
        return plan;
    };
    for diagnostic in diagnostics.iter().take(MAX_CONFIG_PROBLEMS) {
        let (message, next) = describe(source, diagnostic);
        match diagnostic.severity {
            Severity::Error => report.problem(SECTION, &source.name, message, next),
            _ => report.warning(SECTION, &source.name, message, next),
        }
    }
    if diagnostics.len() > MAX_CONFIG_PROBLEMS {
        let message = format!("{} more problems", diagnostics.len() - MAX_CONFIG_PROBLEMS);
        report.problem(SECTION, &source.name, message, NextStep::Run("mcpaql check".to_owned()));
    }
    if diagnostics.is_empty() {
        report.ok(SECTION, &source.name, counted(plan.adapters.len(), "adapter"));
    }
    if let Some(untrusted) = &plan.untrusted {
        report.problem(SECTION, &source.name, untrusted.message(), NextStep::Run(untrusted.command()));
    }
    plan
}

/// Reports the operator's rules and pauses.
async fn check_operator(report: &mut DoctorReport) {
    const SECTION: DoctorSection = DoctorSection::Configuration;
    match OperatorConfig::read() {
        Ok(None) => {}
        Ok(Some(OperatorConfig { source, gate, diagnostics })) => {
            for diagnostic in diagnostics.iter().take(MAX_CONFIG_PROBLEMS) {
                let (message, next) = describe(&source, diagnostic);
                match diagnostic.severity {
                    Severity::Error => report.problem(SECTION, &source.name, message, next),
                    _ => report.warning(SECTION, &source.name, message, next),
                }
            }
            if diagnostics.is_empty() {
                let message =
                    format!("{}, {}", counted(gate.rules.len(), "rule"), counted(gate.quotas.len(), "quota"));
                report.ok(SECTION, &source.name, message);
            }
        }
        Err(error) => report.error(SECTION, "config.yaml", &error, "correct it"),
    }
    if !operator::has_state() {
        return;
    }
    let pauses = match operator::open_state().await {
        Ok(state) => state.pauses().await.map_err(anyhow::Error::from),
        Err(error) => Err(error),
    };
    match pauses {
        Ok(pauses) => {
            for pause in pauses {
                let name = pause.adapter.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
                let what =
                    if pause.adapter.is_some() { "the adapter is paused" } else { "all adapters are paused" };
                let reads = if pause.except_reads { ", except for reads" } else { "" };
                let next = NextStep::Run(format!("mcpaql resume{name}"));
                report.warning(
                    SECTION,
                    format!("pause{name}"),
                    format!("{what}{reads}, by {}", pause.by),
                    next,
                );
            }
        }
        Err(error) => report.error(
            SECTION,
            "state",
            &error,
            "correct it, or restore a backup with `mcpaql state restore`",
        ),
    }
}

/// Reports adapters that cannot be served together, because of equal names. Returns whether there are none.
fn check_collisions(
    catalogs: &[(String, Catalog)],
    section: DoctorSection,
    report: &mut DoctorReport,
) -> bool {
    match check_names(catalogs.iter().map(|(source, catalog)| (catalog, source.as_str()))) {
        Ok(_) => true,
        Err(collision) => {
            report.error(section, "names", &collision_error(&collision), "rename one of the adapters");
            false
        }
    }
}

/// Reports the servers of this user that run on this machine.
fn check_running_servers(report: &mut DoctorReport) {
    for server in status::running_servers() {
        let text = |key: &str| server.get(key).and_then(Value::as_str).unwrap_or_default();
        let process = server.get("pid").and_then(Value::as_u64).unwrap_or_default();
        let subject = format!("process {process}");
        let adapters = server.get("adapters").and_then(Value::as_array).map_or(0, Vec::len);
        let message = format!("serves {} over {}", counted(adapters, "adapter"), text("served"));
        match text("status") {
            "ok" => report.ok(DoctorSection::RunningServers, subject, message),
            state => report.warning(
                DoctorSection::RunningServers,
                subject,
                format!("{message}, and is {state}"),
                NextStep::Run("mcpaql status".to_owned()),
            ),
        }
    }
}
