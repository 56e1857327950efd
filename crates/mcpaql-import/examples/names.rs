//! Prints the names of all operations of descriptions, to review them: `names FILE…`.
//!
//! One line for each operation, separated by tabs: file, method, path, id, tags, summary, name, category, danger.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use mcpaql_import::openapi::{NoLoader, OpenApiImportOptions, open};
use mcpaql_import::report::OperationOrigin;
use std::sync::Arc;

fn main() {
    for file in std::env::args().skip(1) {
        let Ok(text) = std::fs::read_to_string(&file) else {
            eprintln!("{file}: cannot be read");
            continue;
        };
        let Ok(import) = open(text, &OpenApiImportOptions::default(), Arc::new(NoLoader)) else {
            eprintln!("{file}: is not a description");
            continue;
        };
        for (operation, classified) in import.adapter.operations.iter().zip(&import.report.operations) {
            let OperationOrigin::Request { method, path } = &classified.origin else { continue };
            let summary: String = operation.description.chars().take(160).collect();
            let columns = [
                file.as_str(),
                method,
                path,
                classified.source_id.as_deref().unwrap_or_default(),
                &operation.tags.join(","),
                &summary,
                &classified.name,
                classified.category.as_str(),
                classified.decision.danger.as_str(),
            ];
            println!("{}", columns.map(|text| text.replace(['\t', '\n', '\r'], " ")).join("\t"));
        }
    }
}
