//! What an MCP server says of itself: its answer to `initialize` and its whole list of tools, as raw JSON.
//!
//! Nothing is typed here, because a server may say more than any type knows, and one odd tool must not cost the others.

use serde_json::{Map, Value, json};

/// What a server was heard to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// The result of `initialize` (or `server/discover`); empty where only a list of tools was saved.
    pub initialize: Map<String, Value>,
    /// The tools of all pages, in order.
    pub tools: Vec<Value>,
    /// Why these are not all tools, where they are not, as a sentence without its end.
    pub incomplete_reason: Option<&'static str>,
}

/// A saved answer that is one page of several.
const CURSOR_NOT_FOLLOWED: &str = "the list goes on behind its `nextCursor`, which was not followed";

impl Capture {
    /// Reads a saved capture: one of ours, the result or the whole answer of `tools/list`, or the bare array.
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
        let gap = next.filter(|next| !next.is_empty()).map(|_| CURSOR_NOT_FOLLOWED);
        match (object.remove("tools"), object.remove("result")) {
            (Some(Value::Array(tools)), _) => Some(Capture { initialize, tools, incomplete_reason: gap }),
            (_, Some(result)) => Capture::from_json(result),
            _ => None,
        }
    }

    /// As it is saved.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"initialize": self.initialize, "tools": self.tools})
    }

    /// `serverInfo` of the handshake, where there was one.
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
