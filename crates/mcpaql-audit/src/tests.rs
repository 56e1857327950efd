//! Every rule is documented, reports its bad examples at the right place, and reports nothing in its good ones.

use super::*;
use crate::convention::{ConventionKind, RuleLevel, Standard};
use crate::probe::{AnswerComparison, ProbeResult};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Expands the short forms of examples: `"Opens an issue. (×300)"` is that text 300 times, and an object with `"×": 130` is 130
/// objects, with `{n}` replaced by their number.
fn expanded(value: Value) -> Value {
    match value {
        Value::String(text) => {
            let times = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (×"));
            match times.and_then(|(text, times)| Some((text, times.parse().ok()?))) {
                Some((text, times)) => Value::from(format!("{text} ").repeat(times)),
                None => Value::String(text),
            }
        }
        Value::Array(items) => items.into_iter().flat_map(repeated).map(expanded).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, expanded(value))).collect(),
        other => other,
    }
}

fn repeated(mut value: Value) -> Vec<Value> {
    let times = value.as_object_mut().and_then(|map| map.shift_remove("×")).and_then(|times| times.as_u64());
    let Some(times) = times else { return vec![value] };
    let text = value.to_string();
    (0..times).map(|n| serde_json::from_str(&text.replace("{n}", &n.to_string())).unwrap()).collect()
}

/// Returns the servers of an example.
fn servers(json: &Value) -> Vec<ServerTools> {
    let server = |name: &str, tools: &Value| {
        let tools = tools.as_array().cloned().unwrap_or_default();
        let name_of = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let observed = tools
            .iter()
            .filter_map(|tool| Some((name_of(tool), probe_result(tool.get("(observed)")?))))
            .collect();
        ServerTools { name: name.to_owned(), tools, observed, ..ServerTools::default() }
    };
    match (json.get("servers").and_then(Value::as_object), json.get("tools")) {
        (Some(servers), _) => servers.iter().map(|(name, tools)| server(name, tools)).collect(),
        (None, Some(tools)) => vec![server("example", tools)],
        (None, None) => vec![server("example", &Value::Array(vec![json.clone()]))],
    }
}

/// Returns the result of a probe in an example.
fn probe_result(value: &Value) -> ProbeResult {
    let answers = match value["answers"].as_str() {
        Some("different") => AnswerComparison::Different,
        Some("refused") => AnswerComparison::Refused,
        Some("failed") => AnswerComparison::Failed,
        _ => AnswerComparison::Same,
    };
    ProbeResult { changed: value["changed"].as_bool(), answers }
}

/// Returns a place as a pointer into the example.
fn pointer(json: &Value, servers: &[ServerTools], place: &ToolPlace) -> String {
    let tool = place.tool.map(|tool| format!("/{tool}{}", place.pointer)).unwrap_or_default();
    if json.get("servers").is_some() {
        format!("/servers/{}{tool}", servers[place.server].name)
    } else if json.get("tools").is_some() {
        format!("/tools{tool}")
    } else {
        place.pointer.clone()
    }
}

/// Returns the places that the rule reports in an example, and the levels of the findings.
fn found(rule: &Rule, example: &RuleExample<'_>) -> Vec<(String, RuleLevel)> {
    let json: Value = serde_json::from_str(example.json)
        .unwrap_or_else(|error| panic!("{}: {error} in {}", rule.code, example.json));
    let json = expanded(json);
    let servers = servers(&json);
    let named = example.conventions.iter().map(|name| {
        crate::load::builtin(name).unwrap_or_else(|| panic!("{}: no convention {name}", rule.code)).clone()
    });
    let everybody = crate::load::builtins()
        .iter()
        .filter(|convention| convention.name == "mcp" || convention.kind == ConventionKind::Client)
        .cloned();
    let standard = Standard::from_conventions(everybody.chain(named).collect());
    let findings = audit(&servers, &standard);
    let own = findings.iter().filter(|finding| finding.rule.code == rule.code);
    own.map(|finding| (pointer(&json, &servers, &finding.place), finding.level)).collect()
}

