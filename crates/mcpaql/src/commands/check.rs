//! `mcpaql check`: reports every problem of every document. A file that cannot be read does not stop the others from being checked.

use crate::documents::{AdapterRequest, CONFIG_FILE, add_check_advice, render_reports};
use crate::operator::OperatorConfig;
use crate::output::counted;
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use mcpaql_core::diagnostic::Severity;
use mcpaql_document::check::CheckOutput;
use mcpaql_document::render::DiagnosticFormat;

pub(crate) fn run(args: &args::CheckArgs) -> Result<CommandOutcome> {
    let flags = args.surface.settings();
    let mut plan =
        AdapterRequest { documents: &args.documents, flags, ..AdapterRequest::default() }.resolve()?;
    if plan.is_default {
        output::status_line(&format!("No {CONFIG_FILE} in this folder; checking the built-in notebook"));
    }
    let mut unreadable = std::mem::take(&mut plan.unreadable);
    if plan.config.is_some() {
        // These are already reported at their entries in the configuration.
        unreadable.clear();
    }
    let mut checked = plan.check();
    for (source, checked) in &mut checked {
        add_check_advice(source, checked);
    }
    if let Some(config) = OperatorConfig::read()? {
        // The rules of the operator decide about every adapter.
        let OperatorConfig { source, diagnostics, .. } = config;
        checked.extend(
            (!diagnostics.is_empty()).then_some((source, CheckOutput { catalog: None, diagnostics })),
        );
    }
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
        output::print_data(&report);
    }
    // Without a checked document, "No problems found" would be wrong.
    if args.format == DiagnosticFormat::Full && !checked.is_empty() {
        for (source, checked) in &checked {
            if let Some(catalog) = &checked.catalog {
                let operations = counted(catalog.operations.len() - 1, "operation");
                let tools = counted(catalog.tools.len(), "tool");
                output::print_data(&format!("{}: {operations}, {tools}", source.name));
            } else if source.name.starts_with("mcp:") {
                output::print_data(&format!(
                    "{}: MCP server, not checked because `check` does not start servers",
                    source.name
                ));
            }
        }
        output::print_data(&summary(errors, warnings));
    }
    for (_, error) in &unreadable {
        output::print_error(error);
    }
    if !unreadable.is_empty() {
        return Ok(CommandOutcome::CouldNotRun);
    }
    Ok(if errors > 0 || (args.strict && warnings > 0) {
        CommandOutcome::Findings
    } else {
        CommandOutcome::Clean
    })
}

fn summary(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "No problems found".into(),
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    }
}
