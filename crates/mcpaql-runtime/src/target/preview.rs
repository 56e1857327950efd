//! Previews of calls, for dry runs: what a target would send.
//!
//! What always holds: sensitive parameters are replaced before anything is built from them, so no part of a preview can
//! contain them in any encoding.

use super::Args;
use crate::secret::REDACTED;
use mcpaql_core::operation::Operation;
use mcpaql_core::schema::is_file;
use serde_json::{Value, json};

/// [`REDACTED`] as base64, in place of a file.
const REDACTED_FILE: &str = "W3JlZGFjdGVkXQ==";

/// Returns the arguments without the values of sensitive parameters.
pub(crate) fn redacted(operation: &Operation, args: &Args) -> Args {
    let mut args = args.clone();
    for param in operation.params.iter().filter(|param| param.sensitive) {
        if let Some(value) = args.get_mut(&param.name).filter(|value| !value.is_null()) {
            *value = if is_file(&param.schema) { REDACTED_FILE } else { REDACTED }.into();
        }
    }
    args
}

/// Returns the preview of a call that only its arguments describe.
pub(crate) fn arguments(operation: &Operation, args: &Args) -> Value {
    json!({"arguments": redacted(operation, args)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::facts::{Facts, Reach};
    use mcpaql_core::operation::{Binding, Category, Param, ParamLocation};

    #[test]
    fn sensitive_arguments_are_replaced_whatever_they_are() {
        let facts = Facts::read(Reach::Process);
        let mut operation = Operation::new("sign_in", Category::Execute, facts, Binding::Code);
        let schemas = [
            ("user", json!({"type": "string"}), false),
            ("pin", json!({"type": "integer"}), true),
            ("keys", json!({"type": "object"}), true),
            ("file", json!({"type": "string", "format": "byte"}), true),
            ("none", json!({}), true),
        ];
        for (name, schema, sensitive) in schemas {
            operation.params.push(Param { sensitive, ..Param::new(name, ParamLocation::Body, schema) });
        }
        let args =
            json!({"user": "ada", "pin": 1234, "keys": {"a": "s3cret"}, "file": "czNjcmV0", "none": null});
        let shown = arguments(&operation, args.as_object().expect("an object"));
        assert_eq!(
            shown,
            json!({"arguments": {"user": "ada", "pin": REDACTED, "keys": REDACTED, "file": REDACTED_FILE, "none": null}})
        );
    }
}
