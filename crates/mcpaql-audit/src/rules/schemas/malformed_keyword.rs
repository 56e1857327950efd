//! SCHEMA-015.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedTool, Schema};
use mcpaql_core::schema::keywords::{KeywordValue, keyword_value};
use serde_json::Value;

rule! {
    /// Schema keyword has an invalid value.
    ///
    /// ## What it does
    ///
    /// Checks for `properties` that is not an object, parameters that are not schemas, `required` that is not a list of names, and
    /// for `items`, `enum`, `type`, variants and other keywords with a value that JSON Schema does not allow.
    ///
    /// ## Why it matters
    ///
    /// Such a schema is invalid, and a client that validates it rejects more than the tool: `required: null` made Cursor drop a whole
    /// list (https://github.com/MervinPraison/PraisonAI/issues/3111), and a stray `"type": "object"` among the properties made OpenAI
    /// reject every request (https://github.com/smallmain/vscode-unify-chat-provider/issues/162).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/required
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": null}}
    /// ```
    ///
    /// ```json bad at=/inputSchema/properties/type
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}, "type": "object"}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}, "any": true}, "required": ["title"]}}
    /// ```
    "SCHEMA-015" "malformed-keyword" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for schema in &tool.tree.schemas {
        if let Some((keyword, member)) = malformed(schema) {
            let pointer = tool.tree.keyword_pointer(schema.at, keyword);
            let owner = match parameter(&pointer) {
                Some(parameter) => format!("the parameter '{parameter}' of '{}'", tool.name),
                None => format!("the schema of '{}'", tool.name),
            };
            let expected = if member.is_some() { "a schema" } else { expected_value(keyword) };
            let message = match member {
                Some(member) => format!("'{member}' in the `{keyword}` of {owner} is not {expected}"),
                None => format!("`{keyword}` of {owner} is not {expected}"),
            };
            let pointer =
                member.map_or(pointer.clone(), |member| mcpaql_core::reader::child(&pointer, member));
            findings.tool(tool, pointer, message).help(format!("write {expected}, or remove it"));
            return;
        }
    }
}

/// Returns the first malformed keyword, and its malformed member if the keyword itself is fine.
fn malformed<'a>(schema: &Schema<'a>) -> Option<(&'a str, Option<&'a str>)> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    for (keyword, value) in schema.map {
        let keyword = keyword.as_str();
        match keyword_value(keyword) {
            KeywordValue::Named | KeywordValue::NamedVariants => {
                let Some(members) = value.as_object() else { return Some((keyword, None)) };
                if let Some((name, _)) = members.iter().find(|(_, value)| !is_schema(value)) {
                    return Some((keyword, Some(name)));
                }
            }
            _ if !is_well_formed(keyword, value) => return Some((keyword, None)),
            _ => {}
        }
    }
    None
}

/// Returns the innermost parameter that contains a keyword.
fn parameter(pointer: &str) -> Option<String> {
    let (path, _) = pointer.rsplit_once('/')?;
    let (_, behind) = path.rsplit_once("/properties/")?;
    let name = behind.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// Returns the value that JSON Schema requires.
fn expected_value(keyword: &str) -> &'static str {
    match keyword {
        "required" => "a list of names",
        "enum" | "examples" => "a list of values",
        "type" => "a type name",
        "minimum" | "maximum" | "multipleOf" => "a number",
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            "a non-negative number"
        }
        "description" | "title" | "pattern" | "format" | "$ref" => "a string",
        _ => match keyword_value(keyword) {
            KeywordValue::Schemas | KeywordValue::Variants => "a list of schemas",
            KeywordValue::Named | KeywordValue::NamedVariants => "an object of schemas",
            _ => "a schema",
        },
    }
}

fn is_well_formed(keyword: &str, value: &Value) -> bool {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let all = |test: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(test));
    match keyword {
        "required" => all(Value::is_string),
        "enum" | "examples" => value.is_array(),
        "type" => value.is_string() || all(Value::is_string),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
            value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_schema))
        }
        "items" => is_schema(value) || value.as_array().is_some_and(|items| items.iter().all(is_schema)),
        "additionalProperties" | "not" | "contains" | "propertyNames" | "if" | "then" | "else" => {
            is_schema(value)
        }
        "minimum" | "maximum" | "multipleOf" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.as_f64().is_some_and(|number| number >= 0.0)
        }
        "description" | "title" | "pattern" | "format" | "$ref" => value.is_string(),
        _ => true,
    }
}
