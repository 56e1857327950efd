//! Imports all descriptions in a folder and reads all their operations, to test the importer with real documents.
//!
//! `sweep FOLDER… [--every N] [--workers N] [--seconds N] [--no-value ID]… [--check]`
//!
//! With `--check` it writes the document of each description, as `mcpaql import openapi` does, and checks it instead of reading
//! the operations one at a time. The document must have no errors; its warnings are counted.
//!
//! In a clean run, no document causes a panic, exceeds the time limit or is rejected. All names of operations are valid and
//! unique. Every operation has a valid signature and a valid example; `--no-value` lists operations whose schemas accept no
//! value. The exit status is 1 if one of these fails.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use mcpaql_core::catalog::{AdapterSettings, Catalog, CatalogEntry, FullOperation};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::operation::INTROSPECT;
use mcpaql_core::request::prepare_operation;
use mcpaql_core::sample::sample;
use mcpaql_document::check::check;
use mcpaql_document::compile::compile_deferred;
use mcpaql_document::source::Source;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::openapi::{
    FullAdapter, ImportedApi, NoLoader, OpenApiImportOptions, full_adapter, is_description, open,
};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

const NO_EXAMPLE: &str = "no example";

/// The results of one document, or of all.
#[derive(Debug, Default)]
struct Tally {
    documents: usize,
    /// Files that are not descriptions.
    others: usize,
    operations: usize,
    /// The number of operations that were left out, by reason.
    skipped: BTreeMap<String, usize>,
    /// Failures by kind, each with its first positions.
    faults: BTreeMap<&'static str, (usize, Vec<String>)>,
    /// Warnings about written documents, by code and message without names.
    warnings: BTreeMap<String, usize>,
    slowest: (Duration, String),
}

impl Tally {
    fn fault(&mut self, kind: &'static str, place: impl Into<String>) {
        let (count, places) = self.faults.entry(kind).or_default();
        *count += 1;
        if places.len() < 400 {
            places.push(place.into());
        }
    }

    /// Removes failures of operations whose schemas accept no value.
    fn excuse(&mut self, ids: &HashSet<String>) {
        let Some((count, places)) = self.faults.get_mut(NO_EXAMPLE) else { return };
        places.retain(|place| !place.rsplit(' ').next().is_some_and(|id| ids.contains(id)));
        *count = places.len();
        if *count == 0 {
            self.faults.remove(NO_EXAMPLE);
        }
    }

    fn add(&mut self, other: Tally) {
        self.documents += other.documents;
        self.others += other.others;
        self.operations += other.operations;
        for (reason, count) in other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        for (kind, (count, places)) in other.faults {
            let (all, kept) = self.faults.entry(kind).or_default();
            *all += count;
            kept.extend(places);
        }
        for (code, count) in other.warnings {
            *self.warnings.entry(code).or_default() += count;
        }
        if other.slowest.0 > self.slowest.0 {
            self.slowest = other.slowest;
        }
    }
}

fn main() -> std::process::ExitCode {
    let mut folders = Vec::new();
    let mut without = HashSet::new();
    let (mut every, mut workers, mut seconds) = (1, 2, 60);
    let mut mode = SweepMode::Operations;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--check" {
            mode = SweepMode::Documents;
            continue;
        }
        if word == "--no-value" {
            without.extend(words.next());
            continue;
        }
        let mut number = || words.next().and_then(|text| text.parse::<usize>().ok()).unwrap_or(1).max(1);
        match word.as_str() {
            "--every" => every = number(),
            "--workers" => workers = number(),
            "--seconds" => seconds = number(),
            _ => folders.push(PathBuf::from(word)),
        }
    }
    if folders.is_empty() {
        eprintln!("usage: sweep FOLDER… [--every N] [--workers N] [--seconds N] [--no-value ID]… [--check]");
        return 2.into();
    }
    let mut files = Vec::new();
    for folder in &folders {
        collect(folder, &mut files);
    }
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().step_by(every).collect();
    let began = Instant::now();
    let mut tally = sweep(files, workers, Duration::from_secs(seconds as u64), mode);
    tally.excuse(&without);
    print(&tally, began.elapsed());
    u8::from(!tally.faults.is_empty() || tally.operations == 0).into()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        for entry in entries.flatten() {
            collect(&entry.path(), files);
        }
    } else if path.extension().is_some_and(|kind| kind == "json" || kind == "yaml" || kind == "yml")
        && path.file_name().is_none_or(|name| name != "package.json")
    {
        files.push(path.to_owned());
    }
}

