//! Collects the servers to audit: running servers, saved lists of tools, and adapter documents.

mod probe;

use crate::args;
use crate::clients::config_file;
use crate::clients::config_import::ConfigImport;
use crate::documents::{AdapterEnvironment, AdapterRequest, AdapterSource, EntryOverrides, PlannedAdapter};
use crate::file;
use crate::output::{self, error_with_hint};
use crate::servers::{self, Interrupted, SavedTools};
use anyhow::{Context, Result};
use mcpaql_audit::{FailedServer, KnownFacts, ServerTools, ToolsOrigin};
use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget, Mode};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::facts::Reach;
use mcpaql_core::flagged::FlaggedOperation;
use mcpaql_core::surface;
use mcpaql_core::unified::Unified;
use mcpaql_document::compile;
use mcpaql_document::config;
use mcpaql_document::load;
use mcpaql_document::load::Origins;
use mcpaql_document::source::Source;
use mcpaql_import::mcp;
use mcpaql_runtime::environment::{self, Environment};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The servers to audit, and those that failed.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) servers: Vec<ServerTools>,
    /// The origin of the tools of each server, in the same order.
    pub(super) origins: Vec<ToolsOrigin>,
    pub(super) failed: Vec<FailedServer>,
    /// The settings of adapter documents, by the index of their server.
    adapter_settings: HashMap<usize, (AdapterSettings, EntryOverrides)>,
    /// The first error, which is reported if there is no server to audit.
    error: Option<anyhow::Error>,
}

/// Collects all named servers, or the adapters of the configuration of this folder.
pub(super) async fn gather(args: &args::AuditArgs) -> Result<Sources> {
    args.access.check_flags(!args.url.is_empty(), !args.command.is_empty())?;
    let mut sources = Sources::default();
    for path in &args.tools {
        let name = path.display().to_string();
        match read_saved_server(path) {
            Ok((server, origin, gap)) => sources.add_with_gap(server, origin, gap),
            Err(error) => sources.add_failure(name, error),
        }
    }
    let names_no_server = args.tools.is_empty() && args.command.is_empty() && args.url.is_empty();
    if !args.documents.is_empty() || (names_no_server && args.config.is_none()) {
        documents(args, &mut sources)?;
    }
    let mut asked = Vec::new();
    if !args.command.is_empty() {
        asked.push(ServerToAudit::new(servers::target_of_command(&args.command, &args.access)?));
    }
    for url in &args.url {
        asked.push(ServerToAudit::new(servers::target_of_url(url, &args.access)?));
    }
    if let Some(config) = &args.config {
        asked.extend(client_servers(config, &mut sources)?);
    }
    if args.probe {
        probe::probe(&mut sources, asked, args).await?;
    } else {
        sources.ask_servers(asked, args.timeout).await?;
    }
    if let Some(name) = &args.name {
        sources.rename_only_server(name)?;
    }
    match sources.error.take() {
        Some(error) if sources.servers.is_empty() => Err(error),
        _ if sources.servers.is_empty() => {
            let hint = "pass a document, --tools FILE, --url URL, --config PATH, or a command after `--`";
            Err(error_with_hint("no server to audit", hint))
        }
        _ => Ok(sources),
    }
}

impl Sources {
    /// Adds a server, and returns its name, which is made unique.
    fn add(&mut self, mut server: ServerTools, origin: ToolsOrigin) -> String {
        // Findings and baselines identify servers by their names.
        let is_taken = |name: &str| self.servers.iter().any(|other| other.name == name);
        if is_taken(&server.name) {
            let numbered = (2_usize..).map(|number| format!("{}-{number}", server.name));
            server.name = numbered.into_iter().find(|name| !is_taken(name)).unwrap_or_default();
        }
        let name = server.name.clone();
        self.servers.push(server);
        self.origins.push(origin);
        name
    }

    /// Adds a server whose list of tools may be incomplete; `gap` is the reason.
    fn add_with_gap(&mut self, server: ServerTools, origin: ToolsOrigin, gap: Option<String>) {
        let Some(why) = gap else {
            self.add(server, origin);
            return;
        };
        if server.tools.is_empty() {
            let name = origin.source().map_or(server.name, |source| source.name.clone());
            self.error.get_or_insert_with(|| anyhow::anyhow!("{name}: {why}"));
            self.failed.push(FailedServer { name, why, in_part: false });
        } else {
            let name = self.add(server, origin);
            self.add_partial_failure(name, why);
        }
    }

