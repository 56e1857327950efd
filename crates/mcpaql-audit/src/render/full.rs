//! The report for people: the cost, the scores and the findings of each server, the worst first.

use super::markdown::percent;
use super::{AuditReport, LocatedFinding, conventions, counted, grouped, subject, summary, terminal_safe};
use crate::convention::RuleLevel;
use crate::hints::HintComparison;
use crate::score::CONTEXT_WINDOW;
use crate::tool::{ParsedServer, ParsedTool};
use std::fmt::Write as _;

/// Options of the report for people.
#[derive(Debug, Clone, Copy, Default)]
pub struct RenderOptions {
    /// Use colours.
    pub color: bool,
    /// Show all findings instead of the first few of each rule.
    pub verbose: bool,
    /// Show all hints that differ from the policy instead of the first few.
    pub hints: bool,
}

/// Maximum number of findings per rule and server without `verbose`.
const MAX_RULE_FINDINGS: usize = 3;
/// Maximum number of hints per server without `hints` or `verbose`.
const MAX_SHOWN_HINTS: usize = 5;
/// Number of tools listed as the heaviest.
const MAX_HEAVY_TOOLS: usize = 3;

/// Renders the report, with a summary in the last line.
#[must_use]
pub fn full(report: &AuditReport<'_>, options: RenderOptions) -> String {
    let paint = Paint(options.color);
    let mut text = String::new();
    let misleading = report.misleading_hints();
    for parsed in &report.parsed_servers {
        head(report, parsed, paint, &mut text);
        let mut own: Vec<&LocatedFinding<'_>> =
            report.findings.iter().filter(|found| found.finding.place.server == parsed.index).collect();
        own.sort_by_key(|found| (std::cmp::Reverse(found.finding.level), found.finding.rule.code));
        for group in own
            .chunk_by(|a, b| a.finding.rule.code == b.finding.rule.code && a.finding.level == b.finding.level)
        {
            match group.first() {
                Some(first) if first.finding.level == RuleLevel::Advice && !options.verbose => {
                    advice(report, group, paint, &mut text);
                }
                _ => rule(report, group, options, &mut text),
            }
        }
        if text.ends_with('\n') && !text.ends_with("\n\n") {
            text.push('\n');
        }
        let of_server =
            |row: &&(&ParsedServer<'_>, &ParsedTool<'_>, HintComparison)| row.0.index == parsed.index;
        let rows =
            misleading.iter().filter(of_server).map(|(_, tool, comparison)| (*tool, *comparison)).collect();
        if options.hints || shows_hints(report, parsed.index) {
            hints(report, rows, options, &mut text);
        }
    }
    for failed in report.input.failed {
        let label = paint.level(RuleLevel::Error, failed.verdict());
        let _ = writeln!(text, "{label} {}: {}\n", terminal_safe(&failed.name), terminal_safe(&failed.why));
    }
    for gone in report.resolved.iter().take(if options.verbose { usize::MAX } else { MAX_SHOWN_HINTS }) {
        let (server, tool) = (terminal_safe(&gone.server), terminal_safe(&gone.tool));
        let _ = writeln!(text, "no longer found: {} {server} {tool}", terminal_safe(&gone.rule));
    }
    let folded = !options.verbose && text.contains(MORE_PREFIX);
    let hint = if folded { "; --verbose shows all" } else { "" };
    let _ = writeln!(text, "{}{hint}", summary(report));
    text
}

/// Introduces the number of entries that are not shown.
const MORE_PREFIX: &str = "… and ";

fn head(report: &AuditReport<'_>, parsed: &ParsedServer<'_>, paint: Paint, text: &mut String) {
    let tokens = parsed.tokens();
    let name = paint.bold(&terminal_safe(&parsed.server.name));
    if parsed.tools.is_empty() {
        let _ = writeln!(text, "{name}: the server has no tools\n");
        return;
    }
    let tools = counted(parsed.tools.len(), "tool");
    let _ = write!(text, "{name}: {tools}, about {} tokens", grouped(tokens));
    let _ = write!(text, " ({}% of a context window of {} tokens)", percent(tokens), grouped(CONTEXT_WINDOW));
    match report.as_adapter(parsed.index) {
        Some(adapter) if adapter < tokens => {
            let _ = writeln!(text, ", about {} as an mcpaql adapter", grouped(adapter));
        }
        _ => text.push('\n'),
    }
    let heaviest: Vec<String> = heaviest(parsed)
        .into_iter()
        .map(|tool| format!("{} {}", terminal_safe(tool.name), grouped(tool.tokens)))
        .collect();
    if parsed.tools.len() > 1 {
        let _ = writeln!(text, "  heaviest: {}", heaviest.join(", "));
    }
    let scores = report.scores.get(parsed.index).into_iter().flatten();
    let scores: Vec<String> = scores
        .map(|score| {
            let points = score.points.to_string();
            let points = match score.points {
                90.. => points,
                60..90 => paint.level(RuleLevel::Warning, &points),
                _ => paint.level(RuleLevel::Error, &points),
            };
            format!("{} {points}", score.group.as_str())
        })
        .collect();
    let _ = writeln!(text, "  scores (maximum 100): {}\n", scores.join(", "));
}

