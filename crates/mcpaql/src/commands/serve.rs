//! `mcpaql serve`: serves adapters as an MCP server, over stdio or HTTP.

use crate::args::TokenVariable;
use crate::cache::SurfaceCache;
use crate::documents::{
    AdapterEnvironment, AdapterPlan, RejectedDocument, default_data, default_words, open_gateway,
};
use crate::output::error_with_hint;
use crate::reload::{ReloadedServer, WatchedFiles, apply_process_limits, plan_to_serve, reload_on_change};
use crate::status::StatusFile;
use crate::trust::content::OuterReach;
use crate::{CommandOutcome, args, operator, output};
use anyhow::{Context, Result};
use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::variables::{missing_credentials, needed};
use mcpaql_runtime::environment::is_set;
use mcpaql_runtime::gate::Gate;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::{PendingService, Preview, ServerLimits, ServiceLoader};
use mcpaql_runtime::serve::{self, AccessToken, HttpOptions, ServeError, TlsFiles, TokenProblem};
use mcpaql_runtime::target::store::STORE_FILE;
use serde_json::{Map, Value, json};
use std::io::ErrorKind;
use std::iter;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub(crate) async fn run(args: args::ServeArgs) -> Result<CommandOutcome> {
    match serve(args).await {
        // The same exit status as `check`.
        Err(error) if error.is::<RejectedDocument>() => {
            output::print_error(&error);
            Ok(CommandOutcome::Findings)
        }
        outcome => outcome,
    }
}

async fn serve(args: args::ServeArgs) -> Result<CommandOutcome> {
    let signals = Signals::listen()?;
    let args = Arc::new(args);
    let Some(address) = args.http else { return serve_over_stdio(args, signals).await };
    let options = http_options(&args, address)?;
    let read_at = SystemTime::now();
    let (gateway, info) = open(&args, plan_to_serve(&args)?, read_at).await?;
    let _reload = start_reload(&args, &gateway, &info, &signals);
    let started = gateway.clone();
    let mut status_file = None;
    let on_start = |bound| {
        announce_start(&started, &info, Some(bound));
        status_file = StatusFile::publish(started.clone(), format!("{}://{bound}/mcp", info.scheme()));
    };
    let result = serve::serve_http(Arc::new(gateway.clone()), options, signals.shutdown, on_start).await;
    gateway.close().await;
    result.map_err(with_hint)?;
    Ok(CommandOutcome::Clean)
}

/// Serves over stdio. The client gets its first answers while the adapters are still loading.
async fn serve_over_stdio(args: Arc<args::ServeArgs>, signals: Signals) -> Result<CommandOutcome> {
    let (pending, loading) = PendingService::new();
    let shutdown = signals.shutdown.clone();
    let mut serving =
        Box::pin(serve::serve_stdio(Arc::new(pending), ServerLimits::default(), shutdown.clone()));
    let mut loaded = Box::pin(load_in_background(Arc::clone(&args), loading));
    tokio::select! {
        result = &mut serving => {
            result?;
            // The client disconnected early: still load everything, to report errors in the documents.
            tokio::select! {
                () = shutdown.cancelled() => {}
                result = loaded => {
                    result?;
                }
            }
        }
        result = &mut loaded => {
            let (gateway, info) = result?;
            let _reload = start_reload(&args, &gateway, &info, &signals);
            let _status_file = StatusFile::publish(gateway.clone(), "standard input and output".into());
            let result = serving.await;
            gateway.close().await;
            result?;
        }
    }
    Ok(CommandOutcome::Clean)
}

/// Reloads files on changes until the returned handle is dropped.
fn start_reload(
    args: &Arc<args::ServeArgs>,
    gateway: &Gateway,
    info: &StartupInfo,
    signals: &Signals,
) -> AbortOnDropHandle<()> {
    let server = ReloadedServer {
        args: Arc::clone(args),
        gateway: gateway.clone(),
        gate: info.gate.clone(),
        environment: info.environment.clone(),
        reach: Arc::new(Mutex::new(info.reach.clone())),
    };
    let work = reload_on_change(server, info.files.clone(), signals.hangups.clone());
    AbortOnDropHandle::new(tokio::spawn(work))
}

