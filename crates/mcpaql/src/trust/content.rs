//! What the trust in a file covers: everything in it that can run, connect, read or send.
//!
//! What always holds: a key is covered unless it is listed here as harmless, so that a new key of documents is covered, too. The
//! danger of an operation is covered even where its name decides it.

use mcpaql_core::adapter::{Auth, CommandTarget, TargetConfig};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::gate::fingerprint::sha256_hex;
use mcpaql_core::operation::{Binding, Category, Danger, danger_of};
use mcpaql_document::config::CallLimits;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Keys of a document that only describe and name it. Its `name` is covered, because rules, pauses and approvals go by it.
const HARMLESS_IN_DOCUMENTS: &[&str] = &[
    "$comment",
    "$schema",
    "answer_budget",
    "author",
    "created",
    "description",
    "display_name",
    "homepage",
    "license",
    "mode",
    "modified",
    "tool_names",
    "triggers",
    "version",
];

/// Keys of an operation that only describe and name it.
const HARMLESS_IN_OPERATIONS: &[&str] =
    &["aliases", "deprecated", "description", "examples", "name", "source_id", "title"];

/// Keys of a schema that only describe it.
const HARMLESS_IN_SCHEMAS: &[&str] =
    &["$comment", "deprecated", "description", "example", "examples", "title"];

/// Keys of `mcpaql.yaml` and of its entries that only name tools and bound their size, and those that only audits read.
const HARMLESS_IN_CONFIGURATIONS: &[&str] = &[
    "$comment",
    "$schema",
    "answer_budget",
    "audit",
    "budget",
    "conventions",
    "mode",
    "operation_enum",
    "pattern",
    "prefix",
];

/// Returns what the trust in an adapter document covers.
pub(crate) fn of_document(document: &Value) -> Value {
    let Value::Object(document) = document else { return document.clone() };
    let mut covered = without(document, HARMLESS_IN_DOCUMENTS);
    covered.retain(|key, _| !key.starts_with("x-"));
    // The generator form.
    if let Some(Value::Object(identity)) = covered.get_mut("adapter") {
        *identity = without(identity, HARMLESS_IN_DOCUMENTS);
    }
    let is_generator_form = covered.contains_key("adapter");
    let operations = if is_generator_form { "endpoints" } else { "operations" };
    if let Some(Value::Object(groups)) = covered.get_mut(operations) {
        for (group, list) in groups.iter_mut() {
            let category =
                Category::ALL.into_iter().find(|one| one.endpoint() == group || one.as_str() == group);
            for one in list.as_array_mut().into_iter().flatten() {
                *one = operation(one, category.unwrap_or(Category::Execute));
            }
        }
    }
    if let Some(types) = covered.get_mut("types") {
        *types = schemas(types);
    }
    Value::Object(covered)
}

fn operation(operation: &Value, category: Category) -> Value {
    let Value::Object(operation) = operation else { return operation.clone() };
    let mut covered = without(operation, HARMLESS_IN_OPERATIONS);
    for key in ["params", "returns", "response"] {
        if let Some(value) = covered.get_mut(key) {
            *value = if key == "params" { schemas(value) } else { schema(value) };
        }
    }
    let name = operation.get("name").and_then(Value::as_str).unwrap_or_default();
    let declared = operation.get("danger").map(|danger| danger.get("level").unwrap_or(danger));
    let declared = declared.or_else(|| operation.get("danger_level")).and_then(Value::as_str);
    let level = declared.and_then(Danger::parse).unwrap_or(Danger::Safe).max(danger_of(name, category));
    covered.insert("danger_level".to_owned(), level.as_str().into());
    Value::Object(covered)
}

/// Returns schemas by name or as a list, without descriptions.
fn schemas(named: &Value) -> Value {
    match named {
        Value::Object(map) => {
            map.iter().map(|(name, one)| (name.clone(), schema(one))).collect::<Map<_, _>>().into()
        }
        Value::Array(list) => list.iter().map(schema).collect(),
        other => other.clone(),
    }
}

