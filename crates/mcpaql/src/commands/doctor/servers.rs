//! Asks MCP servers for their tools: all at the same time, each for a limited time. No tool is called.
//!
//! What always holds: no program that was started, and none of its children, outlives this process, also after a signal.

use super::report::{DoctorReport, DoctorSection, NextStep, describe, worst};
use crate::documents::{EntryOverrides, McpSource};
use crate::output::counted;
use crate::servers::{AccessSyntax, Interrupted, capture_error, setup_error, stop_signal};
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpTarget, TargetConfig};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::operation::Binding;
use mcpaql_core::variables::{UnsetEffect, unset_for_target};
use mcpaql_document::source::Source;
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::target::mcp::Upstream;
use serde_json::Value;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

const SECTION: DoctorSection = DoctorSection::McpServers;

/// A server to ask for its tools.
pub(super) struct ServerToAsk {
    label: String,
    target: McpTarget,
    auth: Auth,
    tools: ToolsExpectation,
}

/// What the tools of a server are compared with.
enum ToolsExpectation {
    /// They become an adapter.
    Adapter { server: Box<McpSource>, settings: Box<AdapterSettings>, entry: Box<EntryOverrides> },
    /// Operations of a document call these tools.
    Document(Vec<String>),
}

/// The answer of a server, or why there is none.
enum ServerAnswer {
    Capture(Capture),
    Error(anyhow::Error),
    TimedOut,
}

impl ServerToAsk {
    /// Returns the server of an entry in the configuration.
    pub(super) fn configured(
        server: McpSource,
        settings: AdapterSettings,
        entry: EntryOverrides,
    ) -> ServerToAsk {
        let (target, auth) = (server.target.clone(), server.auth.clone());
        ServerToAsk {
            label: format!("mcp:{}", server.name),
            target,
            auth,
            tools: ToolsExpectation::Adapter {
                server: Box::new(server),
                settings: Box::new(settings),
                entry: Box::new(entry),
            },
        }
    }

    /// Returns the servers that the operations of a document call.
    pub(super) fn of_document(label: &str, catalog: &Catalog) -> Vec<ServerToAsk> {
        let adapter = &catalog.adapter;
        let mut tools: Vec<String> = Vec::new();
        for entry in &catalog.operations {
            if let Binding::Mcp(binding) = &entry.operation.binding
                && !tools.contains(&binding.tool)
            {
                tools.push(binding.tool.clone());
            }
        }
        let server = |label: String, target: &TargetConfig, auth: &Auth| match target {
            TargetConfig::Mcp(target) => Some(ServerToAsk {
                label,
                target: target.clone(),
                auth: auth.clone(),
                tools: ToolsExpectation::Document(tools.clone()),
            }),
            _ => None,
        };
        if adapter.targets.is_empty() {
            return server(label.to_owned(), &adapter.target, &adapter.auth).into_iter().collect();
        }
        let servers = adapter.targets.iter();
        servers
            .filter_map(|(name, one)| server(format!("{label} ({name})"), &one.target, &one.auth))
            .collect()
    }

    /// Returns the first variable without which the server cannot be asked.
    fn missing_variable(&self, environment: &Environment) -> Option<String> {
        let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
        let unset = unset_for_target(&self.auth, &TargetConfig::Mcp(self.target.clone()), &is_set);
        unset.into_iter().find(|(_, effect)| *effect == UnsetEffect::CallsFail).map(|(name, _)| name)
    }
}

