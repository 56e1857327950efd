//! Batches: several calls in the arguments of one tool, and references from one item to the result of an earlier one.
//!
//! ```
//! use mcpaql_core::batch::Batch;
//! use serde_json::{Map, json};
//!
//! let arguments = json!({"operations": [
//!     {"operation": "create_note", "params": {"title": "Tea"}},
//!     {"operation": "get_note", "params": {"id": {"$result": "0.data.id"}}},
//! ]});
//! let batch = Batch::read(arguments.as_object().cloned().unwrap()).unwrap();
//! assert!(batch.is_referenced(0) && !batch.is_referenced(1));
//! let results = [Some(json!({"id": "note_1"})), None];
//! let second = batch.items[1].resolve(&results, 1000).unwrap();
//! assert_eq!(second["params"], json!({"id": "note_1"}));
//! ```
//!
//! In a batch, an object whose only key is `$result` is always a reference. To send such an object as a value, call the
//! operation by itself.
//!
//! What always holds: a reference names an earlier item, so items can run in their order. All references are checked before
//! anything runs. An inserted value is never searched for references.

mod reference;
mod reply;
mod shares;

pub use reply::{BatchItemResult, BatchReply};
pub use shares::shares;

use crate::error::{Code, OpError};
use crate::response::quoted_name;
use crate::schema::type_name;
use crate::shape::QueryControls;
use reference::ResultReference;
use serde_json::{Map, Value};

/// Maximum items of a batch.
pub const MAX_BATCH_ITEMS: usize = 50;
/// Maximum items that run at the same time, if all of them read.
pub const MAX_CONCURRENT_ITEMS: usize = 8;
/// The field with the items.
pub(crate) const OPERATIONS: &str = "operations";
/// The fields of an item that have no references.
const PLAIN_FIELDS: [&str; 2] = ["operation", "adapter"];

/// Several calls, in the order in which they run.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The items.
    pub items: Vec<BatchItem>,
    /// Maximum tokens of the answers of all items that read.
    pub answer_budget: Option<usize>,
}

/// One call of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchItem {
    /// The name of the operation, as it was sent.
    pub operation: String,
    /// The whole item: the arguments of a call of its own.
    pub arguments: Map<String, Value>,
    position: usize,
    references: Vec<ResultReference>,
}

/// Returns whether the arguments of a tool are a batch.
#[must_use]
pub fn is_batch(arguments: &Map<String, Value>) -> bool {
    arguments.contains_key(OPERATIONS) && arguments.get("operation").is_none_or(Value::is_null)
}

/// Returns the error of a batch that is sent to a tool for one operation.
pub(crate) fn no_batch_error(tool: &str) -> OpError {
    let message = format!(
        "The tool{} is one operation and takes no batch. Call each operation with its own tool.",
        quoted_name(tool)
    );
    OpError::new(Code::UnknownParam, message)
        .with_detail("unknown_params", vec![OPERATIONS])
        .before_dispatch()
}

impl Batch {
    /// Reads the arguments of a tool. Checks the items and their references.
    ///
    /// # Errors
    /// When the arguments are no batch, or a reference can never have a value.
    pub fn read(mut arguments: Map<String, Value>) -> Result<Batch, OpError> {
        let mut given = arguments.shift_remove(OPERATIONS).unwrap_or_default();
        unwrap_text(&mut given);
        let Value::Array(given) = given else { return Err(not_a_list(&given)) };
        if given.is_empty() || given.len() > MAX_BATCH_ITEMS {
            let message = match given.len() {
                0 => format!("Field 'operations' is empty; send from 1 to {MAX_BATCH_ITEMS} items."),
                count => format!(
                    "Field 'operations' has {count} items; send up to {MAX_BATCH_ITEMS}, and the others in another call."
                ),
            };
            return Err(malformed(Code::InvalidValue, message).with_detail("maximum", MAX_BATCH_ITEMS));
        }
        let adapter = arguments.shift_remove("adapter");
        let budget = arguments.shift_remove("answer_budget");
        if let Some(name) = arguments.keys().find(|name| !name.starts_with('_') && *name != "operation") {
            let message = format!(
                "Unknown field{} beside 'operations'; put the parameters of an item into its 'params'.",
                quoted_name(name)
            );
            return Err(
                malformed(Code::UnknownParam, message).with_detail("unknown_params", vec![name.as_str()])
            );
        }
        let controls = budget.map(|budget| Map::from_iter([("answer_budget".to_owned(), budget)]));
        let controls = QueryControls::read(controls.unwrap_or_default(), &mut Vec::new())?;
        let items: Result<Vec<BatchItem>, OpError> = given
            .into_iter()
            .enumerate()
            .map(|(position, item)| BatchItem::read(position, item, adapter.as_ref()))
            .collect();
        Ok(Batch { items: items?, answer_budget: controls.answer_budget })
    }

