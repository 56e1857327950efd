//! Imports all tool lists in folders, and reports losses and problems: `cargo run --example tools -- DIR…`.
//!
//! With `--reads` it lists all tools that are published as READ although the server does not mark them as read-only.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for the terminal")]

use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::naming::is_operation_name;
use mcpaql_core::operation::{Binding, Category};
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::mcp::{self, McpImportOptions};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

#[derive(Default)]
struct Totals {
    lists: usize,
    tools: usize,
    skipped: usize,
    bad_names: usize,
    errors: usize,
    warnings: BTreeMap<String, usize>,
    unstable: usize,
    review: usize,
    lost: BTreeMap<String, usize>,
    /// (announced read-only, published as READ) → tools.
    reads: BTreeMap<(Option<bool>, bool), usize>,
}

fn main() {
    let (flags, folders): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let verbose = flags.iter().any(|flag| flag == "--reads");
    let mut totals = Totals::default();
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        files.extend(std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()));
    }
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let text = std::fs::read_to_string(file).expect("a file");
        let value = serde_json::from_str(&text).expect("JSON");
        let Some(capture) = Capture::from_json(value) else { continue };
        let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        one(&mut totals, &name, &capture, verbose);
    }
    println!(
        "{} lists, {} tools: {} skipped, {} bad names, {} errors in documents, {} documents that change, {} to review",
        totals.lists,
        totals.tools,
        totals.skipped,
        totals.bad_names,
        totals.errors,
        totals.unstable,
        totals.review
    );
    for ((announced, read), count) in &totals.reads {
        println!("  readOnlyHint {announced:?}, published as READ {read}: {count}");
    }
    for (what, count) in &totals.warnings {
        println!("  warned {count} x {what}");
    }
    for (what, count) in &totals.lost {
        println!("  lost {count} x {what}");
    }
}

fn one(totals: &mut Totals, name: &str, capture: &Capture, verbose: bool) {
    let link = McpLink::Command(McpCommand {
        command: vec![name.to_owned()],
        cwd: None,
        env: Vec::new(),
        set_env: indexmap::IndexMap::new(),
    });
    let target = McpTarget::new(link);
    let imported = match mcp::import(capture, target, Auth::None, &McpImportOptions::default()) {
        Ok(imported) => imported,
        Err(problems) => {
            println!("{name}: {problems:?}");
            totals.errors += 1;
            return;
        }
    };
    totals.lists += 1;
    totals.tools += capture.tools.len();
    totals.skipped += capture.tools.len() - imported.adapter.operations.len();
    totals.review += imported.report.reviews().count();
    let mut seen = HashSet::new();
    for operation in &imported.adapter.operations {
        let fine =
            is_operation_name(&operation.name) && operation.name.len() <= 64 && seen.insert(&operation.name);
        totals.bad_names += usize::from(!fine);
    }
    for note in imported.notes.values().flatten().filter(|note| note.lost) {
        *totals.lost.entry(note.what.clone()).or_default() += 1;
    }
    reads(totals, name, capture, &imported, verbose);
    let document =
        emit::markdown(&imported.adapter, &Provenance { source: name.to_owned(), ..Provenance::default() });
    let checked = check(&Source::new("adapter.md", document.as_str()), &AdapterSettings::default());
    for problem in checked.diagnostics {
        if problem.severity == Severity::Error {
            totals.errors += 1;
            println!("{name}: {} {}", problem.pointer, problem.message);
        } else {
            *totals.warnings.entry(problem.message).or_default() += 1;
        }
    }
    let source = Source::new("adapter.md", document.as_str());
    let loaded = source.parse().ok().and_then(|parsed| mcpaql_document::load::load(&parsed.value).adapter);
    let Some(loaded) = loaded.filter(|_| checked.catalog.is_some()) else {
        println!("{name}: does not load");
        totals.errors += 1;
        return;
    };
    let again = emit::markdown(&loaded, &Provenance { source: name.to_owned(), ..Provenance::default() });
    if again != document {
        totals.unstable += 1;
        let differ = document.lines().zip(again.lines()).find(|(one, other)| one != other);
        println!("{name}: written again it differs: {differ:?}");
    }
}

/// Compares the categories with the annotations of the server.
fn reads(totals: &mut Totals, list: &str, capture: &Capture, imported: &mcp::ImportedServer, verbose: bool) {
    let said: HashMap<&str, Option<bool>> = capture
        .tools
        .iter()
        .filter_map(|tool| {
            let hint = tool.pointer("/annotations/readOnlyHint").and_then(serde_json::Value::as_bool);
            Some((tool.get("name")?.as_str()?, hint))
        })
        .collect();
    let rows = imported.adapter.operations.iter().zip(&imported.report.operations);
    for (operation, judged) in rows {
        let Binding::Mcp(mcp) = &operation.binding else { continue };
        let announced = said.get(mcp.tool.as_str()).copied().flatten();
        let read = operation.category == Category::Read;
        *totals.reads.entry((announced, read)).or_default() += 1;
        if verbose && announced != Some(read) {
            let why = judged.review().unwrap_or_default();
            let confidence = judged.decision.confidence.as_str();
            println!(
                "{list} {} announced {announced:?} -> {} [{confidence}] {why}",
                mcp.tool, operation.category
            );
        }
    }
}
