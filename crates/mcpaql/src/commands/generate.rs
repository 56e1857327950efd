//! `mcpaql generate`: an adapter → a project that serves it.
//!
//! What always holds: nothing is written before everything was checked, and then all of it or nothing.

mod config;
mod failure;
mod folder;
#[cfg(test)]
mod folder_tests;
mod input;
mod origin;
mod report;
mod write;

pub(crate) use failure::Kind;

use crate::args::{self, OutputFormat};
use crate::{Outcome, diff, output};
use config::Wanted;
use failure::{Detail, Failure};
use folder::{Change, Plan, Step};
use input::{Imported, Input};
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::{Catalog, Settings};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::moment;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_generate::{Document, Options, Project, UnsupportedOperation, license, provenance};
use report::Done;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// What sets the time of a build that shall be the same every time.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

pub(crate) fn run(args: &args::Generate) -> Outcome {
    let ran = catch_unwind(AssertUnwindSafe(|| generate(args)));
    let ran =
        ran.unwrap_or_else(|_| Err(Failure::new(Kind::Internal, "the generator failed; please report it")));
    match ran {
        // Whoever did not get the report is told by the status.
        Ok(()) if output::lost().is_some() => Outcome::Generator(Kind::Io),
        Ok(()) => Outcome::Clean,
        Err(failure) => {
            report::tell_failure(&failure, args.output_format, args.quiet);
            Outcome::Generator(failure.kind)
        }
    }
}

/// Tells a wrong command line of this command in its own way; `None` where it is another's, or only wants help.
pub(crate) fn misused(error: &clap::Error) -> Option<ExitCode> {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if error.exit_code() == 0 || !is_ours(&words) {
        return None;
    }
    let json = words.windows(2).any(|pair| pair == ["--output-format", "json"])
        || words.iter().any(|word| word == "--output-format=json");
    if json {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let failure = Failure::new(Kind::Configuration, message)
            .hint("`mcpaql generate --help` tells what can be said");
        report::tell_failure(&failure, OutputFormat::Json, false);
    } else {
        let _ = error.print();
    }
    Some(Outcome::Generator(Kind::Configuration).into())
}

/// Whether the command is this one: the first word that is neither a flag nor the value of the one that may stand before it.
fn is_ours(words: &[String]) -> bool {
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

fn generate(args: &args::Generate) -> Result<(), Failure> {
    let mut wanted = config::wanted(args)?;
    let timestamp = timestamp(&wanted)?;
    let is_trial = args.dry_run || args.diff;
    // What an earlier run put aside may be what is read next.
    write::take_up(&wanted.output, is_trial)?;
    let Input { file, source, origin, settings, imported } = input::read(args, &wanted)?;
    if let Some(settings) = settings {
        wanted.options.settings = settings;
    }
    let (catalog, mut warnings) = compiled(&source, &wanted)?;
    let (catalog, skipped) = supported(&source, &wanted, catalog);
    warnings.extend(
        license::warning(&wanted.options.license)
            .map(|message| Detail::new("LICENSE", "LICENSE_TEXT_MISSING", message)),
    );
    let document = Document { file: &file, text: &source.text };
    let project = Project { catalog: &catalog, document, origin, options: wanted.options.clone() };
    let files = mcpaql_generate::files(&project, timestamp.as_deref())
        .map_err(|why| Failure::new(Kind::Template, why.message).hint(why.suggestion))?;
    let plan = folder::plan(&wanted.output, wanted.options.language.as_str(), files)?;
    warnings.extend(plan.warnings());
    if wanted.strict {
        check_strictly(imported.as_ref(), &warnings)?;
    }
    // Somebody asked for it, so --strict lets it pass.
    warnings.extend(skipped);
    let refusal = plan.refusal(&wanted.output).filter(|_| !args.force);
    let mut diff = None;
    if args.diff {
        refusal.iter().for_each(|refusal| warnings.extend(refusal.details.clone()));
        diff = Some(shown(&plan, args.output_format));
    } else if let Some(refusal) = refusal {
        return Err(refusal);
    } else if !args.dry_run {
        write::write(&wanted.output, &plan)?;
    }
    let done = Done {
        args,
        wanted: &wanted,
        plan: &plan,
        fingerprint: provenance::fingerprint(&document),
        imported,
        warnings,
        project: &project,
        diff,
    };
    done.tell();
    Ok(())
}

/// Fails where anything was noticed.
fn check_strictly(imported: Option<&Imported>, warnings: &[Detail]) -> Result<(), Failure> {
    let noticed = imported.map(|imported| imported.noticed.as_slice()).unwrap_or_default();
    let all = [noticed, warnings].concat();
    let count = all.len();
    if count == 0 {
        return Ok(());
    }
    let message =
        format!("{count} warning{}, and --strict lets none pass", if count == 1 { "" } else { "s" });
    Err(Failure::new(Kind::Schema, message).details(all))
}

/// When the project is generated, unless that shall not be told.
fn timestamp(wanted: &Wanted) -> Result<Option<String>, Failure> {
    if wanted.reproducible {
        return Ok(None);
    }
    let seconds = match std::env::var(EPOCH).ok().filter(|value| !value.is_empty()) {
        Some(value) => {
            value.parse().ok().filter(|seconds| (0..=253_402_300_799).contains(seconds)).ok_or_else(|| {
                let message = format!("{EPOCH} is not a number of seconds since 1970");
                Failure::new(Kind::Configuration, message)
                    .hint("set it to what `date +%s` prints, or unset it")
            })?
        }
        None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64),
    };
    Ok(Some(moment::timestamp(seconds)))
}