    /// Returns whether any item refers to the result of another.
    #[must_use]
    pub fn has_references(&self) -> bool {
        self.items.iter().any(|item| !item.references.is_empty())
    }

    /// Returns whether an item refers to the result of the item with this position.
    #[must_use]
    pub fn is_referenced(&self, position: usize) -> bool {
        self.items.iter().flat_map(|item| &item.references).any(|reference| reference.item == position)
    }
}

impl BatchItem {
    fn read(position: usize, item: Value, adapter: Option<&Value>) -> Result<BatchItem, OpError> {
        let Value::Object(mut arguments) = item else {
            let message =
                format!("Item {position} of 'operations' must be an object with 'operation' and 'params'.");
            return Err(malformed(Code::InvalidType, message).with_detail("index", position));
        };
        let Some(operation) = arguments.get("operation").and_then(Value::as_str).map(str::to_owned) else {
            let message = format!(
                "Item {position} of 'operations' needs the field 'operation', the name of an operation."
            );
            return Err(malformed(Code::MissingParam, message).with_detail("index", position));
        };
        if let Some(adapter) = adapter {
            arguments.entry("adapter").or_insert_with(|| adapter.clone());
        }
        // Some models send the object as text.
        if let Some(params) = arguments.get_mut("params") {
            unwrap_text(params);
        }
        let mut references = Vec::new();
        for (name, value) in arguments.iter().filter(|(name, _)| !PLAIN_FIELDS.contains(&name.as_str())) {
            reference::find(value, &mut vec![name.clone()], &mut references, position)?;
        }
        Ok(BatchItem { operation, arguments, position, references })
    }

    /// The parameters whose whole value is a reference.
    pub fn referring_params(&self) -> impl Iterator<Item = &str> {
        let params = self.arguments.get("params").and_then(Value::as_object);
        let all = params.into_iter().flatten().chain(&self.arguments);
        all.filter(|(_, value)| reference::reference_in(value).is_some()).map(|(name, _)| name.as_str())
    }

    /// Returns the arguments with the values of all references. `results` are the data of the items before this one; `None`
    /// for an item that failed. `max_bytes` limits the inserted values.
    ///
    /// # Errors
    /// When the item of a reference failed, its result has no such path, or the values are too long.
    pub fn resolve(
        &self,
        results: &[Option<Value>],
        max_bytes: usize,
    ) -> Result<Map<String, Value>, OpError> {
        let mut arguments = self.arguments.clone();
        if self.references.is_empty() {
            return Ok(arguments);
        }
        let mut inserter = reference::Inserter::new(self.position, results, max_bytes);
        for (name, value) in arguments.iter_mut().filter(|(name, _)| !PLAIN_FIELDS.contains(&name.as_str())) {
            inserter.insert(value, &mut vec![name.clone()])?;
        }
        Ok(arguments)
    }
}

/// Some models send lists and objects as text. Their meaning is clear.
fn unwrap_text(value: &mut Value) {
    if let Value::String(text) = value
        && let Ok(parsed @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text)
    {
        *value = parsed;
    }
}

fn not_a_list(found: &Value) -> OpError {
    let message = "Field 'operations' must be a list of {operation, params}.";
    malformed(Code::InvalidType, message)
        .with_detail("expected_type", "array")
        .with_detail("actual_type", type_name(found))
}

fn malformed(code: Code, message: impl Into<String>) -> OpError {
    OpError::new(code, message).with_detail("param_name", OPERATIONS).before_dispatch()
}

#[cfg(test)]
mod tests;
