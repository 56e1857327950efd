//! Plans a probe: which tools may be called to test their read-only hint, and with which arguments.
//!
//! ```
//! use mcpaql_audit::ServerTools;
//! use mcpaql_audit::probe::{ProbePlan, probe_plans};
//! use serde_json::json;
//!
//! let tools = vec![
//!     json!({"name": "list_notes", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}),
//!     json!({"name": "delete_note", "inputSchema": {"type": "object"}}),
//! ];
//! let plans = probe_plans(&ServerTools { name: "notes".into(), tools, ..ServerTools::default() });
//! assert!(matches!(plans[0].1, ProbePlan::Call(_)));
//! assert!(matches!(plans[1].1, ProbePlan::Leave(_)));
//! ```
//!
//! What always holds: a tool is called only if it is marked read-only, nothing contradicts that (`safety`), and harmless values can be
//! made up for its required arguments (`safe_args`). Optional arguments are left out, except flags that prevent a call from doing
//! anything, such as `dry_run`.

mod safe_args;
mod safety;

pub use crate::tool::{AnswerComparison, ProbeResult};

use crate::tool::{ParsedServer, ParsedTool, ServerTools};
use indexmap::IndexMap;
use mcpaql_core::sample;
use mcpaql_core::schema::{SchemaSet, required_fields};
use safe_args::SafeArgs;
use serde_json::{Map, Value};

/// What a probe does with a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbePlan {
    /// Call it twice with these arguments.
    Call(Map<String, Value>),
    /// Do not call it, for this reason.
    Leave(String),
}

/// Returns the plan for each tool of a server, in order.
#[must_use]
pub fn probe_plans(server: &ServerTools) -> Vec<(String, ProbePlan)> {
    let parsed = ParsedServer::of(server, 0);
    let is_one_of_many = |name: &str| parsed.tools.iter().filter(|tool| tool.name == name).count() > 1;
    let plan = |tool: &ParsedTool<'_>| match is_one_of_many(tool.name) {
        // The server decides which of the tools with this name runs.
        true => ProbePlan::Leave("its name is listed more than once".to_owned()),
        false => plan(tool),
    };
    parsed.tools.iter().map(|tool| (tool.name.to_owned(), plan(tool))).collect()
}

fn plan(tool: &ParsedTool<'_>) -> ProbePlan {
    match refusal(tool) {
        Some(reason) => ProbePlan::Leave(reason.to_owned()),
        None => arguments(tool).map_or_else(ProbePlan::Leave, ProbePlan::Call),
    }
}

