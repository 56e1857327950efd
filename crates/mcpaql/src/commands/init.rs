//! `mcpaql init`: writes a first adapter; asks at most three questions.
//!
//! What always holds: the written text passes `check`; no file is overwritten without `--force`; no secret is written.

mod draft;
mod questions;

use crate::commands::trust;
use crate::documents::{CONFIG_FILE, check_config_entry, load_config};
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, file, output};
use anyhow::{Context, Result};
use draft::InitDraft;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_document::check;
use mcpaql_document::source::Source;
use questions::{InitAnswers, Terminal, answers};
use std::io::{IsTerminal, stdin};
use std::path::Path;

pub(crate) fn run(args: &args::InitArgs) -> Result<CommandOutcome> {
    let has_terminal = stdin().is_terminal() && output::stderr_is_terminal();
    let terminal =
        has_terminal.then(|| Terminal { input: stdin().lock(), output: output::question_writer() });
    let check = |answers: &InitAnswers| {
        let draft = InitDraft::new(answers, args.file.as_deref())?;
        let path = args.file.clone().unwrap_or_else(|| draft.default_file());
        check_draft(&draft, answers, &path, &draft.text())
    };
    let answers = answers(args, Path::new("."), terminal, &check)?;
    let draft = InitDraft::new(&answers, args.file.as_deref())?;
    let path = args.file.clone().unwrap_or_else(|| draft.default_file());
    check_path(&path, &draft)?;
    if !args.force && file::would_replace(&path) {
        return Err(error_with_hint(
            format!("{} already exists", path.display()),
            "name another file (mcpaql init FILE), or overwrite it with --force",
        ));
    }
    let text = draft.text();
    check_draft(&draft, &answers, &path, &text)?;
    let written = file::write(&path, &text)?;
    if file::is_dash(&path) {
        return Ok(CommandOutcome::Clean);
    }
    if let InitDraft::Config(_) = &draft
        && !file::is_stream(&path)
    {
        trust::grant_written(&path)?;
    }
    output::status_line(&format!("Wrote {written}"));
    if let Some(sign) = draft::shell_sign(&answers) {
        output::status_line(&format!(
            "warning: there is no shell, so '{sign}' is an argument of the program; for pipes and files, write a script and run the script"
        ));
    }
    if let Some(variable) = &answers.token_env {
        output::status_line(&format!("Set the variable {variable} to the credential"));
    }
    output::status_lines(&format!("Next:\n{}", output::sanitize(&next_commands(&path, &draft))));
    Ok(CommandOutcome::Clean)
}

fn next_commands(path: &Path, draft: &InitDraft) -> String {
    let typed = output::shell_word(&path.display().to_string());
    let argument = match draft {
        InitDraft::Document { .. } => format!(" {typed}"),
        InitDraft::Config(_) if path == Path::new(CONFIG_FILE) => String::new(),
        InitDraft::Config(_) => format!(" --config {typed}"),
    };
    format!("  mcpaql doctor{argument}\n  mcpaql serve{argument}")
}

/// Refuses names that other commands would read as something else.
fn check_path(path: &Path, draft: &InitDraft) -> Result<()> {
    let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    if !is_yaml && !file::is_dash(path) && !file::is_stream(path) {
        let hint = format!("use a name that ends in .yaml, such as {}", draft.default_file().display());
        return Err(error_with_hint(format!("{} would contain YAML", path.display()), hint));
    }
    let is_config_name = path.file_name().is_some_and(|name| name == CONFIG_FILE);
    if is_config_name && let InitDraft::Document { .. } = draft {
        let hint = format!("use another name, such as {}", draft.default_file().display());
        return Err(error_with_hint(format!("{CONFIG_FILE} is for configurations, not for adapters"), hint));
    }
    Ok(())
}

/// Checks the text as `mcpaql check` would. A wrong answer is an error here, so that no wrong file is written.
fn check_draft(draft: &InitDraft, answers: &InitAnswers, path: &Path, text: &str) -> Result<()> {
    let source = Source::new(path.display().to_string(), text);
    let mut diagnostics = match draft {
        InitDraft::Document { .. } => check::check(&source, &AdapterSettings::default()).diagnostics,
        InitDraft::Config(entry) => {
            let (_, _, mut diagnostics) = load_config(&source);
            if diagnostics.is_empty() {
                let folder = path.parent().unwrap_or(Path::new(""));
                let (_, checked) = check_config_entry(entry, folder).context("the source cannot be used")?;
                diagnostics.extend(checked.diagnostics);
            }
            diagnostics
        }
    };
    diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    match diagnostics.first() {
        None => Ok(()),
        Some(first) => Err(invalid_answer(first, answers)),
    }
}

fn invalid_answer(problem: &Diagnostic, answers: &InitAnswers) -> anyhow::Error {
    let source = answers.source_label();
    let is_name = matches!(problem.pointer.as_str(), "/name" | "/adapters/0/name");
    if is_name && answers.name.is_none() {
        let message = format!("the name derived from {source} is not valid: {}", problem.message);
        return error_with_hint(message, "pass another name with --name");
    }
    let flag = if is_name { "--name" } else { source };
    let expected = || problem.expected.as_ref().map(|expected| format!("expected {expected}"));
    let hint = problem.suggestion.clone().or_else(expected);
    error_with_hint(
        format!("{flag} is not valid: {}", problem.message),
        hint.unwrap_or_else(|| "see `mcpaql init --help` for examples".to_owned()),
    )
}
