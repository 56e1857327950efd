//! `mcpaql call`: calls one operation from the command line, through the same code as a call of a client.

mod confirm;
mod table;

use crate::args::DataFormat;
use crate::documents::{AdapterRequest, PlanPurpose, open_gateway};
use crate::file;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, operator, output};
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use confirm::{Confirming, confirm};
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::error::{OpError, Remedy};
use mcpaql_core::operation::{Binding, BodyForm, Operation, Param, ParamLocation};
use mcpaql_core::response;
use mcpaql_core::schema::is_file;
use mcpaql_core::shape;
use mcpaql_core::syntax::{indented, inexact_integer, minified};
use mcpaql_runtime::caller::{Caller, Progress};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::convert::Infallible;
use std::path::Path;
use tokio::sync::watch;

pub(crate) async fn run(args: args::CallCommandArgs) -> Result<CommandOutcome> {
    let request = AdapterRequest {
        data: args.data.clone(),
        purpose: PlanPurpose::Run,
        ..AdapterRequest::single(&args.document)
    };
    let mut config = operator::gate_config()?;
    let answers = Confirming::of(&args);
    if answers != Confirming::No {
        // The person is here and is asked at once.
        config.confirm.wait_seconds = 0;
    }
    let gate = operator::open_gate(config, false).await?;
    let gateway = open_gateway(request.resolve()?, true, &gate).await?;
    let snapshot = gateway.snapshot();
    let served = snapshot.adapters().first().context("the document contains no adapter")?;
    let mut params = parse_params(args.params.as_deref(), &args.pairs, &args.operation, served.catalog())?;
    params.extend(controls(&args, served.catalog())?);
    params.extend(dry_run(&args, served.catalog())?);
    let (caller, progress) = Caller::listener();
    let calls = async {
        let outcome = served.call_operation(&args.operation, params.clone(), &caller).await;
        match confirm(&gate, answers, &params, &outcome).await? {
            Some(confirmed) => Ok(served.call_operation(&args.operation, confirmed, &caller).await),
            None => Ok(outcome),
        }
    };
    let outcome = tokio::select! {
        outcome = calls => outcome,
        never = show_progress(progress), if output::stderr_is_terminal() => match never {},
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    gateway.close().await;
    if let Some(log) = gate.log() {
        log.close().await;
    }
    let outcome = outcome?;
    if args.envelope {
        output::print_data(&response::envelope(&outcome, ErrorPolicy::Unrecoverable).text);
    }
    match outcome {
        Ok(answer) => {
            if !args.envelope {
                print_answer(&to_raw_value(&answer.data)?, args.format);
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

/// Prints the messages about the progress of a call until it is dropped.
async fn show_progress(mut progress: watch::Receiver<Progress>) -> Infallible {
    loop {
        if progress.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        let message = progress.borrow_and_update().message.clone();
        message.iter().for_each(|message| output::status_line(message));
    }
}

/// Prints data as it was answered: no number and no text is parsed.
fn print_answer(data: &RawValue, format: DataFormat) {
    match (format, shape::raw_list_in(data)) {
        (DataFormat::Json, _) => output::print_data(&indented(data.get())),
        (DataFormat::Ndjson, items) => {
            let items = items.unwrap_or_else(|| vec![data]);
            items.into_iter().for_each(|item| output::print_data(&minified(item.get())));
        }
        (DataFormat::Table, Some(items)) => output::print_data(&table::of_items(&items)),
        (DataFormat::Table, None) => output::print_data(&table::of_item(data)),
    }
}

/// Returns the query controls of the flags. Their names start with an underscore, so that no parameter takes their place.
fn controls(args: &args::CallCommandArgs, catalog: &Catalog) -> Result<Map<String, Value>> {
    let mut controls = Map::new();
    if let Some(fields) = &args.fields {
        controls.insert("_fields".into(), fields.as_str().into());
    }
    let mut filter = Map::new();
    for condition in &args.filter {
        let (name, condition) = parse_condition(condition)?;
        match (filter.get_mut(&name), condition) {
            // Two conditions on the same field, such as a range.
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(_), _) => {
                let problem = format!("--filter has two conditions for '{name}' that do not go together");
                return Err(error_with_hint(
                    problem,
                    format!("for any of several values, write --filter '{name}=[\"a\",\"b\"]'"),
                ));
            }
            (None, condition) => {
                filter.insert(name, condition);
            }
        }
    }
    if !filter.is_empty() {
        controls.insert("_filter".into(), filter.into());
    }
    let sort: Vec<Value> = args.sort.iter().flat_map(|keys| keys.split(',')).map(sort_key).collect();
    if !sort.is_empty() {
        controls.insert("_sort".into(), sort.into());
    }
    if args.all_pages {
        controls.insert("_all_pages".into(), true.into());
    }
    let is_refused = catalog.get(&args.operation).is_some_and(|entry| !entry.operation.takes_controls());
    if !controls.is_empty() && is_refused {
        let problem = format!("`{}` takes no --fields, --filter, --sort or --all-pages", args.operation);
        return Err(error_with_hint(problem, "only operations that read data do"));
    }
    Ok(controls)
}

/// Returns the parameter of a dry run.
fn dry_run(args: &args::CallCommandArgs, catalog: &Catalog) -> Result<Option<(String, Value)>> {
    let is_refused = catalog.get(&args.operation).is_some_and(|entry| !entry.operation.takes_dry_run());
    if args.dry_run && is_refused {
        let problem = format!("`{}` takes no --dry-run", args.operation);
        return Err(error_with_hint(problem, "only operations that change something do"));
    }
    Ok(args.dry_run.then(|| ("_dry_run".to_owned(), true.into())))
}

fn sort_key(text: &str) -> Value {
    match text.rsplit_once(':') {
        Some((field, order)) => json!({"field": field, "order": order}),
        None => json!({"field": text}),
    }
}

/// Parses a condition, such as `state=open` or `size>=5`.
fn parse_condition(text: &str) -> Result<(String, Value)> {
    let operators = [(">=", "gte"), ("<=", "lte"), ("!=", "not"), ("=", ""), (">", "gt"), ("<", "lt")];
    let found = operators.iter().filter_map(|(sign, name)| Some((text.find(sign)?, *sign, *name)));
    // The first sign counts; of two signs in one place, the longer one.
    let first = found.min_by_key(|(position, sign, _)| (*position, std::cmp::Reverse(sign.len())));
    let parts = first.and_then(|(_, sign, name)| Some((text.split_once(sign)?, name)));
    let Some(((field, value), operator)) = parts.filter(|((field, _), _)| !field.trim().is_empty()) else {
        let problem = format!("'{text}' is not a condition");
        return Err(error_with_hint(problem, "write --filter state=open, or --filter 'size>=5'"));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let condition = if operator.is_empty() { value } else { json!({operator: value}) };
    Ok((field.trim().to_owned(), condition))
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

/// Parses the parameters of a call, each as the type that the operation declares.
pub(crate) fn parse_params(
    json: Option<&str>,
    pairs: &[String],
    operation: &str,
    catalog: &Catalog,
) -> Result<Map<String, Value>> {
    let mut params = match json {
        None => Map::new(),
        Some("-") => object(&file::read_stdin()?)?,
        Some(text) => object(text)?,
    };
    let mut typed = HashSet::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let (problem, example) = match pair.strip_prefix('=') {
                Some(value) => (format!("the value '{value}' has no name"), format!("NAME={value}")),
                None => (format!("'{pair}' has no value"), format!("{pair}=VALUE")),
            };
            let hint = format!("write {example}, or pass all parameters with --params JSON");
            return Err(error_with_hint(problem, hint));
        };
        let operation =
            catalog.get(operation).and_then(|entry| Some(catalog.full_operation(entry)?.operation));
        let param = operation.and_then(|operation| operation.param(key));
        let schema = param.map(|param| &param.schema);
        check_number(key, value, schema)?;
        let value = match value.strip_prefix('@') {
            Some(text) if text.starts_with('@') => parse_value(text, schema),
            Some(path) => file_value(Path::new(path), operation, param)?,
            None => parse_value(value, schema),
        };
        if !typed.insert(key) {
            let hint = format!("for a list, write {key}=A,B or {key}='[\"A\", \"B\"]'");
            return Err(error_with_hint(format!("'{key}' is given twice"), hint));
        }
        params.insert(key.to_owned(), value);
    }
    Ok(params)
}

/// Refuses numbers that would be another number, or none, if they were parsed.
fn check_number(name: &str, text: &str, schema: Option<&Value>) -> Result<()> {
    let types = types(schema);
    let is_number = types.iter().any(|name| ["integer", "number"].contains(name));
    let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
    if !is_number || types.contains(&"string") || !is_json {
        return Ok(());
    }
    let problem = if inexact_integer(text).is_some() {
        "has more than 64 bits and would lose digits"
    } else if serde_json::from_str::<Value>(text).is_err() {
        "is out of range"
    } else {
        return Ok(());
    };
    let shown: String = text.chars().take(40).collect();
    Err(error_with_hint(
        format!("the number {shown} of '{name}' {problem}"),
        "pass a number between -1.7e308 and 1.7e308, with up to 64 bits if it is an integer",
    ))
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
    // A file of a form may have a name and a media type.
    let takes_name = schema.and_then(|schema| schema.pointer("/anyOf")).is_some();
    let name = path.file_name().and_then(|name| name.to_str()).filter(|_| takes_name && !is_binary_body);
    let Some(name) = name else { return Ok(data.into()) };
    let mut file = json!({ "data": data, "filename": name });
    if let (Some(file), Some(kind)) = (file.as_object_mut(), media_type(path)) {
        file.insert("content_type".to_owned(), kind.into());
    }
    Ok(file)
}

/// Returns the media type of a file by its extension. APIs check that of images and documents.
fn media_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "xml" => "application/xml",
        "zip" => "application/zip",
        "csv" => "text/csv",
        "txt" => "text/plain",
        "md" => "text/markdown",
        "html" => "text/html",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        _ => return None,
    })
}

fn object(text: &str) -> Result<Map<String, Value>> {
    const HINT: &str = "for example --params '{\"limit\": 5}', with quotes for the shell";
    if let Some(integer) = inexact_integer(text) {
        let message =
            format!("the integer {integer} in --params has more than 64 bits and would lose digits");
        return Err(error_with_hint(message, "send it as text, in quotes, if the parameter accepts text"));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(error_with_hint("--params must be a JSON object", HINT)),
        Err(error) => Err(error_with_hint(format!("--params is not valid JSON: {error}"), HINT)),
    }
}

/// Parses a value as the type of its parameter. A value that does not fit is passed on, so that validation reports it.
fn parse_value(text: &str, schema: Option<&Value>) -> Value {
    let types = types(schema);
    if types.contains(&"string") {
        return Value::from(text);
    }
    // An integer that would lose digits stays text, which validation refuses where a number is needed.
    let parsed = serde_json::from_str::<Value>(text).ok().filter(|_| inexact_integer(text).is_none());
    let is_array = types.contains(&"array") && !parsed.as_ref().is_some_and(|value| fits(value, &types));
    if !is_array {
        return parsed.unwrap_or_else(|| Value::from(text));
    }
    let item_schema = schema.and_then(|schema| schema.get("items"));
    // The commas of a JSON object do not separate items.
    let items = if parsed.is_some() { vec![text] } else { text.split(',').map(str::trim).collect() };
    items.into_iter().map(|item| parse_item(item, item_schema)).collect()
}

/// Returns the JSON Schema types of a parameter.
fn types(schema: Option<&Value>) -> Vec<&str> {
    match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
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
    use super::{check_number, parse_condition, parse_value};
    use serde_json::json;

    #[test]
    fn conditions_have_a_field_a_sign_and_a_value() {
        for (text, name, condition) in [
            ("state=open", "state", json!("open")),
            ("size>=5", "size", json!({"gte": 5})),
            ("size<5", "size", json!({"lt": 5})),
            ("user.login=ada", "user.login", json!("ada")),
            ("note=a>b", "note", json!("a>b")),
            ("tags=[1,2]", "tags", json!([1, 2])),
            ("id!=3", "id", json!({"not": 3})),
            ("a = 1", "a", json!(1)),
            ("a = b", "a", json!(" b")),
            (r#"state=["open","new"]"#, "state", json!(["open", "new"])),
        ] {
            assert_eq!(parse_condition(text).unwrap(), (name.to_owned(), condition), "{text}");
        }
        assert!(parse_condition("open").is_err() && parse_condition("=open").is_err());
    }

    #[test]
    fn numbers_that_would_change_are_refused() {
        let integer = json!({"type": "integer"});
        for (text, problem) in [
            ("123456789012345678901234567890", Some("more than 64 bits")),
            ("1e400", Some("out of range")),
            ("5", None),
            ("x", None),
        ] {
            let error = check_number("n", text, Some(&integer)).err().map(|error| error.to_string());
            assert_eq!(error.is_some(), problem.is_some(), "{text}");
            assert!(error.unwrap_or_default().contains(problem.unwrap_or_default()), "{text}");
        }
        for schema in [Some(json!({"type": ["string", "integer"]})), Some(json!({})), None] {
            assert!(check_number("n", "1e400", schema.as_ref()).is_ok());
        }
    }

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
