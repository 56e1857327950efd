//! `mcpaql check`: every problem of a document, not the first.

use crate::documents::{Plan, render_reports};
use crate::{Outcome, args, output};
use anyhow::Result;
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::diagnostic::render::Style;

pub(crate) fn run(args: &args::Check) -> Result<Outcome> {
    let checked = Plan::new(&args.documents, None, &args.surface.settings())?.check();
    let count = |severity| {
        checked
            .iter()
            .flat_map(|(_, checked)| &checked.diagnostics)
            .filter(|d| d.severity == severity)
            .count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let report = render_reports(args.format, &checked);
    if !report.is_empty() {
        output::data(&report);
    }
    if args.format == Style::Full {
        for (source, checked) in &checked {
            if let Some(catalog) = &checked.catalog {
                let operations = counted(catalog.operations.len() - 1, "operation");
                let tools = counted(catalog.tools.len(), "tool");
                output::data(&format!("{}: {operations}, {tools}", source.name));
            }
        }
        output::data(&summary(errors, warnings));
    }
    Ok(if errors > 0 || (args.strict && warnings > 0) { Outcome::Findings } else { Outcome::Clean })
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn summary(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "No problems found".into(),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    }
}
