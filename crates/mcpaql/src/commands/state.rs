//! `mcpaql state backup` and `mcpaql state restore`: copies of the operator's state.

use crate::{CommandOutcome, args, operator, output};
use anyhow::{Context, Result};
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use serde_json::json;

pub(crate) async fn backup(args: args::StateFileArgs) -> Result<CommandOutcome> {
    let state = operator::open_state().await?;
    state.backup(&args.file).await.context("the state was not backed up")?;
    report(&args, "Wrote a backup to");
    Ok(CommandOutcome::Clean)
}

pub(crate) async fn restore(args: args::StateFileArgs) -> Result<CommandOutcome> {
    let state = operator::open_state().await?;
    state.restore(&args.file).await.context("the state was not restored")?;
    let mut record = LogRecord::new(RecordKind::Restore, operator::now());
    record.caller = Some(operator::user());
    record.details.insert("file".to_owned(), args.file.display().to_string().into());
    operator::append(record).await?;
    report(&args, "Restored the state from");
    Ok(CommandOutcome::Clean)
}

fn report(args: &args::StateFileArgs, what: &str) {
    let file = args.file.display();
    if args.json {
        output::print_data(&json!({"file": file.to_string()}).to_string());
    } else {
        output::status_line(&format!("{what} {file}"));
    }
}
