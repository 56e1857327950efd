//! Background work: how a document declares it, the states of an execution, and the operations to follow it.
//!
//! ```
//! use mcpaql_core::lifecycle::ExecutionStatus;
//!
//! assert!(ExecutionStatus::Pending.may_become(ExecutionStatus::Running));
//! assert!(ExecutionStatus::Failed.is_final());
//! ```
//!
//! What always holds: only EXECUTE operations have a lifecycle, and a final state never changes.

use crate::facts::{Effect, Facts, Guard, Reach, Repeat};
use crate::operation::{Binding, Category, Danger, Example, Operation, Param, ParamLocation, Returns};
use serde_json::{Map, Value, json};

/// How long a finished execution is kept by default: one day.
pub const DEFAULT_KEEP_SECONDS: u64 = 86_400;
/// Maximum time that a finished execution is kept: one year.
pub const MAX_KEEP_SECONDS: u64 = 31_536_000;
/// Default timeout of an execution: one hour.
pub const DEFAULT_EXECUTION_TIMEOUT_MS: u64 = 3_600_000;
/// Maximum time that one call waits for an execution.
pub const MAX_WAIT_SECONDS: u64 = 30;
/// Default page size of a list of executions.
pub const DEFAULT_EXECUTIONS_PAGE_SIZE: usize = 20;
/// Maximum page size of a list of executions.
pub const MAX_EXECUTIONS_PAGE_SIZE: usize = 200;

/// How an operation runs in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifecycle {
    /// It continues when the session that started it ends.
    pub survives: bool,
    /// How long it is kept after it has finished.
    pub keep_seconds: u64,
    /// Timeout, if the document sets one. It replaces the timeout of the target.
    pub timeout_ms: Option<u64>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Lifecycle { survives: false, keep_seconds: DEFAULT_KEEP_SECONDS, timeout_ms: None }
    }
}

impl Lifecycle {
    /// Returns the timeout.
    #[must_use]
    pub fn limit_ms(&self) -> u64 {
        self.timeout_ms.unwrap_or(DEFAULT_EXECUTION_TIMEOUT_MS)
    }
}

/// The state of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutionStatus {
    /// Waiting to start.
    Pending,
    /// Running.
    Running,
    /// Finished with a result.
    Completed,
    /// Finished with an error.
    Failed,
    /// Cancelled.
    Cancelled,
}

impl ExecutionStatus {
    /// All five, in order.
    pub const ALL: [ExecutionStatus; 5] = [
        ExecutionStatus::Pending,
        ExecutionStatus::Running,
        ExecutionStatus::Completed,
        ExecutionStatus::Failed,
        ExecutionStatus::Cancelled,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ExecutionStatus::Pending => "pending",
            ExecutionStatus::Running => "running",
            ExecutionStatus::Completed => "completed",
            ExecutionStatus::Failed => "failed",
            ExecutionStatus::Cancelled => "cancelled",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<ExecutionStatus> {
        ExecutionStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Returns whether the state is final.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, ExecutionStatus::Completed | ExecutionStatus::Failed | ExecutionStatus::Cancelled)
    }

    /// Returns whether `next` may follow this state.
    #[must_use]
    pub const fn may_become(self, next: ExecutionStatus) -> bool {
        match self {
            ExecutionStatus::Pending => matches!(
                next,
                ExecutionStatus::Running | ExecutionStatus::Failed | ExecutionStatus::Cancelled
            ),
            ExecutionStatus::Running => next.is_final(),
            ExecutionStatus::Completed | ExecutionStatus::Failed | ExecutionStatus::Cancelled => false,
        }
    }
}

/// An operation on executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExecutionAction {
    /// Returns one execution, after waiting for its end if requested.
    Get,
    /// Lists executions, newest first.
    List,
    /// Cancels one execution.
    Cancel,
}

