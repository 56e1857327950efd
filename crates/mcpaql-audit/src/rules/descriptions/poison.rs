//! Reports poisoned texts of tools, and of the operations behind an adapter.

use crate::convention::RuleLevel;
use crate::rule::{Finding, Findings};
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_lexicon::poison::{Certainty, PoisonFinding, PoisonKind};

/// Reports the texts of all tools and operations of a server with these kinds of findings.
pub(super) fn report(
    kinds: &[PoisonKind],
    parsed: &ParsedServer<'_>,
    findings: &mut Findings<'_>,
    help: &str,
) {
    report_operations(kinds, parsed, findings, help);
    for tool in &parsed.tools {
        if let Some(finding) = report_tool(kinds, tool, &|_| true, findings) {
            finding.help(help);
        }
    }
}

/// Reports the operations of an adapter, whose texts are not in its list of tools.
pub(super) fn report_operations(
    kinds: &[PoisonKind],
    parsed: &ParsedServer<'_>,
    findings: &mut Findings<'_>,
    help: &str,
) {
    for flagged in &parsed.server.flagged {
        let own = flagged.texts.iter().filter(|text| is_of_kind(&text.finding, kinds));
        let Some(worst) = own.max_by_key(|text| text.finding.certainty) else { continue };
        let subject = match flagged.name.as_str() {
            "" => "A text of the adapter".to_owned(),
            name => format!("The operation '{name}'"),
        };
        let message = format!("{subject} {}", words(&worst.finding));
        let finding = findings.server(parsed, message).help(help);
        lower_level(finding, worst.finding.certainty);
    }
}

/// Reports the texts of a tool with these kinds of findings: the first as the finding, the others as related places.
pub(super) fn report_tool<'f>(
    kinds: &[PoisonKind],
    tool: &ParsedTool<'_>,
    still_applies: &dyn Fn(&str) -> bool,
    findings: &'f mut Findings<'_>,
) -> Option<&'f mut Finding> {
    let found = tool.tree.poison.iter().filter(|hit| {
        is_of_kind(&hit.finding, kinds)
            && tool.tree.texts.get(hit.text).is_some_and(|text| still_applies(text.text))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|hit| std::cmp::Reverse(hit.finding.certainty));
    let first = found.first()?;
    let message = format!("The tool '{}' {}", tool.name, words(&first.finding));
    let place = |text: usize| tool.tree.texts.get(text).map(|text| tool.tree.pointer(text.at));
    let finding = findings.tool(tool, place(first.text)?, message);
    lower_level(finding, first.finding.certainty);
    let mut seen = vec![first.text];
    for hit in &found {
        if !seen.contains(&hit.text)
            && let Some(pointer) = place(hit.text)
        {
            seen.push(hit.text);
            finding.related(tool.place(pointer));
        }
    }
    Some(finding)
}

fn is_of_kind(finding: &PoisonFinding, kinds: &[PoisonKind]) -> bool {
    // Invisible characters that spell nothing are reported by DESC-008.
    let is_text = finding.kind != PoisonKind::InvisibleText || finding.certainty == Certainty::Certain;
    kinds.contains(&finding.kind) && is_text
}

fn words(finding: &PoisonFinding) -> String {
    format!("{}: '{}'", finding.what, super::excerpt(&finding.evidence))
}

/// A finding that is not certain is a warning.
fn lower_level(finding: &mut Finding, certainty: Certainty) {
    if certainty == Certainty::Suspected {
        finding.level = finding.level.min(RuleLevel::Warning);
    }
}
