//! `mcpaql call`: calls one operation from the command line, through the same code as a call of a client.

use crate::documents::{AdapterRequest, open_gateway};
use crate::file;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output};
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::error::{OpError, Remedy};
use mcpaql_core::operation::{Binding, BodyForm, Operation, Param, ParamLocation};
use mcpaql_core::response;
use mcpaql_core::schema::is_file;
use mcpaql_runtime::caller::Caller;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(crate) async fn run(args: args::CallCommandArgs) -> Result<CommandOutcome> {
    let request = AdapterRequest { data: args.data.clone(), ..AdapterRequest::single(&args.document) };
    let gateway = open_gateway(request.resolve()?, true).await?;
    let snapshot = gateway.snapshot();
    let served = snapshot.adapters().first().context("the document contains no adapter")?;
    let params = params(&args, served.catalog())?;
    let caller = Caller::nobody();
    let outcome = tokio::select! {
        outcome = served.call_operation(&args.operation, params, &caller) => outcome,
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
    };
    gateway.close().await;
    if args.envelope {
        output::print_data(&response::envelope(&outcome, ErrorPolicy::Unrecoverable).text);
    }
    match outcome {
        Ok(answer) => {
            if !args.envelope {
                output::print_data(&serde_json::to_string_pretty(&answer.data.into_value())?);
                // Files and images, one per line.
                answer.blocks.iter().for_each(|block| output::print_data(&block.to_string()));
                for warning in answer.warnings {
                    output::status_line(&format!("warning: {}", warning.message));
                }
            }
            Ok(CommandOutcome::Clean)
        }
        Err(error) => {
            if !args.envelope {
                print_call_error(&error)?;
            }
            let is_rejected = matches!(error.code.remedy(), Remedy::Agent | Remedy::User);
            Ok(if is_rejected { CommandOutcome::Findings } else { CommandOutcome::CouldNotRun })
        }
    }
}

/// Prints an error for the person at the terminal, who is the operator. Its message is written for a model.
fn print_call_error(error: &OpError) -> Result<()> {
    let OpError { code, message, cause, hint, .. } = error;
    let mut details = error.details.clone();
    match (cause, hint) {
        (Some(problem), Some(_)) => {
            output::status_line(&format!("error[{code}]: {problem}"));
            // The problem and the hint name the variables.
            details.retain(|key, _| !["variable", "variables"].contains(&key.as_str()));
        }
        (Some(cause), None) => {
            output::status_line(&format!("error[{code}]: {message}"));
            output::status_line(&format!("cause: {cause}"));
        }
        (None, _) => output::status_line(&format!("error[{code}]: {message}")),
    }
    if !details.is_empty() {
        output::status_lines(&serde_json::to_string_pretty(&details)?);
    }
    if let Some(hint) = hint {
        output::print_hint(hint);
    }
    Ok(())
}

fn params(args: &args::CallCommandArgs, catalog: &Catalog) -> Result<Map<String, Value>> {
    let mut params = match args.params.as_deref() {
        None => Map::new(),
        Some("-") => object(&file::read_stdin()?)?,
        Some(text) => object(text)?,
    };
    for pair in &args.pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let (problem, example) = match pair.strip_prefix('=') {
                Some(value) => (format!("the value '{value}' has no name"), format!("NAME={value}")),
                None => (format!("'{pair}' has no value"), format!("{pair}=VALUE")),
            };
            let hint = format!("write {example}, or pass all parameters with --params JSON");
            return Err(error_with_hint(problem, hint));
        };
        let operation =
            catalog.get(&args.operation).and_then(|entry| Some(catalog.full_operation(entry)?.operation));
        let param = operation.and_then(|operation| operation.param(key));
        let schema = param.map(|param| &param.schema);
        let value = match value.strip_prefix('@') {
            Some(text) if text.starts_with('@') => parse_value(text, schema),
            Some(path) => file_value(Path::new(path), operation, param)?,
            None => parse_value(value, schema),
        };
        params.insert(key.to_owned(), value);
    }
    Ok(params)
}