/// The catalog and what was noticed about the document. Whoever generates wants all of it, so an error anywhere is one.
fn compiled(source: &Source, wanted: &Wanted) -> Result<(Catalog, Vec<Detail>), Failure> {
    let settings = &wanted.options.settings;
    let checked = check::check(source, settings);
    let is_right = checked.errors() == 0;
    let Some(catalog) = checked.catalog.filter(|_| is_right) else {
        let alone = (*settings != Settings::default()).then(|| check::check(source, &Settings::default()));
        let by_settings = alone.is_some_and(|alone| alone.errors() == 0 && alone.catalog.is_some());
        let (kind, message) = if by_settings {
            (Kind::Configuration, "the mode, profile, prefix or policy does not go with the schema")
        } else {
            (Kind::Schema, "Schema validation failed")
        };
        return Err(Failure::about(kind, message, source.clone(), checked.diagnostics));
    };
    let warnings = checked.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning);
    Ok((catalog, warnings.map(Detail::of).collect()))
}

/// The catalog without the operations that the language cannot serve, where they shall be left out, and a line about each.
fn supported(source: &Source, wanted: &Wanted, catalog: Catalog) -> (Catalog, Vec<Detail>) {
    let Options { language, settings, skip_unsupported, .. } = &wanted.options;
    let skipped = match skip_unsupported {
        true => mcpaql_generate::unsupported(&catalog, *language),
        false => Vec::new(),
    };
    if skipped.is_empty() {
        return (catalog, Vec::new());
    }
    let is_kept = |name: &str| skipped.iter().all(|operation| operation.name != name);
    let without = |adapter: &mut Adapter| adapter.operations.retain(|operation| is_kept(&operation.name));
    let rest = check::check_with(source, settings, without).catalog;
    let told = skipped.iter().map(|UnsupportedOperation { name, needs }| {
        let message = format!("Operation '{name}' is left out: it needs {needs}");
        Detail::new(format!("operations.{name}"), "OPERATION_SKIPPED", message)
    });
    (rest.unwrap_or(catalog), told.collect())
}

/// What would change, file by file.
fn shown(plan: &Plan, format: OutputFormat) -> String {
    let mut out = String::new();
    // What tells of the others comes last.
    let (others, last): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|step| step.path != provenance::FILE);
    for step in others.into_iter().chain(last) {
        if matches!(step.change, Change::Unchanged | Change::Kept | Change::Left) {
            continue;
        }
        let old = step.old.as_deref().map(String::from_utf8_lossy);
        out.push_str(&diff::unified(&step.path, old.as_deref(), step.new.as_deref()));
    }
    if format == OutputFormat::Json {
        return out;
    }
    let text = output::visible(&out);
    if output::color() { report::painted(&text) } else { text }
}
