//! Background work as tasks of MCP's tasks extension, for clients that support it.
//!
//! A task has the id of its execution, so clients can use either to follow the same work.

use crate::execution::{BackgroundTask, TaskState};
use mcpaql_core::response::ToolReply;
use rmcp::model::{CallToolResult, DetailedTask, JsonObject, TaskPayload, TaskStatus};
use serde_json::Value;

/// How long a client should wait before it asks again.
const POLL_INTERVAL_MS: u64 = 1_000;

/// A task without its result, as the answer to a call.
pub(super) fn summary(task: &BackgroundTask) -> rmcp::model::Task {
    let status = match task.state {
        TaskState::Working => TaskStatus::Working,
        TaskState::Ended(_) => TaskStatus::Completed,
        TaskState::Cancelled => TaskStatus::Cancelled,
    };
    let summary = rmcp::model::Task::new(&task.id, status, &task.created_at, &task.updated_at)
        .with_poll_interval_ms(POLL_INTERVAL_MS);
    let summary = match &task.message {
        Some(message) => summary.with_status_message(message),
        None => summary,
    };
    match task.ttl_ms {
        Some(ttl) => summary.with_ttl_ms(ttl),
        None => summary,
    }
}

/// A task with its result, which `answer` converts to the result of a call.
pub(super) fn detailed(
    task: BackgroundTask,
    answer: impl FnOnce(ToolReply) -> CallToolResult,
) -> DetailedTask {
    let summary = summary(&task);
    let payload = match task.state {
        TaskState::Working => TaskPayload::Working,
        TaskState::Cancelled => TaskPayload::Cancelled,
        TaskState::Ended(reply) => TaskPayload::Completed { result: object(&answer(*reply)) },
    };
    DetailedTask::new(summary, payload)
}

fn object(result: &CallToolResult) -> JsonObject {
    match serde_json::to_value(result) {
        Ok(Value::Object(map)) => map,
        _ => JsonObject::new(),
    }
}