    /// Returns the estimated cost of each server as an adapter. Not every format shows it, and it imports all tools.
    pub(super) fn costs_as_adapters(&self) -> Vec<Option<usize>> {
        let foreign = |server: &ServerTools| (!server.is_adapter).then_some(());
        self.servers
            .iter()
            .map(|server| foreign(server).and_then(|()| cost_as_adapter(&server.tools)))
            .collect()
    }

    /// Renames the only server.
    fn rename_only_server(&mut self, name: &str) -> Result<()> {
        match self.servers.as_mut_slice() {
            [server] => {
                server.name = name.to_owned();
                server.name_is_guessed = false;
                let own = self.failed.iter_mut().filter(|failed| failed.in_part);
                own.for_each(|failed| failed.name = name.to_owned());
                Ok(())
            }
            [] => Ok(()),
            _ => {
                let hint = "remove --name, or audit each server separately";
                Err(error_with_hint("--name works only with one server", hint))
            }
        }
    }

    fn add_failure(&mut self, name: String, error: anyhow::Error) {
        self.failed.push(FailedServer { name, why: output::messages(&error).join(": "), in_part: false });
        self.error.get_or_insert(error);
    }

    /// Records that the tools of an added server are incomplete.
    fn add_partial_failure(&mut self, name: String, why: String) {
        self.failed.push(FailedServer { name, why, in_part: true });
    }

    /// Compiles the document of a server again with another text. Returns `None` if it cannot be served.
    pub(super) fn recompile(&self, index: usize, source: Source) -> Option<(ServerTools, ToolsOrigin)> {
        let (settings, entry) = self.adapter_settings.get(&index)?.clone();
        let adapter = PlannedAdapter::new(AdapterSource::Document(source.clone()), settings, entry);
        let catalog = adapter.check().1.catalog?;
        let origin = document_origin(&catalog, source);
        Some((server_of_catalog(&catalog), origin))
    }

    /// Asks all servers in parallel.
    async fn ask_servers(&mut self, asked: Vec<ServerToAudit>, timeout: u64) -> Result<()> {
        let mut tasks = JoinSet::new();
        for (index, asked) in asked.into_iter().enumerate() {
            let asked = asked.with_timeout(timeout);
            tasks.spawn(async move {
                let ServerToAudit { target, auth, environment, .. } = &asked;
                let capture = servers::capture_server(target, auth, environment).await;
                (index, asked, capture)
            });
        }
        let mut answers: Vec<(usize, ServerToAudit, Result<Capture>)> = Vec::new();
        while let Some(answer) = tasks.join_next().await {
            answers.push(answer.context("asking a server failed")?);
        }
        answers.sort_by_key(|(index, ..)| *index);
        for (_, asked, capture) in answers {
            match capture {
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(error) => self.add_failure(asked.name, error),
                Ok(capture) => self.add_with_gap(
                    asked.server(&capture),
                    ToolsOrigin::Asked,
                    capture.incomplete_reason.map(str::to_owned),
                ),
            }
        }
        Ok(())
    }
}

/// A server to ask for its tools.
struct ServerToAudit {
    name: String,
    target: McpTarget,
    auth: Auth,
    environment: Environment,
    /// The tools that the client shows, as selection rules.
    include: Vec<String>,
    exclude: Vec<String>,
}

impl ServerToAudit {
    fn new((target, auth): (McpTarget, Auth)) -> ServerToAudit {
        ServerToAudit {
            name: mcp::name_from_link(&target.link),
            target,
            auth,
            environment: environment::process(),
            include: Vec::new(),
            exclude: Vec::new(),
        }
    }

    /// Sets the timeout.
    fn with_timeout(mut self, seconds: u64) -> ServerToAudit {
        self.target.start_timeout_ms = seconds * 1000;
        self.target.timeout_ms = seconds * 1000;
        self
    }

    /// Returns the server with the tools that the client shows.
    fn server(&self, capture: &Capture) -> ServerTools {
        let tools = capture.tools.iter().filter(|tool| self.shows(tool)).cloned().collect();
        ServerTools { name: self.name.clone(), tools, ..ServerTools::default() }
    }

    fn shows(&self, tool: &Value) -> bool {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let rule = format!("op:{name}");
        (self.include.is_empty() || self.include.contains(&rule)) && !self.exclude.contains(&rule)
    }
}