impl ExecutionAction {
    /// All three.
    pub const ALL: [ExecutionAction; 3] =
        [ExecutionAction::Get, ExecutionAction::List, ExecutionAction::Cancel];

    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ExecutionAction::Get => "get",
            ExecutionAction::List => "list",
            ExecutionAction::Cancel => "cancel",
        }
    }

    /// Returns the name of the operation.
    #[must_use]
    pub const fn operation_name(self) -> &'static str {
        match self {
            ExecutionAction::Get => "get_execution",
            ExecutionAction::List => "list_executions",
            ExecutionAction::Cancel => "cancel_execution",
        }
    }

    /// Returns whether this is the name of one of these operations.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        ExecutionAction::ALL.iter().any(|action| action.operation_name() == name)
    }

    /// Returns the operation, for an adapter with this reach.
    pub(crate) fn operation(self, reach: Reach) -> Operation {
        let cancels = self == ExecutionAction::Cancel;
        let (title, description) = match self {
            ExecutionAction::Get => (
                "Get Execution",
                "Get the status of a background execution, and its result or error. `wait` waits for its end.",
            ),
            ExecutionAction::List => ("List Executions", "List background executions, newest first."),
            ExecutionAction::Cancel => {
                ("Cancel Execution", "Cancel a background execution. Changes already made are not undone.")
            }
        };
        let facts = Facts {
            effect: if cancels { Effect::Execute } else { Effect::Read },
            repeat: Repeat::NoEffect,
            overwrites: false,
            reversible: true,
            guard: Guard::None,
            reach,
        };
        let category = if cancels { Category::Execute } else { Category::Read };
        let schema = match self {
            ExecutionAction::List => listed_schema(),
            ExecutionAction::Get | ExecutionAction::Cancel => execution_schema(),
        };
        Operation {
            title: title.to_owned(),
            description: description.to_owned(),
            params: self.params(),
            returns: Some(Returns { schema, description: String::new() }),
            examples: self.examples(),
            danger: if cancels { Danger::Reversible } else { Danger::Safe },
            ..Operation::new(self.operation_name(), category, facts, Binding::Execution(self))
        }
    }

    fn params(self) -> Vec<Param> {
        let id = Param {
            required: true,
            description: "The id returned by the call that started it".to_owned(),
            ..Param::new("execution_id", ParamLocation::Query, json!({"type": "string", "maxLength": 64}))
        };
        let optional = |name: &str, description: &str, schema: Value| Param {
            description: description.to_owned(),
            ..Param::new(name, ParamLocation::Query, schema)
        };
        match self {
            ExecutionAction::Cancel => vec![id],
            ExecutionAction::Get => {
                let seconds = json!({"type": "number", "minimum": 0, "maximum": MAX_WAIT_SECONDS});
                vec![id, optional("wait", "Seconds to wait for its end", seconds)]
            }
            ExecutionAction::List => vec![
                optional(
                    "status",
                    "Only executions in this state",
                    json!({"type": "string", "enum": ExecutionStatus::ALL.map(ExecutionStatus::as_str)}),
                ),
                optional(
                    "first",
                    &format!("Page size, up to {MAX_EXECUTIONS_PAGE_SIZE}"),
                    json!({"type": "integer", "minimum": 1}),
                ),
                optional(
                    "after",
                    "endCursor of the previous page",
                    json!({"type": "string", "maxLength": 64}),
                ),
            ],
        }
    }

    fn examples(self) -> Vec<Example> {
        let call = match self {
            ExecutionAction::Get => json!({"execution_id": EXAMPLE, "wait": MAX_WAIT_SECONDS}),
            ExecutionAction::List => json!({"status": ExecutionStatus::Running.as_str()}),
            ExecutionAction::Cancel => json!({"execution_id": EXAMPLE}),
        };
        let params = match call {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        vec![Example { description: String::new(), params }]
    }
}

const EXAMPLE: &str = "exec_019a8b7c6d5e7f40";

fn execution_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "execution_id": {"type": "string"},
            "operation": {"type": "string"},
            "status": {"type": "string", "enum": ExecutionStatus::ALL.map(ExecutionStatus::as_str)},
            "progress": {
                "type": "object",
                "properties": {"percentage": {"type": "integer"}, "message": {"type": "string"}},
            },
            "started_at": {"type": "string", "format": "date-time"},
            "finished_at": {"type": "string", "format": "date-time"},
            "result": {},
            "error": {"type": "object"},
        },
        "required": ["execution_id", "operation", "status", "started_at"],
    })
}

fn listed_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "object"}},
            "pageInfo": {"type": "object"},
        },
        "required": ["items", "pageInfo"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_never_changes_and_nothing_goes_back() {
        for from in ExecutionStatus::ALL {
            assert_eq!(ExecutionStatus::parse(from.as_str()), Some(from));
            for to in ExecutionStatus::ALL {
                let forward = match (from, to) {
                    (ExecutionStatus::Pending, ExecutionStatus::Running) => true,
                    (ExecutionStatus::Pending, ExecutionStatus::Completed) => false,
                    (ExecutionStatus::Pending | ExecutionStatus::Running, to) => to.is_final(),
                    _ => false,
                };
                assert_eq!(from.may_become(to), forward, "{from:?} to {to:?}");
            }
        }
    }
}
