//! `mcpaql check`: every problem of every document, not the first. A file that cannot be read hides no other.

use crate::documents::{Request, render_reports};
use crate::{Outcome, args, output};
use anyhow::Result;
use mcpaql_core::diagnostic::Severity;
use mcpaql_document::render::Style;

pub(crate) fn run(args: &args::Check) -> Result<Outcome> {
    let flags = args.surface.settings();
    let mut plan = Request { documents: &args.documents, flags, ..Request::default() }.resolve()?;
    let mut unreadable = std::mem::take(&mut plan.unreadable);
    if plan.config.is_some() {
        // Told where the configuration names them.
        unreadable.clear();
    }
    let checked = plan.check();
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
    // Nothing was checked, so nothing was found to be in order.
    if args.format == Style::Full && !checked.is_empty() {
        for (source, checked) in &checked {
            if let Some(catalog) = &checked.catalog {
                let operations = counted(catalog.operations.len() - 1, "operation");
                let tools = counted(catalog.tools.len(), "tool");
                output::data(&format!("{}: {operations}, {tools}", source.name));
            } else if source.name.starts_with("mcp:") {
                output::data(&format!("{}: an MCP server, which is not started for this", source.name));
            }
        }
        output::data(&summary(errors, warnings));
    }
    for (_, error) in &unreadable {
        output::failure(error);
    }
    if !unreadable.is_empty() {
        return Ok(Outcome::CouldNotRun);
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
