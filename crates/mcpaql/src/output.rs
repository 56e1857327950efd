//! All output to the terminal: data goes to standard output, status lines go to standard error.
//!
//! What always holds: untrusted text never controls the terminal or starts a status line; a closed pipe never ends the program; data
//! that could not be written is reported.

use clap::ValueEnum;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_document::render;
use mcpaql_document::source::Source;
use mcpaql_runtime::mcp::LOG_DIRECTIVES;
use mcpaql_runtime::record::CALL_LOG;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;

/// Format of the log on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// What is logged unless `RUST_LOG` says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogDetail {
    /// Only errors: the command reports everything itself.
    Errors,
    /// Events of the server.
    Events,
    /// Events of the server, and a line for each call.
    Calls,
}

/// Starts the log on standard error.
pub(crate) fn start_log(format: LogFormat, level: LogDetail) {
    let filter = EnvFilter::new(directives(std::env::var("RUST_LOG").ok().as_deref(), level));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // An error about a closed standard error could not be written either.
    let builder = builder.log_internal_errors(false);
    match format {
        LogFormat::Text => builder.with_ansi(stderr_is_terminal()).init(),
        LogFormat::Json => builder.json().init(),
    }
}

/// Returns the log filter. The HTTP and MCP libraries log whole payloads and URLs, which may hold sensitive data: they are
/// silenced even with `RUST_LOG=debug`, unless the filter names them.
fn directives(rust_log: Option<&str>, level: LogDetail) -> String {
    let default = match level {
        LogDetail::Errors => "error".to_owned(),
        LogDetail::Events => format!("warn,mcpaql=info,mcpaql_runtime=info,{CALL_LOG}=warn"),
        LogDetail::Calls => format!("warn,mcpaql=info,mcpaql_runtime=info,{CALL_LOG}=info"),
    };
    let filter = rust_log.filter(|text| !text.trim().is_empty()).unwrap_or(&default);
    if filter.contains("rmcp") || filter.contains("hyper") || filter.contains("h2") {
        return filter.to_owned();
    }
    format!("{filter},{LOG_DIRECTIVES},h2=warn,hyper=warn,hyper_util=warn,reqwest=warn,sqlx=warn")
}

/// The first error of a write to standard output.
static WRITE_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints data to standard output. A closed pipe is not an error; any other failure is kept in [`write_error`].
pub(crate) fn print_data(text: &str) {
    match write_text(&mut io::stdout().lock(), text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(WRITE_ERROR.set(error)),
        _ => {}
    }
}

/// Returns the first error of a write to standard output.
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

/// Replaces control characters and invisible characters of untrusted text.
pub(crate) fn sanitize(text: &str) -> String {
    let is_hidden = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.replace(is_hidden, "\u{fffd}")
}

/// Sanitizes text and puts it on one line, so that untrusted text never starts a line: GitHub Actions executes lines that start
/// with `::`.
pub(crate) fn sanitize_line(text: &str) -> String {
    sanitize(text).replace('\n', " ")
}

/// Prints a status line, which may contain untrusted text.
pub(crate) fn status_line(text: &str) {
    write_stderr(&sanitize_line(text));
}

/// Prints several status lines. Callers pass untrusted text through [`sanitize_line`] first.
pub(crate) fn status_lines(text: &str) {
    write_stderr(&sanitize(text));
}

/// Prints status lines that may contain colours. Callers pass untrusted text through [`sanitize`] first.
pub(crate) fn write_stderr(text: &str) {
    // The program goes on when standard error is closed.
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Returns a writer for questions to the user. They contain no untrusted text.
pub(crate) fn question_writer() -> impl Write {
    io::stderr()
}

/// Whether a person can be asked: standard input and standard error are a terminal.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && stderr_is_terminal()
}

/// Asks a question on the terminal. Everything but `y` and `yes` means no.
pub(crate) fn ask_yes_or_no(question: &str) -> io::Result<bool> {
    let _ = write!(io::stderr().lock(), "{} [y/N] ", sanitize_line(question));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

/// Prints the problems of a document, each with the lines of the document that it is about.
pub(crate) fn print_diagnostics(source: &Source, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        write_stderr(&render::full(&[(source, diagnostics)], stderr_is_terminal()));
    }
}

/// Prints an error, its causes and its hint.
pub(crate) fn print_error(error: &anyhow::Error) {
    let mut messages = messages(error).into_iter();
    status_line(&format!("error: {}", messages.next().unwrap_or_default()));
    messages.for_each(|cause| status_line(&format!("cause: {cause}")));
    if let Some(hint) = error.downcast_ref::<HintedError>() {
        print_hint(&hint.hint);
    }
}

/// Returns the message of an error and of each of its causes. A cause that its error already repeats is left out.
pub(crate) fn messages(error: &anyhow::Error) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for message in error.chain().map(ToString::to_string) {
        if messages.last().is_none_or(|last| !last.ends_with(&message)) {
            messages.push(message);
        }
    }
    messages
}

/// Prints a hint after an empty line.
pub(crate) fn print_hint(hint: &str) {
    status_lines(&format!("\nhint: {}", sanitize_line(hint)));
}

/// An error with a hint: what the user can do about it.
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

/// Creates an error with a hint.
pub(crate) fn error_with_hint(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    HintedError { message: message.into(), hint: hint.into() }.into()
}

pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Formats rows as a table. Columns from index `numbers` on are aligned to the right.
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

/// Formats a number with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Quotes a word for a shell, if that is necessary.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Whether to colour standard output: it is a terminal, and `NO_COLOR` is not set.
pub(crate) fn use_color() -> bool {
    stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{LogDetail, directives};

    #[test]
    fn untrusted_text_does_not_control_the_terminal() {
        assert_eq!(super::sanitize("a\u{1b}[2J\tb\u{202e}\n"), "a\u{fffd}[2J\tb\u{fffd}\n");
        assert_eq!(super::sanitize("a\u{2028}b\u{2029}c\u{85}d"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn untrusted_text_starts_no_line() {
        assert_eq!(super::sanitize_line("it said \r\n::error::x\n"), "it said \u{fffd} ::error::x ");
    }

    #[test]
    fn a_cause_is_printed_once() {
        let io = std::io::Error::other("address in use");
        let error = anyhow::Error::new(io).context("cannot listen: address in use").context("cannot serve");
        assert_eq!(super::messages(&error), ["cannot serve", "cannot listen: address in use"]);
    }

    #[test]
    fn payloads_are_logged_only_by_name() {
        assert!(directives(Some("debug"), LogDetail::Errors).contains("rmcp::service=error"));
        assert!(directives(None, LogDetail::Events).starts_with("warn,mcpaql=info"));
        assert!(directives(None, LogDetail::Errors).starts_with("error,"));
        assert_eq!(directives(Some("rmcp=trace"), LogDetail::Events), "rmcp=trace");
    }
}