/// Returns the servers of a client's configuration, and records those that cannot be started as failed.
fn client_servers(config: &str, sources: &mut Sources) -> Result<Vec<ServerToAudit>> {
    let configurations = config_file::read_client_configs(config)?;
    let import = ConfigImport::from_configs(&configurations);
    for skipped in &import.skipped {
        let error = anyhow::anyhow!("the server '{}' cannot be audited: {}", skipped.server, skipped.reason);
        sources.add_failure(skipped.server.clone(), error);
    }
    let environment = AdapterEnvironment::new(import.variables.values()).lookup();
    let asked = import.imported.into_iter().filter_map(|imported| {
        let config::AdapterOrigin::Mcp(target) = imported.entry.origin else { return None };
        Some(ServerToAudit {
            name: imported.server,
            target: *target,
            auth: imported.entry.auth.unwrap_or_default(),
            environment: Arc::clone(&environment),
            include: imported.entry.include,
            exclude: imported.entry.exclude,
        })
    });
    Ok(asked.collect())
}

/// Reads a saved list of tools. The server gets the name of the file.
fn read_saved_server(path: &Path) -> Result<(ServerTools, ToolsOrigin, Option<String>)> {
    let is_stdin = path.as_os_str() == "-";
    let (name, text) = if is_stdin {
        ("standard input".to_owned(), file::read_stdin()?)
    } else {
        (path.display().to_string(), file::read_flag("--tools", path)?)
    };
    let source = Source::new(name, text);
    let SavedTools { capture, pointer, duplicate_names } = servers::parse_saved_tools(&source)?;
    let gap = capture.incomplete_reason.map(str::to_owned).or_else(|| first_error(&duplicate_names));
    let own = capture.server().and_then(|server| server.get("name")?.as_str()).map(str::to_owned);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let server = if is_stdin { own.unwrap_or_else(|| "server".into()) } else { stem.unwrap_or_default() };
    let server =
        ServerTools { name: server, name_is_guessed: true, tools: capture.tools, ..ServerTools::default() };
    Ok((server, ToolsOrigin::List { source, pointer }, gap))
}

/// Adds the adapters of documents, as they would be served.
fn documents(args: &args::AuditArgs, sources: &mut Sources) -> Result<()> {
    let flags = args.settings();
    let request =
        AdapterRequest { documents: &args.documents, by_name: true, flags, ..AdapterRequest::default() };
    let plan = request.resolve()?;
    if plan.is_default {
        let hint = "pass a document, --tools FILE, --url URL, --config PATH, or a command after `--`";
        return Err(error_with_hint("no server to audit", hint));
    }
    if let Some((source, diagnostics)) = plan.config.filter(|_| plan.adapters.is_empty())
        && diagnostics.iter().any(|one| one.severity == Severity::Error)
    {
        output::print_diagnostics(&source, &diagnostics);
        anyhow::bail!("{} has errors", source.name);
    }
    for (name, error) in plan.unreadable {
        sources.add_failure(name, error);
    }
    let mut unified: Vec<Catalog> = Vec::new();
    for adapter in plan.adapters {
        let name = adapter.label();
        let settings = (adapter.settings.clone(), adapter.entry.clone());
        match compile_adapter(adapter) {
            Err(error) => sources.add_failure(name, error),
            Ok(CompiledDocument { catalog, origin, errors }) => {
                let server = if catalog.sharing.is_some() {
                    unified.push(catalog);
                    SHARED_SERVER_NAME.to_owned()
                } else {
                    sources.adapter_settings.insert(sources.servers.len(), settings);
                    sources.add(server_of_catalog(&catalog), origin)
                };
                if let Some(why) = first_error(&errors) {
                    sources.add_partial_failure(
                        server,
                        format!("parts of {name} have errors and are not served: {why}"),
                    );
                }
            }
        }
    }
    let catalogs: Vec<&Catalog> = unified.iter().collect();
    if let Some(sharing) = catalogs.first().and_then(|catalog| catalog.sharing) {
        let unified = Unified::new(&catalogs, sharing, None);
        let tools = unified.tools().iter().map(|tool| tool.to_json()).collect();
        let server = ServerTools {
            name: SHARED_SERVER_NAME.into(),
            tools,
            flagged: catalogs.iter().flat_map(|catalog| flagged_operations(catalog)).collect(),
            is_adapter: true,
            ..ServerTools::default()
        };
        sources.add(server, ToolsOrigin::Asked);
    }
    Ok(())
}

/// Name of the server for adapters that share their tools.
const SHARED_SERVER_NAME: &str = "mcpaql";

