//! An execution as a task of MCP's tasks extension. Its reply is the same as the reply of a call in the foreground.

use mcpaql_core::response::ToolReply;

/// A call that runs in the background.
#[derive(Debug, Clone)]
pub struct BackgroundTask {
    /// The execution's id.
    pub id: String,
    /// Its state, and the reply if it has ended.
    pub state: TaskState,
    /// A message for people.
    pub message: Option<String>,
    /// When the execution started, in RFC 3339.
    pub created_at: String,
    /// When the execution ended, or the current time if it has not ended; in RFC 3339.
    pub updated_at: String,
    /// How long after its creation the task can be read, if known.
    pub ttl_ms: Option<u64>,
}

/// The state of a background task.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub enum TaskState {
    /// Pending or running.
    Working,
    /// Ended, with the reply of the call: a success or an error.
    Ended(Box<ToolReply>),
    /// Cancelled.
    Cancelled,
}