/// What is tested.
#[derive(Debug, Clone, Copy)]
enum SweepMode {
    /// Every operation, as it is served.
    Operations,
    /// The document that an import writes.
    Documents,
}

fn sweep(files: Vec<PathBuf>, workers: usize, limit: Duration, mode: SweepMode) -> Tally {
    let queue = Arc::new(Mutex::new(files.into_iter()));
    let (done, results) = mpsc::channel();
    for _ in 0..workers {
        let (queue, done) = (Arc::clone(&queue), done.clone());
        std::thread::spawn(move || {
            loop {
                let next = queue.lock().ok().and_then(|mut queue| queue.next());
                let Some(path) = next else { return };
                if done.send(one(&path, limit, mode)).is_err() {
                    return;
                }
            }
        });
    }
    drop(done);
    let mut all = Tally::default();
    for tally in results {
        all.add(tally);
    }
    all
}

/// Imports one document on a separate thread, so that a panic or an endless loop affects only this document.
fn one(path: &Path, limit: Duration, mode: SweepMode) -> Tally {
    let name = path.display().to_string();
    let Ok(text) = std::fs::read_to_string(path) else {
        return Tally { others: 1, ..Tally::default() };
    };
    if !is_description(&text) {
        return Tally { others: 1, ..Tally::default() };
    }
    let (done, result) = mpsc::channel();
    let began = Instant::now();
    let subject = name.clone();
    let spawned = std::thread::Builder::new().name(name.clone()).spawn(move || {
        // After a timeout nothing receives the result.
        let _ = done.send(document(&subject, text, mode));
    });
    let mut tally = match result.recv_timeout(limit) {
        Ok(tally) => tally,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let mut tally = Tally::default();
            tally.fault("hang", &name);
            tally
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let mut tally = Tally::default();
            tally.fault("panic", &name);
            tally
        }
    };
    drop(spawned);
    tally.documents = 1;
    tally.slowest = (began.elapsed(), name);
    tally
}

fn document(path: &str, text: String, mode: SweepMode) -> Tally {
    let mut tally = Tally::default();
    let import = match open(text, &OpenApiImportOptions::default(), Arc::new(NoLoader)) {
        Ok(import) => import,
        Err(faults) => {
            let why = faults.first().map_or_else(String::new, |fault| fault.message.clone());
            tally.fault("rejected whole", format!("{path}: {why}"));
            return tally;
        }
    };
    for diagnostic in import.report.diagnostics.iter().filter(|one| one.severity == Severity::Error) {
        if let Some((_, reason)) = diagnostic.message.split_once(" was left out: ") {
            *tally.skipped.entry(reason.to_owned()).or_default() += 1;
        }
    }
    tally.operations = import.adapter.operations.len();
    if let SweepMode::Documents = mode {
        check_written(path, &import, &mut tally);
        return tally;
    }
    let compiled = compile_deferred(import.adapter, import.library, &AdapterSettings::default());
    let Some(catalog) = compiled.catalog else {
        let why = compiled.diagnostics.first().map_or_else(String::new, |fault| fault.message.clone());
        tally.fault("does not compile", format!("{path}: {why}"));
        return tally;
    };
    let mut names = HashSet::new();
    for entry in &catalog.operations {
        let name = entry.operation.name.as_str();
        if !is_legal(name) {
            tally.fault("illegal name", format!("{path}: {name}"));
        }
        if !names.insert(name) {
            tally.fault("duplicate name", format!("{path}: {name}"));
        }
        if name != INTROSPECT {
            operation(path, &catalog, entry, &mut tally);
        }
    }
    if catalog.operations.len() != tally.operations + 1 {
        tally.fault("operation lost in compiling", path);
    }
    tally
}

/// Writes the document of an import and checks it.
fn check_written(path: &str, import: &ImportedApi, tally: &mut Tally) {
    let FullAdapter { adapter, .. } = full_adapter(import);
    let text = emit::markdown(&adapter, &Provenance { source: path.to_owned(), ..Provenance::default() });
    let checked = check(&Source::new("adapter.md", text), &AdapterSettings::default());
    for problem in &checked.diagnostics {
        if problem.severity == Severity::Error {
            tally.fault(
                "written document has an error",
                format!("{path}: {} {}", problem.pointer, problem.message),
            );
        } else {
            let message: String = problem.message.split('\'').step_by(2).collect();
            *tally.warnings.entry(format!("{}: {message}", problem.code.as_str())).or_default() += 1;
        }
    }
    match checked.catalog {
        None => tally.fault("written document does not compile", path),
        Some(catalog) if catalog.operations.len() != adapter.operations.len() + 1 => {
            tally.fault("operation lost in writing", path);
        }
        Some(_) => {}
    }
}

