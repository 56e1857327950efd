//! `mcpaql serve`: the main job.

use crate::cache::SurfaceCache;
use crate::documents::{AdapterPlan, default_data, open_gateway};
use crate::output::error_with_hint;
use crate::reload::{WatchedFiles, plan_to_serve, reload_on_change};
use crate::status::StatusFile;
use crate::{CommandOutcome, args, output};
use anyhow::{Context, Result};
use mcpaql_core::adapter::TargetConfig;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::{PendingService, Preview, ServerLimits, ServiceLoader};
use mcpaql_runtime::serve::{self, HttpOptions, ServeError};
use mcpaql_runtime::target::store::STORE_FILE;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

pub(crate) async fn run(args: args::ServeArgs) -> Result<CommandOutcome> {
    let signals = Signals::listen()?;
    let args = Arc::new(args);
    let Some(address) = args.http else { return serve_over_stdio(args, signals).await };
    let options = http_options(&args, address)?;
    let since = SystemTime::now();
    let (gateway, origin) = open(&args, plan_to_serve(&args)?, since).await?;
    let _reload = start_reload(&args, &gateway, &origin, &signals);
    let greeted = gateway.clone();
    let mut posted = None;
    let greet = |bound| {
        announce_start(&greeted, &origin, Some(bound));
        posted = StatusFile::publish(greeted.clone(), format!("http://{bound}/mcp"));
    };
    let served = serve::serve_http(Arc::new(gateway.clone()), options, signals.shutdown, greet).await;
    gateway.close().await;
    served.map_err(with_hint)?;
    Ok(CommandOutcome::Clean)
}

/// The client that started us is answered soon, even while what it will be served is still loading beside.
async fn serve_over_stdio(args: Arc<args::ServeArgs>, signals: Signals) -> Result<CommandOutcome> {
    let (pending, loading) = PendingService::new();
    let shutdown = signals.shutdown.clone();
    let mut serving =
        Box::pin(serve::serve_stdio(Arc::new(pending), ServerLimits::default(), shutdown.clone()));
    let mut loaded = Box::pin(load_in_background(Arc::clone(&args), loading));
    tokio::select! {
        served = &mut serving => {
            served?;
            // A client that went away at once is no reason to keep quiet about what cannot be served.
            tokio::select! {
                () = shutdown.cancelled() => {}
                outcome = loaded => {
                    outcome?;
                }
            }
        }
        outcome = &mut loaded => {
            let (gateway, origin) = outcome?;
            let _reload = start_reload(&args, &gateway, &origin, &signals);
            let _posted = StatusFile::publish(gateway.clone(), "standard input and output".into());
            let served = serving.await;
            gateway.close().await;
            served?;
        }
    }
    Ok(CommandOutcome::Clean)
}

/// Keeps up with the files for as long as what is returned is held.
fn start_reload(
    args: &Arc<args::ServeArgs>,
    gateway: &Gateway,
    origin: &StartupInfo,
    signals: &Signals,
) -> AbortOnDropHandle<()> {
    let hangups = signals.hangups.clone();
    let work = reload_on_change(Arc::clone(args), gateway.clone(), origin.files.clone(), hangups);
    AbortOnDropHandle::new(tokio::spawn(work))
}

/// Loads on a thread of its own and hands over what is there: first what the tools were the last time, then everything.
async fn load_in_background(
    args: Arc<args::ServeArgs>,
    loading: ServiceLoader<Gateway>,
) -> Result<(Gateway, StartupInfo)> {
    let handle = tokio::runtime::Handle::current();
    let work = move || -> Result<_> {
        let since = SystemTime::now();
        let plan = plan_to_serve(&args)?;
        let slot = if args.no_cache { None } else { SurfaceCache::new(&plan.fingerprint()) };
        let before = slot.as_ref().and_then(SurfaceCache::read);
        before.clone().into_iter().for_each(|preview| loading.set_preview(preview));
        let (gateway, origin) = handle.block_on(open(&args, plan, since))?;
        // What a server that has not answered yet will list is not known.
        let is_whole = gateway.slots().iter().all(|slot| slot.served().is_some());
        let now = Preview::of(&gateway);
        if let Some(slot) = slot.filter(|_| is_whole && before.as_ref() != Some(&now)) {
            slot.write(&now);
        }
        Ok((gateway, origin, loading))
    };
    let (gateway, origin, loading) =
        tokio::task::spawn_blocking(work).await.context("loading was interrupted")??;
    announce_start(&gateway, &origin, None);
    loading.set_ready(Arc::new(gateway.clone()));
    Ok((gateway, origin))
}

/// Compiles and opens everything that is to be served.
async fn open(
    args: &args::ServeArgs,
    mut plan: AdapterPlan,
    since: SystemTime,
) -> Result<(Gateway, StartupInfo)> {
    let origin = StartupInfo {
        config: plan
            .config
            .as_ref()
            .filter(|_| args.config.is_none())
            .map(|(source, _)| source.name.clone().into()),
        data: plan.data.clone(),
        token_env: args.token_env.clone(),
        is_default: plan.is_default,
        files: WatchedFiles { paths: std::mem::take(&mut plan.files), read_at: since },
    };
    let gateway = open_gateway(plan, !args.no_cache).await?;
    Ok((gateway, origin))
}

/// Adds the flags that help to what the library refuses.
fn with_hint(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Unauthenticated(address) => error_with_hint(
            format!("refusing to listen on {address} without authentication"),
            "require a token with --token-env NAME, or serve only this machine with --http 127.0.0.1:PORT",
        ),
        other => other.into(),
    }
}

