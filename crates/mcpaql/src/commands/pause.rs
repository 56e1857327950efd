//! `mcpaql pause` and `mcpaql resume`: the emergency stop of all running servers.

use crate::{CommandOutcome, args, operator, output};
use anyhow::Result;
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use mcpaql_core::timestamp::timestamp;
use mcpaql_runtime::operator::{OperatorState, Pause};
use serde_json::{Value, json};

pub(crate) async fn pause(args: args::PauseArgs) -> Result<CommandOutcome> {
    let state = operator::open_state().await?;
    state.pause(args.adapter.as_deref(), args.except_reads, &operator::user()).await?;
    record(RecordKind::Pause, args.adapter.as_deref(), args.except_reads).await?;
    if args.json {
        return print_json(&state).await;
    }
    let what = subject(args.adapter.as_deref());
    let reads = if args.except_reads { "; reads go on" } else { "" };
    output::status_line(&format!("Paused {what}{reads}"));
    let name = args.adapter.as_deref().map(|name| format!(" {}", output::shell_word(name))).unwrap_or_default();
    output::status_line(&format!("To go on: mcpaql resume{name}"));
    Ok(CommandOutcome::Clean)
}

pub(crate) async fn resume(args: args::ResumeArgs) -> Result<CommandOutcome> {
    let state = operator::open_state().await?;
    let was_paused = state.resume(args.adapter.as_deref()).await?;
    if was_paused {
        record(RecordKind::Resume, args.adapter.as_deref(), false).await?;
    }
    let outcome = if was_paused { CommandOutcome::Clean } else { CommandOutcome::Findings };
    if args.json {
        print_json(&state).await?;
        return Ok(outcome);
    }
    let what = subject(args.adapter.as_deref());
    let message = if was_paused { format!("Resumed {what}") } else { format!("There is no pause of {what}") };
    output::status_line(&message);
    for pause in state.pauses().await? {
        output::status_line(&format!("Still paused: {}", describe(&pause)));
    }
    Ok(outcome)
}

fn subject(adapter: Option<&str>) -> String {
    adapter.map_or_else(|| "all adapters".to_owned(), |name| format!("the adapter {name}"))
}

fn describe(pause: &Pause) -> String {
    let reads = if pause.except_reads { ", except reads" } else { "" };
    format!("{}{reads} (by {}, {})", subject(pause.adapter.as_deref()), pause.by, timestamp(pause.at / 1000))
}

async fn print_json(state: &OperatorState) -> Result<CommandOutcome> {
    let row = |pause: &Pause| {
        json!({"adapter": pause.adapter, "except_reads": pause.except_reads, "by": pause.by, "at": timestamp(pause.at / 1000)})
    };
    let pauses: Vec<Value> = state.pauses().await?.iter().map(row).collect();
    output::print_data(&serde_json::to_string_pretty(&json!({ "pauses": pauses }))?);
    Ok(CommandOutcome::Clean)
}

async fn record(kind: RecordKind, adapter: Option<&str>, except_reads: bool) -> Result<()> {
    let mut record = LogRecord::new(kind, operator::now());
    record.caller = Some(operator::user());
    record.adapter = adapter.map(str::to_owned);
    if except_reads {
        record.details.insert("except_reads".to_owned(), true.into());
    }
    operator::append(record).await
}
