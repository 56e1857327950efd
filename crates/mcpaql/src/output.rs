//! The only place that writes to a terminal: data to standard output, talk to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the output module")]

use crate::args::Log;
use std::io::{IsTerminal, Write};
use tracing_subscriber::EnvFilter;

/// Starts the log on standard error. rmcp logs whole payloads, so it is left out unless asked for by name.
pub(crate) fn start_log(shape: Log) {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,mcpaql=info,mcpaql_runtime=info,rmcp=off"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match shape {
        Log::Text => builder.with_ansi(stderr_is_terminal()).init(),
        Log::Json => builder.json().init(),
    }
}

/// Data. A reader that went away is not an error.
pub(crate) fn data(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    if !text.ends_with('\n') {
        let _ = out.write_all(b"\n");
    }
    let _ = out.flush();
}

/// Talk.
pub(crate) fn talk(text: &str) {
    eprintln!("{text}");
}

/// The program cannot run: what, why, and what to do.
pub(crate) fn failure(error: &anyhow::Error) {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("cause: {cause}");
    }
    if let Some(hint) = error.downcast_ref::<Hinted>() {
        eprintln!("\nhint: {}", hint.hint);
    }
}

/// An error that knows what to do about it.
#[derive(Debug)]
pub(crate) struct Hinted {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl std::fmt::Display for Hinted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Hinted {}

pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether standard output takes colours: a terminal, and nobody said no.
pub(crate) fn color() -> bool {
    stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
