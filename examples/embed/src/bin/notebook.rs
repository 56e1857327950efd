//! The notebook, served by a program of its own that keeps titles tidy: `cargo run -p embed --bin notebook`.

use mcpaql_runtime::document::{Document, DocumentError, Handlers, Params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What `create_note` takes, as far as the function below cares.
#[derive(Debug, Serialize, Deserialize)]
struct CreateNoteParams {
    title: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Params for CreateNoteParams {
    const OPERATION: &'static str = "create_note";
}

fn handlers() -> Handlers {
    Handlers::new().on(async |mut note: CreateNoteParams, call| {
        note.title = note.title.split_whitespace().collect::<Vec<_>>().join(" ");
        call.send(note).await
    })
}

fn main() -> Result<(), DocumentError> {
    let text = include_str!("../../../notebook-adapter.md");
    Document::new("notebook-adapter.md", text).with_handlers(handlers()).run()
}