fn http_options(args: &args::ServeArgs, address: SocketAddr) -> Result<HttpOptions> {
    let mut options = HttpOptions::new(address);
    options.allowed_hosts.clone_from(&args.allow_host);
    options.allowed_origins.clone_from(&args.allow_origin);
    options.allow_unauthenticated_remote = args.allow_remote_without_authentication;
    if let Some(name) = &args.token_env {
        options.token = Some(super::read_token(name, "the token that clients must send")?);
    }
    Ok(options)
}

/// Says what is served and what to do with it: at length to a person, in a line to a log.
fn announce_start(gateway: &Gateway, origin: &StartupInfo, bound: Option<SocketAddr>) {
    if output::stderr_is_terminal() {
        output::status_lines(&startup_message(gateway, origin, bound));
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
        tracing::info!("listening on http://{bound}/mcp");
    }
}

/// Where what is served came from, as far as a client's configuration and a person want to know.
struct StartupInfo {
    /// The configuration file, where one was found without being named.
    config: Option<PathBuf>,
    /// The folder of the stores.
    data: Option<PathBuf>,
    /// The variable that holds the token.
    token_env: Option<String>,
    is_default: bool,
    /// Every file that it was made from.
    files: WatchedFiles,
}

fn startup_message(gateway: &Gateway, origin: &StartupInfo, bound: Option<SocketAddr>) -> String {
    let mut lines = Vec::new();
    for adapter in gateway.snapshot().adapters() {
        let catalog = adapter.catalog();
        let operations = catalog.operations.len() - 1;
        lines.push(format!("Serving {} ({operations} operations) as", catalog.adapter.display_name));
        let width = catalog.tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
        lines.extend(catalog.tools.iter().map(|tool| format!("  {:width$}  {}", tool.name, tool.title)));
        if let (TargetConfig::Store(_), Some(data)) = (&catalog.adapter.target, &origin.data) {
            lines.push(format!("with its records in {}", data.join(STORE_FILE).display()));
        }
        lines.push(String::new());
    }
    lines.push("To connect a client, add this to its configuration:".into());
    lines.push(format!("  {}", json!({"mcpServers": {"mcpaql": client_entry(origin, bound)}})));
    if let Some(name) = origin.token_env.as_ref().filter(|_| bound.is_some()) {
        lines.push(format!("  where … is the value of {name}"));
    }
    lines.push(String::new());
    let program = program_to_type();
    let snapshot = gateway.snapshot();
    let document = snapshot.adapters().first().map_or("notebook", |adapter| adapter.source());
    let document = document.strip_prefix("builtin:").unwrap_or(document);
    lines.push("To try a call without one, in another terminal:".into());
    let data = match &origin.data {
        Some(data) if origin.data != default_data() => format!(" --data {}", data.display()),
        _ => String::new(),
    };
    lines.push(format!("  {program} call {document} introspect{data}"));
    if origin.is_default {
        lines.push(format!("  {program} call notebook create_note title=Hello body='My first note'{data}"));
        lines.push(format!("  {program} call notebook list_notes{data}"));
    }
    lines.push(String::new());
    lines.push(match bound {
        Some(bound) => format!("Listening on http://{bound}/mcp. Ctrl-C stops."),
        None => "Now waiting for a client on standard input. Ctrl-C stops.".into(),
    });
    lines.join("\n")
}

/// What a client needs to reach this very server, or to start one like it from any folder.
fn client_entry(origin: &StartupInfo, bound: Option<SocketAddr>) -> Value {
    if let Some(bound) = bound {
        let host = if bound.ip().is_unspecified() { "localhost".into() } else { bound.ip().to_string() };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let url = format!("http://{host}:{}/mcp", bound.port());
        return match origin.token_env {
            Some(_) => json!({"type": "http", "url": url, "headers": {"Authorization": "Bearer …"}}),
            None => json!({"type": "http", "url": url}),
        };
    }
    let absolute = |word: String| match std::path::absolute(&word) {
        Ok(path) if word != "serve" && path.exists() => path.display().to_string(),
        _ => word,
    };
    let mut args: Vec<String> = std::env::args().skip(1).map(absolute).collect();
    if let Some(config) = origin.config.as_ref().and_then(|config| std::path::absolute(config).ok()) {
        args.extend(["--config".into(), config.display().to_string()]);
    }
    let program = std::env::current_exe().map_or("mcpaql".into(), |path| path.display().to_string());
    json!({"command": program, "args": args})
}

/// The program as one types it here: by its name where the shell finds it, else by its path.
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

/// What the system tells this process.
struct Signals {
    /// Cancelled when it is to stop.
    shutdown: CancellationToken,
    /// Signals each time everything is to be read again.
    hangups: watch::Receiver<()>,
}

impl Signals {
    /// Begins to listen at once, so that no signal is missed once the server has reported that it serves.
    #[cfg(unix)]
    fn listen() -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let has_terminal = output::stderr_is_terminal();
        let (told, hangups) = watch::channel(());
        let shutdown = stop_after(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => return,
                    _ = interrupt.recv() => return,
                    _ = hangup.recv() => {}
                }
                // A terminal that was closed takes what runs in it along.
                if has_terminal && !output::stderr_is_terminal() {
                    return;
                }
                told.send_replace(());
            }
        });
        Ok(Signals { shutdown, hangups })
    }

    #[cfg(not(unix))]
    fn listen() -> std::io::Result<Signals> {
        let (told, hangups) = watch::channel(());
        let shutdown = stop_after(async move {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            drop(told);
        });
        Ok(Signals { shutdown, hangups })
    }
}

fn stop_after(signal: impl Future<Output = ()> + Send + 'static) -> CancellationToken {
    let shutdown = CancellationToken::new();
    let stopped = shutdown.clone();
    tokio::spawn(async move {
        signal.await;
        tracing::info!("stopping: running calls may finish");
        stopped.cancel();
    });
    shutdown
}
