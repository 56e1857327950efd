//! Every format of the same audit is complete, in order, and safe for any text from a server.

use super::*;
use crate::convention::{ConventionKind, Standard};
use crate::load::{builtin, builtins};
use crate::report::{AuditInput, FailedServer, ToolsOrigin};
use crate::{Baseline, Finding, ServerTools, audit};
use mcpaql_document::source::Source;
use serde_json::{Value, json};

/// A name that attacks every format: terminal, workflow command, XML, Markdown.
const HOSTILE: &str = "x\u{1b}[2J\u{202e}\n::error::no<script>&\"']]>|`@all`\u{200b}%0A";

fn tools() -> Value {
    json!([
        {"name": "get_note", "title": "Get note", "description": "Gives the text and the labels of one note.",
         "inputSchema": {"type": "object"},
         "annotations": {"readOnlyHint": true, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false}},
        {"name": HOSTILE, "inputSchema": {"type": "object"}},
        {"inputSchema": {"type": "string"}},
    ])
}

fn standard() -> Standard {
    let wanted = |name: &str, kind| name == "mcp" || kind == ConventionKind::Client;
    let conventions = builtins().iter().filter(|one| wanted(&one.name, one.kind)).cloned();
    Standard::from_conventions(conventions.chain(builtin("claude-directory").cloned()).collect())
}

struct RenderCase {
    servers: Vec<ServerTools>,
    origins: Vec<ToolsOrigin>,
    failed: Vec<FailedServer>,
    standard: Standard,
    findings: Vec<Finding>,
}

impl RenderCase {
    fn new(origin: ToolsOrigin) -> RenderCase {
        let tools = tools().as_array().unwrap().clone();
        let servers =
            vec![ServerTools { name: format!("server {HOSTILE}"), tools, ..ServerTools::default() }];
        let standard = standard();
        let findings = audit(&servers, &standard);
        let failed = vec![FailedServer { name: HOSTILE.into(), why: "it <died>".into(), in_part: false }];
        RenderCase { servers, origins: vec![origin], failed, standard, findings }
    }

    fn audited(&self) -> AuditInput<'_> {
        AuditInput {
            servers: &self.servers,
            origins: &self.origins,
            as_adapters: &[Some(7)],
            failed: &self.failed,
            standard: &self.standard,
            fail_on: RuleLevel::Warning,
        }
    }

    fn render(&self, format: RenderFormat) -> String {
        format.render(&AuditReport::new(self.audited(), &self.findings, None), RenderOptions::default())
    }
}

fn saved() -> RenderCase {
    let text = format!("{{\n  \"result\": {{\"tools\":\n{:#}}}}}", tools());
    let source = Source::new("a, b:c.json", text);
    RenderCase::new(ToolsOrigin::List { source, pointer: "/result/tools".into() })
}

#[test]
fn no_format_passes_on_control_sequences_or_hidden_text() {
    for format in RenderFormat::ALL {
        let text = saved().render(format);
        for c in ['\u{1b}', '\u{202e}', '\u{200b}'] {
            assert!(!text.contains(c), "{} contains {c:?}: {text}", format.as_str());
        }
        assert!(!text.lines().any(|line| line.starts_with("::error::no")), "{}: {text}", format.as_str());
    }
}

#[test]
fn no_format_shows_a_credential_wherever_it_stands() {
    let key = "ghp_9876543210zyxwvutsrqZYXWVUTSRQ987654";
    let tools = json!([
        {"name": format!("{key}.x"), "title": key, "description": format!("Gets {key} with `{key}` tool\u{200b}"),
         "inputSchema": {"type": key, "properties": {
             format!("{key}[]"): {"type": key}, "a": {"$ref": format!("#/{key}")}, "p": {"type": "string", "pattern": format!("[{key}")},
             "d": {"type": "integer", "default": key}, "e": {"enum": [key, key]}, "r": {"required": [key]}}, "required": [key, 3]},
         "annotations": {"title": format!("{key} 2"), key: 1, "readOnlyHint": key}},
        {"name": key, "title": key, "description": format!("https://bob:{key}@example.com and ~/.ssh/{key} <IMPORTANT> {key}")},
        {"name": key, "inputSchema": {"type": "object", "properties": {key: {"description": key}}}},
    ]);
    let text = format!("{{\"tools\": {tools:#}}}");
    for origin in [
        ToolsOrigin::Asked,
        ToolsOrigin::List { source: Source::new("a.json", text), pointer: "/tools".into() },
    ] {
        let mut case = RenderCase::new(origin);
        case.servers[0].tools = tools.as_array().unwrap().clone();
        case.servers[0].name = key.into();
        case.failed[0] = FailedServer { name: key.into(), why: format!("{key} failed"), in_part: false };
        case.findings = audit(&case.servers, &case.standard);
        assert!(case.findings.len() > 12, "{}", case.findings.len());
        for format in RenderFormat::ALL {
            for verbose in [false, true] {
                let options = RenderOptions { verbose, hints: verbose, ..RenderOptions::default() };
                let text = format.render(&AuditReport::new(case.audited(), &case.findings, None), options);
                assert!(
                    !text.replace('\\', "").contains(key.get(..20).unwrap()),
                    "{}: {text}",
                    format.as_str()
                );
                assert!(text.contains("•••"), "{}", format.as_str());
            }
        }
        assert!(!Baseline::of(&case.findings, &case.servers[..0]).to_text().contains(key));
    }
}

