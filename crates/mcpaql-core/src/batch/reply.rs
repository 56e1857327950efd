//! The envelope of a batch.

use super::BatchItem;
use crate::error::OpError;
use crate::response::{Answer, OutcomeEnvelope, ToolReply, json};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The answers of a batch.
#[derive(Debug, Default)]
pub struct BatchReply {
    /// The results of the items that ran, in order.
    pub results: Vec<BatchItemResult>,
    /// The item that needs a confirmation, and stopped the batch.
    pub halted_at: Option<BatchItemResult>,
    /// The items after it, with their positions. They did not run.
    pub pending: Vec<(usize, BatchItem)>,
}

/// The result of one item.
#[derive(Debug)]
pub struct BatchItemResult {
    /// The position of the item in the batch.
    pub index: usize,
    /// The operation, as it was sent.
    pub operation: String,
    /// Its answer or error.
    pub result: Result<Answer, OpError>,
}

impl BatchReply {
    /// Returns the envelope. A batch succeeds even if items fail.
    #[must_use]
    pub fn envelope(&self) -> ToolReply {
        let answers = self.results.iter().filter_map(|item| item.result.as_ref().ok());
        let blocks = answers.flat_map(|answer| answer.blocks.clone()).collect();
        ToolReply { blocks, ..ToolReply::text(json(self), false) }
    }

    fn summary(&self) -> Value {
        let succeeded = self.results.iter().filter(|item| item.result.is_ok()).count();
        let (failed, pending) = (self.results.len() - succeeded, self.pending.len());
        match &self.halted_at {
            None => json!({"total": self.results.len(), "succeeded": succeeded, "failed": failed}),
            Some(_) => {
                let total = self.results.len() + 1 + pending;
                json!({"total": total, "succeeded": succeeded, "failed": failed, "halted": 1, "pending": pending})
            }
        }
    }
}

impl Serialize for BatchReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("success", &true)?;
        map.serialize_entry("data", &())?;
        map.serialize_entry("results", &self.results)?;
        if let Some(halted) = &self.halted_at {
            map.serialize_entry("halted_at", halted)?;
            let pending: Vec<Value> =
                self.pending.iter().map(|(index, item)| pending(*index, item)).collect();
            map.serialize_entry("pending_operations", &pending)?;
        }
        map.serialize_entry("summary", &self.summary())?;
        map.end()
    }
}

impl Serialize for BatchItemResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("operation", &self.operation)?;
        map.serialize_entry("result", &OutcomeEnvelope(&self.result))?;
        map.end()
    }
}

/// An item that did not run, as it was sent.
fn pending(index: usize, item: &BatchItem) -> Value {
    let mut out = serde_json::Map::from_iter([("index".to_owned(), Value::from(index))]);
    out.extend(item.arguments.clone());
    Value::Object(out)
}
