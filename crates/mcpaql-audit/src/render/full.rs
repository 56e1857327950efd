//! The report for people: what each server costs, how it scores, and what is wrong with it, the worst first.

use super::markdown::percent;
use super::{AuditReport, LocatedFinding, counted, grouped, subject, summary, terminal_safe};
use crate::convention::RuleLevel;
use crate::hints::HintComparison;
use crate::score::CONTEXT_WINDOW;
use crate::tool::{ParsedServer, ParsedTool};
use std::fmt::Write as _;

/// How much to show, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct RenderOptions {
    /// For a terminal that takes colours.
    pub color: bool,
    /// Every finding, instead of the first of each rule.
    pub verbose: bool,
    /// Every hint that misleads, instead of the first.
    pub hints: bool,
}

/// Findings of one rule that are shown of a server, unless all are.
const MAX_RULE_FINDINGS: usize = 3;
/// Hints that are shown of a server, unless all are.
const MAX_SHOWN_HINTS: usize = 5;
/// The heaviest tools of a server.
const MAX_HEAVY_TOOLS: usize = 3;

/// The report, one clear last line behind it.
#[must_use]
pub fn full(report: &AuditReport<'_>, options: RenderOptions) -> String {
    let paint = Paint(options.color);
    let mut text = String::new();
    let misleading = report.misleading_hints();
    for surface in &report.parsed_servers {
        head(report, surface, paint, &mut text);
        let mut own: Vec<&LocatedFinding<'_>> =
            report.findings.iter().filter(|found| found.finding.place.server == surface.index).collect();
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
            |row: &&(&ParsedServer<'_>, &ParsedTool<'_>, HintComparison)| row.0.index == surface.index;
        let rows = misleading.iter().filter(of_server).map(|(_, tool, facing)| (*tool, *facing)).collect();
        if options.hints || shows_hints(report, surface.index) {
            hints(report, rows, options, &mut text);
        }
    }
    for failed in report.input.failed {
        let label = paint.level(RuleLevel::Error, failed.verdict());
        let _ = writeln!(text, "{label} {}: {}\n", terminal_safe(&failed.name), terminal_safe(&failed.why));
    }
    for gone in report.resolved.iter().take(if options.verbose { usize::MAX } else { MAX_SHOWN_HINTS }) {
        let (server, tool) = (terminal_safe(&gone.server), terminal_safe(&gone.tool));
        let _ = writeln!(text, "gone from the baseline: {} {server} {tool}", terminal_safe(&gone.rule));
    }
    let folded = !options.verbose && text.contains(MORE_PREFIX);
    let hint = if folded { "; --verbose shows all" } else { "" };
    let _ = writeln!(text, "{}{hint}", summary(report));
    text
}

/// What stands behind the first of many.
const MORE_PREFIX: &str = "… and ";

fn head(report: &AuditReport<'_>, surface: &ParsedServer<'_>, paint: Paint, text: &mut String) {
    let tokens = surface.tokens();
    let name = paint.bold(&terminal_safe(&surface.server.name));
    if surface.tools.is_empty() {
        let _ = writeln!(text, "{name}: the server shows no tools\n");
        return;
    }
    let tools = counted(surface.tools.len(), "tool");
    let _ = write!(text, "{name}: {tools}, about {} tokens", grouped(tokens));
    let _ = write!(text, " ({}% of a window of {})", percent(tokens), grouped(CONTEXT_WINDOW));
    match report.as_adapter(surface.index) {
        Some(adapter) if adapter < tokens => {
            let _ = writeln!(text, ", about {} as an mcpaql adapter", grouped(adapter));
        }
        _ => text.push('\n'),
    }
    let heaviest: Vec<String> = heaviest(surface)
        .into_iter()
        .map(|tool| format!("{} {}", terminal_safe(tool.name), grouped(tool.tokens)))
        .collect();
    if surface.tools.len() > 1 {
        let _ = writeln!(text, "  heaviest: {}", heaviest.join(", "));
    }
    let scores = report.scores.get(surface.index).into_iter().flatten();
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
    let _ = writeln!(text, "  score of 100: {}\n", scores.join(", "));
}

/// The tools that cost most, the heaviest first.
pub(super) fn heaviest<'s, 'a>(surface: &'s ParsedServer<'a>) -> Vec<&'s ParsedTool<'a>> {
    let mut tools: Vec<&ParsedTool<'a>> = surface.tools.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.tokens));
    tools.truncate(MAX_HEAVY_TOOLS);
    tools
}

/// What one rule found in one server.
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
            who => format!(" (for {})", terminal_safe(&who.join(", "))),
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

/// Advice of one rule on one line: nobody has to act on it.
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

/// Whether hints are of interest to somebody who did not ask for them: a policy was chosen, and not all is known already.
fn shows_hints(report: &AuditReport<'_>, server: usize) -> bool {
    let is_new =
        report.known_count == 0 || report.findings.iter().any(|found| found.finding.place.server == server);
    report.input.standard.policy_chosen && is_new
}

/// Hints side by side: as declared, as clients take them, and as the policy would have them.
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
    let policy = format!("by policy {}", terminal_safe(&report.input.standard.policy.name));
    let _ = writeln!(text, "{} {policy}", paint.bold("Hints that say something else than they should,"));
    let _ =
        writeln!(text, "  {:width$}  {:15}  {:8}  {:9}  expected", "tool", "hint", "declared", "effective");
    let word = |said: Option<bool>| said.map_or("–", |said| if said { "true" } else { "false" });
    for ((_, facing), name) in rows.iter().zip(names) {
        let (declared, effective) = (word(facing.declared), word(Some(facing.effective)));
        let expected = word(facing.expected);
        let key = facing.hint.key();
        let _ = writeln!(text, "  {name:width$}  {key:15}  {declared:8}  {effective:9}  {expected}");
    }
    if rows.len() > few {
        let _ = writeln!(text, "  {MORE_PREFIX}{} more", grouped(rows.len() - few));
    }
    text.push('\n');
}

/// Colours, where the terminal takes them.
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
