//! What of an answer goes back to the caller. For now all of it: this is where selected fields and pages will be cut.
//!
//! What always holds: nothing is added that the target did not answer.

use crate::target::Args;
use mcpaql_core::response::Answer;

/// The part of an answer that the arguments ask for.
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