#[test]
fn every_rule_reports_its_bad_examples_and_nothing_in_its_good_ones() {
    let mut wrong = Vec::new();
    for rule in all_rules() {
        for example in rule.examples() {
            let found = found(rule, &example);
            let right = match example.at {
                Some(at) => found.iter().any(|(pointer, _)| pointer == at),
                None => found.is_empty(),
            };
            // A convention can set another level.
            let levels = rule.lowest..=rule.level;
            let is_level = |level| !example.conventions.is_empty() || levels.contains(level);
            if !right || !found.iter().all(|(_, level)| is_level(level)) {
                wrong.push(format!(
                    "{}: {:?} expected, {found:?} found in {}",
                    rule.code, example.at, example.json
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_rule_lacks_a_part_of_its_documentation() {
    for rule in all_rules() {
        let summary = rule.summary();
        assert!(summary.ends_with('.') && summary.len() < 100, "{}: {summary}", rule.code);
        for section in ["## What it does", "## Why it matters", "## Bad", "## Good"] {
            assert!(rule.docs.contains(section), "{} lacks {section}", rule.code);
        }
        let says_when = rule.lowest == rule.level || rule.docs.contains(rule.lowest.as_str());
        assert!(says_when, "{} does not say when a finding is {}", rule.code, rule.lowest.as_str());
        let examples = rule.examples();
        assert!(examples.iter().any(|example| example.at.is_some()), "{} has no bad example", rule.code);
        assert!(examples.iter().any(|example| example.at.is_none()), "{} has no good example", rule.code);
    }
}

#[test]
fn codes_and_names_are_unique_and_in_order() {
    let codes: Vec<&str> = all_rules().map(|rule| rule.code).collect();
    let names: BTreeSet<&str> = all_rules().map(|rule| rule.name).collect();
    assert_eq!(names.len(), codes.len());
    for group in RuleGroup::ALL {
        let of = |rule: &&Rule| rule.group() == group;
        let codes: Vec<&str> = all_rules().filter(of).map(|rule| rule.code).collect();
        let sorted: BTreeSet<&str> = codes.iter().copied().collect();
        assert_eq!(codes, sorted.into_iter().collect::<Vec<_>>());
        for code in codes {
            assert!(code.starts_with(&format!("{}-", group.prefix())), "{code}");
        }
    }
}

#[test]
fn every_file_is_a_rule_and_every_rule_is_listed() {
    let rules: HashMap<&str, &Rule> = all_rules().map(|rule| (rule.code, rule)).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let mut files = 0;
    for group in
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        for path in std::fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path()) {
            let text = std::fs::read_to_string(&path).unwrap();
            // Helper modules define no rule.
            if !text.contains("rule! {") {
                continue;
            }
            files += 1;
            let head = text.lines().next().unwrap();
            let code = head.trim_start_matches("//! ").trim_end_matches('.');
            assert!(rules.contains_key(code), "{} starts with {head}", path.display());
        }
    }
    assert_eq!(files, rules.len());
}

#[test]
fn a_configured_level_overrides_the_level_of_a_finding() {
    let tools = vec![serde_json::json!({"name": "create_issue", "inputSchema": {"type": "object"}})];
    let server = [ServerTools { name: "tracker".to_owned(), tools, ..ServerTools::default() }];
    let level = |standard: &Standard| {
        let findings = audit(&server, standard);
        findings.into_iter().find(|finding| finding.rule.code == "TITLE-001").map(|finding| finding.level)
    };
    let silent = Standard::default();
    assert_eq!(level(&silent), Some(RuleLevel::Advice));
    let mut by_user = silent.clone();
    by_user.rules.insert("TITLE-001".to_owned(), Some(RuleLevel::Error));
    assert_eq!(level(&by_user), Some(RuleLevel::Error));
    let mut by_convention = silent.clone();
    by_convention.conventions[0].rules.insert("TITLE-001".to_owned(), Some(RuleLevel::Warning));
    assert_eq!(level(&by_convention), Some(RuleLevel::Warning));
    by_convention.rules.insert("TITLE-001".to_owned(), None);
    assert_eq!(level(&by_convention), None);
}
