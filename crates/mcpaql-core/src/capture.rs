//! A capture of an MCP server: its answer to `initialize` and its full list of tools, as raw JSON.
//!
//! ```
//! use mcpaql_core::capture::Capture;
//! use serde_json::json;
//!
//! let capture = Capture::from_json(json!({"tools": [{"name": "get_note"}]})).unwrap();
//! assert_eq!(capture.tools[0]["name"], "get_note");
//! ```
//!
//! The JSON is untyped, because a server may send more than any type covers, and one invalid tool must not affect the
//! others.

use serde_json::{Map, Value, json};

/// The saved answers of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// The result of `initialize` (or `server/discover`); empty if only a list of tools was saved.
    pub initialize: Map<String, Value>,
    /// The tools of all pages, in order.
    pub tools: Vec<Value>,
    /// The reason why the list of tools is incomplete, as a fragment without a full stop; `None` if it is complete.
    pub incomplete_reason: Option<&'static str>,
}

/// The reason for a saved answer that is one page of several.
const CURSOR_NOT_FOLLOWED: &str = "the list has more pages (`nextCursor`), which were not fetched";

impl Capture {
    /// Reads a saved capture: the output of [`Capture::to_json`], the result or the whole response of `tools/list`, or
    /// only the array of tools.
    #[must_use]
    pub fn from_json(value: Value) -> Option<Capture> {
        let mut object = match value {
            Value::Array(tools) => return Some(Capture { tools, ..Capture::default() }),
            Value::Object(object) => object,
            _ => return None,
        };
        let initialize = match object.remove("initialize") {
            Some(Value::Object(initialize)) => initialize,
            _ => Map::new(),
        };
        let next = object.get("nextCursor").and_then(Value::as_str);
        let incomplete_reason = next.filter(|next| !next.is_empty()).map(|_| CURSOR_NOT_FOLLOWED);
        match (object.remove("tools"), object.remove("result")) {
            (Some(Value::Array(tools)), _) => Some(Capture { initialize, tools, incomplete_reason }),
            (_, Some(result)) => Capture::from_json(result),
            _ => None,
        }
    }

    /// Returns the capture as it is saved.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"initialize": self.initialize, "tools": self.tools})
    }

    /// Returns `serverInfo` of the handshake, if any.
    #[must_use]
    pub fn server(&self) -> Option<&Map<String, Value>> {
        self.initialize.get("serverInfo").and_then(Value::as_object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_read_in_every_form_it_is_saved_in() {
        let tools = json!([{"name": "a"}]);
        for form in [
            tools.clone(),
            json!({"tools": tools}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
            json!({"initialize": {"serverInfo": {"name": "x"}}, "tools": tools}),
        ] {
            let capture = Capture::from_json(form.clone()).unwrap();
            assert_eq!(capture.tools.len(), 1, "{form}");
            assert_eq!(Capture::from_json(capture.to_json()), Some(capture));
        }
        for (next, has_gap) in [(json!("2"), true), (json!(""), false), (json!(null), false)] {
            let page = json!({"result": {"tools": tools, "nextCursor": next}});
            assert_eq!(Capture::from_json(page).unwrap().incomplete_reason.is_some(), has_gap, "{next}");
        }
        for form in [json!({}), json!("tools"), json!({"tools": 1}), json!(null)] {
            assert_eq!(Capture::from_json(form), None);
        }
    }
}
