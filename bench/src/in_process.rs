//! Calls through the gateway without a transport, for `bench/instructions`, and for the time of the store alone.

use crate::{load, relay, upstream};
use anyhow::{Context, Result, bail, ensure};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::{builtin, environment, open};
use serde_json::{Map, Value, json};
use std::path::Path;

pub(crate) fn compiled(source: &Source) -> Result<Catalog> {
    let checked = check(source, &AdapterSettings::default());
    checked.catalog.with_context(|| format!("{} cannot be served: {:?}", source.name, checked.diagnostics))
}

pub(crate) fn notebook() -> Result<Catalog> {
    compiled(&builtin::document(builtin::DEFAULT_ADAPTER).context("the built-in notebook is missing")?)
}

pub(crate) async fn gateway(catalog: Catalog, data: &Path) -> Result<Gateway> {
    let served = open::open(catalog, "bench", Some(data), &environment::process()).await?;
    Ok(Gateway::new(vec![served])?)
}

/// Reads, loads and compiles a document `times` times.
pub(crate) fn compile(file: &str, times: usize) -> Result<()> {
    let source = Source::new(file, std::fs::read_to_string(file)?);
    for _ in 0..times {
        compiled(&source)?;
    }
    Ok(())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Calls one kind of operation `calls` times.
pub(crate) async fn run(kind: &str, calls: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let nobody = Caller::nobody();
    let mut _upstream = None;
    let gateway = if kind == "http" {
        let port = load::free_port()?;
        _upstream = Some(load::own("upstream").arg(port.to_string()).spawn()?);
        drop(crate::client::Http::get(port, 1, upstream::PATH).await?);
        gateway(compiled(&Source::new("tracker.json", upstream::document(port)))?, folder.path()).await?
    } else if kind == "mcp" {
        gateway(compiled(&Source::new("issues.json", relay::document()?))?, folder.path()).await?
    } else {
        gateway(notebook()?, folder.path()).await?
    };
    let create = json!({"operation": "create_note", "params": load::note()});
    let (tool, arguments, expected) = match kind {
        "introspect" => ("notebook_mcpaql_read", json!({"operation": "introspect"}), true),
        "invalid" => {
            ("notebook_mcpaql_create", json!({"operation": "create_note", "params": {"title": 1}}), false)
        }
        "get" => {
            let reply =
                gateway.call("notebook_mcpaql_create", object(create), &nobody).await.context("no tool")?;
            let reply: Value = serde_json::from_str(&reply.text)?;
            let id = reply.pointer("/data/id").context("no id")?;
            ("notebook_mcpaql_read", json!({"operation": "get_note", "params": {"id": id}}), true)
        }
        "create" => ("notebook_mcpaql_create", create, true),
        "http" => ("tracker_mcpaql_read", json!({"operation": "get_issue", "params": load::issue()}), true),
        "mcp" => ("issues_mcpaql_read", json!({"operation": "search_issues"}), true),
        other => {
            bail!("unknown kind '{other}'; use introspect, invalid, get, create, http or mcp")
        }
    };
    let arguments = object(arguments);
    for _ in 0..calls {
        let reply = gateway.call(tool, arguments.clone(), &nobody).await.context("no such tool")?;
        ensure!(reply.text.starts_with(r#"{"success":true"#) == expected, "{}", reply.text);
    }
    Ok(())
}
