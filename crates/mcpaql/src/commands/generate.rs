//! `mcpaql generate`: generates a project that serves an adapter.
//!
//! What always holds: everything is checked before anything is written, and then all files are written or none.

mod config;
mod error;
mod folder;
#[cfg(test)]
mod folder_tests;
mod input;
mod origin;
mod report;
mod write;

pub(crate) use error::GenerateErrorKind;

use crate::args::{self, OutputFormat};
use crate::{CommandOutcome, diff, output};
use config::GenerateRequest;
use error::{GenerateError, GenerateIssue};
use folder::{FileChange, FileStep, FolderPlan};
use input::{ImportFindings, Input};
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::timestamp;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_generate::{
    DEFAULT_TRUST, Project, ProjectDocument, ProjectOptions, UnsupportedOperation, license, provenance,
};
use report::GenerateReport;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Environment variable that sets the time of a reproducible build.
const SOURCE_DATE_EPOCH: &str = "SOURCE_DATE_EPOCH";

pub(crate) fn run(args: &args::GenerateArgs) -> CommandOutcome {
    let ran = catch_unwind(AssertUnwindSafe(|| generate(args)));
    let ran = ran.unwrap_or_else(|_| {
        Err(GenerateError::new(GenerateErrorKind::Internal, "the generator panicked; please report this bug"))
    });
    match ran {
        // The report could not be written, so only the exit status can say so.
        Ok(()) if output::write_error().is_some() => CommandOutcome::Generator(GenerateErrorKind::Io),
        Ok(()) => CommandOutcome::Clean,
        Err(failure) => {
            report::print_error(&failure, args.output_format, args.quiet);
            CommandOutcome::Generator(failure.kind)
        }
    }
}

/// Reports an invalid command line of `generate` with its own exit status, as JSON if requested. Returns `None` for other commands and
/// for `--help`.
pub(crate) fn report_usage_error(error: &clap::Error) -> Option<ExitCode> {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if error.exit_code() == 0 || !is_generate(&words) {
        return None;
    }
    let json = words.windows(2).any(|pair| pair == ["--output-format", "json"])
        || words.iter().any(|word| word == "--output-format=json");
    if json {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let failure = GenerateError::new(GenerateErrorKind::Configuration, message)
            .hint("see `mcpaql generate --help`");
        report::print_error(&failure, OutputFormat::Json, false);
    } else {
        let _ = error.print();
    }
    Some(CommandOutcome::Generator(GenerateErrorKind::Configuration).into())
}

/// Whether the command is `generate`: the first word that is neither a flag nor the value of `--log`.
fn is_generate(words: &[String]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--log" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            command => return command == "generate",
        }
    }
    false
}

fn generate(args: &args::GenerateArgs) -> Result<(), GenerateError> {
    let mut request = config::resolve_request(args)?;
    let timestamp = timestamp(&request)?;
    let is_trial = args.dry_run || args.diff;
    // Roll back an interrupted run first: its files may be the input of this one.
    write::recover_interrupted(&request.output, is_trial)?;
    let kept_trust = match request.trust {
        Some(_) => None,
        None => folder::recorded_trust(&request.output)?,
    };
    request.options.trust = request.trust.or(kept_trust).unwrap_or(DEFAULT_TRUST);
    let Input { file, source, origin, settings, imported } = input::read(args, &request)?;
    if let Some(settings) = settings {
        request.options.settings = settings;
    }
    let (catalog, mut warnings) = compile_document(&source, &request)?;
    let (catalog, skipped) = skip_unsupported_operations(&source, &request, catalog);
    warnings.extend(
        license::warning(&request.options.license)
            .map(|message| GenerateIssue::new("LICENSE", "LICENSE_TEXT_MISSING", message)),
    );
    let document = ProjectDocument { file: &file, text: &source.text };
    let project = Project { catalog: &catalog, document, origin, options: request.options.clone() };
    let files = mcpaql_generate::files(&project, timestamp.as_deref())
        .map_err(|why| GenerateError::new(GenerateErrorKind::Template, why.message).hint(why.suggestion))?;
    let plan = folder::plan_changes(&request.output, request.options.language.as_str(), files)?;
    warnings.extend(plan.warnings());
    if request.strict {
        check_strictly(imported.as_ref(), &warnings)?;
    }
    // The user asked to skip these, so --strict allows it.
    warnings.extend(skipped);
    let refusal = plan.refusal(&request.output).filter(|_| !args.force);
    let mut diff = None;
    if args.diff {
        refusal.iter().for_each(|refusal| warnings.extend(refusal.details.clone()));
        diff = Some(render_diff(&plan, args.output_format));
    } else if let Some(refusal) = refusal {
        return Err(refusal);
    } else if !args.dry_run {
        write::write(&request.output, &plan)?;
    }
    let done = GenerateReport {
        args,
        request: &request,
        plan: &plan,
        fingerprint: provenance::fingerprint(&document),
        imported,
        warnings,
        kept_trust,
        project: &project,
        diff,
    };
    done.print();
    Ok(())
}

