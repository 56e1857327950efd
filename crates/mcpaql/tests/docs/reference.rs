//! Reference pages against the program: the loader's own lists of keys, the table of codes, the commands.

use crate::pages::page;
use mcpaql_audit::{RuleGroup, all_rules};
use mcpaql_core::diagnostic::capitalize;
use mcpaql_core::error::{Code, Remedy};
use mcpaql_core::gate::config::GateConfig;
use mcpaql_core::operation::Category;
use mcpaql_core::policy;
use mcpaql_core::policy::Hint;
use mcpaql_document::load;
use mcpaql_document::source::Source;
use mcpaql_document::{config, overrides};
use mcpaql_runtime::environment;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;

/// No key is spelled like this, and none is near enough to be suggested.
const NO_KEY: &str = "qqqqqqqqqqqqqqqq";

fn document() -> Value {
    json!({
        "name": "sample", "type": "adapter", "version": "1.0.0", "description": "d",
        "target": {"base_url": "https://api.example.com"},
        "auth": {"type": "none"}, "tool_names": {}, "annotations": {}, "errors": {},
        "endpoints": {"query": {"purpose": "p", "categories": ["READ"], "annotations": {}}},
        "types": {"Thing": {"type": "object"}},
        "operations": {"read": [{
            "name": "get_thing", "http": {"method": "GET", "path": "/"}, "annotations": {},
            "pagination": {"kind": "link"}, "error": {"path": "error"}, "lifecycle": {}, "params": {"id": {"type": "string"}}, "examples": [{"params": {}}],
        }]},
    })
}

fn store() -> Value {
    json!({
        "name": "sample", "type": "adapter", "version": "1.0.0", "description": "d",
        "target": {"transport": "native", "protocol": "store", "resources": {"thing": {"fields": {}}}},
    })
}

fn command() -> Value {
    json!({
        "name": "sample", "type": "adapter", "version": "1.0.0", "description": "d",
        "target": {"transport": "native", "protocol": "command"},
        "operations": {"read": [{
            "name": "get_thing", "command": ["ls", {"when": "all", "args": ["-a"]}],
            "params": {"all": {"type": "boolean"}},
        }]},
    })
}

fn mcp() -> Value {
    json!({
        "name": "sample", "type": "adapter", "version": "1.0.0", "description": "d",
        "target": {"transport": "mcp", "command": ["server"]},
        "targets": {"other": {}},
        "operations": {"read": []},
    })
}

fn generator() -> Value {
    json!({
        "schema_version": "1.0",
        "adapter": {"name": "sample", "version": "1.0.0", "description": "d",
                    "target_api": {"base_url": "https://api.example.com"}},
        "types": [{"name": "Thing", "fields": []}],
        "endpoints": {"read": []},
    })
}

fn code() -> Value {
    json!({
        "name": "thing", "type": "adapter", "version": "1.0.0", "description": "Things",
        "target": {"transport": "native", "protocol": "code"},
        "operations": {"read": [{"name": "get_thing"}]},
    })
}

fn settings() -> Value {
    json!({"adapters": [{"builtin": "notebook"}]})
}

/// The keys the loader knows in the object behind `pointer`: it lists them when it meets one it does not know.
pub(crate) fn known(
    mut document: Value,
    pointer: &str,
    load: fn(&Value) -> Vec<mcpaql_core::diagnostic::Diagnostic>,
) -> BTreeSet<String> {
    let object = document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    object.as_object_mut().unwrap().insert(NO_KEY.into(), json!(1));
    let place = format!("{pointer}/{NO_KEY}");
    let report = load(&document)
        .into_iter()
        .find(|diagnostic| diagnostic.pointer == place && diagnostic.code == Code::SchemaUnknownField)
        .unwrap_or_else(|| panic!("an unknown key behind '{pointer}' goes unnoticed"));
    let list = report.expected.unwrap();
    list.trim_start_matches("one of ").split(", ").map(str::to_owned).collect()
}

fn load_adapter(value: &Value) -> Vec<mcpaql_core::diagnostic::Diagnostic> {
    load::load(value).diagnostics
}

pub(crate) fn load_config(value: &Value) -> Vec<mcpaql_core::diagnostic::Diagnostic> {
    let (config, mut diagnostics) = config::load(value);
    diagnostics.extend(mcpaql_audit::settings::read(value, &config.settings.policies).1);
    diagnostics
}