/// A compiled document, which may have errors in parts.
struct CompiledDocument {
    catalog: Catalog,
    /// Where its operations are in the text.
    origin: ToolsOrigin,
    /// The errors of operations that are missing in the catalog.
    errors: Vec<Diagnostic>,
}

/// Formats the first error with its position, and the number of other errors.
fn first_error(errors: &[Diagnostic]) -> Option<String> {
    let first = errors.first()?;
    let place = first.span.map(|span| format!(" (line {}, column {})", span.line, span.column));
    let others = match errors.len() {
        1 => String::new(),
        2 => "; and 1 other error".to_owned(),
        count => format!("; and {} other errors", count - 1),
    };
    Some(format!("{}{}{others}", first.message, place.unwrap_or_default()))
}

fn compile_adapter(adapter: PlannedAdapter) -> Result<CompiledDocument> {
    let source = match &adapter.source {
        AdapterSource::Document(source) => Some(source.clone()),
        AdapterSource::Openapi(_) | AdapterSource::Mcp(_) => None,
    };
    let (catalog, errors) = adapter.compile_with_errors()?;
    let origin = source.map_or(ToolsOrigin::Asked, |source| document_origin(&catalog, source));
    Ok(CompiledDocument { catalog, origin, errors })
}

/// Returns the server as clients see it.
fn server_of_catalog(catalog: &Catalog) -> ServerTools {
    ServerTools {
        flagged: flagged_operations(catalog),
        name: catalog.adapter.name.clone(),
        tools: catalog.tools.iter().map(|tool| tool.to_json()).collect(),
        known: known_effects(catalog),
        is_adapter: true,
        ..ServerTools::default()
    }
}

/// Returns the operations with poisoned texts. Operations of a description are read for this.
fn flagged_operations(catalog: &Catalog) -> Vec<FlaggedOperation> {
    for entry in &catalog.operations {
        let _ = catalog.full_operation(entry);
    }
    let mut flagged: Vec<FlaggedOperation> = catalog.flagged_operations().into_iter().cloned().collect();
    // In discrete mode, the tools show the texts of the other operations.
    flagged.retain(|flagged| flagged.is_withheld || catalog.mode != Mode::Discrete);
    flagged
}

/// Returns where the tools of a document are in its text.
fn document_origin(catalog: &Catalog, source: Source) -> ToolsOrigin {
    let origins = source.parse().map(|parsed| load::load(&parsed.value).origins).unwrap_or_default();
    let operations = operations(catalog, &origins);
    ToolsOrigin::Document { source, operations }
}

/// Returns the pointer to the operation of each tool. Only in discrete mode, a tool is one operation.
fn operations(catalog: &Catalog, origins: &Origins) -> HashMap<String, String> {
    if catalog.mode != Mode::Discrete {
        return HashMap::new();
    }
    let entries = catalog.operations.iter().filter(|entry| !entry.tool.is_empty());
    entries
        .map(|entry| {
            let model = format!("/operations/{}", entry.operation.name);
            let written = origins.resolve(&model);
            // Built-in operations such as `introspect` are not in the document.
            let written = if written == model { "/name".to_owned() } else { written };
            (entry.tool.clone(), written)
        })
        .collect()
}

/// Returns the facts that the document declares for each tool.
fn known_effects(catalog: &Catalog) -> HashMap<String, KnownFacts> {
    if catalog.mode != Mode::Discrete {
        return HashMap::new();
    }
    let entries = catalog.operations.iter().filter(|entry| !entry.tool.is_empty());
    entries
        .map(|entry| {
            let operation = &entry.operation;
            let mut facts = operation.facts;
            // The author's hint about the reach of a call overrides the default.
            if let Some(open) = operation.hints.open_world {
                facts.reach = if open { Reach::Open } else { Reach::Process };
            }
            (entry.tool.clone(), KnownFacts { category: operation.category, facts })
        })
        .collect()
}

/// Estimates the cost of the tools as an adapter with five tools.
fn cost_as_adapter(tools: &[Value]) -> Option<usize> {
    let command = McpCommand {
        command: vec!["server".into()],
        cwd: None,
        env: Default::default(),
        set_env: Default::default(),
    };
    let target = McpTarget::new(McpLink::Command(command));
    let adapter = mcp::outline_tools(tools, target, surface::needs_full_operation).ok()?;
    let catalog = compile::compile(adapter, &Origins::default(), &AdapterSettings::default()).catalog?;
    (!catalog.tools.is_empty()).then(|| surface::surface_cost(&catalog))
}
