//! `mcpaql search`: finds operations by what they do, ranked as `introspect` ranks them for agents.

use crate::documents::AdapterRequest;
use crate::{CommandOutcome, args, output};
use anyhow::{Context, Result};
use mcpaql_core::introspect;
use mcpaql_core::request;
use serde_json::{Map, Value, json};

pub(crate) fn run(args: &args::SearchArgs) -> Result<CommandOutcome> {
    let (_, catalog) = AdapterRequest::single(&args.document)
        .resolve()?
        .catalogs()?
        .catalogs
        .pop()
        .context("the document contains no adapter")?;
    let mut params = Map::new();
    params.insert("search".into(), args.text.join(" ").into());
    params.insert("first".into(), args.first.into());
    let answer = request::prepare_operation(&catalog, mcpaql_core::operation::INTROSPECT, params)
        .and_then(|call| introspect::answer(&catalog, &call.args))
        .map_err(|error| anyhow::anyhow!(error.message))?;
    let data = answer.data.into_value();
    let hits = data.get("operations").and_then(Value::as_array).cloned().unwrap_or_default();
    if args.json {
        output::print_data(&json!(data).to_string());
    } else {
        hits.iter().for_each(|hit| output::print_data(&text(hit)));
    }
    if hits.is_empty() {
        output::status_line("No matching operations found; try other words");
        return Ok(CommandOutcome::Findings);
    }
    Ok(CommandOutcome::Clean)
}

/// Formats a result: the signature, the summary, and the operations that provide its parameters.
fn text(hit: &Value) -> String {
    let signature = hit.get("signature").and_then(Value::as_str).unwrap_or_default();
    let mut lines = vec![signature.to_owned()];
    lines.extend(hit.get("summary").and_then(Value::as_str).map(|summary| format!("    {summary}")));
    for (param, producers) in hit.get("from").and_then(Value::as_object).into_iter().flatten() {
        let names: Vec<&str> = producers.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        lines.push(format!("    {param} comes from {}", names.join(", ")));
    }
    output::sanitize(&lines.join("\n"))
}