/// The keys a page lists below a heading: every word in backquotes of the first column.
fn listed(name: &str, heading: &str) -> BTreeSet<String> {
    let rows = page(name).table(heading);
    assert!(
        rows.iter().all(|row| row.len() >= 2 && !row[1].is_empty()),
        "{heading}: a key without a word about it"
    );
    rows.iter()
        .flat_map(|row| row[0].split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn load_gate(value: &Value) -> Vec<mcpaql_core::diagnostic::Diagnostic> {
    GateConfig::load(value).1
}

#[test]
fn every_key_of_the_operators_configuration_is_described() {
    const PAGE: &str = "docs/reference/gate.md";
    let file = || {
        json!({
            "rules": [{"match": {"adapter": "a"}, "decision": "deny"}],
            "quotas": [{"match": {}, "per": "day", "stop": 1}],
            "confirm": {}, "log": {},
        })
    };
    for (heading, pointer) in [
        ("## Keys", ""),
        ("## Rules", "/rules/0"),
        ("## Match", "/rules/0/match"),
        ("## Quotas", "/quotas/0"),
        ("## Confirmations", "/confirm"),
        ("## The log", "/log"),
    ] {
        let rows = page(PAGE).table(heading);
        let described: BTreeSet<String> = rows
            .iter()
            .flat_map(|row| row[0].split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert_eq!(described, known(file(), pointer, load_gate), "{heading}");
    }
}

#[test]
fn every_key_of_a_document_is_described() {
    const PAGE: &str = "docs/reference/document.md";
    let operation = "/operations/read/0";
    let rows: [(&str, Value, &str); 24] = [
        ("## The document", document(), ""),
        ("### HTTP", document(), "/target"),
        ("### Store", store(), "/target"),
        ("### Resource", store(), "/target/resources/thing"),
        ("### Command", command(), "/target"),
        ("### Code", code(), "/target"),
        ("### MCP server", mcp(), "/target"),
        ("### Several targets", mcp(), "/targets/other"),
        ("## `auth`", document(), "/auth"),
        ("## Operation", document(), operation),
        ("### `http`", document(), "/operations/read/0/http"),
        ("### `error`", document(), "/operations/read/0/error"),
        ("### `pagination`", document(), "/operations/read/0/pagination"),
        ("### `lifecycle`", document(), "/operations/read/0/lifecycle"),
        ("### Conditional arguments", command(), "/operations/read/0/command/1"),
        ("### `examples`", document(), "/operations/read/0/examples/0"),
        ("## Parameter", document(), "/operations/read/0/params/id"),
        ("## Schema", document(), "/types/Thing"),
        ("## `tool_names`", document(), "/tool_names"),
        ("## `annotations`", document(), "/annotations"),
        ("## `errors`", document(), "/errors"),
        ("## `endpoints`", document(), "/endpoints/query"),
        ("## The generator form", generator(), ""),
        ("### `adapter`", generator(), "/adapter"),
    ];
    let schema = known(document(), "/types/Thing", load_adapter);
    for (heading, document, pointer) in rows {
        let mut keys = known(document, pointer, load_adapter);
        if heading == "## Parameter" {
            // The page says once that a parameter takes every key of a schema.
            keys.retain(|key| !schema.contains(key));
        }
        assert_eq!(listed(PAGE, heading), keys, "{heading} (left: page, right: loader)");
    }
    let hints: BTreeSet<String> =
        ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].map(str::to_owned).into();
    assert_eq!(known(document(), "/operations/read/0/annotations", load_adapter), hints);
    assert_eq!(known(document(), "/endpoints/query/annotations", load_adapter), hints);
    assert_eq!(listed(PAGE, "### `types` as a list"), known(generator(), "/types/0", load_adapter));
}

#[test]
fn every_key_of_the_configuration_is_described() {
    const PAGE: &str = "docs/reference/configuration.md";
    let all = known(settings(), "", load_config);
    let entry = known(settings(), "/adapters/0", load_config);
    let mut shared: BTreeSet<String> = all.intersection(&entry).cloned().collect();
    assert!(shared.remove("limits"), "the limits of the server are other ones than those of an adapter");
    let of = |set: &BTreeSet<String>| set.difference(&shared).cloned().collect::<BTreeSet<_>>();
    assert_eq!(listed(PAGE, "## The file"), of(&all));
    assert_eq!(listed(PAGE, "## An adapter"), of(&entry));
    assert_eq!(listed(PAGE, "## Settings"), shared);
    let team = || {
        let parts = json!({"names": {}, "titles": {}, "annotations": {}, "descriptions": {}, "schemas": {}});
        json!({"adapters": [{"builtin": "notebook"}], "audit": {}, "limits": {}, "policies": {"ours": {}}, "conventions": {"ours": parts}})
    };
    for (heading, pointer) in [
        ("### Limits of the server", "/limits"),
        ("## `policies`", "/policies/ours"),
        ("## `conventions`", "/conventions/ours"),
        ("### `names`", "/conventions/ours/names"),
        ("### `titles`", "/conventions/ours/titles"),
        ("### `annotations`", "/conventions/ours/annotations"),
        ("### `descriptions`", "/conventions/ours/descriptions"),
        ("### `schemas`", "/conventions/ours/schemas"),
        ("## `audit`", "/audit"),
    ] {
        assert_eq!(listed(PAGE, heading), known(team(), pointer, load_config), "{heading}");
    }
}

#[test]
fn every_key_of_the_generators_configuration_is_described() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("generator.yaml"), format!("{NO_KEY}: 1\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mcpaql"))
        .args(["generate", "--config", "generator.yaml", "--output-format", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = report["error"]["details"][0]["suggestion"].as_str().unwrap();
    let keys: BTreeSet<String> =
        list.trim_start_matches("use one of ").split(", ").map(str::to_owned).collect();
    let listed = listed("docs/guides/generate.md", "## Configuration");
    assert_eq!(listed.intersection(&keys).cloned().collect::<BTreeSet<_>>(), keys);
}

const IMPORT: &str = "docs/reference/import.md";

#[test]
fn every_key_of_overrides_is_described() {
    let file = || {
        json!({"adapter": {"name": "a"}, "operations": {"get_thing": {
            "name": "b", "params": {"id": {"sensitive": true}}, "split": {"by": "kind", "values": {}}
        }}})
    };
    for (heading, pointer) in [
        ("## Overrides", ""),
        ("### `adapter`", "/adapter"),
        ("### `operations`", "/operations/get_thing"),
        ("### `params`", "/operations/get_thing/params/id"),
        ("### `split`", "/operations/get_thing/split"),
    ] {
        assert_eq!(listed(IMPORT, heading), known(file(), pointer, load_overrides), "{heading}");
    }
}

fn load_overrides(value: &Value) -> Vec<mcpaql_core::diagnostic::Diagnostic> {
    overrides::parse(&Source::new("overrides.json", value.to_string())).err().unwrap_or_default()
}

/// A description of which every key of the report has something to tell.
const ODD: &str = r#"{
    "openapi": "3.1.0", "info": {"title": "Odd", "version": "1"},
    "servers": [{"url": "https://api.example.com"}],
    "paths": {
        "/stock/check": {"post": {"operationId": "stock", "responses": {"200": {"description": "d"}}}},
        "/things": {"get": {"operationId": "listThings", "parameters": [{"$ref": "lost.json"}],
            "responses": {"200": {"description": "d"}}}},
        "/things/{": {"get": {"responses": {"200": {"description": "d"}}}}
    }
}"#;

#[test]
fn every_key_of_the_report_is_described() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("odd.json"), ODD).unwrap();
    std::fs::write(folder.path().join("fix.yaml"), "operations: {listThings: {title: Things}}\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mcpaql"))
        .args(["import", "openapi", "odd.json", "--overrides", "fix.yaml", "--report", "json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys = |pointer: &str| -> BTreeSet<String> {
        let value = report.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}: {report:#}"));
        let rows = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        assert!(!rows.is_empty(), "{pointer} tells nothing: {report:#}");
        rows.iter().flat_map(|row| row.as_object().unwrap().keys().cloned()).collect()
    };
    for (heading, pointer) in [
        ("## Report", ""),
        ("### `counts`", "/counts"),
        ("### An operation", "/operations"),
        ("### A diagnostic", "/diagnostics"),
    ] {
        assert_eq!(listed(IMPORT, heading), keys(pointer), "{heading} (left: page, right: report)");
    }
}

