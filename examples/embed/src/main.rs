//! A todo list as an MCP server, written in Rust: `cargo run -p embed`.
//!
//! The functions below know nothing of MCP. Names, titles, hints, schemas, validation and introspection follow from their names,
//! their parameters and what is said about them.

use anyhow::Result;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::native::{AdapterSettings, Code, Effect, Native, NoParams, OpError, operation};
use mcpaql_runtime::serve::serve_stdio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Something to do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Task {
    id: u32,
    text: String,
    done: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    /// What is to be done.
    #[schemars(length(min = 1, max = 200))]
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    /// Number of the task.
    id: u32,
}

#[derive(Debug, Default)]
struct Tasks(Mutex<BTreeMap<u32, Task>>);

impl Tasks {
    fn list(&self) -> Vec<Task> {
        self.with(|tasks| tasks.values().cloned().collect())
    }

    fn add(&self, text: String) -> Task {
        self.with(|tasks| {
            let id = tasks.last_key_value().map_or(1, |(id, _)| id + 1);
            tasks.entry(id).or_insert(Task { id, text, done: false }).clone()
        })
    }

    fn complete(&self, id: u32) -> Result<Task, OpError> {
        self.with(|tasks| {
            let task = tasks.get_mut(&id).ok_or_else(|| missing(id))?;
            task.done = true;
            Ok(task.clone())
        })
    }

    fn delete(&self, id: u32) -> Result<Task, OpError> {
        self.with(|tasks| tasks.remove(&id).ok_or_else(|| missing(id)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<u32, Task>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn missing(id: u32) -> OpError {
    OpError::new(
        Code::NotFoundResource,
        format!("There is no task {id}. Call list_tasks to see which there are."),
    )
}

/// The adapter.
fn adapter(tasks: &Arc<Tasks>) -> Native {
    let [listed, added, completed, deleted] = std::array::from_fn(|_| Arc::clone(tasks));
    Native::new("todo")
        .with("display_name", "Todo List")
        .describe("What is to be done.")
        .operation(operation("list_tasks").describe("Lists all tasks.").returns::<Vec<Task>>().handle(
            move |_: NoParams| {
                let tasks = Arc::clone(&listed);
                async move { Ok(tasks.list()) }
            },
        ))
        .operation(operation("create_task").describe("Adds a task.").returns::<Task>().handle(
            move |given: Add| {
                let tasks = Arc::clone(&added);
                async move { Ok(tasks.add(given.text)) }
            },
        ))
        .operation(
            operation("complete_task")
                .describe("Marks a task as done.")
                // A name proposes, whoever wrote the function knows.
                .effect(Effect::Set)
                .returns::<Task>()
                .handle(move |given: Which| {
                    let tasks = Arc::clone(&completed);
                    async move { tasks.complete(given.id) }
                }),
        )
        .operation(operation("delete_task").describe("Removes a task.").returns::<Task>().handle(
            move |given: Which| {
                let tasks = Arc::clone(&deleted);
                async move { tasks.delete(given.id) }
            },
        ))
}

#[tokio::main]
async fn main() -> Result<()> {
    let tasks = Arc::new(Tasks::default());
    let served = adapter(&tasks).open(&AdapterSettings::default(), None).await?;
    // Adapters of documents would stand beside it in the same list.
    let gateway = Arc::new(Gateway::new(vec![served])?);
    serve_stdio(gateway, ServerLimits::default(), CancellationToken::new()).await?;
    Ok(())
}
