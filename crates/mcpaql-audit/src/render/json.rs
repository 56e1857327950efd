//! The report as JSON.

use super::{AuditReport, LocatedFinding, subject};
use crate::convention::{Hint, RuleLevel};
use crate::report::FailedServer;
use crate::rule::Fix;
use crate::score::CONTEXT_WINDOW;
use crate::tool::{ParsedServer, ParsedTool};
use mcpaql_document::render::is_invisible;
use serde_json::{Map, Value, json};

/// Renders one object with `summary`, `standard`, `servers`, `failed`, `findings` and `hints`.
#[must_use]
pub fn json(report: &AuditReport<'_>) -> String {
    let standard = report.input.standard;
    let conventions: Vec<&str> =
        standard.conventions.iter().map(|convention| convention.name.as_str()).collect();
    let value = json!({
        "summary": {
            "servers": report.parsed_servers.len(),
            "tools": report.tools(),
            "errors": report.count(RuleLevel::Error),
            "warnings": report.count(RuleLevel::Warning),
            "advice": report.count(RuleLevel::Advice),
            "known": report.known_count,
            "resolved": report.resolved.len(),
            "fails": report.fails(),
        },
        "standard": {"conventions": conventions, "policy": standard.policy.name},
        "servers": report.parsed_servers.iter().map(|parsed| server(report, parsed)).collect::<Vec<_>>(),
        "failed": report.input.failed.iter().map(FailedServer::to_json).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(|found| finding(report, found)).collect::<Vec<_>>(),
        "hints": hints(report),
    });
    plain(&value)
}

/// Returns a value as indented JSON, with control and invisible characters escaped.
#[must_use]
pub fn plain(value: &Value) -> String {
    let json = format!("{value:#}\n");
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_invisible(c) || (c.is_control() && c != '\n') {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

fn server(report: &AuditReport<'_>, parsed: &ParsedServer<'_>) -> Value {
    let origin = report.input.origins.get(parsed.index);
    // A server without tools has no scores.
    let scores = report.scores.get(parsed.index).filter(|_| !parsed.tools.is_empty()).into_iter().flatten();
    let scores: Map<String, Value> =
        scores.map(|score| (score.group.as_str().to_owned(), score.points.into())).collect();
    let heaviest: Vec<Value> = super::full::heaviest(parsed)
        .into_iter()
        .map(|tool| json!({"tool": tool.name, "tokens": tool.tokens}))
        .collect();
    json!({
        "name": parsed.server.name,
        "file": origin.and_then(|origin| origin.source()).map(|source| source.name.as_str()),
        "is_adapter": parsed.is_adapter,
        "tools": parsed.tools.len(),
        "tokens": parsed.tokens(),
        "window": CONTEXT_WINDOW,
        "as_adapter": report.as_adapter(parsed.index),
        "heaviest": heaviest,
        "scores": scores,
        "probe": parsed.server.is_probed().then(|| probe(parsed)),
    })
}

/// Returns the probe result of each tool.
fn probe(parsed: &ParsedServer<'_>) -> Vec<Value> {
    let outcome = |tool: &ParsedTool<'_>| match tool.observed {
        Some(seen) => json!({
            "tool": tool.name, "called": true, "answers": seen.answers.as_str(), "changed": seen.changed,
        }),
        None => {
            json!({"tool": tool.name, "called": false, "reason": parsed.server.unprobed.get(tool.name)})
        }
    };
    parsed.tools.iter().map(outcome).collect()
}

fn finding(report: &AuditReport<'_>, found: &LocatedFinding<'_>) -> Value {
    let finding = found.finding;
    let tool = finding.place.tool.map(|_| subject(report, found));
    let related: Vec<Value> = finding
        .related
        .iter()
        .map(|place| {
            let tool = report.tool(place).map(|tool| tool.name);
            json!({"server": report.server(place.server), "tool": tool, "pointer": place.pointer})
        })
        .collect();
    json!({
        "rule": finding.rule.code,
        "name": finding.rule.name,
        "level": finding.level.as_str(),
        "server": report.server(finding.place.server),
        "tool": tool,
        "path": found.location.path,
        "file": found.location.file,
        "line": found.location.span.map(|span| span.line),
        "column": found.location.span.map(|span| span.column),
        "message": finding.message,
        "help": finding.help,
        "required_by": finding.required_by,
        "related": related,
        "fix": finding.fix.as_ref().map(fix),
        "fingerprint": found.fingerprint.digest(),
    })
}

fn fix(fix: &Fix) -> Value {
    match fix {
        Fix::Name(name) => json!({"name": name}),
        Fix::Title(title) => json!({"title": title}),
        Fix::Description(description) => json!({"description": description}),
        Fix::Hints(hints) => {
            let hints = Hint::ALL.into_iter().filter_map(|hint| Some((hint.key(), hints.get(hint)?)));
            let hints: Map<String, Value> =
                hints.map(|(key, value)| (key.to_owned(), value.into())).collect();
            json!({"annotations": hints})
        }
        Fix::Effect(effect) => json!({"effect": effect.as_str()}),
    }
}

fn hints(report: &AuditReport<'_>) -> Vec<Value> {
    let rows = report.misleading_hints();
    let row = |(parsed, tool, comparison): &(&ParsedServer<'_>, &ParsedTool<'_>, crate::HintComparison)| {
        json!({
            "server": parsed.server.name,
            "tool": tool.name,
            "hint": comparison.hint.key(),
            "declared": comparison.declared,
            "effective": comparison.effective,
            "expected": comparison.expected,
        })
    };
    rows.iter().map(row).collect()
}