/// Reads a file as the value of a parameter: its bytes as base64 for a parameter that takes a file, otherwise its text.
fn file_value(path: &Path, operation: Option<&Operation>, param: Option<&Param>) -> Result<Value> {
    let schema = param.map(|param| &param.schema);
    let is_binary_body = operation.zip(param).is_some_and(|(operation, param)| {
        let body = match &operation.binding {
            Binding::Http(binding) => binding.body,
            _ => return false,
        };
        body == BodyForm::Binary && param.location == ParamLocation::Body
    });
    if !is_binary_body && !schema.is_some_and(is_file) {
        return Ok(parse_value(&file::read_text(path)?, schema));
    }
    let data = BASE64.encode(file::read_bytes(path)?);
    // A file of a form may have a name.
    let takes_name = schema.and_then(|schema| schema.pointer("/anyOf")).is_some();
    let name = path.file_name().and_then(|name| name.to_str()).filter(|_| takes_name && !is_binary_body);
    Ok(match name {
        Some(name) => json!({ "data": data, "filename": name }),
        None => data.into(),
    })
}

fn object(text: &str) -> Result<Map<String, Value>> {
    const HINT: &str = "for example --params '{\"limit\": 5}', with quotes for the shell";
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(error_with_hint("--params must be a JSON object", HINT)),
        Err(error) => Err(error_with_hint(format!("--params is not valid JSON: {error}"), HINT)),
    }
}

/// Parses a value as the type of its parameter. A value that does not fit is passed on, so that validation reports it.
fn parse_value(text: &str, schema: Option<&Value>) -> Value {
    let types: Vec<&str> = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if types.contains(&"string") {
        return Value::from(text);
    }
    let parsed = serde_json::from_str::<Value>(text).ok();
    let is_array = types.contains(&"array") && !parsed.as_ref().is_some_and(|value| fits(value, &types));
    if !is_array {
        return parsed.unwrap_or_else(|| Value::from(text));
    }
    let item_schema = schema.and_then(|schema| schema.get("items"));
    // The commas of a JSON object do not separate items.
    let items = if parsed.is_some() { vec![text] } else { text.split(',').map(str::trim).collect() };
    items.into_iter().map(|item| parse_item(item, item_schema)).collect()
}

/// Parses an item of an array. Without a type for items, it is a string, unless it is a JSON object.
fn parse_item(text: &str, schema: Option<&Value>) -> Value {
    match schema {
        Some(schema) if schema.get("type").is_some() => parse_value(text, Some(schema)),
        _ => match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::from(text),
        },
    }
}

/// Whether a value has one of these JSON Schema types.
fn fits(value: &Value, types: &[&str]) -> bool {
    match value {
        Value::Null => types.contains(&"null"),
        Value::Bool(_) => types.contains(&"boolean"),
        Value::Number(_) => types.contains(&"number") || types.contains(&"integer"),
        Value::String(_) => types.contains(&"string"),
        Value::Array(_) => types.contains(&"array"),
        Value::Object(_) => types.contains(&"object"),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_value;
    use serde_json::json;

    #[test]
    fn values_become_the_type_of_their_parameter() {
        let array = |item: &str| json!({"type": "array", "items": {"type": item}});
        let rows = [
            ("5", json!({"type": "integer"}), json!(5)),
            ("5", json!({"type": "string"}), json!("5")),
            ("true", json!({"type": "boolean"}), json!(true)),
            ("bug,ui", json!({"type": "array"}), json!(["bug", "ui"])),
            (r#"["a,b"]"#, json!({"type": "array"}), json!(["a,b"])),
            ("home", array("string"), json!(["home"])),
            ("7", array("string"), json!(["7"])),
            ("7", array("integer"), json!([7])),
            ("7,8", array("integer"), json!([7, 8])),
            ("true", array("boolean"), json!([true])),
            ("[7]", array("integer"), json!([7])),
            (r#"{"a":1,"b":2}"#, array("object"), json!([{"a": 1, "b": 2}])),
            ("7", json!({"type": "array"}), json!(["7"])),
            ("null", json!({"type": ["array", "null"], "items": {"type": "integer"}}), json!(null)),
            ("7", json!({"type": ["array", "null"], "items": {"type": "integer"}}), json!([7])),
            ("7", json!({"type": ["array", "integer"], "items": {"type": "integer"}}), json!(7)),
            (r#"{"a":1}"#, json!({"type": "array", "items": {"$ref": "#/x"}}), json!([{"a": 1}])),
            (r#"{"a":1}"#, json!({"type": "object"}), json!({"a": 1})),
            ("many", json!({"type": "integer"}), json!("many")),
            ("plain", json!({}), json!("plain")),
        ];
        for (text, schema, expected) in rows {
            assert_eq!(parse_value(text, Some(&schema)), expected, "{text} as {schema}");
        }
    }
}
