//! Prints the result of a run, as text or as JSON. In text mode, warnings and errors go to standard error.

use super::config::GenerateRequest;
use super::error::{GenerateError, GenerateErrorKind, GenerateIssue};
use super::folder::{FileChange, FileStep, FolderPlan};
use super::input::ImportFindings;
use crate::args::{self, OutputFormat};
use crate::output;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_gate::trust::TrustLevel;
use mcpaql_generate::{Project, VERSION, provenance};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The file of a Rust project that names the runtime library.
const MANIFEST: &str = "Cargo.toml";

/// The result of a run.
pub(crate) struct GenerateReport<'a> {
    pub(crate) args: &'a args::GenerateArgs,
    pub(crate) request: &'a GenerateRequest,
    pub(crate) plan: &'a FolderPlan,
    pub(crate) fingerprint: String,
    /// The findings of an import. Its summary contains the first warnings.
    pub(crate) imported: Option<ImportFindings>,
    pub(crate) warnings: Vec<GenerateIssue>,
    /// The trust level that the existing project has, if it is used again.
    pub(crate) kept_trust: Option<TrustLevel>,
    pub(crate) project: &'a Project<'a>,
    /// The diff, with `--diff`.
    pub(crate) diff: Option<String>,
}

impl GenerateReport<'_> {
    pub(crate) fn print(&self) {
        match self.args.output_format {
            OutputFormat::Json => output::print_data(&format!("{:#}", self.to_json())),
            OutputFormat::Human => self.print_text(),
        }
    }

    fn to_json(&self) -> Value {
        let is_file = |change: FileChange| !matches!(change, FileChange::Removed | FileChange::Left);
        let files: Vec<&str> = self
            .plan
            .steps
            .iter()
            .filter(|step| is_file(step.change))
            .map(|step| step.path.as_str())
            .collect();
        let import_warnings = self.imported.iter().flat_map(|imported| &imported.warnings);
        let lost_parts = self.imported.iter().flat_map(|imported| imported.lost_parts.clone());
        let mut value = json!({
            "success": true,
            "output_directory": self.request.output.display().to_string(),
            "files_generated": files,
            "provenance": {"schema_fingerprint": self.fingerprint, "generator_version": VERSION},
            "warnings": import_warnings.chain(&self.warnings).map(GenerateIssue::to_json).collect::<Vec<_>>(),
            "notes": lost_parts.chain(self.notes()).map(|note| note.to_json()).collect::<Vec<_>>(),
            "changes": self.changes(),
            "written": !self.is_trial(),
        });
        if let Some(members) = value.as_object_mut() {
            members
                .extend(self.imported.iter().map(|imported| ("import".to_owned(), imported.counts.clone())));
            members.extend(self.diff.iter().map(|diff| ("diff".to_owned(), diff.as_str().into())));
        }
        value
    }

    /// Notes that need no fix: about the runtime library, unless the author wrote the manifest, about a trust level that is kept, and
    /// about the folder.
    fn notes(&self) -> impl Iterator<Item = GenerateIssue> {
        let is_kept = |step: &FileStep| step.path == MANIFEST && step.change == FileChange::Kept;
        let is_authors = self.plan.steps.iter().any(is_kept);
        let runtime = self.project.runtime_note().filter(|_| !is_authors).map(|note| {
            let message = format!("the project uses {}", note.message);
            GenerateIssue::new(MANIFEST, "RUNTIME_FROM_REGISTRY", message).suggest(note.suggestion)
        });
        let trust = self.kept_trust.map(|level| {
            let message = format!("the project keeps its trust level {}", level.as_str());
            GenerateIssue::new(provenance::FILE, "TRUST_KEPT", message).suggest("change it with --trust")
        });
        runtime.into_iter().chain(trust).chain(self.plan.notes(self.args.force))
    }

    /// Returns the files by change, except unchanged ones.
    fn changes(&self) -> Value {
        let of = |change: FileChange| -> Vec<&str> {
            self.plan
                .steps
                .iter()
                .filter(|step| step.change == change)
                .map(|step| step.path.as_str())
                .collect()
        };
        let changes = [
            FileChange::Created,
            FileChange::Changed,
            FileChange::Removed,
            FileChange::Kept,
            FileChange::Left,
        ];
        changes.into_iter().map(|change| (change.as_str().to_owned(), json!(of(change)))).collect()
    }

    fn is_trial(&self) -> bool {
        self.args.dry_run || self.args.diff
    }

    fn print_text(&self) {
        if !self.args.quiet {
            if let Some(imported) = &self.imported {
                output::status_lines(&imported.summary);
                if self.args.verbose {
                    print_warnings(&imported.warnings, true);
                }
            }
            print_warnings(&self.warnings, self.args.verbose);
        }
        if let Some(diff) = &self.diff {
            if !diff.is_empty() {
                output::print_data(diff);
            }
            return;
        }
        if self.args.quiet {
            return;
        }
        self.print_notes();
        let mut text = self.summary();
        if self.args.verbose || self.args.dry_run {
            for step in &self.plan.steps {
                let _ = write!(text, "\n  {:<9}  {}", step.change.as_str(), step.path);
                if self.args.verbose {
                    let _ = write!(text, "  ({})", self.plan.reason(step));
                }
            }
        }
        if !self.is_trial() {
            text.push_str("\n\n");
            text.push_str(&self.next_steps());
        }
        output::print_data(&output::sanitize(&text));
    }

    fn print_notes(&self) {
        let notes: Vec<GenerateIssue> = self.notes().collect();
        let shown = if self.args.verbose { notes.len() } else { MAX_SHOWN };
        for note in notes.iter().take(shown) {
            output::status_line(&format!("note: {}{}", note.message, suggestion_suffix(note)));
        }
        if let Some(more) = notes.len().checked_sub(shown).filter(|more| *more > 0) {
            output::status_line(&format!("note: {more} more; use --verbose to see all"));
        }
    }

    fn summary(&self) -> String {
        let language = self.request.options.language.name();
        let counts: Vec<String> = [
            FileChange::Created,
            FileChange::Changed,
            FileChange::Removed,
            FileChange::Unchanged,
            FileChange::Kept,
        ]
        .into_iter()
        .map(|change| (self.plan.count(change), change.as_str()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
        let verb = if self.is_trial() { "Would write" } else { "Wrote" };
        format!(
            "{verb} {} in {language} to {}: {}",
            self.project.package(),
            self.request.output.display(),
            counts.join(", ")
        )
    }

    fn next_steps(&self) -> String {
        let folder = shell_word(&self.request.output.display().to_string());
        let mut text = format!("Next:\n  cd {folder}\n");
        for command in self.project.build() {
            let _ = writeln!(text, "  {command}");
        }
        let start = self.project.start().join(" ");
        let _ = write!(text, "  {start}   # starts the MCP server on standard input and output");
        text
    }
}

/// Quotes a path for a shell.
fn shell_word(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:+,@%=".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path;
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// Returns the suggestion of an issue, to be appended to its message.
fn suggestion_suffix(detail: &GenerateIssue) -> String {
    detail.suggestion.as_ref().map(|suggestion| format!("; {suggestion}")).unwrap_or_default()
}

/// Whether the message starts with the path, so that the path need not be printed again.
fn starts_with_path(detail: &GenerateIssue) -> bool {
    detail.message.starts_with(&detail.path)
}

/// Maximum number of printed warnings without `--verbose`.
const MAX_SHOWN: usize = 10;

fn print_warnings(warnings: &[GenerateIssue], all: bool) {
    let shown = if all { warnings.len() } else { MAX_SHOWN };
    for warning in warnings.iter().take(shown) {
        let path = if starts_with_path(warning) { String::new() } else { format!(" ({})", warning.path) };
        output::status_line(&format!("warning: {}{path}{}", warning.message, suggestion_suffix(warning)));
    }
    let more = warnings.len().saturating_sub(shown);
    if more > 0 {
        output::status_line(&format!("warning: {more} more; use --verbose to see all"));
    }
}

/// Prints an error.
pub(crate) fn print_error(failure: &GenerateError, format: OutputFormat, quiet: bool) {
    if format == OutputFormat::Json {
        output::print_data(&format!("{:#}", failure.to_json()));
        return;
    }
    match failure.source_diagnostics.as_deref() {
        Some((source, diagnostics)) => {
            let is_printed = |one: &&Diagnostic| !quiet || one.severity == Severity::Error;
            let diagnostics: Vec<Diagnostic> = diagnostics.iter().filter(is_printed).cloned().collect();
            output::print_diagnostics(source, &diagnostics);
        }
        None => {
            // The message may contain its only detail.
            let details = failure.details.iter().filter(|detail| !failure.message.contains(&detail.message));
            for detail in details {
                let path =
                    if starts_with_path(detail) { String::new() } else { format!("{}: ", detail.path) };
                // The hint below is for all details.
                let suggestion =
                    if failure.hint.is_some() { String::new() } else { suggestion_suffix(detail) };
                output::status_line(&format!("{path}{}{suggestion}", detail.message));
            }
        }
    }
    let message = match failure.source_diagnostics.as_deref() {
        // The generator's specification sets the message for programs.
        Some((source, _)) if failure.kind == GenerateErrorKind::Schema => {
            format!("{} has errors", source.name)
        }
        _ => failure.message.clone(),
    };
    output::status_line(&format!("error: {message}"));
    if let Some(hint) = &failure.hint {
        output::print_hint(hint);
    }
}

/// Adds colours to a diff.
pub(crate) fn colorize_diff(diff: &str) -> String {
    let mut out = String::with_capacity(diff.len());
    for line in diff.split_inclusive('\n') {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        let color = match text.as_bytes() {
            [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => "1",
            [b'@', b'@', ..] => "36",
            [b'+', ..] => "32",
            [b'-', ..] => "31",
            _ => "",
        };
        let _ = match color {
            "" => write!(out, "{text}{end}"),
            color => write!(out, "\u{1b}[{color}m{text}\u{1b}[0m{end}"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_folder_can_be_pasted_into_a_shell() {
        for (path, word) in [
            ("./generated", "./generated"),
            ("größe/a-b", "größe/a-b"),
            ("my folder", "'my folder'"),
            ("it's; rm -r $HOME", "'it'\\''s; rm -r $HOME'"),
            ("-dash", "./-dash"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(shell_word(path), word);
        }
    }
}
