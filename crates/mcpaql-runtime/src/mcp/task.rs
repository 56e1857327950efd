//! Work in the background, as MCP's tasks extension shows it to clients that know it.
//!
//! A task has the id of its execution, so the same work can be asked after either way.

use mcpaql_core::response::Reply;
use rmcp::model::{CallToolResult, DetailedTask, JsonObject, TaskPayload, TaskStatus};
use serde_json::Value;

/// How soon a client may ask again.
const POLL_INTERVAL_MS: u64 = 1_000;

/// One piece of work in the background.
#[derive(Debug, Clone)]
pub struct Task {
    /// The execution's id.
    pub id: String,
    /// What has come of it.
    pub state: TaskState,
    /// For people.
    pub message: Option<String>,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// How long after its creation it may be asked after, where that is known.
    pub ttl_ms: Option<u64>,
}

/// What has come of it.
#[derive(Debug, Clone)]
pub enum TaskState {
    /// Nothing yet.
    Working,
    /// What the call would have answered, success or failure.
    Ended(Reply),
    /// It was stopped.
    Cancelled,
}

impl Task {
    /// Without what has come of it, as a call is answered.
    pub(super) fn seed(&self) -> rmcp::model::Task {
        let status = match self.state {
            TaskState::Working => TaskStatus::Working,
            TaskState::Ended(_) => TaskStatus::Completed,
            TaskState::Cancelled => TaskStatus::Cancelled,
        };
        let task = rmcp::model::Task::new(&self.id, status, &self.created_at, &self.updated_at)
            .with_poll_interval_ms(POLL_INTERVAL_MS);
        let task = match &self.message {
            Some(message) => task.with_status_message(message),
            None => task,
        };
        match self.ttl_ms {
            Some(ttl) => task.with_ttl_ms(ttl),
            None => task,
        }
    }

    /// With what has come of it, which `answer` writes as a call's result.
    pub(super) fn detailed(self, answer: impl FnOnce(Reply) -> CallToolResult) -> DetailedTask {
        let seed = self.seed();
        let payload = match self.state {
            TaskState::Working => TaskPayload::Working,
            TaskState::Cancelled => TaskPayload::Cancelled,
            TaskState::Ended(reply) => TaskPayload::Completed { result: object(&answer(reply)) },
        };
        DetailedTask::new(seed, payload)
    }
}

fn object(result: &CallToolResult) -> JsonObject {
    match serde_json::to_value(result) {
        Ok(Value::Object(map)) => map,
        _ => JsonObject::new(),
    }
}