/// Asks all servers, and returns the catalogs of those that are adapters by themselves.
///
/// # Errors
/// When a signal stops the process.
pub(super) async fn ask_all(
    servers: Vec<ServerToAsk>,
    environment: &Environment,
    limit: Duration,
    report: &mut DoctorReport,
) -> Result<Vec<(String, Catalog)>> {
    let mut answers: Vec<Option<ServerAnswer>> = Vec::new();
    let mut asking = JoinSet::new();
    let mut upstreams = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        answers.push(None);
        if server.missing_variable(environment).is_some() {
            continue;
        }
        match Upstream::named(&server.label, &server.target, &server.auth, environment) {
            Ok(upstream) => {
                upstreams.push(upstream.clone());
                asking.spawn(async move {
                    let answer = timeout(limit, upstream.capture()).await.ok();
                    upstream.close().await;
                    (index, answer)
                });
            }
            Err(error) => set(&mut answers, index, ServerAnswer::Error(setup_error(error))),
        }
    }
    let collect = async {
        while let Some(answered) = asking.join_next().await {
            let Ok((index, answer)) = answered else { continue };
            let link = servers.get(index).map(|server| &server.target.link);
            let answer = match (answer, link) {
                (Some(Ok(capture)), _) => ServerAnswer::Capture(capture),
                (Some(Err(error)), Some(link)) => {
                    ServerAnswer::Error(capture_error(error, link, AccessSyntax::Keys))
                }
                _ => ServerAnswer::TimedOut,
            };
            set(&mut answers, index, answer);
        }
    };
    let interrupted = tokio::select! {
        () = collect => false,
        () = stop_signal() => true,
    };
    if interrupted {
        asking.abort_all();
        let mut closing = JoinSet::new();
        upstreams.into_iter().for_each(|upstream| drop(closing.spawn(async move { upstream.close().await })));
        closing.join_all().await;
        return Err(Interrupted.into());
    }
    let mut catalogs = Vec::new();
    for (server, answer) in servers.into_iter().zip(answers) {
        match answer {
            None => {
                let variable = server.missing_variable(environment).unwrap_or_default();
                let next = NextStep::Do(format!("set {variable}, and run `mcpaql doctor` again"));
                report.warning(
                    SECTION,
                    server.label,
                    format!("not asked, because {variable} is not set"),
                    next,
                );
            }
            Some(ServerAnswer::Error(error)) => {
                report.error(SECTION, server.label, &error, "check the command or the URL of the server");
            }
            Some(ServerAnswer::TimedOut) => {
                let message = format!("did not list its tools within {} seconds", limit.as_secs());
                let hint = "check that it is an MCP server; if it only needs more time, for example to be downloaded, raise --timeout";
                report.problem(SECTION, server.label, message, NextStep::Do(hint.to_owned()));
            }
            Some(ServerAnswer::Capture(capture)) => {
                catalogs.extend(report_tools(server, &capture, report));
            }
        }
    }
    Ok(catalogs)
}

fn set(answers: &mut [Option<ServerAnswer>], index: usize, answer: ServerAnswer) {
    if let Some(slot) = answers.get_mut(index) {
        *slot = Some(answer);
    }
}

/// Reports the tools that a server listed. Returns the catalog, if they are an adapter.
fn report_tools(
    server: ServerToAsk,
    capture: &Capture,
    report: &mut DoctorReport,
) -> Option<(String, Catalog)> {
    let label = server.label;
    let program = capture.initialize.get("serverInfo");
    let about = |key: &str| program.and_then(|info| info.get(key)).and_then(Value::as_str);
    let name: Vec<&str> = [about("name"), about("version")].into_iter().flatten().collect();
    let tools = counted(capture.tools.len(), "tool");
    if let Some(reason) = capture.incomplete_reason {
        let next = NextStep::Do("report it to the authors of the server".to_owned());
        report.warning(SECTION, &label, format!("its list of tools is incomplete: {reason}"), next);
    }
    match server.tools {
        ToolsExpectation::Document(expected) => {
            let listed: Vec<&str> =
                capture.tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
            let missing: Vec<String> =
                expected.into_iter().filter(|tool| !listed.contains(&tool.as_str())).collect();
            if missing.is_empty() {
                report.ok(SECTION, &label, format!("{} lists {tools}", name.join(" ")));
            } else {
                let message =
                    format!("the server has no tool {}, which the document calls", missing.join(", "));
                let next =
                    NextStep::Do(format!("import the server again with `mcpaql import mcp -o {label}`"));
                report.problem(SECTION, &label, message, next);
            }
            None
        }
        ToolsExpectation::Adapter { server, settings, entry } => {
            let checked = server.check(capture, &settings, &entry);
            let source = Source::new(label.clone(), String::new());
            let Some(catalog) = checked.catalog else {
                let (message, next) =
                    worst(&checked.diagnostics).map(|first| describe(&source, first)).unwrap_or_else(|| {
                        ("its tools cannot be served".to_owned(), NextStep::Run("mcpaql audit".to_owned()))
                    });
                report.problem(SECTION, &label, message, next);
                return None;
            };
            let operations = counted(catalog.operations.len().saturating_sub(1), "operation");
            report.ok(SECTION, &label, format!("{} lists {tools}: {operations}", name.join(" ")));
            for problem in &checked.diagnostics {
                let (message, next) = describe(&source, problem);
                report.warning(SECTION, &label, message, next);
            }
            Some((label, catalog))
        }
    }
}