#[test]
fn every_environment_variable_is_described() {
    let variables = listed("docs/reference/configuration.md", "## Environment");
    for name in [environment::TOOL_PREFIX, environment::ENDPOINT_MODE, environment::ENDPOINT_PROFILE] {
        assert!(variables.contains(name), "{name}");
    }
}

#[test]
fn every_policy_is_described() {
    let text = page("docs/concepts/hints.md").text;
    for policy in policy::policies() {
        assert!(text.contains(&format!("| `{}` |", policy.name)), "{}", policy.name);
        let cells = Category::ALL.map(|category| {
            let writes = policy.written_hints(category);
            let keys = Hint::ALL.iter().filter(|hint| writes.contains(**hint)).map(|hint| hint.key());
            let keys: Vec<&str> = keys.map(|key| key.trim_end_matches("Hint")).collect();
            if keys.len() == Hint::ALL.len() { "all".to_owned() } else { keys.join(", ") }
        });
        let title = if policy.title_in_annotations { "yes" } else { "no" };
        let row = format!("| `{}` | {} | {title} |", policy.name, cells.join(" | "));
        assert!(text.contains(&row), "{row}");
    }
    for name in policy::names() {
        for page_name in ["docs/reference/configuration.md", "docs/reference/document.md"] {
            assert!(page(page_name).text.contains(&format!("`{name}`")), "{name} in {page_name}");
        }
    }
}

