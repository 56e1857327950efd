//! Confirms a call of the command line: with a question on the terminal, or with `--yes`. Whoever types the command is the operator, so
//! this answers also what only a person may approve.

use crate::commands::approve;
use crate::output::ask_yes_or_no;
use crate::{args, output};
use anyhow::{Context, Result};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::Answer;
use mcpaql_runtime::gate::Gate;
use mcpaql_runtime::operator::Decided;
use serde_json::{Map, Value};

/// How a call is confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirming {
    /// With a question on the terminal.
    Ask,
    /// By `--yes`.
    Yes,
    /// Not at all: nobody can be asked.
    No,
}

impl Confirming {
    pub(super) fn of(args: &args::CallCommandArgs) -> Confirming {
        if args.yes {
            Confirming::Yes
        } else if output::can_ask() {
            Confirming::Ask
        } else {
            Confirming::No
        }
    }
}

/// Confirms a call if that is what it needs. Returns the parameters to call it with again.
pub(super) async fn confirm(
    gate: &Gate,
    confirming: Confirming,
    params: &Map<String, Value>,
    outcome: &Result<Answer, OpError>,
) -> Result<Option<Map<String, Value>>> {
    let Err(error) = outcome else { return Ok(None) };
    let token = error.details.get("confirmation_token").and_then(Value::as_str);
    let approval = error.details.get("approval_id").and_then(Value::as_str);
    if error.code != Code::ConfirmationRequired || (token.is_none() && approval.is_none()) {
        return Ok(None);
    }
    match confirming {
        Confirming::No => {
            let or_approve = approval.map(|id| format!(", or run `mcpaql approve {id}` and this command again")).unwrap_or_default();
            output::status_line(&format!("hint: to confirm the call, add --yes{or_approve}"));
            return Ok(None);
        }
        Confirming::Ask => {
            output::status_lines(&output::sanitize(&question(error, params)));
            let answer = tokio::task::spawn_blocking(|| ask_yes_or_no("Run it?")).await?;
            if !answer.context("the answer cannot be read")? {
                return Ok(None);
            }
        }
        Confirming::Yes => {}
    }
    let mut params = params.clone();
    if let Some(token) = token {
        params.insert("_confirmation".to_owned(), token.into());
    }
    if let Some(id) = approval {
        let request = gate.state().confirmation(id).await?.context("the request for approval is gone")?;
        if approve::store(gate.state(), &request, true).await? != Decided::Stored {
            return Ok(None);
        }
    }
    Ok(Some(params))
}

/// Returns what the user confirms.
fn question(error: &OpError, params: &Map<String, Value>) -> String {
    let text = |key: &str| error.details.get(key).and_then(Value::as_str).map(output::sanitize_line);
    let mut lines = vec![text("confirmation_message").unwrap_or_else(|| output::sanitize_line(&error.message))];
    for (name, value) in params.iter().filter(|(name, _)| !name.starts_with('_')) {
        lines.push(output::sanitize_line(&format!("  {name} = {value}")));
    }
    lines.extend(text("danger_level").map(|level| format!("  danger: {level}")));
    let reasons = error.details.get("reasons").and_then(Value::as_array).into_iter().flatten();
    lines.extend(reasons.filter_map(Value::as_str).map(|reason| format!("  because {}", output::sanitize_line(reason))));
    lines.join("\n")
}
