//! `mcpaql audit`: finds problems in the tools of any MCP server, and counts their tokens.
//!
//! What always holds: tools are called only by `--probe`; a server that cannot be asked does not stop the audit of the others; text of
//! servers is escaped before it reaches the terminal.

mod compare;
mod fix;
mod list;
mod probe;
mod sources;
mod standard;

use crate::file;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use mcpaql_audit::convention::Standard;
use mcpaql_audit::render::{RenderFormat, RenderOptions};
use mcpaql_audit::{
    AuditInput, AuditReport, Baseline, Finding, ParsedServer, ServerTools, ToolBatch, audit, finish_audit,
    tool_batches,
};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::{self, Scope, ScopedJoinHandle};

pub(crate) async fn run(args: args::AuditArgs) -> Result<CommandOutcome> {
    let standard = standard::choose_standard(&args)?;
    if args.list {
        output::print_data(&list::list(&standard.known_conventions, &standard.policies));
        return Ok(CommandOutcome::Clean);
    }
    if !args.diff_policy.is_empty() && !matches!(args.format, RenderFormat::Full | RenderFormat::Json) {
        return Err(error_with_hint(
            "--diff-policy supports only the formats full and json",
            "use --format json, or remove --format",
        ));
    }
    check_files(&args)?;
    let baseline = args.baseline.as_deref().map(read_baseline).transpose()?;
    let mut sources = sources::gather(&args).await?;
    if let [from, to] = args.diff_policy.as_slice() {
        let policies = [from, to].map(|name| standard::find_policy(name, &standard.policies));
        let [from, to] = policies;
        let text = compare::compare_policies(&sources, &from?, &to?, args.format);
        match &args.output {
            Some(path) => write_and_report(path, &text)?,
            None => output::print_data(&text),
        }
        for failed in &sources.failed {
            output::status_line(&format!("{}: {}: {}", failed.verdict(), failed.name, failed.why));
        }
        return Ok(if sources.failed.is_empty() { CommandOutcome::Clean } else { CommandOutcome::Findings });
    }
    let compares = matches!(args.format, RenderFormat::Full | RenderFormat::Json | RenderFormat::Markdown);
    let mut as_adapters = None;
    if args.fix {
        // Count the tools before they are corrected.
        as_adapters = compares.then(|| sources.costs_as_adapters());
        let findings = audit(&sources.servers, &standard.standard);
        fix::fix(&args, &mut sources, &findings)?;
    }
    let outcome = thread::scope(|scope| {
        // This imports all tools, which takes longer than the audit and does not depend on it.
        let comparing =
            (compares && as_adapters.is_none()).then(|| spawn_thread(scope, || sources.costs_as_adapters()));
        let (surfaces, findings) =
            audit_in_parallel(scope, &sources.servers, &standard.standard, comparing.is_some());
        let audited = AuditInput {
            servers: &sources.servers,
            origins: &sources.origins,
            as_adapters: &[],
            failed: &sources.failed,
            standard: &standard.standard,
            fail_on: args.fail_on,
        };
        let mut report = AuditReport::from_servers(audited, surfaces, &findings, baseline.as_ref());
        let costs = match comparing {
            Some(Some(thread)) => thread.join().unwrap_or_default(),
            Some(None) => sources.costs_as_adapters(),
            None => as_adapters.unwrap_or_default(),
        };
        report.input.as_adapters = &costs;
        let outcome = write_results(&args, &report, &findings);
        // The process ends soon; freeing a long list would only take time.
        std::mem::forget(report);
        std::mem::forget(findings);
        outcome
    });
    std::mem::forget(sources);
    outcome
}

