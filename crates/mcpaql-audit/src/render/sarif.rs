//! SARIF 2.1.0, the format of code scanning services.

use super::{Found, Report, failure, headline, shown, subject};
use crate::convention::Level;
use crate::rule::Rule;
use indexmap::IndexMap;
use mcpaql_document::render::sarif::{log_of, uri};
use serde_json::{Value, json};

/// One run with a rule per code that occurs and a result per finding.
#[must_use]
pub fn sarif(report: &Report<'_>) -> String {
    let mut rules: IndexMap<&str, Value> = IndexMap::new();
    let mut results = Vec::new();
    for found in &report.found {
        let entry = rules.entry(found.finding.rule.code);
        let index = entry.index();
        entry.or_insert_with(|| rule(found.finding.rule));
        results.push(result(report, found, index));
    }
    let failures: Vec<String> = report.audited.failed.iter().map(failure).collect();
    log_of(rules.into_values().collect(), results, &failures)
}

fn rule(rule: &Rule) -> Value {
    let docs = rule.markdown();
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary()},
        "help": {"text": docs, "markdown": docs},
        "defaultConfiguration": {"level": level(rule.level)},
        "properties": {"tags": [rule.group().as_str()]},
    })
}

const fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Advice => "note",
    }
}

fn result(report: &Report<'_>, found: &Found<'_>, rule: usize) -> Value {
    let server = shown(report.server(found.finding.place.server));
    let path = match found.spot.path.as_str() {
        "" => server.clone(),
        path => format!("{server}.{}", shown(path)),
    };
    let mut location = json!({
        "logicalLocations": [{"fullyQualifiedName": path, "name": subject(report, found), "kind": "function"}],
    });
    // Code scanning services take no result without a file, so a server that was asked stands for one.
    let (file, line, column) = match (found.spot.file, found.spot.span) {
        (Some(file), Some(span)) => (uri(file), span.line, span.column),
        _ => (uri(server.trim_start_matches('/')), 1, 1),
    };
    if let Some(location) = location.as_object_mut() {
        let place = json!({
            "artifactLocation": {"uri": file},
            "region": {"startLine": line, "startColumn": column},
        });
        location.insert("physicalLocation".to_owned(), place);
    }
    json!({
        "ruleId": found.finding.rule.code,
        "ruleIndex": rule,
        "level": level(found.finding.level),
        "message": {"text": headline(report, found)},
        "locations": [location],
        "partialFingerprints": {"mcpaqlAudit/v1": found.fingerprint.digest()},
    })
}
