//! The only place that writes to a terminal: data to standard output, status lines to standard error.
//!
//! What always holds: no text of others controls the terminal or begins a status line; a closed pipe never ends the program; data that
//! could not be written is reported.

use clap::ValueEnum;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_document::render;
use mcpaql_document::source::Source;
use mcpaql_runtime::mcp::LOG_DIRECTIVES;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;

/// Format of the log on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Starts the log on standard error; a command that reports everything itself is `quiet`.
pub(crate) fn start_log(format: LogFormat, quiet: bool) {
    let filter = EnvFilter::new(directives(std::env::var("RUST_LOG").ok().as_deref(), quiet));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Its own complaint about a standard error that is gone would have nowhere to go either.
    let builder = builder.log_internal_errors(false);
    match format {
        LogFormat::Text => builder.with_ansi(stderr_is_terminal()).init(),
        LogFormat::Json => builder.json().init(),
    }
}

/// What is logged. The libraries below log whole payloads and addresses, which hold what callers call sensitive: they are
/// held back even from `RUST_LOG=debug`, unless they are asked for by name.
fn directives(wanted: Option<&str>, quiet: bool) -> String {
    let usual = if quiet { "error" } else { "warn,mcpaql=info,mcpaql_runtime=info" };
    let wanted = wanted.filter(|text| !text.trim().is_empty()).unwrap_or(usual);
    if wanted.contains("rmcp") || wanted.contains("hyper") || wanted.contains("h2") {
        return wanted.to_owned();
    }
    format!("{wanted},{LOG_DIRECTIVES},h2=warn,hyper=warn,hyper_util=warn,reqwest=warn,sqlx=warn")
}

/// Why data did not arrive, the first time that it did not.
static WRITE_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Data. A reader that went away is not an error; what is one is in [`lost`].
pub(crate) fn print_data(text: &str) {
    match write_text(&mut io::stdout().lock(), text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(WRITE_ERROR.set(error)),
        _ => {}
    }
}

/// Why data did not arrive, where it did not.
pub(crate) fn write_error() -> Option<&'static io::Error> {
    WRITE_ERROR.get()
}

fn write_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Text of others without control characters and without what is invisible.
pub(crate) fn sanitize(text: &str) -> String {
    let is_hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.replace(is_hidden, "\u{fffd}")
}

/// The same on one line, so that no text of others begins a line: a workflow obeys lines that begin with `::`.
pub(crate) fn sanitize_line(text: &str) -> String {
    sanitize(text).replace('\n', " ")
}

/// A status line; parts of it may be text of others.
pub(crate) fn status_line(text: &str) {
    write_stderr(&sanitize_line(text));
}

/// Several status lines; text of others was put on one [`line()`] before.
pub(crate) fn status_lines(text: &str) {
    write_stderr(&sanitize(text));
}

/// Status lines with colours; text of others was made [`visible`] before.
pub(crate) fn write_stderr(text: &str) {
    // A closed standard error is no reason to stop.
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// The problems of a document, in its text.
pub(crate) fn print_diagnostics(source: &Source, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        write_stderr(&render::full(&[(source, diagnostics)], stderr_is_terminal()));
    }
}

/// The program cannot run: what, why, and what to do.
pub(crate) fn print_error(error: &anyhow::Error) {
    status_line(&format!("error: {error}"));
    for cause in error.chain().skip(1) {
        status_line(&format!("cause: {cause}"));
    }
    if let Some(hint) = error.downcast_ref::<HintedError>() {
        print_hint(&hint.hint);
    }
}

/// What to do, a little apart.
pub(crate) fn print_hint(hint: &str) {
    status_lines(&format!("\nhint: {}", sanitize_line(hint)));
}

/// An error that knows what to do about it.
#[derive(Debug)]
pub(crate) struct HintedError {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl std::fmt::Display for HintedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HintedError {}

/// What went wrong, and what to do about it.
pub(crate) fn error_with_hint(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    HintedError { message: message.into(), hint: hint.into() }.into()
}

pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Rows as columns; those from `numbers` on are aligned to the right.
pub(crate) fn format_table<const N: usize>(rows: &[[String; N]], numbers: usize) -> String {
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or_default());
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            if column < numbers { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether standard output takes colours: a terminal, and `NO_COLOR` is not set.
pub(crate) fn use_color() -> bool {
    stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::directives;

    #[test]
    fn text_of_others_does_not_control_the_terminal() {
        assert_eq!(super::sanitize("a\u{1b}[2J\tb\u{202e}\n"), "a\u{fffd}[2J\tb\u{fffd}\n");
        assert_eq!(super::sanitize("a\u{2028}b\u{2029}c\u{85}d"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn text_of_others_begins_no_line() {
        assert_eq!(super::sanitize_line("it said \r\n::error::x\n"), "it said \u{fffd} ::error::x ");
    }

    #[test]
    fn payloads_are_logged_only_by_name() {
        assert!(directives(Some("debug"), true).contains("rmcp::service=error"));
        assert!(directives(None, false).starts_with("warn,mcpaql=info"));
        assert!(directives(None, true).starts_with("error,"));
        assert_eq!(directives(Some("rmcp=trace"), false), "rmcp=trace");
    }
}
