//! `mcpaql approve`: lists the calls that wait for a person, and approves or denies them.
//!
//! What always holds: a person sees the operation, its parameters, where it goes, who asks and why it is dangerous before they decide;
//! untrusted text never controls the terminal.

use crate::args::ApproveAction;
use crate::output::{ask_yes_or_no, error_with_hint};
use crate::{CommandOutcome, args, operator, output};
use anyhow::Result;
use mcpaql_core::gate::log::{LogRecord, RecordKind};
use mcpaql_core::timestamp::timestamp;
use mcpaql_runtime::operator::{Confirmation, ConfirmationStatus, Decided, OperatorState};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// How often `--follow` looks for new calls.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum characters of a parameter in the list.
const MAX_PARAMS: usize = 60;

pub(crate) async fn run(args: args::ApproveArgs) -> Result<CommandOutcome> {
    let state = operator::open_state().await?;
    match (&args.action, &args.id) {
        (Some(ApproveAction::Show { id }), _) => show(&state, id, args.json).await,
        (Some(ApproveAction::Approve { id }), _) | (None, Some(id)) => decide(&state, id, true, args.json).await,
        (Some(ApproveAction::Deny { id }), _) => decide(&state, id, false, args.json).await,
        (None, None) if args.follow => follow(&state, args.json).await,
        (None, None) => list(&state, args.json).await,
    }
}

async fn list(state: &OperatorState, json: bool) -> Result<CommandOutcome> {
    let pending = state.pending(None).await?;
    if json {
        let list: Vec<Value> = pending.iter().map(as_json).collect();
        output::print_data(&serde_json::to_string_pretty(&list)?);
        return Ok(CommandOutcome::Clean);
    }
    if pending.is_empty() {
        output::status_line("No call waits for approval");
        return Ok(CommandOutcome::Clean);
    }
    let head = ["ID", "CALLER", "OPERATION", "DANGER", "UNTIL", "PARAMETERS"].map(str::to_owned);
    let rows = pending.iter().map(|one| {
        let scope = &one.scope;
        [
            one.id.clone(),
            scope.caller.clone(),
            format!("{} {}", scope.adapter, scope.operation),
            one.danger.as_str().to_owned(),
            timestamp(one.expires_at / 1000),
            shortened(one.request.get("params")),
        ]
        .map(|cell| output::sanitize_line(&cell))
    });
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    output::print_data(&output::format_table(&rows, 6));
    output::status_line("To decide: mcpaql approve show ID, mcpaql approve ID, mcpaql approve deny ID");
    Ok(CommandOutcome::Clean)
}

async fn show(state: &OperatorState, id: &str, json: bool) -> Result<CommandOutcome> {
    let found = find(state, id).await?;
    if json {
        output::print_data(&serde_json::to_string_pretty(&as_json(&found))?);
    } else {
        output::print_data(&output::sanitize(&describe(&found)));
    }
    Ok(CommandOutcome::Clean)
}

async fn decide(state: &OperatorState, id: &str, is_approved: bool, json: bool) -> Result<CommandOutcome> {
    let found = find(state, id).await?;
    let decided = store(state, &found, is_approved).await?;
    let word = if is_approved { "approved" } else { "denied" };
    let status = match decided {
        Decided::Stored => word,
        Decided::AlreadyEnded(status) => status.as_str(),
        Decided::Unknown => "unknown",
    };
    let outcome = if decided == Decided::Stored { CommandOutcome::Clean } else { CommandOutcome::Findings };
    if json {
        output::print_data(&json!({"id": found.id, "status": status, "decided": decided == Decided::Stored}).to_string());
        return Ok(outcome);
    }
    let call = format!("{} {}", found.scope.adapter, found.scope.operation);
    output::status_line(&match (decided, is_approved) {
        (Decided::Stored, true) => format!("Approved {call}: the next call with these parameters runs, once"),
        (Decided::Stored, false) => format!("Denied {call}"),
        _ => format!("Nothing to decide: the request for {call} is {status}"),
    });
    Ok(outcome)
}

