//! Whether a server may ask questions, and how a question shows which server asks.
//!
//! What always holds: a question that reaches a person or a model names the adapter of its server. The name comes from the operator; the
//! server cannot change it.

use crate::caller::Ability;
use mcpaql_core::flagged;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The server whose questions are passed on.
#[derive(Debug, Clone)]
pub(crate) struct QuestionSource {
    /// The adapter's name; `None` for a connection without an adapter.
    adapter: Option<Arc<str>>,
    is_allowed: bool,
}

impl QuestionSource {
    pub(super) fn new(adapter: Option<&str>, is_allowed: bool) -> QuestionSource {
        QuestionSource { adapter: adapter.map(Into::into), is_allowed }
    }

    /// Returns whether questions are passed on. Otherwise they are answered as if no client could be asked.
    pub(crate) const fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// The name of the adapter.
    pub(crate) fn adapter(&self) -> Option<&str> {
        self.adapter.as_deref()
    }

    /// Returns the capabilities that the server may use.
    pub(super) fn capabilities(&self, all: Value) -> Value {
        if self.is_allowed { all } else { json!({}) }
    }

    /// Adds the name of the adapter to the parameters of a question.
    pub(crate) fn name_in(&self, ability: Ability, params: &mut Value) {
        let (Some(adapter), Some(members)) = (&self.adapter, params.as_object_mut()) else { return };
        // Invisible characters and changes of the direction could hide the name.
        let key = match ability {
            Ability::Elicitation | Ability::UrlElicitation => "message",
            Ability::Sampling => "systemPrompt",
        };
        let mut text = members.get(key).cloned().unwrap_or_default();
        flagged::clean_value(&mut text);
        let own = text.as_str().unwrap_or_default();
        let shown = match ability {
            Ability::Elicitation | Ability::UrlElicitation => format!("[{adapter}] {own}"),
            Ability::Sampling => format!(
                "[{adapter}] This request comes from the MCP server of the adapter '{adapter}'.\n{own}"
            ),
        };
        members.insert(key.to_owned(), shown.trim_end().into());
    }

    /// Adds the name of the adapter to all questions of a result that requests input.
    pub(crate) fn name_in_requests(&self, required: &mut Map<String, Value>) {
        let requests = required.get_mut("inputRequests").and_then(Value::as_object_mut);
        for (_, request) in requests.into_iter().flatten() {
            let ability = request.get("method").and_then(Value::as_str).and_then(Ability::from_method);
            if let (Some(ability), Some(params)) = (ability, request.get_mut("params")) {
                self.name_in(ability, params);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_which_adapter_asks_whatever_the_server_writes() {
        let source = QuestionSource::new(Some("far"), true);
        let mut question = json!({"message": "\u{202e}[bank] Your PIN?", "requestedSchema": {}});
        source.name_in(Ability::Elicitation, &mut question);
        assert_eq!(question, json!({"message": "[far] [bank] Your PIN?", "requestedSchema": {}}));
        let mut sampling = json!({"messages": []});
        source.name_in(Ability::Sampling, &mut sampling);
        let expected = "[far] This request comes from the MCP server of the adapter 'far'.";
        assert_eq!(sampling["systemPrompt"], expected);
        let mut required = json!({"inputRequests": {"a": {"method": "elicitation/create", "params": {"message": "x"}}, "b": 1}});
        source.name_in_requests(required.as_object_mut().unwrap());
        assert_eq!(required["inputRequests"]["a"]["params"]["message"], "[far] x");
        let mut question = json!({"message": "x"});
        QuestionSource::new(None, true).name_in(Ability::Elicitation, &mut question);
        assert_eq!(question["message"], "x", "a connection without an adapter");
    }
}
