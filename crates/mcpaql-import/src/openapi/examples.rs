//! The document's own examples.

use super::details::Context;
use super::params::{Draft, located};
use mcpaql_core::operation::{Example, Param};
use serde_json::{Map, Value};

/// A longer example costs more than it shows.
const MAX_EXAMPLE: usize = 1500;

/// The example of a parameter or of a media type.
pub(super) fn of(cx: &Context<'_>, node: &Value, base: &str) -> Option<Value> {
    if let Some(example) = node.get("example").or_else(|| node.get("x-example")) {
        return Some(example.clone());
    }
    let first = match node.get("examples")? {
        Value::Object(named) => named.values().next()?,
        Value::Array(list) => return list.first().cloned(),
        _ => return None,
    };
    let first = located(cx, first, base)?;
    first.node.get("value").or_else(|| first.node.get("dataValue")).cloned()
}

/// The example that a schema carries.
pub(super) fn of_schema(schema: &Value) -> Option<Value> {
    schema.get("example").or_else(|| schema.get("examples").and_then(|list| list.get(0))).cloned()
}

/// One call, where the document's examples cover all that must be given.
pub(super) fn call(drafts: &[Draft], params: &[Param], body: Option<&Value>, whole: bool) -> Vec<Example> {
    let mut call = Map::new();
    let fields = body.and_then(Value::as_object).filter(|_| !whole);
    for (draft, param) in drafts.iter().zip(params) {
        let in_body = draft.place == mcpaql_core::operation::Place::Body;
        let given = match (in_body, whole) {
            (true, true) => body.cloned().or_else(|| draft.example.clone()),
            (true, false) => match fields {
                Some(fields) => fields.get(&draft.wire).cloned(),
                None => draft.example.clone().filter(|_| draft.required),
            },
            (false, _) => draft.example.clone().filter(|_| draft.required),
        };
        match given {
            Some(value) if !value.is_null() => {
                call.insert(param.name.clone(), value);
            }
            _ if param.required => return Vec::new(),
            _ => {}
        }
    }
    let small = serde_json::to_string(&call).is_ok_and(|text| text.len() <= MAX_EXAMPLE);
    if call.is_empty() || !small {
        return Vec::new();
    }
    vec![Example { description: String::new(), params: call }]
}