/// Asks about each call that waits, until Ctrl-C.
async fn follow(state: &OperatorState, json: bool) -> Result<CommandOutcome> {
    let can_ask = output::can_ask() && !json;
    if !can_ask && !json {
        let hint = "use `mcpaql approve`, `mcpaql approve ID` and `mcpaql approve deny ID`, or --follow --json to only watch";
        return Err(error_with_hint("--follow asks on a terminal, and this is none", hint));
    }
    if can_ask {
        output::status_line("Waiting for calls. Press Ctrl-C to stop.");
    }
    let mut seen: HashSet<String> = HashSet::new();
    let mut revision = None;
    loop {
        let now = state.revision().await?;
        if revision != Some(now) {
            revision = Some(now);
            for one in state.pending(None).await? {
                if !seen.insert(one.id.clone()) {
                    continue;
                }
                if !can_ask {
                    output::print_data(&as_json(&one).to_string());
                    continue;
                }
                output::print_data(&output::sanitize(&format!("\n{}", describe(&one))));
                let answer = tokio::task::spawn_blocking(|| ask_yes_or_no("Approve this call?")).await??;
                match store(state, &one, answer).await? {
                    Decided::Stored if answer => output::status_line("Approved"),
                    Decided::Stored => output::status_line("Denied"),
                    _ => output::status_line("Too late: the request is over"),
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = tokio::signal::ctrl_c() => return Ok(CommandOutcome::Clean),
        }
    }
}

/// Returns the call with an id, or with the only id that starts like this.
async fn find(state: &OperatorState, id: &str) -> Result<Confirmation> {
    if let Some(found) = state.confirmation(id).await? {
        return Ok(found);
    }
    let mut pending = state.pending(None).await?;
    let all: Vec<String> = pending.iter().map(|one| one.id.clone()).collect();
    pending.retain(|one| id.len() >= 4 && one.id.contains(id));
    if pending.len() == 1
        && let Some(found) = pending.pop()
    {
        return Ok(found);
    }
    let hint = match all.is_empty() {
        true => "no call waits for approval".to_owned(),
        false => format!("waiting: {}", all.join(", ")),
    };
    Err(error_with_hint(format!("there is no request '{id}'"), hint))
}

/// Stores the decision of the operator, and records it.
pub(super) async fn store(state: &OperatorState, one: &Confirmation, is_approved: bool) -> Result<Decided> {
    let user = operator::user();
    let mut record = LogRecord::new(RecordKind::Approval, operator::now());
    record.caller = Some(user.clone());
    record.adapter = Some(one.scope.adapter.clone());
    record.operation = Some(one.scope.operation.clone());
    record.danger = Some(one.danger.as_str().to_owned());
    record.decision = Some(if is_approved { "approved" } else { "denied" }.to_owned());
    record.params_hash = Some(one.scope.call_hash.clone());
    record.details.insert("approval_id".to_owned(), one.id.as_str().into());
    record.details.insert("for".to_owned(), one.scope.caller.as_str().into());
    // First the record: an approval without a trace is never valid.
    operator::append(record).await?;
    Ok(state.decide(&one.id, is_approved, &user).await?)
}

fn shortened(value: Option<&Value>) -> String {
    let text = value.map(Value::to_string).unwrap_or_default();
    if text.chars().count() <= MAX_PARAMS {
        return text;
    }
    format!("{}…", text.chars().take(MAX_PARAMS - 1).collect::<String>())
}

/// Returns everything that a person needs to know about a call.
fn describe(one: &Confirmation) -> String {
    let request = &one.request;
    let text = |key: &str| request.get(key).and_then(Value::as_str).map(output::sanitize_line);
    let mut lines = vec![format!("{} wants to run {}", one.scope.caller, output::sanitize_line(&one.scope.operation))];
    let mut row = |name: &str, value: Option<String>| {
        lines.extend(value.map(|value| format!("  {name:<12}{value}")));
    };
    row("title", text("title"));
    row("adapter", Some(output::sanitize_line(&one.scope.adapter)));
    row("reaches", text("reaches"));
    row("category", text("category"));
    row("danger", Some(one.danger.as_str().to_owned()));
    row("client", text("client"));
    for reason in request.get("reasons").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        row("because", Some(output::sanitize_line(reason)));
    }
    for (name, value) in request.get("params").and_then(Value::as_object).into_iter().flatten() {
        row("parameter", Some(output::sanitize_line(&format!("{name} = {value}"))));
    }
    for (name, change) in request.get("changes").and_then(Value::as_object).into_iter().flatten() {
        let part = |key: &str| change.get(key).map(Value::to_string).unwrap_or_default();
        row("changes", Some(output::sanitize_line(&format!("{name}: {} → {}", part("from"), part("to")))));
    }
    if let Some(current) = request.get("current") {
        row("now", Some(output::sanitize_line(&current.to_string())));
    }
    if one.status == ConfirmationStatus::Open {
        row("until", Some(timestamp(one.expires_at / 1000)));
    } else {
        row("status", Some(one.status.as_str().to_owned()));
    }
    row("id", Some(one.id.clone()));
    lines.join("\n")
}

fn as_json(one: &Confirmation) -> Value {
    json!({
        "id": one.id,
        "status": one.status.as_str(),
        "caller": one.scope.caller,
        "adapter": one.scope.adapter,
        "operation": one.scope.operation,
        "danger": one.danger.as_str(),
        "issued_at": timestamp(one.issued_at / 1000),
        "expires_at": timestamp(one.expires_at / 1000),
        "decided_by": one.decided_by,
        "request": one.request,
    })
}
