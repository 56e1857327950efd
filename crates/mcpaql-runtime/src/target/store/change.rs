//! Changes to a record: what an update asks for, the merge, and what a record must be afterwards.

use super::StoreResource;
use crate::target::Args;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::schema::{ViolationKind, path_text};
use mcpaql_document::load::{RECORD_KEYS, is_update_param};
use serde_json::{Map, Value};

/// The fields of a new record. Null is the same as nothing.
pub(super) fn new_body(kind: &StoreResource, args: &Args) -> Map<String, Value> {
    let given = kind.resource.fields.keys().filter_map(|name| Some((name, args.get(name)?)));
    let mut body = Map::new();
    merge(&mut body, given.map(|(name, value)| (name.clone(), value.clone())).collect());
    body
}

/// What an update asks for: `input`, and flat fields over it.
pub(super) fn changes(kind: &StoreResource, args: &Args) -> Result<Map<String, Value>, OpError> {
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
    if let Some(unknown) = changes.keys().find(|name| !kind.resource.fields.contains_key(name.as_str())) {
        return Err(unknown_field(kind, unknown));
    }
    for name in kind.resource.fields.keys().filter(|name| is_update_param(name)) {
        if let Some(value) = args.get(name) {
            changes.insert(name.clone(), value.clone());
        }
    }
    if changes.is_empty() {
        let message = "Nothing to change: give 'input' with the fields to set, or null to remove one.";
        return Err(OpError::new(Code::MissingParam, message).with_detail("valid_fields", valid_fields(kind)));
    }
    Ok(changes)
}

fn unknown_field(kind: &StoreResource, name: &str) -> OpError {
    let fields = valid_fields(kind);
    let message = if name == "id" {
        "Field 'id' does not belong in 'input'; give it as a parameter of its own.".to_owned()
    } else if name == "_etag" {
        "Field '_etag' does not belong in 'input'; give it as 'if_match'.".to_owned()
    } else if RECORD_KEYS.contains(&name) {
        format!("Field '{name}' is written by the store and cannot be changed.")
    } else {
        format!("Unknown field '{}' in 'input'. Use one of: {}.", super::clip(name), fields.join(", "))
    };
    OpError::new(Code::UnknownField, message).with_detail("valid_fields", fields)
}

fn valid_fields(kind: &StoreResource) -> Vec<String> {
    kind.resource.fields.keys().cloned().collect()
}

/// Deep merge: objects merge, everything else replaces, null removes.
pub(super) fn merge(target: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (name, change) in changes {
        match change {
            // `shift_remove` keeps the order of the other fields, which is the author's.
            Value::Null => drop(target.shift_remove(&name)),
            Value::Object(inner) => match target.get_mut(&name) {
                Some(Value::Object(present)) => merge(present, inner),
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

/// What every stored record fulfils: the schema of its resource, after a merge as after a creation.
///
/// Fields that an earlier version of the document declared may still be in a record; they are kept and not judged.
pub(super) fn check_fields(kind: &StoreResource, body: &Map<String, Value>) -> Result<(), OpError> {
    let violations = kind.schemas.check(kind.schema, &Value::Object(body.clone()));
    let Some(violation) = violations.first() else { return Ok(()) };
    let (code, message) = match &violation.kind {
        ViolationKind::Missing { field } if violation.path.is_empty() => (
            Code::MissingParam,
            format!("Field '{field}' is required and cannot be removed; give it a value."),
        ),
        ViolationKind::Type { .. } => {
            (Code::InvalidType, format!("The record does not fit: field {violation}."))
        }
        _ => (Code::InvalidValue, format!("The record does not fit: field {violation}.")),
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
