//! Injects one fault at a time into correct tools, and counts how often the rule for it reports the fault.
//!
//! `cargo test -p mcpaql-audit --test it recall -- --nocapture` prints the table.

mod fixtures;
mod hints;
mod names;
mod texts;

use fixtures::{Fixture, Shape, fixtures};
use mcpaql_audit::convention::{Convention, ConventionKind, RuleLevel, Standard};
use mcpaql_audit::{ServerTools, all_rules, audit, load};
use serde_json::Value;
use std::collections::BTreeMap;

/// The share of injected faults that each rule must find, in percent.
const MIN_RECALL: usize = 90;

/// Rules without injected faults: they need a probe, or have test sets of their own.
const ELSEWHERE: &[&str] = &["HINT-101", "HINT-102", "HINT-103", "DESC-005", "DESC-006", "DESC-007"];

/// A correct server with one fault.
struct Injection {
    /// The rule that must report the fault. If there are several, each of them is enough.
    rules: Vec<&'static str>,
    /// The lowest level that counts.
    level: RuleLevel,
    conventions: Vec<&'static str>,
    servers: Vec<ServerTools>,
    /// The position of the tool with the fault; `None` if the fault is one of the whole list.
    tool: Option<usize>,
    what: String,
}

/// Collects faults for one rule.
struct Faults<'f> {
    rules: Vec<&'static str>,
    level: RuleLevel,
    conventions: Vec<&'static str>,
    all: &'f mut Vec<Injection>,
}

impl Faults<'_> {
    /// Changes each tool of some shapes.
    fn tools(&mut self, shapes: &[Shape], what: &str, change: impl Fn(&mut Value)) -> &mut Self {
        for (position, Fixture { shape, .. }) in fixtures().iter().enumerate() {
            if shapes.is_empty() || shapes.contains(shape) {
                let mut tools: Vec<Value> = fixtures().into_iter().map(|fixture| fixture.tool).collect();
                let before = tools[position].clone();
                change(&mut tools[position]);
                if tools[position] != before {
                    let what = format!("{what}: {} {}", before["name"], tools[position]["name"]);
                    self.push(what, vec![server("desk", tools)], Some(position));
                }
            }
        }
        self
    }

    /// Adds a list of tools as it is.
    fn list(&mut self, what: &str, tools: Vec<Value>) -> &mut Self {
        self.push(what.to_owned(), vec![server("desk", tools)], None);
        self
    }

    /// Adds several servers as they are.
    fn servers(&mut self, what: &str, servers: Vec<ServerTools>) -> &mut Self {
        self.push(what.to_owned(), servers, None);
        self
    }

    fn push(&mut self, what: String, servers: Vec<ServerTools>, tool: Option<usize>) {
        let Faults { rules, level, conventions, .. } = self;
        let (rules, conventions) = (rules.clone(), conventions.clone());
        self.all.push(Injection { rules, level: *level, conventions, servers, tool, what });
    }
}

/// Starts the faults that one of `rules` must report, with these conventions in addition to those of all clients.
fn faults<'f>(all: &'f mut Vec<Injection>, rules: &str, level: RuleLevel, conventions: &str) -> Faults<'f> {
    let words = |text: &str| -> Vec<&'static str> {
        text.split_whitespace().map(|word| &*word.to_owned().leak()).collect()
    };
    Faults { rules: words(rules), level, conventions: words(conventions), all }
}

fn server(name: &str, tools: Vec<Value>) -> ServerTools {
    ServerTools { name: name.to_owned(), tools, ..ServerTools::default() }
}

fn standard(conventions: &[&str]) -> Standard {
    let is_wanted = |convention: &&Convention| {
        convention.name == "mcp"
            || convention.kind == ConventionKind::Client
            || conventions.contains(&convention.name.as_str())
    };
    Standard::from_conventions(load::builtins().iter().filter(is_wanted).cloned().collect())
}

fn is_found(injection: &Injection) -> bool {
    let findings = audit(&injection.servers, &standard(&injection.conventions));
    findings.iter().any(|finding| {
        injection.rules.contains(&finding.rule.code)
            && finding.level >= injection.level
            && injection.tool.is_none_or(|tool| finding.place.tool == Some(tool))
    })
}

#[test]
fn correct_tools_have_no_findings() {
    let tools: Vec<Value> = fixtures().into_iter().map(|fixture| fixture.tool).collect();
    for conventions in
        [&[][..], &["nextcloud"], &["product-action-object"], &["claude-directory"], &["openai-apps"]]
    {
        let findings = audit(&[server("desk", tools.clone())], &standard(conventions));
        let lines: Vec<String> =
            findings.iter().map(|finding| format!("{} {}", finding.rule.code, finding.message)).collect();
        assert_eq!(lines, [""; 0], "{conventions:?}");
    }
}

#[test]
fn each_rule_finds_what_is_wrong() {
    let mut all = Vec::new();
    names::inject(&mut all);
    hints::inject(&mut all);
    texts::inject(&mut all);
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for injection in &all {
        let count = counts.entry(injection.rules[0]).or_default();
        count.0 += 1;
        if is_found(injection) {
            count.1 += 1;
        } else {
            missed.push(format!("{} {}", injection.rules[0], injection.what));
        }
    }
    let table: Vec<String> =
        counts.iter().map(|(rule, (injected, found))| format!("{rule:<11}{injected:>9}{found:>7}")).collect();
    println!("rule        injected  found\n{}\n\nmissed:\n{}", table.join("\n"), missed.join("\n"));
    for rule in all_rules().filter(|rule| !ELSEWHERE.contains(&rule.code)) {
        assert!(counts.contains_key(rule.code), "no fault for {}", rule.code);
    }
    let low: Vec<_> =
        counts.iter().filter(|(_, (injected, found))| found * 100 < injected * MIN_RECALL).collect();
    assert!(low.is_empty(), "{low:?}\n{}", missed.join("\n"));
}
