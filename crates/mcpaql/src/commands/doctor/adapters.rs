//! Checks adapters: their documents, the variables they need, the programs they run, and whether their targets can be opened.
//! Starts nothing.

use super::programs::{find_program, programs};
use super::report::{DoctorReport, DoctorSection, NextStep, describe, worst};
use super::servers::ServerToAsk;
use crate::documents::{AdapterSource, PlannedAdapter, add_check_advice};
use crate::output::counted;
use mcpaql_core::adapter::{McpLink, TargetConfig};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::variables::{UnsetEffect, UnsetVariables, all_variables, unset_for_target, unset_variables};
use mcpaql_document::check::CheckOutput;
use mcpaql_document::source::Source;
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::target;

const SECTION: DoctorSection = DoctorSection::Adapters;

/// What the checks of adapters found for later checks.
#[derive(Default)]
pub(super) struct CheckedAdapters {
    /// The catalogs of documents and descriptions, each with the name of its source.
    pub(super) catalogs: Vec<(String, Catalog)>,
    /// The MCP servers to ask for their tools.
    pub(super) servers: Vec<ServerToAsk>,
}

/// How to check adapters.
pub(super) struct AdapterChecks<'a> {
    pub(super) environment: &'a Environment,
    /// `mcpaql check` without arguments checks these adapters.
    pub(super) is_default_config: bool,
}

impl AdapterChecks<'_> {
    /// Checks one adapter, and adds it to `checked`.
    pub(super) async fn check(
        &self,
        adapter: PlannedAdapter,
        report: &mut DoctorReport,
        checked: &mut CheckedAdapters,
    ) {
        let label = adapter.label();
        if adapter.untrusted.is_some() {
            // Its variables are not read, and nothing of it is looked for or started.
            if !matches!(adapter.source, AdapterSource::Mcp(_)) {
                let (source, mut output) = adapter.check();
                add_check_advice(&source, &mut output);
                self.report_document(&label, &source, &output, report);
            }
            return;
        }
        if let PlannedAdapter { source: AdapterSource::Mcp(server), settings, entry, .. } = adapter {
            let config = TargetConfig::Mcp(server.target.clone());
            let unset = unset_for_target(&server.auth, &config, &|name| self.is_set(name));
            let effect = match server.target.link {
                McpLink::Command(_) => "the server does not start without it",
                McpLink::Url { .. } => "the server is not asked without it",
            };
            report_unset(&label, &unset, effect, report);
            checked.servers.push(ServerToAsk::configured(*server, settings, entry));
            return;
        }
        let (source, mut output) = adapter.check();
        add_check_advice(&source, &mut output);
        self.report_document(&label, &source, &output, report);
        let Some(catalog) = output.catalog else { return };
        self.check_catalog(&label, &catalog, report, checked).await;
        checked.catalogs.push((label, catalog));
    }

    async fn check_catalog(
        &self,
        label: &str,
        catalog: &Catalog,
        report: &mut DoctorReport,
        checked: &mut CheckedAdapters,
    ) {
        let unset = unset_variables(catalog, &|name| self.is_set(name));
        let set: Vec<String> = all_variables(catalog).into_keys().filter(|name| self.is_set(name)).collect();
        if !set.is_empty() {
            report.ok(SECTION, label, format!("set in the environment: {}", set.join(", ")));
        }
        report_unset(label, &unset, "calls that need it fail", report);
        self.check_programs(label, catalog, report);
        checked.servers.extend(ServerToAsk::of_document(label, catalog));
        let can_open = !unset.values().any(|effect| *effect != UnsetEffect::NotPassed);
        // The data folder is checked by itself: opening a store creates its file.
        if can_open
            && !matches!(catalog.adapter.target, TargetConfig::Store(_))
            && let Err(error) = target::open(catalog, None, self.environment, &[]).await
        {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let next = NextStep::Do(format!("correct `target` in {label}"));
            report.problem(SECTION, label, cause.unwrap_or_else(|| error.to_string()), next);
        }
    }

    fn is_set(&self, name: &str) -> bool {
        (self.environment)(name).is_some_and(|value| !value.is_empty())
    }

    fn report_document(&self, label: &str, source: &Source, output: &CheckOutput, report: &mut DoctorReport) {
        let size = output.catalog.as_ref().map(|catalog| {
            // `introspect` is not an operation of the API.
            let operations = catalog.operations.len().saturating_sub(1);
            format!("{}, {}", counted(operations, "operation"), counted(catalog.tools.len(), "tool"))
        });
        let Some(first) = worst(&output.diagnostics) else {
            report.ok(SECTION, label, size.unwrap_or_default());
            return;
        };
        let (errors, all) = (output.errors(), output.diagnostics.len());
        let counts = match errors {
            0 => counted(all, "warning"),
            _ => format!("{}, {}", counted(errors, "error"), counted(all - errors, "warning")),
        };
        let (first, next) = describe(source, first);
        let message = match size {
            Some(size) => format!("{size}; {counts}; {first}"),
            None => format!("cannot be served; {counts}; {first}"),
        };
        // `check` fetches a URL again, but a setting or a single problem is already described completely.
        let next = match all {
            1 => next,
            _ if self.is_default_config => NextStep::Run("mcpaql check".to_owned()),
            _ => NextStep::Run(format!("mcpaql check {}", typed(label))),
        };
        match errors {
            0 => report.warning(SECTION, label, message, next),
            _ => report.problem(SECTION, label, message, next),
        }
    }

    fn check_programs(&self, label: &str, catalog: &Catalog, report: &mut DoctorReport) {
        let mut found = Vec::new();
        for (program, folder) in programs(catalog, self.environment) {
            match find_program(&program, folder.as_deref(), (self.environment)("PATH").as_deref()) {
                Some(_) => found.push(program),
                None if program.contains(['/', '\\']) => report.problem(
                    SECTION,
                    label,
                    format!("the program {program} does not exist or is not executable"),
                    NextStep::Do(format!("correct `command` in {label}")),
                ),
                None => report.problem(
                    SECTION,
                    label,
                    format!("the program {program} is not in PATH"),
                    NextStep::Do(format!("install {program}, or write its absolute path in {label}")),
                ),
            }
        }
        if !found.is_empty() {
            report.ok(SECTION, label, format!("in PATH: {}", found.join(", ")));
        }
    }
}

/// Returns the name of a source as it is typed on the command line.
fn typed(label: &str) -> &str {
    label.strip_prefix("builtin:").unwrap_or(label)
}

/// Reports variables that are not set; `effect` is what happens without one that is needed.
fn report_unset(label: &str, unset: &UnsetVariables, effect_of_needed: &str, report: &mut DoctorReport) {
    for (name, effect) in unset {
        let next = NextStep::Run(set_variable(name));
        match effect {
            UnsetEffect::CallsFail => {
                report.problem(SECTION, label, format!("{name} is not set; {effect_of_needed}"), next);
            }
            UnsetEffect::SomeCallsFail => {
                let message = format!("{name} is not set; the operations or targets that need it fail");
                report.warning(SECTION, label, message, next);
            }
            UnsetEffect::NotPassed => {
                let message = format!("{name} is not set, so programs are started without it");
                report.warning(SECTION, label, message, next);
            }
        }
    }
}

/// Returns the command that sets a variable.
fn set_variable(name: &str) -> String {
    if cfg!(windows) { format!("set {name}=…") } else { format!("export {name}=…") }
}