/// Loads the adapters on another thread. Publishes the cached tools of the last start first, then the loaded adapters.
async fn load_in_background(
    args: Arc<args::ServeArgs>,
    loading: ServiceLoader<Gateway>,
) -> Result<(Gateway, StartupInfo)> {
    let handle = tokio::runtime::Handle::current();
    let work = move || -> Result<_> {
        let read_at = SystemTime::now();
        let plan = plan_to_serve(&args)?;
        let cache = if args.no_cache { None } else { SurfaceCache::new(&surface_key(&plan, &args)) };
        let cached = cache.as_ref().and_then(SurfaceCache::read);
        cached.clone().into_iter().for_each(|preview| loading.set_preview(preview));
        let (gateway, info) = handle.block_on(open(&args, plan, read_at))?;
        // The tools of an MCP server that has not answered yet are unknown.
        let is_complete = gateway.slots().iter().all(|slot| slot.served().is_some());
        let current = Preview::of(&gateway);
        if let Some(cache) = cache.filter(|_| is_complete && cached.as_ref() != Some(&current)) {
            cache.write(&current);
        }
        Ok((gateway, info, loading))
    };
    let (gateway, info, loading) =
        tokio::task::spawn_blocking(work).await.context("loading was interrupted")??;
    announce_start(&gateway, &info, None);
    loading.set_ready(Arc::new(gateway.clone()));
    Ok((gateway, info))
}

/// Returns what decides the list of tools.
fn surface_key(plan: &AdapterPlan, args: &args::ServeArgs) -> String {
    let reads_only = if args.read_only { "r" } else { "" };
    format!("{}{reads_only}", plan.fingerprint())
}

/// Compiles and opens all adapters of the plan.
async fn open(
    args: &args::ServeArgs,
    mut plan: AdapterPlan,
    read_at: SystemTime,
) -> Result<(Gateway, StartupInfo)> {
    apply_process_limits(&plan);
    let gate = operator::open_gate(operator::gate_config()?, args.read_only).await?;
    let reach = plan.outer_reach();
    let info = StartupInfo {
        words: args.words(default_words)?,
        data: plan.data.clone(),
        token_variables: args.token_env.iter().map(|token| token.variable.clone()).collect(),
        has_tls: args.tls_cert.is_some(),
        is_default: plan.is_default,
        environment: plan.environment.clone(),
        files: WatchedFiles::of(&mut plan, read_at),
        gate: gate.clone(),
        reach,
    };
    let gateway = open_gateway(plan, !args.no_cache, &gate).await?;
    Ok((gateway, info))
}

/// Logs a warning for every credential that is not set: calls that need it will fail, everything else works.
fn warn_about_credentials(gateway: &Gateway) {
    for served in gateway.snapshot().adapters() {
        let adapter = &served.catalog().adapter;
        let targets = adapter.targets.values().map(|target| &target.auth);
        for variable in
            iter::once(&adapter.auth).chain(targets).flat_map(|auth| missing_credentials(auth, &is_set))
        {
            tracing::warn!(adapter = %adapter.name, "{variable} is not set; calls of {} that need it will fail", adapter.name);
        }
    }
}

/// Adds a hint with command line flags to an error of the library.
fn with_hint(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Unauthenticated(address) => error_with_hint(
            format!("refusing to listen on {address} without authentication"),
            "require a token with --token-env NAME, or serve only this machine with --http 127.0.0.1:PORT",
        ),
        error @ ServeError::Token { problem: TokenProblem::TooShort, .. } => error_with_hint(
            format!("{error}"),
            "make a long, random one, for example: export MCPAQL_TOKEN=$(head -c 32 /dev/urandom | base64 | tr -d '/+=')",
        ),
        error @ ServeError::Token { .. } => error_with_hint(
            format!("{error}"),
            "give each caller a name and a token: --token-env alice=ALICE_TOKEN --token-env bob=BOB_TOKEN",
        ),
        error @ ServeError::Tls(_) => error_with_hint(
            format!("{error}"),
            "--tls-cert takes the certificate of this server followed by the ones that signed it, --tls-key its private key; both as PEM files",
        ),
        ServeError::Bind { addr, source } => {
            let hint = match source.kind() {
                ErrorKind::AddrInUse => {
                    "another program uses this port; choose another one with --http PORT, or stop that program (`mcpaql status` lists running servers)"
                }
                ErrorKind::PermissionDenied => "choose a port above 1023 with --http PORT",
                _ => "choose an address of this machine, such as --http 127.0.0.1:8080",
            };
            error_with_hint(format!("cannot listen on {addr}: {source}"), hint)
        }
        other => other.into(),
    }
}