/// Fails if there is any warning.
fn check_strictly(
    imported: Option<&ImportFindings>,
    warnings: &[GenerateIssue],
) -> Result<(), GenerateError> {
    let import_warnings = imported.map(|imported| imported.warnings.as_slice()).unwrap_or_default();
    let all = [import_warnings, warnings].concat();
    let count = all.len();
    if count == 0 {
        return Ok(());
    }
    let message = format!("{count} warning{} with --strict", if count == 1 { "" } else { "s" });
    Err(GenerateError::new(GenerateErrorKind::Schema, message).details(all))
}

/// Returns the time for the provenance, or `None` with `--reproducible`.
fn timestamp(request: &GenerateRequest) -> Result<Option<String>, GenerateError> {
    if request.reproducible {
        return Ok(None);
    }
    let seconds = match std::env::var(SOURCE_DATE_EPOCH).ok().filter(|value| !value.is_empty()) {
        Some(value) => {
            value.parse().ok().filter(|seconds| (0..=253_402_300_799).contains(seconds)).ok_or_else(|| {
                let message = format!("{SOURCE_DATE_EPOCH} is not a number of seconds since 1970");
                GenerateError::new(GenerateErrorKind::Configuration, message)
                    .hint("set it to what `date +%s` prints, or unset it")
            })?
        }
        None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64),
    };
    Ok(Some(timestamp::timestamp(seconds)))
}

/// Compiles the document, and returns its warnings, too. Any error fails, because a project must contain the whole document.
fn compile_document(
    source: &Source,
    request: &GenerateRequest,
) -> Result<(Catalog, Vec<GenerateIssue>), GenerateError> {
    let settings = &request.options.settings;
    let checked = check::check(source, settings);
    let is_valid = checked.errors() == 0;
    let Some(catalog) = checked.catalog.filter(|_| is_valid) else {
        let alone = (*settings != AdapterSettings::default())
            .then(|| check::check(source, &AdapterSettings::default()));
        let by_settings = alone.is_some_and(|alone| alone.errors() == 0 && alone.catalog.is_some());
        let (kind, message) = if by_settings {
            (GenerateErrorKind::Configuration, "the mode, profile, prefix or policy does not fit the schema")
        } else {
            (GenerateErrorKind::Schema, "Schema validation failed")
        };
        return Err(GenerateError::from_diagnostics(kind, message, source.clone(), checked.diagnostics));
    };
    let warnings = checked.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning);
    Ok((catalog, warnings.map(GenerateIssue::from_diagnostic).collect()))
}

/// With `--skip-unsupported`, removes the operations that the language does not support, and returns a warning for each.
fn skip_unsupported_operations(
    source: &Source,
    request: &GenerateRequest,
    catalog: Catalog,
) -> (Catalog, Vec<GenerateIssue>) {
    let ProjectOptions { language, settings, skip_unsupported, .. } = &request.options;
    let skipped = match skip_unsupported {
        true => mcpaql_generate::unsupported_operations(&catalog, *language),
        false => Vec::new(),
    };
    if skipped.is_empty() {
        return (catalog, Vec::new());
    }
    let is_kept = |name: &str| skipped.iter().all(|operation| operation.name != name);
    let without = |adapter: &mut Adapter| adapter.operations.retain(|operation| is_kept(&operation.name));
    let rest = check::check_with(source, settings, without).catalog;
    let warnings = skipped.iter().map(|UnsupportedOperation { name, needs }| {
        let message = format!("Operation '{name}' is skipped: it needs {needs}");
        GenerateIssue::new(format!("operations.{name}"), "OPERATION_SKIPPED", message)
    });
    (rest.unwrap_or(catalog), warnings.collect())
}

/// Renders the diff of all files.
fn render_diff(plan: &FolderPlan, format: OutputFormat) -> String {
    let mut out = String::new();
    // The provenance depends on all other files, so it comes last.
    let (others, last): (Vec<&FileStep>, Vec<&FileStep>) =
        plan.steps.iter().partition(|step| step.path != provenance::FILE);
    for step in others.into_iter().chain(last) {
        if matches!(step.change, FileChange::Unchanged | FileChange::Kept | FileChange::Left) {
            continue;
        }
        let old = step.old.as_deref().map(String::from_utf8_lossy);
        out.push_str(&diff::unified_diff(&step.path, old.as_deref(), step.new.as_deref()));
    }
    if format == OutputFormat::Json {
        return out;
    }
    let text = output::sanitize(&out);
    if output::use_color() { report::colorize_diff(&text) } else { text }
}
