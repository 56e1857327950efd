//! An execution as something a client asks after, with the answer that its call would have had.

use mcpaql_core::response::ToolReply;

/// One piece of work in the background.
#[derive(Debug, Clone)]
pub struct BackgroundTask {
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
    Ended(ToolReply),
    /// It was stopped.
    Cancelled,
}
