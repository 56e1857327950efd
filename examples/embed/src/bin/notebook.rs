//! The notebook, served by its own program, which removes extra spaces from titles: `cargo run -p embed --bin notebook`.

use mcpaql_runtime::prelude::*;
use serde_json::{Map, Value};

/// The parameters of `create_note` that the function below uses, and the rest.
#[derive(Serialize, Deserialize)]
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

fn main() -> Result<(), RunError> {
    let text = include_str!("../../../notebook-adapter.md");
    Document::new("notebook-adapter.md", text).with_handlers(handlers()).run()
}
