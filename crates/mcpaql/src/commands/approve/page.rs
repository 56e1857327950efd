//! `mcpaql approve --page`: the page on which calls are approved in a browser.

use super::store;
use crate::{CommandOutcome, operator, output};
use anyhow::{Context, Result};
use mcpaql_runtime::operator::OperatorState;
use mcpaql_runtime::serve::{ApprovalPage, StoreDecision};
use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Removes the stored address of the page when it ends.
struct StoredAddress(PathBuf);

impl Drop for StoredAddress {
    fn drop(&mut self) {
        // A later page may have stored its own address; then this one is of no use to anybody either.
        let _ = fs::remove_file(&self.0);
    }
}

pub(super) async fn serve(state: OperatorState, address: Option<SocketAddr>) -> Result<CommandOutcome> {
    let address = address.unwrap_or(([127, 0, 0, 1], 0).into());
    let page = ApprovalPage::new(state.clone(), storing(&state));
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    let mut stored = None;
    let on_start = |bound: SocketAddr, code: &str| {
        output::status_line(&format!("Open http://{bound} and enter the code {code}\nPress Ctrl-C to stop."));
        stored = operator::page_file().and_then(|file| match write_address(&file, bound) {
            Ok(()) => Some(StoredAddress(file)),
            Err(error) => {
                output::status_line(&format!("warning: servers cannot show this address: {error}"));
                None
            }
        });
    };
    page.serve(address, shutdown, on_start)
        .await
        .with_context(|| format!("cannot serve the page on {address}"))?;
    drop(stored);
    Ok(CommandOutcome::Clean)
}

fn write_address(file: &Path, bound: SocketAddr) -> std::io::Result<()> {
    let _ = fs::remove_file(file);
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.write(true).create_new(true).open(file)?;
    file.write_all(json!({"address": bound.to_string()}).to_string().as_bytes())
}

/// Returns the function that stores what a person decided on the page.
fn storing(state: &OperatorState) -> StoreDecision {
    let state = state.clone();
    Arc::new(move |found, is_approved| {
        let state = state.clone();
        Box::pin(
            async move { store(&state, &found, is_approved).await.map_err(|error| format!("{error:#}")) },
        )
    })
}