#[test]
fn findings_of_a_file_point_into_it_and_those_of_a_server_have_a_path() {
    let value: Value = serde_json::from_str(&saved().render(RenderFormat::Json)).unwrap();
    let of = |value: &Value| {
        let findings = value["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["rule"] == "HINT-002").unwrap()
    };
    let found = of(&value);
    let text = saved().origins[0].source().unwrap().text.clone();
    let line = text.lines().nth(found["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(line.contains("Hint\""), "{line}");
    assert_eq!(found["file"], "a, b:c.json");
    let value: Value =
        serde_json::from_str(&RenderCase::new(ToolsOrigin::Asked).render(RenderFormat::Json)).unwrap();
    let found = of(&value);
    assert_eq!(found["file"], Value::Null);
    assert!(found["path"].as_str().unwrap().starts_with("tools[0].annotations"), "{found}");
    assert_eq!(value["servers"][0]["as_adapter"], 7);
    assert_eq!(value["failed"][0]["reason"], "it <died>");
}

#[test]
fn sarif_names_rules_places_and_fingerprints() {
    let log: Value = serde_json::from_str(&saved().render(RenderFormat::Sarif)).unwrap();
    let run = &log["runs"][0];
    assert_eq!(log["version"], "2.1.0");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%2C%20b%3Ac.json");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert_eq!(result["partialFingerprints"]["mcpaqlAudit/v1"].as_str().unwrap().len(), 32);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
    }
    assert_eq!(run["results"].as_array().unwrap().len(), saved().findings.len());
    let log: Value =
        serde_json::from_str(&RenderCase::new(ToolsOrigin::Asked).render(RenderFormat::Sarif)).unwrap();
    let location = &log["runs"][0]["results"][0]["locations"][0];
    let place = &location["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().starts_with("server%20x"), "{place}");
    assert!(location["logicalLocations"][0]["fullyQualifiedName"].is_string());
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let message = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
    assert!(message.ends_with("was not audited: it <died>"), "{message}");
}

#[test]
fn workflow_commands_are_one_line_each_with_escaped_properties() {
    let text = saved().render(RenderFormat::Github);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), saved().findings.len() + 1, "and the server that could not be audited");
    for line in &lines {
        let (head, _) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).unwrap();
        let (command, properties) = head.split_once(' ').unwrap();
        assert!(["error", "warning", "notice"].contains(&command), "{line}");
        assert!(properties.split(',').all(|property| property.contains('=')), "{line}");
    }
    assert!(lines[0].contains("file=a%2C b%3Ac.json,line="), "{}", lines[0]);
}

/// Returns the tags in order. Checks that each is closed, and that text and attributes are escaped.
fn tags(xml: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    let mut rest = xml.split_once("?>").unwrap().1;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "apos;"];
            assert!(known.iter().any(|known| entity.starts_with(known)), "{entity}");
        }
        let (tag, behind) = after.split_once('>').unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()));
        } else {
            seen.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
        rest = behind;
    }
    assert_eq!(open, [] as [String; 0]);
    seen
}

#[test]
fn junit_is_whole_and_counts_what_fails() {
    let case = saved();
    let text = case.render(RenderFormat::Junit);
    let tags = tags(&text);
    let count = |name: &str| tags.iter().filter(|tag| *tag == name).count();
    assert_eq!((count("testsuites"), count("testsuite"), count("error")), (1, 2, 1));
    let failing: std::collections::BTreeSet<&str> = case
        .findings
        .iter()
        .filter(|finding| finding.level >= RuleLevel::Warning)
        .map(|finding| finding.rule.code)
        .collect();
    assert_eq!(count("failure"), failing.len());
    assert!(text.contains(&format!("failures=\"{}\" errors=\"1\"", failing.len())), "{text}");
    assert_eq!(count("testcase"), crate::all_rules().count() + 1);
    assert_eq!(count("skipped"), 3, "nothing was probed");
}

#[test]
fn markdown_has_only_its_own_columns_and_marks() {
    let text = saved().render(RenderFormat::Markdown);
    for row in text.lines().filter(|line| line.starts_with("| error")) {
        let columns = row.replace("\\|", "").matches('|').count();
        assert_eq!(columns, 7, "{row}");
    }
    assert!(!text.contains("<script>") && !text.contains("@all"), "{text}");
}