#[test]
fn the_page_of_codes_is_the_table_of_codes() {
    let page = page("docs/reference/errors.md");
    let (head, _) = page.text.split_once("\n## ").unwrap();
    let mut text = format!("{}\n", head.trim_end());
    let sections = [
        (
            Remedy::Agent,
            "An agent can act on these",
            "`isError` is false, unless `errors.is_error: all` is set.",
        ),
        (
            Remedy::User,
            "The user or the operator acts on these",
            "`isError` is false, unless `errors.is_error: all` is set: the agent can tell the user.",
        ),
        (Remedy::Operator, "Neither the agent nor the user can fix these", "`isError` is true."),
        (
            Remedy::Author,
            "The author of a document acts on these",
            "`mcpaql check` reports them; they never travel in a call.",
        ),
    ];
    for (remedy, title, note) in sections {
        text.push_str(&format!("\n## {title}\n\n{note}\n\n| code | meaning | what to do |\n|---|---|---|\n"));
        for code in Code::ALL.iter().filter(|code| code.remedy() == remedy) {
            text.push_str(&format!("| `{code}` | {} | {} |\n", code.meaning(), code.advice()));
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page.path, &text).unwrap();
        return;
    }
    assert_eq!(page.text, text, "run UPDATE_DOCS=1 cargo test -p mcpaql --test docs");
}

#[test]
fn the_page_of_rules_is_what_rules_document() {
    let page = page("docs/reference/rules.md");
    let (head, _) = page.text.split_once("\n## ").unwrap();
    let mut text = format!("{}\n", head.trim_end());
    for group in RuleGroup::ALL {
        text.push_str(&format!("\n## {}\n", capitalize(group.as_str())));
        text.push_str("\n| rule | | level | what it says |\n|---|---|---|---|\n");
        let rules = || all_rules().filter(|rule| rule.group() == group);
        for rule in rules() {
            let anchor = rule.code.to_lowercase();
            let (code, level) = (rule.code, rule.level_label());
            text.push_str(&format!(
                "| [{code}](#{anchor}) | {} | {level} | {} |\n",
                rule.name,
                rule.summary()
            ));
        }
        for rule in rules() {
            text.push_str(&format!(
                "\n### {}\n\n`{}`. {}",
                rule.code,
                rule.name,
                rule.markdown().replace("\n## ", "\n#### ")
            ));
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page.path, &text).unwrap();
        return;
    }
    // The page is too long to be shown.
    assert!(page.text == text, "run UPDATE_DOCS=1 cargo test -p mcpaql --test docs");
}

#[test]
fn every_convention_is_on_the_page() {
    let rows: BTreeSet<String> = listed("docs/guides/audit.md", "## Conventions");
    for convention in mcpaql_audit::load::builtins() {
        assert!(rows.contains(&convention.name), "{}", convention.name);
    }
}

#[test]
fn every_command_is_on_the_page() {
    // That the text is what the program prints is tested with all other commands.
    let output = Command::new(env!("CARGO_BIN_EXE_mcpaql")).arg("-h").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let commands =
        help.split_once("Commands:\n").unwrap().1.lines().take_while(|line| line.starts_with("  "));
    let text = page("docs/reference/command-line.md").text;
    assert!(text.contains("\n$ mcpaql -h\n"));
    for command in commands.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help")
    {
        assert!(text.contains(&format!("\n$ mcpaql {command} --help\n")), "{command}");
    }
}
