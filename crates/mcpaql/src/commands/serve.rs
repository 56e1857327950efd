//! `mcpaql serve`: the main job.

use crate::documents::{Plan, open_gateway};
use crate::output::Hinted;
use crate::{Outcome, args, output};
use anyhow::Result;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::Limits;
use mcpaql_runtime::secret::Secret;
use mcpaql_runtime::serve::{self, HttpOptions, ServeError};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) async fn run(args: args::Serve) -> Result<Outcome> {
    let plan = Plan::new(&args.documents, args.config.as_deref(), &args.surface.settings())?;
    let is_default = plan.is_default;
    let shutdown = stop_on_signal()?;
    let gateway = Arc::new(open_gateway(plan, args.data.clone()).await?);
    match args.http {
        Some(address) => {
            let options = http_options(&args, address)?;
            let greeted = Arc::clone(&gateway);
            let documents = args.documents.clone();
            serve::serve_http(gateway, options, shutdown, move |bound| {
                greet(&greeted, &documents, is_default, Some(bound));
            })
            .await
            .map_err(hinted)?;
        }
        None => {
            greet(&gateway, &args.documents, is_default, None);
            Box::pin(serve::serve_stdio(gateway, Limits::default(), shutdown)).await?;
        }
    }
    Ok(Outcome::Clean)
}

fn http_options(args: &args::Serve, address: SocketAddr) -> Result<HttpOptions> {
    let mut options = HttpOptions::new(address);
    options.allowed_hosts.clone_from(&args.allow_host);
    options.allowed_origins.clone_from(&args.allow_origin);
    options.allow_unauthenticated_remote = args.allow_remote_without_authentication;
    if let Some(name) = &args.token_env {
        let token = std::env::var(name).ok().filter(|token| !token.is_empty()).ok_or_else(|| Hinted {
            message: format!("the environment variable {name} is not set"),
            hint: format!("export {name}=… with the token that clients shall send"),
        })?;
        options.token = Some(Secret::new(token));
    }
    Ok(options)
}

/// Says with which flag to get past a refusal.
fn hinted(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Unauthenticated(address) => Hinted {
            message: format!(
                "refusing to listen on {address} without a token: others could call every operation"
            ),
            hint: "name a variable that holds one with --token-env NAME, or listen on 127.0.0.1; \
                   --allow-remote-without-authentication lets everybody in"
                .into(),
        }
        .into(),
        other => other.into(),
    }
}

/// Says what is served and what to do with it: at length to a person, in a line to a log.
fn greet(gateway: &Gateway, documents: &[String], is_default: bool, bound: Option<SocketAddr>) {
    let tools = gateway.tools();
    for adapter in gateway.adapters() {
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
    if !output::stderr_is_terminal() {
        return;
    }
    let mut text = String::from("\nTools:\n");
    for tool in tools.iter() {
        text.push_str(&format!("  {:40} {}\n", tool.name, tool.title));
    }
    text.push_str("\nTo connect a client, add this to its MCP servers:\n");
    text.push_str(&match bound {
        Some(bound) => format!("  {{\"mcpServers\": {{\"mcpaql\": {{\"url\": \"http://{bound}/mcp\"}}}}}}\n"),
        None => {
            let program = std::env::current_exe().map_or("mcpaql".into(), |path| path.display().to_string());
            let list: Vec<String> =
                std::iter::once("serve".to_owned()).chain(documents.iter().cloned()).collect();
            let list = serde_json::to_string(&list).unwrap_or_default();
            format!(
                "  {{\"mcpServers\": {{\"mcpaql\": {{\"command\": \"{program}\", \"args\": {list}}}}}}}\n"
            )
        }
    });
    let document = if is_default { "notebook" } else { documents.first().map_or("DOCUMENT", String::as_str) };
    text.push_str("\nTo try a call without one, in another terminal:\n");
    text.push_str(&format!("  mcpaql call {document} introspect\n"));
    if is_default {
        text.push_str("  mcpaql call notebook create_note title=Hello body='My first note'\n");
        text.push_str("  mcpaql call notebook list_notes\n");
    }
    if bound.is_none() {
        text.push_str("\nNow waiting for a client on standard input. Ctrl-C stops.");
    }
    output::talk(&text);
}

/// Begins to listen for signals at once, so that none ends the process unheard once it has said that it serves.
#[cfg(unix)]
fn stop_on_signal() -> std::io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(stop_after(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }))
}

#[cfg(not(unix))]
fn stop_on_signal() -> std::io::Result<CancellationToken> {
    Ok(stop_after(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }))
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