/// Returns why a tool must not be called.
fn refusal(tool: &ParsedTool<'_>) -> Option<&'static str> {
    match (tool.declared.read_only, tool.declared.destructive) {
        (None, _) => Some("it is not marked read-only"),
        (Some(false), _) => Some("it has `readOnlyHint: false`"),
        (Some(true), Some(true)) => Some("it is also marked destructive"),
        _ if tool.is_adapter => Some("its effect depends on the operation"),
        _ => safety::distrust_reason(tool),
    }
}

/// Returns arguments that fit the schema, or the reason why there are none.
fn arguments(tool: &ParsedTool<'_>) -> Result<Map<String, Value>, String> {
    let Some(schema) = tool.schema else { return Ok(Map::new()) };
    let (schema, types) = typed(schema);
    let empty = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let acting =
        safe_args::acting_default(&schema).or_else(|| types.values().find_map(safe_args::acting_default));
    if let Some(name) = acting {
        return Err(format!("the default of '{name}' changes something"));
    }
    let chooser = SafeArgs::default();
    let mut arguments = Map::new();
    for name in required_fields(&schema) {
        let any = Value::Bool(true);
        let field = fields.get(name).unwrap_or(&any);
        // Examples of the author are not used: they may be real data.
        let value =
            sample::sample_with_chooser(name, field, &types, &chooser).ok_or_else(|| chooser.reason(name))?;
        arguments.insert(name.to_owned(), value);
    }
    for (name, field) in safe_args::dry_run_flags(&schema) {
        let value =
            sample::sample_with_chooser(name, field, &types, &chooser).ok_or_else(|| chooser.reason(name))?;
        arguments.insert(name.to_owned(), value);
    }
    let (mut schemas, _) = SchemaSet::compile(&types);
    let (id, _) = schemas.add(&schema, "");
    let value = Value::Object(arguments);
    if !schemas.check(id, &value).is_empty() {
        return Err("no arguments that fit its schema can be made up".to_owned());
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Ok(Map::new()),
    }
}

/// Maximum depth of a schema.
const MAX_SCHEMA_DEPTH: usize = 64;

/// Returns the schema and its definitions as named types.
fn typed(schema: &Value) -> (Value, IndexMap<String, Value>) {
    let mut schema = schema.clone();
    let mut types = IndexMap::new();
    for key in ["$defs", "definitions"] {
        let defined = schema.as_object_mut().and_then(|map| map.shift_remove(key));
        if let Some(Value::Object(defined)) = defined {
            types.extend(defined);
        }
    }
    rewrite_references(&mut schema, MAX_SCHEMA_DEPTH);
    types.values_mut().for_each(|definition| rewrite_references(definition, MAX_SCHEMA_DEPTH));
    (schema, types)
}

fn rewrite_references(value: &mut Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else {
        *value = Value::Bool(false);
        return;
    };
    match value {
        Value::Object(map) => {
            for (key, member) in map {
                let name = member.as_str().and_then(|text| {
                    text.strip_prefix("#/$defs/").or_else(|| text.strip_prefix("#/definitions/"))
                });
                match name.filter(|_| key == "$ref").map(|name| format!("#/types/{name}")) {
                    Some(target) => *member = Value::String(target),
                    None => rewrite_references(member, depth),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite_references(item, depth)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan_of(tool: Value) -> ProbePlan {
        let server = ServerTools { name: "example".into(), tools: vec![tool], ..ServerTools::default() };
        probe_plans(&server).remove(0).1
    }

    fn called(schema: Value) -> Result<Value, String> {
        let hints = json!({"readOnlyHint": true});
        match plan_of(json!({"name": "get_note", "inputSchema": schema, "annotations": hints})) {
            ProbePlan::Call(arguments) => Ok(Value::Object(arguments)),
            ProbePlan::Leave(reason) => Err(reason),
        }
    }

    #[test]
    fn only_tools_that_are_certainly_read_only_are_called() {
        let rows = [
            ("get_note", json!({"readOnlyHint": true}), true),
            ("note_card", json!({"readOnlyHint": true}), true),
            ("get_note", json!({}), false),
            ("get_note", json!({"readOnlyHint": false}), false),
            ("get_note", json!({"readOnlyHint": "true"}), false),
            ("get_note", json!({"readOnlyHint": true, "destructiveHint": true}), false),
            ("delete_note", json!({"readOnlyHint": true}), false),
            ("send_mail", json!({"readOnlyHint": true}), false),
            ("pop_item", json!({"readOnlyHint": true}), false),
            ("get_logout", json!({"readOnlyHint": true}), false),
            ("d\u{435}lete_x", json!({"readOnlyHint": true}), false),
            ("purge\u{200b}_x", json!({"readOnlyHint": true}), false),
            ("list_merge_requests", json!({"readOnlyHint": true}), true),
        ];
        for (name, annotations, expected) in rows {
            let tool = json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations});
            let plan = plan_of(tool);
            assert_eq!(matches!(plan, ProbePlan::Call(_)), expected, "{name} {annotations}: {plan:?}");
        }
        let switch = json!({
            "name": "get_note", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "properties": {"action": {"enum": ["get", "delete"]}}},
        });
        assert!(matches!(plan_of(switch), ProbePlan::Leave(_)), "`action` can be `delete`");
        let adapter = json!({
            "name": "notes_mcpaql_read", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}},
        });
        assert!(matches!(plan_of(adapter), ProbePlan::Leave(_)));
    }

    #[test]
    fn a_tool_that_is_listed_twice_is_not_called() {
        let tool = |read: bool| json!({"name": "get_note", "annotations": {"readOnlyHint": read}});
        for tools in [vec![tool(true), tool(false)], vec![tool(true), tool(true)]] {
            let server = ServerTools { name: "example".into(), tools, ..ServerTools::default() };
            assert!(probe_plans(&server).iter().all(|(_, plan)| matches!(plan, ProbePlan::Leave(_))));
        }
    }

    #[test]
    fn required_arguments_are_made_up_and_optional_ones_left_out() {
        let schema = json!({
            "type": "object", "required": ["id", "kind", "filter"],
            "properties": {
                "id": {"type": "integer", "minimum": 5}, "kind": {"enum": ["a", "b"]}, "extra": {"type": "string"},
                "filter": {"$ref": "#/$defs/Filter"},
            },
            "$defs": {"Filter": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}},
        });
        assert_eq!(called(schema), Ok(json!({"id": 5, "kind": "a", "filter": {"text": "some text"}})));
        assert_eq!(called(json!({"type": "object"})), Ok(json!({})));
    }

    fn one(name: &str, schema: Value) -> Result<Value, String> {
        let schema = json!({"type": "object", "required": [name], "properties": {name: schema}});
        called(schema).map(|arguments| arguments[name].clone())
    }

    #[test]
    fn of_allowed_values_a_harmless_one_is_chosen() {
        for (name, schema, expected) in [
            ("verb", json!({"enum": ["DELETE", "OPTIONS", "GET"]}), json!("GET")),
            ("what", json!({"type": "string", "enum": ["delete", "get"]}), json!("get")),
            ("deed", json!({"oneOf": [{"const": "remove"}, {"const": "show"}]}), json!("show")),
            ("kind", json!({"enum": ["removal", "delete_all", "full"]}), json!("removal")),
            ("command", json!({"enum": ["rm", "list"]}), json!("list")),
            ("delete", json!({"enum": ["yes", "no"]}), json!("no")),
            ("mode", json!({"enum": ["rw", "r"]}), json!("r")),
            ("level", json!({"enum": ["force", "hard", "soft"]}), json!("soft")),
            (
                "o",
                json!({"properties": {"op": {"enum": ["wipe", "get"]}}, "required": ["op"]}),
                json!({"op": "get"}),
            ),
            (
                "ops",
                json!({"type": "array", "items": {"enum": ["wipe", "get"]}, "minItems": 2}),
                json!(["get", "get"]),
            ),
            (
                "mode",
                json!({"type": "string", "default": "delete", "examples": ["delete"]}),
                json!("some mode"),
            ),
        ] {
            assert_eq!(one(name, schema.clone()), Ok(expected), "{name} {schema}");
        }
        for (name, schema) in [
            ("operation", json!({"type": "string", "enum": ["drop", "truncate"]})),
            ("v", json!({"const": "delete"})),
            ("v", json!({"type": "string", "pattern": "^delete$"})),
            ("command", json!({"enum": ["rm", "dd"]})),
            ("v", json!({"type": "string", "pattern": "^rm -rf /$"})),
            ("v", json!({"type": "string", "pattern": "^(?:;|&&) ?(foo|bar) .*$"})),
            ("v", json!({"type": "string", "pattern": "^https?://.+$"})),
            ("v", json!({"prefixItems": [{"const": "rm"}, {"const": "-rf"}], "minItems": 2})),
            ("v", json!({"const": ["rm", "-rf"]})),
            ("v", json!({"enum": ["rw", "w"]})),
            ("confirm", json!({"const": true})),
            ("delete_before", json!({"type": "string"})),
            ("ops", json!({"type": "array", "items": {"const": "wipe"}, "minItems": 1})),
            ("o", json!({"properties": {"op": {"enum": ["get", "wipe"], "default": "wipe"}}})),
        ] {
            let reason = one(name, schema.clone()).unwrap_err();
            assert!(reason.contains(&format!("'{name}'")), "{name} {schema}: {reason}");
        }
    }

    #[test]
    fn flags_are_false_unless_true_is_the_safe_value() {
        for name in ["delete", "force", "confirm", "include_code", "validate"] {
            assert_eq!(one(name, json!({"type": "boolean"})), Ok(json!(false)), "{name}");
        }
        for name in ["no_confirm", "skip_preview", "disable_safe_mode", "no_dry_run", "unsafe"] {
            assert_eq!(one(name, json!({"type": "boolean"})), Ok(json!(false)), "{name}");
        }
        for name in [
            "dry_run",
            "dryRun",
            "preview",
            "simulate",
            "validate_only",
            "read_only",
            "readonly",
            "readOnly",
            "safe",
            "keep",
            "preserve",
            "no_delete",
        ] {
            assert_eq!(one(name, json!({"type": "boolean"})), Ok(json!(true)), "{name}");
        }
    }

    #[test]
    fn an_optional_dry_run_flag_is_set() {
        for (name, field) in [
            ("dry_run", json!({"type": "boolean", "default": false})),
            ("preview", json!({"type": ["boolean", "null"]})),
            ("readOnly", json!({"anyOf": [{"type": "null"}, {"type": "boolean"}], "default": null})),
        ] {
            let schema = json!({"type": "object", "properties": {name: field}});
            assert_eq!(called(schema), Ok(json!({ name: true })), "{name}");
        }
        let never = json!({"type": "object", "properties": {"dry_run": {"type": "boolean", "const": false}}});
        assert!(called(never).is_err());
        let size = json!({"type": "object", "properties": {"preview": {"type": "integer"}, "keep": {"type": "boolean"}}});
        assert_eq!(called(size), Ok(json!({})));
    }

    #[test]
    fn tools_with_a_default_that_changes_something_are_not_called() {
        for (name, field) in [
            ("what", json!({"enum": ["get", "delete"], "default": "delete"})),
            ("purge", json!({"type": "boolean", "default": true})),
            ("options", json!({"type": "object", "default": {"delete": true}})),
            (
                "options",
                json!({"type": "object", "properties": {"delete": {"type": "boolean", "default": true}}}),
            ),
            ("steps", json!({"type": "array", "default": ["get", "delete"]})),
        ] {
            let reason = called(json!({"type": "object", "properties": {name: field}})).unwrap_err();
            assert_eq!(reason, format!("the default of '{name}' changes something"));
        }
        for (name, field) in [
            ("order_by", json!({"type": "string", "default": "update_time"})),
            ("purge", json!({"type": "boolean", "default": false})),
            ("follow_redirects", json!({"type": "boolean", "default": true})),
        ] {
            assert_eq!(
                called(json!({"type": "object", "properties": {name: field}})),
                Ok(json!({})),
                "{name}"
            );
        }
    }

    #[test]
    fn code_commands_and_addresses_are_not_made_up() {
        for name in [
            "sql",
            "url",
            "page_url",
            "shellCommand",
            "code",
            "eval",
            "cypher",
            "graphql",
            "jq",
            "address",
            "domain",
            "ip",
            "email",
            "link",
            "website",
            "commands",
            "cmdline",
        ] {
            let schema =
                json!({"type": "object", "required": [name], "properties": {name: {"type": "string"}}});
            assert!(called(schema).unwrap_err().contains(name));
        }
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"format": "uri"}}});
        assert!(called(schema).is_err());
        for described in [
            "Shell command to run on the host",
            "The SQL statement that is executed",
            "Where to look: the URL of a page.",
            "IP address of the machine",
            "Lua snippet to evaluate",
        ] {
            let found = one("c", json!({"type": "string", "description": described}));
            assert_eq!(found, Err("no safe value can be made up for 'c'".to_owned()), "{described}");
        }
        let script = json!({"type": "string", "contentMediaType": "application/javascript"});
        assert!(one("x", script).is_err());
        let harmless = json!({"type": "string", "description": "What to look for in the notes."});
        assert_eq!(one("email_id", harmless), Ok(json!("some email id")));
        let inner = json!({"type": "object", "required": ["sql"], "properties": {"sql": {"type": "string"}}});
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": inner}});
        assert_eq!(called(schema).unwrap_err(), "no safe value can be made up for 'sql' in 'a'");
        let never = json!({"type": "object", "required": ["a"], "properties": {"a": false}});
        assert!(called(never).is_err());
    }

    #[test]
    fn tools_with_endless_schemas_are_not_called() {
        let mut deep = json!({"type": "string"});
        for _ in 0..200 {
            deep = json!({"type": "array", "minItems": 1, "items": deep});
        }
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": deep}});
        assert!(called(schema).is_err());
        let round = json!({
            "type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}}},
        });
        assert!(called(round).is_err());
    }
}
