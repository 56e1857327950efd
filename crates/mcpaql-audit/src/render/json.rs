//! The whole audit for programs.

use super::{Found, Report, subject};
use crate::convention::{Hint, Level};
use crate::report::Failed;
use crate::rule::Fix;
use crate::score::WINDOW;
use crate::tool::{Surface, Tool};
use mcpaql_document::render::is_unseen;
use serde_json::{Map, Value, json};

/// One object: `summary`, `standard`, `servers`, `findings`, `hints`.
#[must_use]
pub fn json(report: &Report<'_>) -> String {
    let standard = report.audited.standard;
    let conventions: Vec<&str> =
        standard.conventions.iter().map(|convention| convention.name.as_str()).collect();
    let value = json!({
        "summary": {
            "servers": report.surfaces.len(),
            "tools": report.tools(),
            "errors": report.count(Level::Error),
            "warnings": report.count(Level::Warning),
            "advice": report.count(Level::Advice),
            "known": report.known,
            "gone": report.gone.len(),
            "fails": report.fails(),
        },
        "standard": {"conventions": conventions, "policy": standard.policy.name},
        "servers": report.surfaces.iter().map(|surface| server(report, surface)).collect::<Vec<_>>(),
        "failed": report.audited.failed.iter().map(Failed::to_json).collect::<Vec<_>>(),
        "findings": report.found.iter().map(|found| finding(report, found)).collect::<Vec<_>>(),
        "hints": hints(report),
    });
    plain(&value)
}

/// A value as lines of JSON, with what nobody would see in it or would take for the end of a line written out.
#[must_use]
pub fn plain(value: &Value) -> String {
    let json = format!("{value:#}\n");
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unseen(c) || (c.is_control() && c != '\n') {
            let mut units = [0; 2];
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

fn server(report: &Report<'_>, surface: &Surface<'_>) -> Value {
    let origin = report.audited.origins.get(surface.index);
    // Nothing can be said for or against what is not there.
    let scores = report.scores.get(surface.index).filter(|_| !surface.tools.is_empty()).into_iter().flatten();
    let scores: Map<String, Value> =
        scores.map(|score| (score.group.as_str().to_owned(), score.points.into())).collect();
    let heaviest: Vec<Value> = super::full::heaviest(surface)
        .into_iter()
        .map(|tool| json!({"tool": tool.name, "tokens": tool.tokens}))
        .collect();
    json!({
        "name": surface.server.name,
        "file": origin.and_then(|origin| origin.source()).map(|source| source.name.as_str()),
        "is_adapter": surface.is_adapter,
        "tools": surface.tools.len(),
        "tokens": surface.tokens(),
        "window": WINDOW,
        "as_adapter": report.as_adapter(surface.index),
        "heaviest": heaviest,
        "scores": scores,
        "probe": surface.server.is_probed().then(|| probe(surface)),
    })
}

/// What became of each tool in a probe.
fn probe(surface: &Surface<'_>) -> Vec<Value> {
    let outcome = |tool: &Tool<'_>| match tool.observed {
        Some(seen) => json!({
            "tool": tool.name, "called": true, "answers": seen.answers.as_str(), "changed": seen.changed,
        }),
        None => {
            json!({"tool": tool.name, "called": false, "reason": surface.server.unprobed.get(tool.name)})
        }
    };
    surface.tools.iter().map(outcome).collect()
}

fn finding(report: &Report<'_>, found: &Found<'_>) -> Value {
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
        "path": found.spot.path,
        "file": found.spot.file,
        "line": found.spot.span.map(|span| span.line),
        "column": found.spot.span.map(|span| span.column),
        "message": finding.message,
        "help": finding.help,
        "demanded_by": finding.demanded_by,
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

fn hints(report: &Report<'_>) -> Vec<Value> {
    let rows = report.misleading();
    let row = |(surface, tool, facing): &(&Surface<'_>, &Tool<'_>, crate::HintComparison)| {
        json!({
            "server": surface.server.name,
            "tool": tool.name,
            "hint": facing.hint.key(),
            "declared": facing.declared,
            "effective": facing.effective,
            "expected": facing.expected,
        })
    };
    rows.iter().map(row).collect()
}
