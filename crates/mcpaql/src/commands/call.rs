//! `mcpaql call`: one operation from the command line, on the same path as a client's call.

use crate::documents::{AdapterRequest, open_gateway};
use crate::file;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output};
use anyhow::{Context, Result};
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::error::Remedy;
use mcpaql_core::response;
use mcpaql_runtime::caller::Caller;
use serde_json::{Map, Value};

pub(crate) async fn run(args: args::CallCommandArgs) -> Result<CommandOutcome> {
    let request = AdapterRequest { data: args.data.clone(), ..AdapterRequest::single(&args.document) };
    let gateway = open_gateway(request.resolve()?, true).await?;
    let snapshot = gateway.snapshot();
    let served = snapshot.adapters().first().context("the document holds no adapter")?;
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
                for warning in answer.warnings {
                    output::status_line(&format!("warning: {}", warning.message));
                }
            }
            Ok(CommandOutcome::Clean)
        }
        Err(error) => {
            if !args.envelope {
                output::status_line(&format!("error[{}]: {}", error.code, error.message));
                if !error.details.is_empty() {
                    output::status_lines(&serde_json::to_string_pretty(&error.details)?);
                }
            }
            let mendable = error.code.remedy() == Remedy::Agent;
            Ok(if mendable { CommandOutcome::Findings } else { CommandOutcome::CouldNotRun })
        }
    }
}

fn params(args: &args::CallCommandArgs, catalog: &Catalog) -> Result<Map<String, Value>> {
    let mut params = match args.params.as_deref() {
        None => Map::new(),
        Some("-") => object(&file::read_stdin()?)?,
        Some(text) => object(text)?,
    };
    for pair in &args.pairs {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(error_with_hint(
                format!("'{pair}' is not a parameter"),
                "write KEY=VALUE, or pass all parameters with --params JSON",
            ));
        };
        let schema = catalog
            .get(&args.operation)
            .and_then(|entry| catalog.full_operation(entry)?.operation.param(key))
            .map(|param| &param.schema);
        params.insert(key.to_owned(), parse_value(value, schema));
    }
    Ok(params)
}

fn object(text: &str) -> Result<Map<String, Value>> {
    match serde_json::from_str(text).context("--params is not valid JSON")? {
        Value::Object(map) => Ok(map),
        _ => anyhow::bail!("--params must be a JSON object"),
    }
}

/// Reads a word as the type its parameter has. What does not fit is left for validation to explain.
fn parse_value(text: &str, schema: Option<&Value>) -> Value {
    let kinds: Vec<&str> = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds.contains(&"string") {
        return Value::from(text);
    }
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) if kinds.contains(&"array") => text.split(',').map(|item| Value::from(item.trim())).collect(),
        Err(_) => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_value;
    use serde_json::json;

    #[test]
    fn words_become_the_type_of_their_parameter() {
        let rows = [
            ("5", json!({"type": "integer"}), json!(5)),
            ("5", json!({"type": "string"}), json!("5")),
            ("true", json!({"type": "boolean"}), json!(true)),
            ("bug,ui", json!({"type": "array"}), json!(["bug", "ui"])),
            (r#"["a,b"]"#, json!({"type": "array"}), json!(["a,b"])),
            (r#"{"a":1}"#, json!({"type": "object"}), json!({"a": 1})),
            ("many", json!({"type": "integer"}), json!("many")),
            ("plain", json!({}), json!("plain")),
        ];
        for (text, schema, expected) in rows {
            assert_eq!(parse_value(text, Some(&schema)), expected, "{text} as {schema}");
        }
    }
}
