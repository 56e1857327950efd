//! Executions as callers see them.

use super::STARTED_PERCENT;
use super::task::{BackgroundTask, TaskState};
use crate::state::{ExecutionOutcome, ExecutionRow, StoredExecution, timestamp};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::lifecycle::ExecutionStatus;
use mcpaql_core::response::{Answer, ToolReply, error_json};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// An execution; fields without a value are omitted.
#[derive(Serialize)]
struct ExecutionView<'a> {
    execution_id: &'a str,
    operation: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "ProgressView::is_empty")]
    progress: ProgressView<'a>,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// What is known about the progress of an execution.
#[derive(Default, Serialize)]
struct ProgressView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    percentage: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl<'a> ProgressView<'a> {
    /// An execution that only started has no percentage: nobody has measured any.
    fn of(row: &'a ExecutionRow) -> ProgressView<'a> {
        ProgressView {
            percentage: Some(row.progress).filter(|percentage| *percentage > STARTED_PERCENT),
            message: row.message.as_deref(),
        }
    }

    fn is_empty(&self) -> bool {
        self.percentage.is_none() && self.message.is_none()
    }
}

impl<'a> ExecutionView<'a> {
    fn of(row: &'a ExecutionRow) -> ExecutionView<'a> {
        ExecutionView {
            execution_id: &row.id,
            operation: &row.operation,
            status: row.status().as_str(),
            progress: ProgressView::of(row),
            started_at: timestamp(row.started_at),
            finished_at: row.finished_at.map(timestamp),
            expires_at: None,
            result: None,
            warnings: None,
            error: None,
        }
    }

    fn answer(&self) -> Result<Answer, OpError> {
        to_raw_value(self).map(Answer::new).map_err(|error| {
            OpError::new(Code::Internal, "The execution could not be serialized; tell the user.")
                .with_cause(error)
        })
    }
}

/// The answer of the call that starts an execution.
pub(super) fn started(row: &ExecutionRow) -> Result<Answer, OpError> {
    ExecutionView { progress: ProgressView::default(), ..ExecutionView::of(row) }.answer()
}

/// An execution without its outcome.
pub(super) fn without_outcome(row: &ExecutionRow) -> Result<Answer, OpError> {
    ExecutionView::of(row).answer()
}

/// An execution with its outcome, if it has ended.
pub(super) fn with_outcome(StoredExecution { row, outcome }: StoredExecution) -> Result<Answer, OpError> {
    let mut view = ExecutionView { expires_at: row.expires_at.map(timestamp), ..ExecutionView::of(&row) };
    match &outcome {
        None => {}
        Some(ExecutionOutcome::Done(done)) => {
            view.result = Some(&done.data);
            view.warnings = done.warnings.as_deref();
        }
        Some(ExecutionOutcome::Failed(error)) => view.error = Some(error_json(error)),
    }
    let answer = view.answer()?;
    let blocks = match outcome {
        Some(ExecutionOutcome::Done(done)) => done.blocks,
        _ => Vec::new(),
    };
    Ok(answer.with_blocks(blocks))
}

/// One page of executions. `rows` has one extra row if there is a next page. `is_first` is false after a cursor.
pub(super) fn list(rows: &[ExecutionRow], first: usize, is_first: bool) -> Result<Answer, OpError> {
    #[derive(Serialize)]
    struct Listed<'a> {
        items: Vec<ExecutionView<'a>>,
        #[serde(rename = "pageInfo")]
        page_info: Value,
    }
    let view = rows.get(..first).unwrap_or(rows);
    let mut page_info = json!({"hasNextPage": rows.len() > view.len(), "hasPreviousPage": !is_first});
    if let (Some(start), Some(end), Some(info)) = (view.first(), view.last(), page_info.as_object_mut()) {
        info.insert("startCursor".into(), format!("x{:x}", start.seq).into());
        info.insert("endCursor".into(), format!("x{:x}", end.seq).into());
    }
    let listed = Listed { items: view.iter().map(ExecutionView::of).collect(), page_info };
    to_raw_value(&listed).map(Answer::new).map_err(|error| {
        OpError::new(Code::Internal, "The executions could not be serialized; tell the user.")
            .with_cause(error)
    })
}

/// Returns the sequence number in a cursor.
pub(super) fn parse_cursor(cursor: &str) -> Option<i64> {
    let digits = cursor.strip_prefix('x')?;
    let seq = i64::from_str_radix(digits, 16).ok().filter(|seq| *seq > 0)?;
    // Only one spelling is valid.
    (format!("{seq:x}") == digits).then_some(seq)
}

/// An execution as a task of MCP's tasks extension. `reply` turns the outcome into the reply of the call.
pub(super) fn task(
    StoredExecution { row, outcome }: StoredExecution,
    reply: impl FnOnce(&str, ExecutionOutcome) -> ToolReply,
) -> BackgroundTask {
    let state = match (row.status(), outcome) {
        (ExecutionStatus::Cancelled, _) => TaskState::Cancelled,
        (ExecutionStatus::Completed | ExecutionStatus::Failed, Some(outcome)) => {
            TaskState::Ended(Box::new(reply(&row.operation, outcome)))
        }
        (ExecutionStatus::Completed | ExecutionStatus::Failed, None) => {
            let message = "The outcome of this execution cannot be read; tell the user.";
            let failed = ExecutionOutcome::Failed(OpError::new(Code::Internal, message));
            TaskState::Ended(Box::new(reply(&row.operation, failed)))
        }
        (ExecutionStatus::Pending | ExecutionStatus::Running, _) => TaskState::Working,
    };
    let ttl = row.expires_at.map(|end| end.saturating_sub(row.started_at).saturating_mul(1000));
    BackgroundTask {
        state,
        message: row.message,
        created_at: timestamp(row.started_at),
        updated_at: timestamp(row.finished_at.unwrap_or_else(crate::state::now)),
        ttl_ms: ttl.and_then(|ttl| u64::try_from(ttl).ok()),
        id: row.id,
    }
}

#[cfg(test)]
mod tests {
    use super::parse_cursor;

    #[test]
    fn a_cursor_has_one_spelling() {
        assert_eq!(parse_cursor("x2f"), Some(0x2f));
        for text in ["", "x", "x0", "x-1", "x+1", "x02f", "x2F", "2f", "x2f ", "xffffffffffffffffff"] {
            assert_eq!(parse_cursor(text), None, "{text:?}");
        }
    }
}