/// Returns a schema without descriptions. Values that are sent, such as `default`, stay as they are.
fn schema(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(schema).collect(),
        Value::Object(object) => {
            let mut covered = Map::new();
            for (key, value) in object {
                if HARMLESS_IN_SCHEMAS.contains(&key.as_str()) {
                    continue;
                }
                let value = match key.as_str() {
                    "properties" | "patternProperties" | "$defs" | "definitions" | "fields" | "object" => {
                        schemas(value)
                    }
                    "items"
                    | "prefixItems"
                    | "additionalProperties"
                    | "oneOf"
                    | "anyOf"
                    | "allOf"
                    | "not"
                    | "array" => schema(value),
                    _ => value.clone(),
                };
                covered.insert(key.clone(), value);
            }
            Value::Object(covered)
        }
        other => other.clone(),
    }
}

/// Returns what the trust in `mcpaql.yaml` covers, without the files that it names.
pub(crate) fn of_configuration(configuration: &Value) -> Value {
    let Value::Object(configuration) = configuration else { return configuration.clone() };
    let mut covered = without(configuration, HARMLESS_IN_CONFIGURATIONS);
    for entry in covered.get_mut("adapters").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(entry) = entry {
            *entry = without(entry, HARMLESS_IN_CONFIGURATIONS);
        }
    }
    Value::Object(covered)
}

/// Returns what the trust in a file of another kind covers: all of it.
pub(crate) fn of_text<'t>(texts: impl IntoIterator<Item = &'t str>) -> Value {
    let hashes: Vec<String> = texts.into_iter().map(|text| sha256_hex(text.as_bytes())).collect();
    match hashes.as_slice() {
        [one] => json!({ "sha256": one }),
        // The first is the file itself; the others are files that it refers to.
        several => json!({ "sha256": sha256_hex(several.join(" ").as_bytes()) }),
    }
}

/// Returns the words of all commands in a covered content. Some may be files.
pub(crate) fn command_words(content: &Value) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    collect_command_words(content, &mut words);
    words
}

fn collect_command_words<'c>(value: &'c Value, words: &mut BTreeSet<&'c str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_command_words(item, words)),
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("command", Value::Array(command)) => {
                        words.extend(command.iter().filter_map(Value::as_str))
                    }
                    ("command", Value::String(program)) => drop(words.insert(program)),
                    _ => collect_command_words(value, words),
                }
            }
        }
        _ => {}
    }
}

