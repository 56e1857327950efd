//! Finds content blocks that repeat the structured content of a result.
//!
//! The protocol asks servers to send structured content as text too. Servers repeat all of it, or only the value inside
//! `{"result": …}` or `{"content": …}`; minified, pretty-printed or with the keys in another order; in one block or in
//! several. What always holds: a block is removed only if everything in it is also in the structured content.

use serde_json::Value;
use std::borrow::Cow;

/// Objects with one member that are looked into, one inside the other.
const MAX_WRAPPERS: usize = 4;

/// Removes the texts that repeat the structured content, each alone or all together.
pub(super) fn drop_duplicate_texts(texts: &mut Vec<Cow<'_, str>>, structured: &Value) {
    let parts = parts(structured);
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let together: Option<Vec<Value>> =
        texts.iter().map(|text| Some(read(text).unwrap_or_else(|| Value::from(text.as_ref())))).collect();
    let lines = texts.join("\n");
    let all = together.map(Value::Array);
    let is_all = |part: &&Value| all.as_ref().is_some_and(|all| same(all, part)) || is_text(part, &lines);
    if texts.len() > 1 && parts.iter().any(is_all) {
        texts.clear();
    }
    texts.retain(|text| {
        let value = read(text);
        let repeats = |part: &&Value| {
            is_text(part, text) || value.as_ref().is_some_and(|value| same(value, part) || wraps(value, part))
        };
        !parts.iter().any(repeats)
    });
}

/// Returns whether the structured content repeats the blocks themselves, such as an image.
pub(super) fn repeats_blocks(structured: &Value, blocks: &[Value]) -> bool {
    let is_all = |part: &&Value| match part {
        Value::Array(items) => items == blocks,
        other => blocks == std::slice::from_ref(*other),
    };
    !blocks.is_empty() && chain(structured).any(|part| is_all(&part))
}

/// The structured content, the only member of it and of that, and the members of the last one.
fn parts(structured: &Value) -> Vec<&Value> {
    let mut parts: Vec<&Value> = chain(structured).collect();
    if let Some(Value::Object(members)) = parts.last() {
        parts.extend(members.values());
    }
    parts
}

/// A value, its only member, the only member of that, and so on.
fn chain(value: &Value) -> impl Iterator<Item = &Value> {
    std::iter::successors(Some(value), |value| match value {
        Value::Object(members) if members.len() == 1 => members.values().next(),
        _ => None,
    })
    .take(MAX_WRAPPERS)
}

fn is_text(part: &Value, text: &str) -> bool {
    part.as_str().is_some_and(|part| part.trim_end() == text.trim_end())
}

/// Returns whether `value` is an object whose only member is this object or array.
fn wraps(value: &Value, part: &Value) -> bool {
    (part.is_object() || part.is_array()) && chain(value).skip(1).any(|inner| same(inner, part))
}

/// Returns whether two values are equal. `1` and `1.0` are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same =
                |(key, one): (&String, &Value)| other.get(key).is_some_and(|other| same(one, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn left(texts: &[&str], structured: Value) -> Vec<String> {
        let mut texts: Vec<Cow<'_, str>> = texts.iter().map(|text| Cow::Borrowed(*text)).collect();
        drop_duplicate_texts(&mut texts, &structured);
        texts.into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn a_text_that_repeats_the_structured_content_or_its_value_is_a_duplicate() {
        let list = json!([{"b": 1, "a": "x"}]);
        for key in ["result", "content", "data", "items", "anything"] {
            assert!(left(&["[{\"a\": \"x\",\n  \"b\": 1.0}]\n"], json!({ key: list })).is_empty(), "{key}");
            assert!(left(&["{\"b\":1,\"a\":\"x\"}"], json!({ key: list[0] })).is_empty(), "{key}");
            assert!(left(&["one\ntwo\n"], json!({ key: "one\ntwo\n" })).is_empty(), "{key}");
        }
        for (texts, structured) in [
            (vec!["5"], json!({"result": 5})),
            (vec!["\"five\""], json!({"result": "five"})),
            (vec!["one", "two"], json!({"result": ["one", "two"]})),
            (vec!["one", "two"], json!({"text": "one\ntwo"})),
            (vec!["{\"id\":1}", "{\"id\":2}"], json!({"notes": [{"id": 1}, {"id": 2}]})),
            (vec!["x"], json!({"result": {"data": {"content": "x"}}})),
            (vec!["Deleted"], json!({"success": true, "message": "Deleted"})),
            (vec!["[1,2]"], json!({"total": 2, "items": [1, 2]})),
            (vec!["{\"result\":{\"a\":1}}"], json!({"a": 1})),
            (vec!["{}"], json!({})),
        ] {
            assert!(left(&texts, structured.clone()).is_empty(), "{texts:?} {structured}");
        }
    }

    #[test]
    fn a_text_that_says_something_else_stays() {
        for (text, structured) in [
            ("Found one.", json!({"items": [1]})),
            ("1", json!({"a": {"b": 2}, "c": [1]})),
            ("{\"ok\":true}", json!({"deleted": true})),
            ("18446744073709551615", json!({"id": 18_446_744_073_709_551_614_u64})),
            ("{\"a\":1,\"b\":2}", json!({"a": 1})),
            ("[1]", json!({"a": [1, 2]})),
        ] {
            assert_eq!(left(&[text], structured.clone()), [text], "{structured}");
        }
        assert_eq!(left(&["a", "Note"], json!({"result": "a"})), ["Note"]);
    }

    #[test]
    fn structured_content_can_repeat_an_image() {
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        for structured in [json!({"content": [image]}), json!({"content": image}), image.clone()] {
            assert!(repeats_blocks(&structured, std::slice::from_ref(&image)), "{structured}");
        }
        assert!(!repeats_blocks(&json!({"content": [image, 1]}), std::slice::from_ref(&image)));
        assert!(!repeats_blocks(&json!({}), &[]));
    }
}