#[test]
fn the_report_for_people_ends_with_a_summary_line() {
    let text = saved().render(RenderFormat::Full);
    let last = text.lines().last().unwrap();
    assert!(last.contains(" in 3 tools of 1 server; 1 server not audited"), "{last}");
    assert!(text.contains("about 7 as an mcpaql adapter"), "{text}");
    assert!(text.contains("error[NAME-001]"), "{text}");
    assert!(text.contains("a, b:c.json:"), "{text}");
}

#[test]
fn hints_are_compared_with_a_policy_if_it_is_selected_or_requested() {
    let table = |policy_chosen: bool, hints: bool, known: bool| {
        let mut case = saved();
        case.standard.policy_chosen = policy_chosen;
        let hints_of_it = json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true});
        case.servers[0].tools.push(json!({"name": "delete_note", "annotations": hints_of_it,
            "inputSchema": {"type": "object"}, "description": "Deletes a note."}));
        case.findings = audit(&case.servers, &case.standard);
        let baseline = Baseline::of(&case.findings, &case.servers);
        let report = AuditReport::new(case.audited(), &case.findings, known.then_some(&baseline));
        full(&report, RenderOptions { hints, ..RenderOptions::default() })
            .contains("Hints that differ from the policy")
    };
    assert_eq!([table(false, false, false), table(true, false, false)], [false, true]);
    assert_eq!(
        [table(false, true, false), table(true, false, true), table(true, true, true)],
        [true, false, true]
    );
}

#[test]
fn colours_are_only_painted_where_wanted() {
    let case = saved();
    let report = AuditReport::new(case.audited(), &case.findings, None);
    let colored = full(&report, RenderOptions { color: true, ..RenderOptions::default() });
    let plain: String = colored
        .split('\u{1b}')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('m').unwrap().1 })
        .collect();
    assert_ne!(colored, plain);
    assert_eq!(plain, full(&report, RenderOptions::default()));
}

#[test]
fn many_findings_of_a_rule_are_folded() {
    let tools: Vec<Value> =
        (0..9).map(|n| json!({"name": format!("bad name {n}"), "inputSchema": {"type": "object"}})).collect();
    let servers = [ServerTools { name: "s".into(), tools, ..ServerTools::default() }];
    let standard = standard();
    let findings = audit(&servers, &standard);
    let audited = AuditInput {
        servers: &servers,
        origins: &[],
        as_adapters: &[],
        failed: &[],
        standard: &standard,
        fail_on: RuleLevel::Error,
    };
    let report = AuditReport::new(audited, &findings, None);
    let folded = full(&report, RenderOptions::default());
    assert!(
        folded.contains("… and 6 more") && folded.trim_end().ends_with("--verbose shows all"),
        "{folded}"
    );
    assert!(!folded.contains("bad name 8"), "{folded}");
    let all = full(&report, RenderOptions { verbose: true, ..RenderOptions::default() });
    assert!(all.contains("bad name 8") && !all.contains("… and "), "{all}");
}

#[test]
fn a_baseline_leaves_only_new_findings_and_counts_resolved_ones() {
    let case = saved();
    let baseline = Baseline::of(&case.findings, &case.servers);
    let read = Baseline::parse(&baseline.to_text()).unwrap();
    assert_eq!(read, baseline);
    let report = AuditReport::new(case.audited(), &case.findings, Some(&read));
    assert_eq!(
        (report.findings.len(), report.known_count, report.resolved.len()),
        (0, case.findings.len(), 0)
    );

    let fewer = Baseline::of(&case.findings[1..], &case.servers);
    let report = AuditReport::new(case.audited(), &case.findings, Some(&fewer));
    assert_eq!((report.findings.len(), report.resolved.len()), (1, 0));

    let report = AuditReport::new(case.audited(), &case.findings[1..], Some(&baseline));
    assert_eq!((report.findings.len(), report.resolved.len()), (0, 1));
    for text in
        ["", "{}", "[]", "{\"mcpaql_audit_baseline\": 2, \"findings\": []}", "{\"mcpaql_audit_baseline\": 1}"]
    {
        assert_eq!(Baseline::parse(text), None, "{text}");
    }
    assert_eq!(Baseline::parse(&Baseline::default().to_text()), Some(Baseline::default()));
}

#[test]
fn a_finding_is_the_same_with_another_message() {
    let case = saved();
    let mut other = case.findings.clone();
    for finding in &mut other {
        finding.message = "something else".into();
        finding.help = None;
    }
    assert_eq!(Baseline::of(&other, &case.servers), Baseline::of(&case.findings, &case.servers));
}

#[test]
fn numbers_are_grouped_for_people() {
    assert_eq!([0, 999, 1000, 16363, 1_234_567].map(grouped), ["0", "999", "1 000", "16 363", "1 234 567"]);
}
