//! Applies the document's rules to an answer: a failure with the status of a success, and the part that is the result.

use crate::secret::Mask;
use crate::target::mcp::tool_error;
use mcpaql_core::error::OpError;
use mcpaql_core::exchange::{AnswerPath, AnswerRules, ErrorRule};
use mcpaql_core::failure_codes::code_by_number;
use mcpaql_core::response::{Answer, Payload, Warning};
use serde_json::{Value, json};

/// Returns the result of an answer, or its failure. A result that is missing is reported with a warning, and the whole
/// answer is returned.
pub(super) fn apply(rules: &AnswerRules, mut answer: Answer, mask: &Mask) -> Result<Answer, OpError> {
    if let Some(rule) = &rules.error
        && let Some(error) = failed(rule, &answer.data, mask)
    {
        return Err(error);
    }
    let Some(path) = &rules.result else { return Ok(answer) };
    let selected = match &answer.data {
        Payload::Raw(raw) => path.select_raw(raw).map(|raw| Payload::Raw(raw.to_owned())),
        Payload::Value(value) => path.select(value).cloned().map(Payload::Value),
    };
    match selected {
        Some(selected) => answer.data = selected,
        None => answer.warnings.push(Warning::new(
            "RESULT_NOT_FOUND",
            format!("The answer has no '{path}', where its result should be; `data` is the whole answer."),
        )),
    }
    Ok(answer)
}

fn failed(rule: &ErrorRule, data: &Payload, mask: &Mask) -> Option<OpError> {
    let value = select(&rule.path, data);
    if !rule.is_failure(value.as_ref()) {
        return None;
    }
    let message = rule.message.as_ref().and_then(|path| select(path, data));
    let content = match (message, value) {
        (Some(Value::String(message)), Some(value)) if !value.is_object() => {
            json!({"message": message, "value": value})
        }
        (Some(message), Some(Value::Object(mut members))) => {
            members.shift_insert(0, "message".to_owned(), message);
            Value::Object(members)
        }
        (Some(message), _) => json!({ "message": message }),
        // A flag says nothing, but the rest of the answer may.
        (None, None | Some(Value::Bool(_) | Value::Null | Value::Number(_))) => whole(data),
        (None, Some(value)) => value,
    };
    let number = ["code", "status", "statusCode"].into_iter().find_map(|key| content.get(key)?.as_i64());
    let is_known = |number: &i64| (400..600).contains(number) || (-32768..=-32000).contains(number);
    let number = number.filter(is_known);
    let code = number.map(|number| code_by_number(number, &content.to_string().to_lowercase()));
    Some(tool_error::failed("The API reported a failure", code, content, mask))
}

fn select(path: &AnswerPath, data: &Payload) -> Option<Value> {
    match data {
        Payload::Raw(raw) => Some(Payload::Raw(path.select_raw(raw)?.to_owned()).into_value()),
        Payload::Value(value) => path.select(value).cloned(),
    }
}

fn whole(data: &Payload) -> Value {
    data.clone().into_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::error::Code;
    use mcpaql_core::exchange::ErrorTest;
    use serde_json::value::RawValue;

    fn raw(value: &Value) -> Answer {
        Answer::new(RawValue::from_string(value.to_string()).unwrap())
    }

    fn rules(result: Option<&str>, error: Option<(&str, ErrorTest, Option<&str>)>) -> AnswerRules {
        let path = |text: &str| AnswerPath::parse(text).unwrap();
        let error =
            error.map(|(at, test, message)| ErrorRule { path: path(at), test, message: message.map(path) });
        AnswerRules { result: result.map(path), error }
    }

    fn error(rules: &AnswerRules, answer: Value) -> OpError {
        apply(rules, raw(&answer), &Mask::default()).unwrap_err()
    }

    #[test]
    fn the_result_is_selected_without_changing_its_text() {
        let text = r#"{"result":{"items":[1.10,12345678901234567890123]}}"#;
        let answer = Answer::new(RawValue::from_string(text.to_owned()).unwrap());
        let selected = apply(&rules(Some("result.items"), None), answer.clone(), &Mask::default()).unwrap();
        let Payload::Raw(items) = selected.data else { panic!("parsed") };
        assert_eq!(items.get(), "[1.10,12345678901234567890123]");
        let missing = apply(&rules(Some("data"), None), answer, &Mask::default()).unwrap();
        assert_eq!(missing.warnings[0].code, "RESULT_NOT_FOUND");
        assert!(matches!(missing.data, Payload::Raw(raw) if raw.get() == text));
    }

    #[test]
    fn an_error_of_json_rpc_or_graphql_is_a_failure() {
        let rpc = rules(Some("result"), Some(("error", ErrorTest::Present, None)));
        let failed =
            error(&rpc, json!({"id": 1, "error": {"code": -32602, "message": "id must be positive"}}));
        assert_eq!(failed.code, Code::InvalidValue);
        assert!(failed.message.contains("id must be positive"), "{}", failed.message);
        assert_eq!(failed.details["upstream"]["code"], -32602);
        let fine = apply(&rpc, raw(&json!({"result": 5, "error": null})), &Mask::default()).unwrap();
        assert_eq!(fine.data.into_value(), 5);
        let graphql = rules(Some("data"), Some(("errors", ErrorTest::Present, None)));
        let failed = error(&graphql, json!({"data": null, "errors": [{"message": "User not found"}]}));
        assert_eq!(failed.code, Code::NotFoundResource);
    }

    #[test]
    fn a_flag_or_a_status_can_be_the_failure() {
        let slack = rules(None, Some(("ok", ErrorTest::Equals(json!(false)), Some("error"))));
        let failed = error(&slack, json!({"ok": false, "error": "channel_not_found"}));
        assert!(failed.message.contains("channel_not_found"), "{}", failed.message);
        assert!(apply(&slack, raw(&json!({"ok": true})), &Mask::default()).is_ok());
        let status = rules(None, Some(("status", ErrorTest::Not(json!("success")), None)));
        assert!(error(&status, json!({"status": "failed", "reason": "quota"})).message.contains("failed"));
        let coded = rules(None, Some(("error", ErrorTest::Present, None)));
        assert_eq!(
            error(&coded, json!({"error": {"code": 404, "message": "x"}})).code,
            Code::NotFoundResource
        );
        assert_eq!(error(&coded, json!({"error": {"status": 403}})).code, Code::PermissionDenied);
        let mut mask = Mask::default();
        mask.add("s3cret-token");
        let secret = json!({"error": "bad s3cret-token"});
        let failed = apply(&coded, raw(&secret), &mask).unwrap_err();
        assert!(!format!("{failed:?}").contains("s3cret"), "{failed:?}");
    }
}
