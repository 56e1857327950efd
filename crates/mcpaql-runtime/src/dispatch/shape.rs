//! Selects the part of an answer to return. Today this is the whole answer; selected fields and pages belong here.
//!
//! What always holds: no data is added to the answer of the target.

use crate::target::Args;
use mcpaql_core::response::Answer;

/// Returns the part of an answer that the arguments request.
pub(super) fn shape(answer: Answer, _args: &Args) -> Answer {
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_goes_back_whole() {
        let data = json!({"a": [1, {"b": null}]});
        assert_eq!(shape(Answer::new(data.clone()), &Args::new()).data.into_value(), data);
    }
}