fn operation(path: &str, catalog: &Catalog, entry: &CatalogEntry, tally: &mut Tally) {
    let name = entry.operation.name.as_str();
    let id = entry.operation.source_id.as_deref().unwrap_or(name);
    let place = format!("{path}: {id}");
    let Some(whole) = catalog.full_operation(entry) else {
        return tally.fault("cannot be read", place);
    };
    if let Some(problem) = signature_problem(whole.signature, name) {
        tally.fault("bad signature", format!("{place}: {problem}: {}", whole.signature));
    }
    match whole.operation.examples.first() {
        None => tally.fault(NO_EXAMPLE, format!("{}: {place}", lack(catalog, whole, name))),
        Some(example) => {
            if let Err(error) = prepare_operation(catalog, name, example.params.clone()) {
                tally.fault("example refused", format!("{place}: {}", error.message));
            }
        }
    }
}

/// Returns the reason why an operation has no example.
fn lack(catalog: &Catalog, whole: FullOperation<'_>, name: &str) -> String {
    let mut call = serde_json::Map::new();
    for param in whole.operation.params.iter().filter(|param| param.required) {
        let Some(value) = sample(&param.name, &param.schema, whole.types) else {
            return format!("no value for '{}' {}", param.name, param.schema);
        };
        call.insert(param.name.clone(), value);
    }
    match prepare_operation(catalog, name, call) {
        Ok(_) => "samples of the required parameters are valid".to_owned(),
        Err(error) => error.message,
    }
}

/// Whether every client accepts the name: a lower-case letter, then letters, digits and underscores.
fn is_legal(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

/// Returns the problem of a signature. A valid one has a call on the first line, `type Name = …` on the others, and every
/// bracket and quote is closed.
fn signature_problem(signature: &str, name: &str) -> Option<&'static str> {
    let mut lines = signature.lines();
    let call = lines.next()?;
    if !call.starts_with(&format!("{name}(")) {
        return Some("does not start with the call");
    }
    let starts = |line: &str| line.starts_with("type ") || line.starts_with("//") || line.starts_with(' ');
    if !lines.all(|line| line.is_empty() || starts(line) || line.starts_with(['}', ')'])) {
        return Some("a line that is not a type");
    }
    let text: String = signature.lines().filter(|line| !line.starts_with("//")).collect();
    let mut open = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // In a default or a pattern, brackets and quotes need not be closed.
            '/' if letters.as_str().starts_with('*') => {
                let Some((_, behind)) = letters.as_str().split_once("*/") else {
                    return Some("a comment without an end");
                };
                letters = behind.chars();
            }
            '/' => {
                let mut in_class = false;
                loop {
                    match letters.next() {
                        None => return Some("a pattern without an end"),
                        Some('\\') => drop(letters.next()),
                        Some('[') => in_class = true,
                        Some(']') => in_class = false,
                        Some('/') if !in_class => break,
                        Some(_) => {}
                    }
                }
            }
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(letter) => return Some("a bracket that was not opened"),
            '"' => loop {
                match letters.next() {
                    None => return Some("a text without an end"),
                    Some('\\') => drop(letters.next()),
                    Some('"') => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
    }
    (!open.is_empty()).then_some("a bracket that is not closed")
}

fn print(tally: &Tally, took: Duration) {
    let skipped: usize = tally.skipped.values().sum();
    println!("| what | count |\n|---|---:|");
    println!("| documents | {} |", tally.documents);
    println!("| operations imported | {} |", tally.operations);
    println!("| operations left out | {skipped} |");
    for (reason, count) in &tally.skipped {
        println!("| left out: {reason} | {count} |");
    }
    for (code, count) in &tally.warnings {
        println!("| warning {code} | {count} |");
    }
    for (kind, (count, _)) in &tally.faults {
        println!("| FAULT: {kind} | {count} |");
    }
    println!(
        "\n{} other files; slowest: {:.1} s {}",
        tally.others,
        tally.slowest.0.as_secs_f64(),
        tally.slowest.1
    );
    println!("{:.0} s in all", took.as_secs_f64());
    for (kind, (_, places)) in &tally.faults {
        for place in places {
            eprintln!("{kind}: {place}");
        }
    }
}