fn http_options(args: &args::ServeArgs, address: SocketAddr) -> Result<HttpOptions> {
    let mut options = HttpOptions::new(address);
    options.allowed_hosts.clone_from(&args.allow_host);
    options.allowed_origins.clone_from(&args.allow_origin);
    options.allow_unauthenticated_remote = args.allow_remote_without_authentication;
    for TokenVariable { name, variable } in &args.token_env {
        let secret = super::read_token(variable, "the token that clients must send")?;
        options.tokens.push(AccessToken { name: name.clone(), secret });
    }
    if let (Some(cert), Some(key)) = (&args.tls_cert, &args.tls_key) {
        options.tls = Some(TlsFiles { cert: cert.clone(), key: key.clone() });
    }
    let limits = &mut options.connections;
    if let Some(most) = args.max_connections {
        limits.total = usize::try_from(most)?;
        limits.per_address = limits.per_address.min(limits.total);
    }
    if let Some(most) = args.max_connections_per_address {
        limits.per_address = usize::try_from(most)?;
        limits.total = limits.total.max(limits.per_address);
    }
    if let Some(most) = args.max_failed_logins {
        limits.failed_logins = most;
    }
    Ok(options)
}

/// Announces the server: a full message on a terminal, log lines otherwise.
fn announce_start(gateway: &Gateway, info: &StartupInfo, bound: Option<SocketAddr>) {
    warn_about_credentials(gateway);
    if output::stderr_is_terminal() {
        output::status_lines(&startup_message(gateway, info, bound));
        return;
    }
    for adapter in gateway.snapshot().adapters() {
        tracing::info!(
            adapter = %adapter.catalog().adapter.name,
            operations = adapter.catalog().operations.len() - 1,
            tools = adapter.catalog().tools.len(),
            "serving"
        );
    }
    if let Some(bound) = bound {
        tracing::info!("listening on {}://{bound}/mcp", info.scheme());
    }
}

/// What the startup message and the reload need to know.
struct StartupInfo {
    /// The words of the command that starts the same server from any folder.
    words: Vec<String>,
    /// The folder of the stores.
    data: Option<PathBuf>,
    /// The environment variables that hold the tokens of HTTP clients.
    token_variables: Vec<String>,
    /// Whether HTTP clients connect with TLS.
    has_tls: bool,
    /// Nothing was named or configured, so the built-in notebook is served.
    is_default: bool,
    /// Values of variables in a client's own configuration.
    environment: Option<AdapterEnvironment>,
    /// Every file that was read.
    files: WatchedFiles,
    /// The operator's rules, state and log.
    gate: Gate,
    /// What the plan reaches, apart from its documents.
    reach: OuterReach,
}

impl StartupInfo {
    fn scheme(&self) -> &'static str {
        if self.has_tls { "https" } else { "http" }
    }
}

fn startup_message(gateway: &Gateway, info: &StartupInfo, bound: Option<SocketAddr>) -> String {
    let mut lines = Vec::new();
    for adapter in gateway.snapshot().adapters() {
        let catalog = adapter.catalog();
        let operations = catalog.operations.len() - 1;
        let operations = output::counted(operations, "operation");
        lines.push(format!("Serving {} ({operations}) as", catalog.adapter.display_name));
        let width = catalog.tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
        lines.extend(catalog.tools.iter().map(|tool| format!("  {:width$}  {}", tool.name, tool.title)));
        if let (TargetConfig::Store(_), Some(data)) = (&catalog.adapter.target, &info.data) {
            lines.push(format!("Records are stored in {}", data.join(STORE_FILE).display()));
        }
        lines.push(String::new());
    }
    lines.push("To connect a client, add this to its configuration:".into());
    let variables = needed_variables(gateway);
    lines.push(format!("  {}", json!({"mcpServers": {"mcpaql": client_entry(info, bound, &variables)}})));
    let secrets = match bound {
        Some(_) => info.token_variables.clone(),
        None => variables,
    };
    if !secrets.is_empty() {
        let separator = if bound.is_some() { " or " } else { ", " };
        lines.push(format!("  Replace … with the value of {}", secrets.join(separator)));
    }
    lines.push(String::new());
    let program = program_to_type();
    let snapshot = gateway.snapshot();
    let document = snapshot.adapters().first().map_or("notebook", |adapter| adapter.source());
    let document = document.strip_prefix("builtin:").unwrap_or(document);
    lines.push("To try a call without a client, in another terminal:".into());
    let data = match &info.data {
        Some(data) if info.data != default_data() => format!(" --data {}", data.display()),
        _ => String::new(),
    };
    lines.push(format!("  {program} call {document} introspect{data}"));
    if info.is_default {
        lines.push(format!("  {program} call notebook create_note title=Hello body='My first note'{data}"));
        lines.push(format!("  {program} call notebook list_notes{data}"));
    }
    lines.push(String::new());
    lines.push(match bound {
        Some(bound) => format!("Listening on {}://{bound}/mcp. Press Ctrl-C to stop.", info.scheme()),
        None => "Waiting for a client on standard input. Press Ctrl-C to stop.".into(),
    });
    lines.join("\n")
}