/// Returns the tools that cost most, the heaviest first.
pub(super) fn heaviest<'s, 'a>(parsed: &'s ParsedServer<'a>) -> Vec<&'s ParsedTool<'a>> {
    let mut tools: Vec<&ParsedTool<'a>> = parsed.tools.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    tools.truncate(MAX_HEAVY_TOOLS);
    tools
}

/// Writes the findings of one rule in one server.
fn rule(report: &AuditReport<'_>, group: &[&LocatedFinding<'_>], options: RenderOptions, text: &mut String) {
    let Some(first) = group.first() else { return };
    let paint = Paint(options.color);
    let finding = first.finding;
    let label = paint.level(finding.level, &format!("{}[{}]", finding.level.as_str(), finding.rule.code));
    let _ = writeln!(text, "{label} {}", paint.bold(finding.rule.summary().trim_end_matches('.')));
    let few = if options.verbose { group.len() } else { MAX_RULE_FINDINGS };
    let shared = group.iter().all(|found| found.finding.help == finding.help);
    for found in group.iter().take(few) {
        let by = match found.finding.required_by.as_slice() {
            [] => String::new(),
            who => format!(" [{}]", conventions(who)),
        };
        let place = terminal_safe(&found.location.to_text());
        let place = if place.is_empty() { place } else { format!("{place} ") };
        let message = terminal_safe(&found.finding.message);
        let subject = subject(report, found);
        // Most messages name the tool already.
        let subject = if message.contains(&subject) { String::new() } else { format!("{subject}: ") };
        let _ = writeln!(text, "  {}{subject}{message}{by}", paint.dim(&place));
        if let (false, Some(help)) = (shared, &found.finding.help) {
            let _ = writeln!(text, "    {} {}", paint.help("help:"), terminal_safe(help));
        }
    }
    if group.len() > few {
        let _ = writeln!(text, "  {MORE_PREFIX}{} more", grouped(group.len() - few));
    }
    if let (true, Some(help)) = (shared, &finding.help) {
        let _ = writeln!(text, "  {} {}", paint.help("help:"), terminal_safe(help));
    }
    text.push('\n');
}

/// Writes the advice of one rule on one line, because it needs no action.
fn advice(report: &AuditReport<'_>, group: &[&LocatedFinding<'_>], paint: Paint, text: &mut String) {
    let Some(first) = group.first() else { return };
    let rule = first.finding.rule;
    let label = paint.level(RuleLevel::Advice, &format!("advice[{}]", rule.code));
    let names: Vec<String> =
        group.iter().take(MAX_RULE_FINDINGS).map(|found| subject(report, found)).collect();
    let more = match group.len() - names.len() {
        0 => String::new(),
        more => format!("{MORE_PREFIX}{} more", grouped(more)),
    };
    let summary = rule.summary().trim_end_matches('.');
    let _ = writeln!(text, "{label} {summary}: {} {more}", names.join(", "));
    if text.ends_with(" \n") {
        text.truncate(text.len() - 2);
        text.push('\n');
    }
}

/// Returns whether to show hints without being asked: a policy was selected, and not all findings are in the baseline.
fn shows_hints(report: &AuditReport<'_>, server: usize) -> bool {
    let is_new =
        report.known_count == 0 || report.findings.iter().any(|found| found.finding.place.server == server);
    report.input.standard.policy_chosen && is_new
}

/// Writes a table of hints: declared, effective and expected.
fn hints(
    report: &AuditReport<'_>,
    rows: Vec<(&ParsedTool<'_>, HintComparison)>,
    options: RenderOptions,
    text: &mut String,
) {
    if rows.is_empty() {
        return;
    }
    let paint = Paint(options.color);
    let few = if options.verbose || options.hints { rows.len() } else { MAX_SHOWN_HINTS };
    let names: Vec<String> = rows.iter().take(few).map(|(tool, _)| terminal_safe(tool.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("tool".len());
    let policy = terminal_safe(&report.input.standard.policy.name);
    let _ = writeln!(text, "{} {policy}", paint.bold("Hints that differ from the policy"));
    let _ =
        writeln!(text, "  {:width$}  {:15}  {:8}  {:9}  expected", "tool", "hint", "declared", "effective");
    let word = |value: Option<bool>| value.map_or("–", |value| if value { "true" } else { "false" });
    for ((_, comparison), name) in rows.iter().zip(names) {
        let (declared, effective) = (word(comparison.declared), word(Some(comparison.effective)));
        let expected = word(comparison.expected);
        let key = comparison.hint.key();
        let _ = writeln!(text, "  {name:width$}  {key:15}  {declared:8}  {effective:9}  {expected}");
    }
    if rows.len() > few {
        let _ = writeln!(text, "  {MORE_PREFIX}{} more", grouped(rows.len() - few));
    }
    text.push('\n');
}

/// Colours the text if enabled.
#[derive(Debug, Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, codes: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\u{1b}[{codes}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn help(self, text: &str) -> String {
        self.with("1;36", text)
    }

    fn level(self, level: RuleLevel, text: &str) -> String {
        let codes = match level {
            RuleLevel::Error => "1;31",
            RuleLevel::Warning => "1;33",
            RuleLevel::Advice => "1;34",
        };
        self.with(codes, text)
    }
}