/// Refuses to overwrite an input file, or to write two outputs to one file.
fn check_files(args: &args::AuditArgs) -> Result<()> {
    let inputs = args.tools.iter().chain(&args.conventions).map(PathBuf::as_path);
    // With --fix, a document may be corrected in place.
    let documents = args.documents.iter().filter(|_| !args.fix).map(Path::new);
    let inputs: Vec<&Path> = inputs.chain(documents).chain(args.config.as_deref().map(Path::new)).collect();
    let report = args.output.as_deref();
    let outputs = report.into_iter().chain(args.write_baseline.as_deref());
    for path in outputs {
        file::check_not_input(path, inputs.iter().copied())?;
        if file::is_stream(path) {
            continue;
        }
        let other = if report == Some(path) { &args.write_baseline } else { &None };
        let message = if other.as_deref().is_some_and(|other| file::is_same_file(other, path)) {
            format!("{} cannot be both the report and the baseline", path.display())
        } else if report == Some(path)
            && args.baseline.as_deref().is_some_and(|known| file::is_same_file(known, path))
        {
            format!("{} is the baseline and would be overwritten by the report", path.display())
        } else {
            continue;
        };
        return Err(error_with_hint(message, "choose another file"));
    }
    Ok(())
}

/// Audits the tools in batches on several threads, or on one thread if `is_busy`: another thread already works on the same tools.
fn audit_in_parallel<'scope, 'env, 'a: 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    servers: &'a [ServerTools],
    standard: &'a Standard,
    is_busy: bool,
) -> (Vec<ParsedServer<'a>>, Vec<Finding>) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let threads = if is_busy { 1 } else { threads };
    let batches = tool_batches(servers, standard, threads);
    let run =
        |batches: Vec<ToolBatch<'a>>| batches.into_iter().map(ToolBatch::run_tool_rules).collect::<Vec<_>>();
    let mut parts = batches.chunks(batches.len().div_ceil(threads).max(1)).map(<[ToolBatch<'_>]>::to_vec);
    let own = parts.next().unwrap_or_default();
    let others: Vec<_> = parts.map(|part| (part.clone(), spawn_thread(scope, move || run(part)))).collect();
    let mut results = run(own);
    for (part, thread) in others {
        results.extend(thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| run(part)));
    }
    finish_audit(servers, standard, results)
}

/// Maximum number of threads; more do not make the audit faster.
const MAX_THREADS: usize = 8;

/// Writes the baseline and the report, and returns whether the audit fails.
fn write_results(
    args: &args::AuditArgs,
    report: &AuditReport<'_>,
    findings: &[Finding],
) -> Result<CommandOutcome> {
    if let Some(path) = &args.write_baseline {
        let baseline = Baseline::of(findings, report.input.servers);
        let written = file::write(path, &baseline.to_text())?;
        output::status_line(&format!("Wrote {} findings to {written}", baseline.len()));
    }
    show(args, report)?;
    // Findings that were just written to a baseline do not fail the audit.
    let is_known = args.write_baseline.is_some() && report.input.failed.is_empty();
    Ok(if report.fails() && !is_known { CommandOutcome::Findings } else { CommandOutcome::Clean })
}

/// Stack size of threads. It is that of the main thread, because the maximum depth of documents is chosen for it.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// Runs work on another thread, or returns `None` if no thread can be started.
fn spawn_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, work).ok()
}

fn show(args: &args::AuditArgs, report: &AuditReport<'_>) -> Result<()> {
    let output = args.output.as_deref().filter(|_| !args.fix);
    let to_terminal = output.is_none() && args.format == RenderFormat::Full;
    let options =
        RenderOptions { color: to_terminal && output::use_color(), verbose: args.verbose, hints: args.hints };
    let text = args.format.render(report, options);
    match output {
        Some(path) => write_and_report(path, &text)?,
        None if text.is_empty() => {}
        None => output::print_data(&text),
    }
    Ok(())
}

/// Writes a file and prints its path.
fn write_and_report(path: &Path, text: &str) -> Result<()> {
    let written = file::write(path, text)?;
    if !file::is_dash(path) {
        output::status_line(&format!("Wrote {written}"));
    }
    Ok(())
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let text = file::read_flag("--baseline", path)?;
    Baseline::parse(&text).ok_or_else(|| {
        error_with_hint(
            format!("{} is not a baseline, or was written by another version", path.display()),
            "write a new one with --write-baseline",
        )
    })
}
