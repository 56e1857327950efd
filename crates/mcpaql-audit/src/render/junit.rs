//! JUnit XML for build servers: a suite per server, a case per enabled rule.

use super::{AuditReport, headline};
use crate::{ServerTools, all_rules};
use std::fmt::Write as _;

/// Renders the suites. A case fails if a finding of its rule fails the audit; other findings are in its output.
#[must_use]
pub fn junit(report: &AuditReport<'_>) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for parsed in &report.parsed_servers {
        let (text, cases, failed) = suite(report, parsed.index);
        suites.push_str(&text);
        (tests, failures) = (tests + cases, failures + failed);
    }
    for failed in report.input.failed {
        let (name, why) = (escaped(&failed.name), escaped(&format!("{}: {}", failed.verdict(), failed.why)));
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\">\n    \
             <testcase classname=\"{name}\" name=\"tools/list\"><error message=\"{why}\"/></testcase>\n  </testsuite>"
        );
    }
    let errors = report.input.failed.len();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mcpaql audit\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"{errors}\">\n{suites}</testsuites>\n",
        tests + errors
    )
}

fn suite(report: &AuditReport<'_>, server: usize) -> (String, usize, usize) {
    let name = escaped(report.server(server));
    let mut cases = String::new();
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    let is_probed = report.input.servers.get(server).is_some_and(ServerTools::is_probed);
    for rule in all_rules() {
        if report.input.standard.level(rule.code, rule.level).is_none() {
            continue;
        }
        tests += 1;
        let own: Vec<_> = report
            .findings
            .iter()
            .filter(|found| found.finding.place.server == server && found.finding.rule.code == rule.code)
            .collect();
        let _ = write!(
            cases,
            "    <testcase classname=\"{name}.{}\" name=\"{} {}\"",
            rule.group().as_str(),
            rule.code,
            rule.name
        );
        if rule.needs_probe() && !is_probed {
            skipped += 1;
            cases.push_str("><skipped message=\"needs --probe\"/></testcase>\n");
            continue;
        }
        if own.is_empty() {
            cases.push_str("/>\n");
            continue;
        }
        let line = |found: &&super::LocatedFinding<'_>| {
            let (place, level) = (found.location.to_text(), found.finding.level.as_str());
            escaped(&format!("{place}: {level}: {}", headline(report, found)))
        };
        let lines: Vec<String> = own.iter().map(line).collect();
        let lines = lines.join("\n");
        if own.iter().any(|found| found.finding.level >= report.input.fail_on) {
            failures += 1;
            let summary = escaped(rule.summary());
            let _ = writeln!(cases, "><failure message=\"{summary}\">{lines}</failure></testcase>");
        } else {
            let _ = writeln!(cases, "><system-out>{lines}</system-out></testcase>");
        }
    }
    let head = format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n"
    );
    (format!("{head}{cases}  </testsuite>\n"), tests, failures)
}

/// Escapes text for XML attributes and content. Characters that XML does not allow are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in super::terminal_safe(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
