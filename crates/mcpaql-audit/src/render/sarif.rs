//! SARIF 2.1.0, the format of code scanning services.

use super::{AuditReport, LocatedFinding, failure, headline, subject, terminal_safe};
use crate::convention::RuleLevel;
use crate::rule::Rule;
use indexmap::IndexMap;
use mcpaql_document::render::sarif::{log_with_failures, uri};
use serde_json::{Value, json};

/// Renders one run, with a rule for each code that occurs and a result for each finding.
#[must_use]
pub fn sarif(report: &AuditReport<'_>) -> String {
    let mut rules: IndexMap<&str, Value> = IndexMap::new();
    let mut results = Vec::new();
    for found in &report.findings {
        let entry = rules.entry(found.finding.rule.code);
        let index = entry.index();
        entry.or_insert_with(|| rule(found.finding.rule));
        results.push(result(report, found, index));
    }
    let failures: Vec<String> = report.input.failed.iter().map(failure).collect();
    log_with_failures(rules.into_values().collect(), results, &failures)
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

const fn level(level: RuleLevel) -> &'static str {
    match level {
        RuleLevel::Error => "error",
        RuleLevel::Warning => "warning",
        RuleLevel::Advice => "note",
    }
}

fn result(report: &AuditReport<'_>, found: &LocatedFinding<'_>, rule: usize) -> Value {
    let server = terminal_safe(report.server(found.finding.place.server));
    let path = match found.location.path.as_str() {
        "" => server.clone(),
        path => format!("{server}.{}", terminal_safe(path)),
    };
    let mut location = json!({
        "logicalLocations": [{"fullyQualifiedName": path, "name": subject(report, found), "kind": "function"}],
    });
    // Code scanning services require a file for each result, so the name of a running server takes its place.
    let (file, line, column) = match (found.location.file, found.location.span) {
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
