//! Finds out from an answer whether its list has more pages.

use super::controls::whole_number;
use mcpaql_lexicon::snake_case;
use serde_json::Value;

/// Maximum nesting depth of the description of a page.
const MAX_DEPTH: usize = 2;

/// Returns whether there are more items than the `count` of this answer; `None` if the answer does not say so. The list
/// itself has been taken out of `beside`.
pub(super) fn has_more(beside: &Value, count: usize) -> Option<bool> {
    let mut evidence = Vec::new();
    collect(beside, count, 0, &mut evidence);
    match (evidence.contains(&true), evidence.is_empty()) {
        (true, _) => Some(true),
        (false, false) => Some(false),
        (false, true) => None,
    }
}

fn collect(value: &Value, count: usize, depth: usize, evidence: &mut Vec<bool>) {
    let Value::Object(members) = value else { return };
    for (name, member) in members {
        let name = snake_case(name.trim_start_matches(['_', '@']));
        let words: Vec<&str> = name.split('_').collect();
        let has = |word: &str| words.contains(&word);
        match member {
            Value::Bool(more) if has("more") || has("next") || has("incomplete") || has("truncated") => {
                evidence.push(*more);
            }
            Value::Null if has("next") => evidence.push(false),
            Value::String(next) if has("next") => evidence.push(!next.is_empty()),
            Value::Number(_) if has("total") && !has("page") && !has("pages") => {
                let count = u64::try_from(count).unwrap_or(u64::MAX);
                // A total below the number of items is wrong, or it counts something else.
                let total = whole_number(member).filter(|total| *total >= count);
                evidence.extend(total.map(|total| total > count));
            }
            Value::Object(_) if depth < MAX_DEPTH => collect(member, count, depth + 1, evidence),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn common_answers_say_whether_there_is_more() {
        for (beside, expected) in [
            (json!([]), None),
            (json!({"items": []}), None),
            (json!({"total_count": 40}), Some(true)),
            (json!({"total_count": 3, "incomplete_results": false}), Some(false)),
            (json!({"next": "https://x?page=2", "previous": null}), Some(true)),
            (json!({"next": null}), Some(false)),
            (json!({"pageInfo": {"hasNextPage": true}}), Some(true)),
            (json!({"meta": {"next_cursor": ""}}), Some(false)),
            (json!({"has_more": false}), Some(false)),
            (json!({"total": 2}), None),
            (json!({"total": 0}), None),
            (json!({"total": -5}), None),
            (json!({"total": 3.0}), Some(false)),
            (json!({"total": 4.5}), None),
            (json!({"total": 2, "has_more": true}), Some(true)),
        ] {
            assert_eq!(has_more(&beside, 3), expected, "{beside}");
        }
    }
}
