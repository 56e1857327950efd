//! A todo list as an MCP server: `cargo run -p embed`.

use mcpaql_runtime::prelude::*;
use tokio::sync::Mutex;

type Tasks = Mutex<Vec<Task>>;

#[derive(Clone, Serialize, JsonSchema)]
struct Task {
    text: String,
    done: bool,
}

#[derive(Deserialize, JsonSchema)]
struct TaskText {
    /// What to do.
    #[schemars(length(min = 1, max = 200))]
    text: String,
}

async fn list_tasks(tasks: State<Tasks>) -> Result<Vec<Task>, OpError> {
    Ok(tasks.lock().await.clone())
}

async fn create_task(tasks: State<Tasks>, new: TaskText) -> Result<Task, OpError> {
    let task = Task { text: new.text, done: false };
    tasks.lock().await.push(task.clone());
    Ok(task)
}

async fn delete_task(tasks: State<Tasks>, old: TaskText) -> Result<Task, OpError> {
    let mut tasks = tasks.lock().await;
    let found = tasks.iter().position(|task| task.text == old.text);
    let missing = || OpError::new(Code::NotFoundResource, "No such task. Call list_tasks.");
    Ok(tasks.remove(found.ok_or_else(missing)?))
}

fn main() -> Result<(), RunError> {
    Native::new("todo")
        .with_state(Tasks::default())
        .operation(operation("list_tasks").describe("Lists all tasks.").handle(list_tasks))
        .operation(operation("create_task").describe("Adds a task.").handle(create_task))
        .operation(operation("delete_task").describe("Removes a task.").handle(delete_task))
        .run()
}
