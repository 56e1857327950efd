//! `sort`: orders items by fields. Stable; items without the field come last in both directions.

use super::compare::compare;
use super::controls::{invalid_type, invalid_value};
use super::path::FieldPath;
use mcpaql_schema::error::OpError;
use serde_json::Value;
use std::cmp::Ordering;

/// Maximum fields to sort by.
const MAX_SORT_KEYS: usize = 16;

/// A field to sort by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
    pub path: FieldPath,
    /// The largest value comes first.
    pub descending: bool,
}

/// Reads `sort`: one key or a list of keys.
///
/// # Errors
/// When a key has no field or an unknown order.
pub(super) fn read(value: &Value) -> Result<Vec<SortKey>, OpError> {
    let keys: &[Value] = match value {
        Value::Array(keys) => keys,
        one => std::slice::from_ref(one),
    };
    if keys.len() > MAX_SORT_KEYS {
        let message = format!("Parameter 'sort' has more than {MAX_SORT_KEYS} fields; use fewer.");
        return Err(invalid_value("sort", message));
    }
    keys.iter().map(key).collect()
}

fn key(value: &Value) -> Result<SortKey, OpError> {
    const FORM: &str =
        r#"Parameter 'sort' must be {"field": NAME, "order": "asc" or "desc"}, or a list of them."#;
    let Value::Object(members) = value else {
        return Err(invalid_type("sort", FORM, "object", value));
    };
    let path = members.get("field").and_then(Value::as_str).and_then(FieldPath::parse);
    let is_known = members.keys().all(|name| matches!(name.as_str(), "field" | "order"));
    let descending = match members.get("order") {
        None | Some(Value::Null) => Some(false),
        Some(Value::String(order)) => match order.to_ascii_lowercase().as_str() {
            "asc" | "ascending" => Some(false),
            "desc" | "descending" => Some(true),
            _ => None,
        },
        Some(_) => None,
    };
    match (path, descending) {
        (Some(path), Some(descending)) if is_known => Ok(SortKey { path, descending }),
        _ => Err(invalid_value("sort", FORM)),
    }
}

/// Sorts items.
pub(super) fn sort(items: Vec<Value>, keys: &[SortKey]) -> Vec<Value> {
    if keys.is_empty() {
        return items;
    }
    let key_values = |item: &Value| -> Vec<Option<Value>> {
        keys.iter().map(|key| key.path.first(item).filter(|value| !value.is_null()).cloned()).collect()
    };
    let mut keyed: Vec<(Vec<Option<Value>>, Value)> =
        items.into_iter().map(|item| (key_values(&item), item)).collect();
    keyed.sort_by(|(a, _), (b, _)| {
        let parts = keys.iter().zip(a.iter().zip(b));
        parts.fold(Ordering::Equal, |order, (key, (a, b))| {
            order.then_with(|| match (a, b) {
                (Some(a), Some(b)) if key.descending => compare(b, a),
                (Some(a), Some(b)) => compare(a, b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            })
        })
    });
    keyed.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn missing_values_come_last_in_both_directions() {
        let items =
            || vec![json!({"a": 1, "n": "x"}), json!({"n": "y"}), json!({"a": 3}), json!({"a": null})];
        let sorted = |order: &str| {
            let keys = read(&json!({"field": "a", "order": order})).unwrap();
            Value::from(sort(items(), &keys))
        };
        assert_eq!(sorted("asc"), json!([{"a": 1, "n": "x"}, {"a": 3}, {"n": "y"}, {"a": null}]));
        assert_eq!(sorted("desc"), json!([{"a": 3}, {"a": 1, "n": "x"}, {"n": "y"}, {"a": null}]));
    }

    #[test]
    fn bad_keys_are_refused() {
        for value in [
            json!("a"),
            json!({"order": "asc"}),
            json!({"field": "a", "order": "up"}),
            json!([1]),
            json!({"field": ""}),
            json!({"field": "a", "by": 1}),
        ] {
            assert!(read(&value).is_err(), "{value}");
        }
        assert!(read(&json!([])).unwrap().is_empty());
    }
}
