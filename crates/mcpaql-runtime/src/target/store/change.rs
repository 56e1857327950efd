//! Changes to records: the requested fields, the merge, and the check of the result.

use super::StoreResource;
use crate::target::Args;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::schema::{ViolationKind, path_text};
use mcpaql_document::load::{RECORD_KEYS, is_update_param};
use serde_json::{Map, Value};

/// Returns the fields of a new record. Null means absent.
pub(super) fn new_body(resource: &StoreResource, args: &Args) -> Map<String, Value> {
    let given = resource.declaration.fields.keys().filter_map(|name| Some((name, args.get(name)?)));
    let mut body = Map::new();
    merge(&mut body, given.map(|(name, value)| (name.clone(), value.clone())).collect());
    body
}

/// Returns the fields to change: those in `input`, overridden by direct parameters.
pub(super) fn changes(resource: &StoreResource, args: &Args) -> Result<Map<String, Value>, OpError> {
    let mut changes = match args.get("input") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(input)) => input.clone(),
        Some(_) => {
            return Err(OpError::new(
                Code::InvalidType,
                "Parameter 'input' must be an object with the fields to change.",
            ));
        }
    };
    if let Some(unknown) =
        changes.keys().find(|name| !resource.declaration.fields.contains_key(name.as_str()))
    {
        return Err(unknown_field(resource, unknown));
    }
    for name in resource.declaration.fields.keys().filter(|name| is_update_param(name)) {
        if let Some(value) = args.get(name) {
            changes.insert(name.clone(), value.clone());
        }
    }
    if changes.is_empty() {
        let message = "Nothing to change: send 'input' with the fields to set, or null to remove one.";
        return Err(
            OpError::new(Code::MissingParam, message).with_detail("valid_fields", valid_fields(resource))
        );
    }
    Ok(changes)
}

fn unknown_field(resource: &StoreResource, name: &str) -> OpError {
    let fields = valid_fields(resource);
    let message = if name == "id" {
        "Field 'id' must not be in 'input'; send it as a separate parameter.".to_owned()
    } else if name == "_etag" {
        "Field '_etag' must not be in 'input'; send it as 'if_match'.".to_owned()
    } else if RECORD_KEYS.contains(&name) {
        format!("Field '{name}' is set by the store and cannot be changed.")
    } else {
        format!("Unknown field '{}' in 'input'. Use one of: {}.", super::clip(name), fields.join(", "))
    };
    OpError::new(Code::UnknownField, message).with_detail("valid_fields", fields)
}

fn valid_fields(resource: &StoreResource) -> Vec<String> {
    resource.declaration.fields.keys().cloned().collect()
}

/// Deep merge: objects merge, null removes, everything else replaces.
pub(super) fn merge(target: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (name, change) in changes {
        match change {
            // `shift_remove` keeps the order of the other fields, as the author wrote them.
            Value::Null => drop(target.shift_remove(&name)),
            Value::Object(inner) => match target.get_mut(&name) {
                Some(Value::Object(existing)) => merge(existing, inner),
                _ => {
                    let mut fresh = Map::new();
                    merge(&mut fresh, inner);
                    target.insert(name, Value::Object(fresh));
                }
            },
            value => drop(target.insert(name, value)),
        }
    }
}

/// Checks a record against the schema of its resource, after a creation or a merge.
///
/// A record may contain fields that an earlier version of the document declared; they are kept and not checked.
pub(super) fn check_fields(resource: &StoreResource, body: &Map<String, Value>) -> Result<(), OpError> {
    let violations = resource.schemas.check(resource.schema, &Value::Object(body.clone()));
    let Some(violation) = violations.first() else { return Ok(()) };
    let (code, message) = match &violation.kind {
        ViolationKind::Missing { field } if violation.path.is_empty() => {
            (Code::MissingParam, format!("Field '{field}' is required and cannot be removed; send a value."))
        }
        ViolationKind::Type { .. } => {
            (Code::InvalidType, format!("The record is invalid: field {violation}."))
        }
        _ => (Code::InvalidValue, format!("The record is invalid: field {violation}.")),
    };
    let name = match &violation.kind {
        ViolationKind::Missing { field } if violation.path.is_empty() => field.clone(),
        _ => path_text("", &violation.path),
    };
    Err(OpError::new(code, message).with_detail("param_name", name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(target: Value, changes: Value) -> Value {
        let (Value::Object(mut target), Value::Object(changes)) = (target, changes) else {
            panic!("objects")
        };
        merge(&mut target, changes);
        Value::Object(target)
    }

    #[test]
    fn objects_merge_arrays_replace_null_removes() {
        let rows = [
            (json!({"a": 1, "b": 2}), json!({"a": 3}), json!({"a": 3, "b": 2})),
            (json!({"a": {"x": 1, "y": 2}}), json!({"a": {"y": 3}}), json!({"a": {"x": 1, "y": 3}})),
            (json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]})),
            (json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2})),
            (json!({"a": {"x": 1, "y": 2}}), json!({"a": {"x": null}}), json!({"a": {"y": 2}})),
            (json!({"a": 1}), json!({"a": {"x": 1, "y": null}}), json!({"a": {"x": 1}})),
            (json!({"a": {"x": 1}}), json!({"a": 2}), json!({"a": 2})),
            (json!({}), json!({"gone": null}), json!({})),
            (json!({"a": [1]}), json!({"a": [null]}), json!({"a": [null]})),
        ];
        for (target, changes, expected) in rows {
            assert_eq!(merged(target, changes.clone()), expected, "{changes}");
        }
    }

    #[test]
    fn removing_a_field_keeps_the_order_of_the_others() {
        let kept = merged(json!({"a": 1, "b": 2, "c": 3}), json!({"a": null}));
        assert_eq!(kept.to_string(), r#"{"b":2,"c":3}"#);
    }
}
