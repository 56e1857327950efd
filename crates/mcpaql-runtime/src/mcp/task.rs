//! Work in the background, as MCP's tasks extension shows it to clients that know it.
//!
//! A task has the id of its execution, so the same work can be asked after either way.

use crate::execution::{BackgroundTask, TaskState};
use mcpaql_core::response::ToolReply;
use rmcp::model::{CallToolResult, DetailedTask, JsonObject, TaskPayload, TaskStatus};
use serde_json::Value;

/// How soon a client may ask again.
const POLL_INTERVAL_MS: u64 = 1_000;

/// Without what has come of it, as a call is answered.
pub(super) fn summary(task: &BackgroundTask) -> rmcp::model::Task {
    let status = match task.state {
        TaskState::Working => TaskStatus::Working,
        TaskState::Ended(_) => TaskStatus::Completed,
        TaskState::Cancelled => TaskStatus::Cancelled,
    };
    let seed = rmcp::model::Task::new(&task.id, status, &task.created_at, &task.updated_at)
        .with_poll_interval_ms(POLL_INTERVAL_MS);
    let seed = match &task.message {
        Some(message) => seed.with_status_message(message),
        None => seed,
    };
    match task.ttl_ms {
        Some(ttl) => seed.with_ttl_ms(ttl),
        None => seed,
    }
}

/// With what has come of it, which `answer` writes as a call's result.
pub(super) fn detailed(
    task: BackgroundTask,
    answer: impl FnOnce(ToolReply) -> CallToolResult,
) -> DetailedTask {
    let seed = summary(&task);
    let payload = match task.state {
        TaskState::Working => TaskPayload::Working,
        TaskState::Cancelled => TaskPayload::Cancelled,
        TaskState::Ended(reply) => TaskPayload::Completed { result: object(&answer(reply)) },
    };
    DetailedTask::new(seed, payload)
}

fn object(result: &CallToolResult) -> JsonObject {
    match serde_json::to_value(result) {
        Ok(Value::Object(map)) => map,
        _ => JsonObject::new(),
    }
}