fn without(object: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let is_covered = |key: &str| !keys.contains(&key);
    object
        .iter()
        .filter(|(key, _)| is_covered(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// What a served adapter can reach: hosts, programs, variables and credentials. Texts for comparison only; they contain names of
/// variables, never values.
pub(crate) type OuterReach = BTreeSet<String>;

/// Returns what an adapter can reach. A live edit that adds nothing to it needs no approval.
pub(crate) fn reach_of(catalog: &Catalog) -> OuterReach {
    let adapter = &catalog.adapter;
    let mut reach = OuterReach::new();
    add_target(&mut reach, &adapter.target, &adapter.auth);
    for one in adapter.targets.values() {
        add_target(&mut reach, &one.target, &one.auth);
    }
    for entry in &catalog.operations {
        let Some(full) = catalog.full_operation(entry) else { continue };
        match &full.operation.binding {
            Binding::Http(binding) => {
                if binding.base_url.is_some() || binding.auth.is_some() {
                    reach.insert(format!("request {:?} {:?}", binding.base_url, binding.auth));
                }
            }
            Binding::Command(binding) => drop(reach.insert(format!("command {binding:?}"))),
            // A tool of the same server, a record of the same store, or nothing outside.
            Binding::Mcp(_)
            | Binding::Store(_)
            | Binding::Introspect
            | Binding::Execution(_)
            | Binding::Code => {}
        }
    }
    reach
}

/// Adds a target and its credentials. Limits and the form of records are not part of it.
pub(crate) fn add_target(reach: &mut OuterReach, target: &TargetConfig, auth: &Auth) {
    let mut target = target.clone();
    let limits = CallLimits { timeout_ms: Some(0), max_duration_ms: Some(0), max_response_bytes: Some(0) };
    limits.apply(&mut target);
    match &mut target {
        TargetConfig::Store(store) => store.resources.clear(),
        TargetConfig::Http(http) => (http.connect_timeout_ms, http.retries) = (0, 0),
        TargetConfig::Mcp(server) => (server.start_timeout_ms, server.eager) = (0, false),
        TargetConfig::Command(CommandTarget { .. }) | TargetConfig::Code(_) => {}
    }
    reach.insert(format!("target {target:?} {auth:?}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::catalog::AdapterSettings;
    use mcpaql_core::gate::fingerprint::fingerprint;
    use mcpaql_document::check;
    use mcpaql_document::source::Source;

    const SHOP: &str = r#"
name: shop
type: adapter
version: "1.0.0"
description: A shop
target: { base_url: "https://shop.example.com/v1", headers: { X-Shop: "${env:SHOP}" }, timeout: 30 }
auth: { type: bearer, token_env: TOKEN }
operations:
  read:
    - { name: list_orders, title: Orders, description: Lists orders, maps_to: GET /orders, params: { q: { type: string, description: Words, default: new } } }
  execute:
    - { name: refund_order, maps_to: POST /refunds, danger: destructive }
"#;

    const TOOLS: &str = r#"
name: tools
type: adapter
version: "1.0.0"
description: Programs
target: { transport: native, protocol: command, cwd: /srv, env: [HOME] }
operations:
  read:
    - { name: list_files, command: [ls, -l], description: Lists files }
"#;

    fn content(text: &str) -> Value {
        of_document(&Source::new("x.yaml", text).parse().unwrap().value)
    }

    fn is_covered(text: &str, from: &str, to: &str) -> bool {
        assert!(text.contains(from), "{from}");
        fingerprint(&content(text)) != fingerprint(&content(&text.replacen(from, to, 1)))
    }

    #[test]
    fn what_can_run_connect_read_or_send_is_covered() {
        for (from, to) in [
            ("name: shop", "name: store"),
            ("shop.example.com", "evil.example.com"),
            ("X-Shop", "X-Other"),
            ("${env:SHOP}", "${env:AWS_SECRET}"),
            ("timeout: 30", "timeout: 31"),
            ("token_env: TOKEN", "token_env: OTHER"),
            ("type: bearer", "type: none"),
            ("GET /orders", "GET /customers"),
            ("default: new", "default: all"),
            ("{ q:", "{ r:"),
            ("danger: destructive", "danger: safe"),
            ("  execute:", "  update:"),
            ("name: list_orders,", "name: list_orders, unknown_key: 1,"),
        ] {
            assert!(is_covered(SHOP, from, to), "{from} → {to}");
        }
        for (from, to) in
            [("[ls, -l]", "[rm, -rf]"), ("cwd: /srv", "cwd: /"), ("env: [HOME]", "env: [HOME, KEY]")]
        {
            assert!(is_covered(TOOLS, from, to), "{from} → {to}");
        }
    }

    #[test]
    fn names_and_descriptions_are_not_covered() {
        for (from, to) in [
            ("description: A shop", "description: The best shop"),
            ("version: \"1.0.0\"", "version: \"1.1.0\"\nanswer_budget: 900"),
            ("name: list_orders", "name: list_all_orders"),
            ("title: Orders", "title: All orders"),
            ("description: Lists orders", "description: Lists them"),
            ("description: Words,", ""),
            ("name: refund_order", "name: pay_back"),
        ] {
            assert!(!is_covered(SHOP, from, to), "{from} → {to}");
        }
    }

    #[test]
    fn a_name_that_lowers_the_danger_is_covered() {
        let wipe = SHOP.replace(
            "name: refund_order, maps_to: POST /refunds, danger: destructive",
            "name: wipe_shop, maps_to: POST /wipe",
        );
        assert!(is_covered(&wipe, "wipe_shop", "tidy_shop"));
        assert!(!is_covered(&wipe, "wipe_shop", "wipe_all"));
    }

    #[test]
    fn a_value_that_is_called_description_is_covered() {
        let sent = SHOP.replace("default: new", "default: { description: a }");
        assert!(is_covered(&sent, "description: a }", "description: b }"));
        let property = SHOP.replace(
            "type: string, description: Words, default: new",
            "type: object, properties: { description: { type: string } }",
        );
        assert!(is_covered(&property, "description: { type: string }", "description: { type: integer }"));
    }

    #[test]
    fn the_generator_form_is_covered_in_the_same_way() {
        let text = r#"
schema_version: "1.0"
adapter: { name: shop, version: "1.0.0", description: A shop, target_api: { base_url: "https://shop.example.com" } }
endpoints:
  delete:
    - { name: delete_order, description: Deletes, maps_to: "DELETE /orders/{id}" }
"#;
        assert!(is_covered(text, "shop.example.com", "evil.example.com"));
        assert!(is_covered(text, "DELETE /orders", "DELETE /customers"));
        assert!(!is_covered(text, "description: Deletes", "description: Removes"));
        assert!(!is_covered(text, "description: A shop", "description: Shop"));
    }

    #[test]
    fn a_configuration_is_covered_except_for_names_of_tools_and_budgets() {
        let value = |text: &str| of_configuration(&Source::new("mcpaql.yaml", text).parse().unwrap().value);
        let text = "budget: 900\ndata: ./data\nadapters:\n  - { document: a.md, prefix: a_, auth: { type: bearer, token_env: A } }\n  - { name: files, mcp: { command: [npx, server], env: [KEY] } }\n";
        for (from, to, covered) in [
            ("budget: 900", "budget: 800", false),
            ("prefix: a_", "prefix: b_", false),
            ("./data", "/", true),
            ("a.md", "b.md", true),
            ("token_env: A", "token_env: B", true),
            ("name: files", "name: other", true),
            ("[npx, server]", "[npx, other]", true),
            ("[KEY]", "[OTHER]", true),
            ("command: [npx, server], env: [KEY]", "url: \"https://x.example/mcp\"", true),
            ("data:", "hide: [a]\ndata:", true),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(value(text) != value(&text.replacen(from, to, 1)), covered, "{from} → {to}");
        }
    }

    #[test]
    fn every_word_of_a_command_may_be_a_file() {
        let content = content(TOOLS);
        assert_eq!(Vec::from_iter(command_words(&content)), ["-l", "ls"]);
        let server = json!({"adapters": [{"mcp": {"command": ["node", "./server.js"]}}]});
        assert_eq!(Vec::from_iter(command_words(&server)), ["./server.js", "node"]);
    }

    fn reach(text: &str) -> OuterReach {
        reach_of(&check::check(&Source::new("x.yaml", text), &AdapterSettings::default()).catalog.unwrap())
    }

    #[test]
    fn a_new_host_program_variable_or_credential_is_reach_and_a_new_request_is_not() {
        for (text, from, to, is_new) in [
            (SHOP, "shop.example.com", "evil.example.com", true),
            (SHOP, "${env:SHOP}", "${env:OTHER}", true),
            (SHOP, "token_env: TOKEN", "token_env: OTHER", true),
            (
                SHOP,
                "maps_to: POST /refunds",
                "maps_to: POST /refunds, base_url: \"https://evil.example.com\"",
                true,
            ),
            (
                SHOP,
                "maps_to: POST /refunds",
                "maps_to: POST /refunds, auth: { type: bearer, token_env: OTHER }",
                true,
            ),
            (SHOP, "timeout: 30", "timeout: 31", false),
            (SHOP, "GET /orders", "GET /customers", false),
            (SHOP, "  execute:", "    - { name: get_more, maps_to: GET /more }\n  execute:", false),
            (TOOLS, "[ls, -l]", "[rm, -rf]", true),
            (TOOLS, "env: [HOME]", "env: [KEY]", true),
            (TOOLS, "description: Lists files", "description: Files", false),
        ] {
            assert!(text.contains(from), "{from}");
            let (old, new) = (reach(text), reach(&text.replacen(from, to, 1)));
            assert_eq!(!new.is_subset(&old), is_new, "{from} → {to}");
        }
    }
}
