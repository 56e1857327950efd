//! A tool, as `tools/list` shows it.

use crate::hints::{Hint, HintOverrides};
use serde_json::{Map, Value, json};

/// The key in `_meta` for the maximum characters of a result.
const MAX_RESULT_CHARS: &str = "anthropic/maxResultSizeChars";

/// One tool, as a client sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Name, unique in the server.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of the arguments, with an object at the root.
    pub input_schema: Value,
    /// JSON Schema of the structured content, if it has any.
    pub output_schema: Option<Value>,
    /// Maximum characters of a result, for clients that ask for it. Not set: the client's own maximum.
    pub max_result_chars: Option<usize>,
    /// The hints that it states explicitly. MCP's defaults apply to the others.
    pub hints: HintOverrides,
    /// Whether the title is also in `annotations.title`.
    pub title_in_annotations: bool,
}

impl Tool {
    /// Returns the tool as in `tools/list`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let title = self.title_in_annotations.then(|| ("title".to_owned(), Value::from(self.title.as_str())));
        let stated = |hint: Hint| Some((hint.key().to_owned(), self.hints.get(hint)?.into()));
        let annotations: Map<String, Value> =
            title.into_iter().chain(Hint::ALL.into_iter().filter_map(stated)).collect();
        let mut tool = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
        });
        if let Some(tool) = tool.as_object_mut() {
            tool.extend(self.output_schema.clone().map(|schema| ("outputSchema".to_owned(), schema)));
            if !annotations.is_empty() {
                tool.insert("annotations".into(), annotations.into());
            }
            if let Some(chars) = self.max_result_chars {
                tool.insert("_meta".into(), json!({MAX_RESULT_CHARS: chars}));
            }
        }
        tool
    }

    /// Parses a tool that [`Tool::to_json`] wrote.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Tool> {
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let none = Map::new();
        let annotations = value.get("annotations").map_or(Some(&none), Value::as_object)?;
        // `Some(None)` if the hint is missing, `None` if it is not a boolean.
        let hint =
            |hint: Hint| annotations.get(hint.key()).map_or(Some(None), |value| value.as_bool().map(Some));
        Some(Tool {
            name: text("name")?,
            title: text("title")?,
            description: text("description")?,
            input_schema: value.get("inputSchema").filter(|schema| schema.is_object())?.clone(),
            output_schema: value.get("outputSchema").cloned(),
            max_result_chars: value
                .get("_meta")
                .and_then(|meta| meta.get(MAX_RESULT_CHARS)?.as_u64())
                .and_then(|chars| usize::try_from(chars).ok()),
            hints: HintOverrides {
                read_only: hint(Hint::ReadOnly)?,
                destructive: hint(Hint::Destructive)?,
                idempotent: hint(Hint::Idempotent)?,
                open_world: hint(Hint::OpenWorld)?,
            },
            title_in_annotations: annotations.contains_key("title"),
        })
    }
}
