//! The operator's own files: `config.yaml` with the rules of the gate, and the folder with grants, approvals, quotas and the log.
//!
//! What always holds: no file of a working folder decides where these files are, and a `config.yaml` with errors is never replaced by a
//! default.

use crate::file;
use crate::output::{self, error_with_hint};
use anyhow::{Context, Result};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::gate::config::GateConfig;
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use mcpaql_core::timestamp::timestamp;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::environment::user_folder;
use mcpaql_runtime::gate::{ApprovalPageAddress, Gate, GateOptions};
use mcpaql_runtime::operator::{Clock, OPERATOR_FILE, OperatorState, TrustGrant};
use mcpaql_runtime::record::OperatorLog;
use serde_json::Value;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The name of the operator's configuration.
const CONFIG_FILE: &str = "config.yaml";

/// Returns the folder with the operator's state.
pub(crate) fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state", "Library/Application Support")
}

/// Returns the path of the operator's configuration, which may not exist.
pub(crate) fn config_path() -> Option<PathBuf> {
    Some(user_folder("XDG_CONFIG_HOME", ".config", "Library/Application Support")?.join(CONFIG_FILE))
}

/// The operator's configuration, and its problems.
#[derive(Debug)]
pub(crate) struct OperatorConfig {
    pub(crate) source: Source,
    pub(crate) gate: GateConfig,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl OperatorConfig {
    /// Reads the configuration; `None` if there is none.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn read() -> Result<Option<OperatorConfig>> {
        let Some(path) = config_path() else { return Ok(None) };
        if std::fs::symlink_metadata(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let source = Source::new(path.display().to_string(), file::read_text(&path)?);
        if source.text.trim().is_empty() {
            return Ok(Some(OperatorConfig { source, gate: GateConfig::default(), diagnostics: Vec::new() }));
        }
        let (gate, mut diagnostics) = match source.parse() {
            Ok(parsed) => {
                let (gate, mut diagnostics) = GateConfig::load(&parsed.value);
                diagnostics.extend(parsed.diagnostics);
                (gate, diagnostics)
            }
            Err(diagnostics) => (GateConfig::deny_all(), diagnostics),
        };
        source.locate(&mut diagnostics);
        Ok(Some(OperatorConfig { source, gate, diagnostics }))
    }

    /// Whether the configuration cannot be used.
    pub(crate) fn is_broken(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }
}

/// Returns the rules of the operator, and prints their problems.
///
/// # Errors
/// When the configuration cannot be read or has errors.
pub(crate) fn gate_config() -> Result<GateConfig> {
    let Some(config) = OperatorConfig::read()? else { return Ok(GateConfig::default()) };
    output::print_diagnostics(&config.source, &config.diagnostics);
    if config.is_broken() {
        let hint = "correct it; `mcpaql check` and `mcpaql doctor` check it, too";
        return Err(error_with_hint(format!("{} has errors", config.source.name), hint));
    }
    Ok(config.gate)
}

/// Opens the operator's state. Without a home folder, it ends with the process.
pub(crate) async fn open_state() -> Result<OperatorState> {
    let folder = state_folder();
    let opened = OperatorState::open(folder.as_deref()).await;
    opened.map_err(|error| {
        let causes = format!("{:#}", anyhow::Error::from(error));
        let hint = "approvals, counters and the log are stored there; make the folder writable, or set XDG_STATE_HOME to another one";
        error_with_hint(format!("cannot open the operator's state: {causes}"), hint)
    })
}

/// Whether the operator's state exists. Without it, nothing is granted, paused or waiting.
pub(crate) fn has_state() -> bool {
    state_folder().is_some_and(|folder| folder.join(OPERATOR_FILE).exists())
}

/// Returns the name of the operating-system user, who is the operator on the command line.
pub(crate) fn user() -> String {
    Caller::nobody().identity().to_owned()
}

/// Records a grant, or its end, in the operator's log.
///
/// # Errors
/// When the log cannot be written.
pub(crate) async fn log_grant(grant: &TrustGrant, is_granted: bool) -> Result<()> {
    let mut record = LogRecord::new(RecordKind::Grant, now());
    record.caller = Some(user());
    record.trust = Some(grant.level.as_str().to_owned());
    record.outcome = Some(if is_granted { "granted" } else { "removed" }.to_owned());
    record.details.insert("subject".to_owned(), grant.subject.as_str().into());
    record.details.insert("fingerprint".to_owned(), grant.fingerprint.as_str().into());
    append(record).await
}

/// Writes a record into the operator's log.
///
/// # Errors
/// When the log cannot be written.
pub(crate) async fn append(record: LogRecord) -> Result<()> {
    let Some(folder) = state_folder() else { return Ok(()) };
    // A configuration with errors must not keep the operator from pausing or denying.
    let config = OperatorConfig::read().ok().flatten().map(|config| config.gate.log).unwrap_or_default();
    let log = OperatorLog::open(&folder, &config, Clock::system());
    log.append_durable(record).await.context("cannot write the log")?;
    log.close().await;
    Ok(())
}

/// Returns the gate for calls of this process: the operator's rules, state and log.
///
/// # Errors
/// When the configuration has errors, or the state cannot be opened.
pub(crate) async fn open_gate(config: GateConfig, is_read_only: bool) -> Result<Gate> {
    let state = open_state().await?;
    let log = state_folder().map(|folder| OperatorLog::open(&folder, &config.log, Clock::system()));
    let mut options = GateOptions::new(state);
    (options.config, options.log, options.is_read_only) = (config, log, is_read_only);
    options.approval_page = Some(ApprovalPageAddress::new(page_address));
    Ok(Gate::new(options))
}

/// Where `mcpaql approve --page` stores its address.
pub(crate) fn page_file() -> Option<PathBuf> {
    Some(state_folder()?.join("approvals.json"))
}

/// How long the page may take to accept a connection.
const PAGE_TIMEOUT: Duration = Duration::from_millis(100);

/// Returns the address of the page on which calls are approved, if it is served now.
fn page_address() -> Option<String> {
    let text = std::fs::read_to_string(page_file()?).ok()?;
    let stored: Value = serde_json::from_str(&text).ok()?;
    let address: SocketAddr = stored.get("address")?.as_str()?.parse().ok()?;
    // The process may have been killed.
    let answers = address.ip().is_loopback() && TcpStream::connect_timeout(&address, PAGE_TIMEOUT).is_ok();
    answers.then(|| format!("http://{address}"))
}

/// Returns the time for a record.
pub(crate) fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    timestamp(i64::try_from(now).unwrap_or(i64::MAX))
}