/// Returns the variables that the adapters need.
fn needed_variables(gateway: &Gateway) -> Vec<String> {
    let snapshot = gateway.snapshot();
    let mut names: Vec<String> = Vec::new();
    for name in snapshot.adapters().iter().flat_map(|served| needed(served.catalog(), &is_set)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the entry for a client's configuration: the URL of this server, or the command that starts the same server from any
/// folder.
fn client_entry(info: &StartupInfo, bound: Option<SocketAddr>, variables: &[String]) -> Value {
    if let Some(bound) = bound {
        let host = if bound.ip().is_unspecified() { "localhost".into() } else { bound.ip().to_string() };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let url = format!("{}://{host}:{}/mcp", info.scheme(), bound.port());
        return match info.token_variables.is_empty() {
            false => json!({"type": "http", "url": url, "headers": {"Authorization": "Bearer …"}}),
            true => json!({"type": "http", "url": url}),
        };
    }
    let program = std::env::current_exe().map_or("mcpaql".into(), |path| path.display().to_string());
    let env: Map<String, Value> = variables.iter().map(|name| (name.clone(), "…".into())).collect();
    match env.is_empty() {
        true => json!({"command": program, "args": info.words}),
        false => json!({"command": program, "args": info.words, "env": env}),
    }
}

/// Returns this program as typed in a shell: its name if it is in `PATH`, otherwise its path.
fn program_to_type() -> String {
    let Ok(program) = std::env::current_exe() else { return "mcpaql".into() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(name) == program) {
        return name.display().to_string();
    }
    let here = std::env::current_dir().unwrap_or_default();
    match program.strip_prefix(here) {
        Ok(below) => std::path::Path::new(".").join(below).display().to_string(),
        Err(_) => program.display().to_string(),
    }
}

/// The signals of this process.
struct Signals {
    /// Cancelled when the process should stop.
    shutdown: CancellationToken,
    /// Changes at each SIGHUP: everything is reloaded.
    hangups: watch::Receiver<()>,
}

impl Signals {
    /// Starts listening at once, so that no signal is missed after the server has announced itself.
    #[cfg(unix)]
    fn listen() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        serve::survive_full_files()?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let has_terminal = output::stderr_is_terminal();
        let (hangup_sender, hangups) = watch::channel(());
        let shutdown = stop_after(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => return,
                    _ = interrupt.recv() => return,
                    _ = hangup.recv() => {}
                }
                // SIGHUP from a terminal that was closed means stop.
                if has_terminal && !output::stderr_is_terminal() {
                    return;
                }
                hangup_sender.send_replace(());
            }
        });
        Ok(Signals { shutdown, hangups })
    }

    #[cfg(not(unix))]
    fn listen() -> std::io::Result<Signals> {
        let (hangup_sender, hangups) = watch::channel(());
        let shutdown = stop_after(async move {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            drop(hangup_sender);
        });
        Ok(Signals { shutdown, hangups })
    }
}

fn stop_after(signal: impl Future<Output = ()> + Send + 'static) -> CancellationToken {
    let shutdown = CancellationToken::new();
    let stopped = shutdown.clone();
    tokio::spawn(async move {
        signal.await;
        tracing::info!("stopping; waiting for running calls");
        stopped.cancel();
    });
    shutdown
}
