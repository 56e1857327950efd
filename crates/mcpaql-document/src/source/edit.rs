//! Edits the text of a document and keeps everything else byte for byte, including comments and order.
//!
//! What always holds: the edited text is parsed again, and an edit is refused unless the new value is exactly the intended one.
//! So an alias, an unusual style or a comment in an unusual position can prevent an edit, but never damage a document.

use super::Source;
use super::tree::{self, NodeKind, SourceNode};
use serde_json::{Map, Value};
use std::ops::Range;

/// One member to set: `key` of the mapping at `parent`.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberEdit {
    /// Pointer to an existing mapping.
    pub parent: String,
    /// The key of the member, which may be new.
    pub key: String,
    /// The new value.
    pub value: Value,
}

/// A range of the text and its replacement.
struct TextReplacement {
    range: Range<usize>,
    text: String,
}

impl Source {
    /// Returns the text with the members set, and the indexes of the edits that were refused.
    #[must_use]
    pub fn apply_edits(&self, edits: &[MemberEdit]) -> (String, Vec<usize>) {
        let all: Vec<&MemberEdit> = edits.iter().collect();
        if let Some(text) = self.try_edits(&all) {
            return (text, Vec::new());
        }
        // At least one edit is not possible: apply them one by one.
        let mut source = self.clone();
        let mut refused = Vec::new();
        for (index, edit) in edits.iter().enumerate() {
            match source.try_edits(&[edit]) {
                Some(text) => source.text = text,
                None => refused.push(index),
            }
        }
        (source.text, refused)
    }

    /// Returns the text with all edits, if its value then has exactly these changes.
    fn try_edits(&self, edits: &[&MemberEdit]) -> Option<String> {
        let before = self.parse().ok()?.value;
        let mut intended = before.clone();
        for edit in edits {
            let map = intended.pointer_mut(&edit.parent)?.as_object_mut()?;
            map.insert(edit.key.clone(), edit.value.clone());
        }
        if intended == before {
            return Some(self.text.clone());
        }
        let (root, offset) = self.tree()?;
        let text = self.text.get(offset..)?;
        let mut changes = Vec::new();
        for edit in edits {
            let node = tree::find_node(&root, &edit.parent)?;
            let mut change = change(node, text, edit)?;
            change.range = change.range.start + offset..change.range.end + offset;
            changes.push(change);
        }
        // From the end, so that earlier offsets stay valid. Of two insertions at one offset, the later one is made first.
        let mut order: Vec<(usize, TextReplacement)> = changes.into_iter().enumerate().collect();
        order.sort_by_key(|(index, change)| std::cmp::Reverse((change.range.start, *index)));
        let mut out = self.text.clone();
        for (_, change) in order {
            out.get(change.range.clone())?;
            out.replace_range(change.range, &change.text);
        }
        let after = Source::new(self.name.clone(), out.as_str()).parse().ok()?;
        (after.value == intended).then_some(out)
    }
}

/// Returns the replacement that sets a member of a mapping, or `None` if the text does not allow it.
fn change(node: &SourceNode, text: &str, edit: &MemberEdit) -> Option<TextReplacement> {
    let NodeKind::Map(members) = &node.kind else { return None };
    let is_flow = text.get(node.range.clone())?.starts_with('{');
    if let Some(member) = members.get(&edit.key) {
        let range = member.value.range.clone();
        let old = text.get(range.clone())?;
        if old.contains('\n') || matches!(member.value.kind, NodeKind::Map(_) | NodeKind::List(_)) {
            return None;
        }
        if range.is_empty() {
            return Some(TextReplacement { range, text: format!(" {}", scalar(&edit.value)) });
        }
        return Some(TextReplacement { range, text: scalar(&edit.value) });
    }
    let entry = format!("{}: {}", Value::from(edit.key.as_str()), scalar(&edit.value));
    let Some(first) = members.values().next() else {
        let start = node.range.start + 1;
        return is_flow.then_some(TextReplacement { range: start..start, text: entry });
    };
    if is_flow {
        let start = node.range.start + 1;
        // Separate members as the author does: by the text between the brace and the first member.
        let gap = text.get(start..first.key.start)?;
        let gap = if gap.trim().is_empty() && gap.contains('\n') { gap } else { "" };
        let separator = if gap.is_empty() { ", " } else { "," };
        return Some(TextReplacement { range: start..start, text: format!("{gap}{entry}{separator}") });
    }
    let line = text.get(..first.key.start)?.rfind('\n').map_or(0, |end| end + 1);
    let indent = text.get(line..first.key.start)?;
    let entry = format!("{}: {}", plain_key(&edit.key), scalar(&edit.value));
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    // After the first member if it is one line, as a name is; otherwise before it, if it starts its line.
    if text.get(first.key.start..first.value.range.end).is_some_and(|member| !member.contains('\n')) {
        let rest = text.get(first.value.range.end..)?;
        let end = rest.find('\n').map_or(rest.len(), |end| end);
        let end = first.value.range.end + rest.get(..end)?.trim_end_matches('\r').len();
        let indent: String = indent.chars().map(|c| if c.is_whitespace() { c } else { ' ' }).collect();
        return Some(TextReplacement { range: end..end, text: format!("{ending}{indent}{entry}") });
    }
    let starts_line = indent.trim().is_empty();
    starts_line.then(|| TextReplacement { range: line..line, text: format!("{indent}{entry}{ending}") })
}

/// Writes a value on one line, valid both as YAML and as JSON.
fn scalar(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members =
                map.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), scalar(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(scalar).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Writes a key of a YAML mapping in block style, quoted only if necessary.
#[must_use]
pub fn plain_key(key: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_plain = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(word)
        && !matches!(
            key.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if is_plain { key.to_owned() } else { Value::from(key).to_string() }
}

/// Returns the edits that set `values` under `key`: one edit per value if the mapping exists, or else one edit that adds it.
#[must_use]
pub fn members(document: &Value, parent: &str, key: &str, values: Map<String, Value>) -> Vec<MemberEdit> {
    let own = format!("{parent}/{key}");
    if document.pointer(&own).is_some_and(Value::is_object) {
        return values
            .into_iter()
            .map(|(key, value)| MemberEdit { parent: own.clone(), key, value })
            .collect();
    }
    vec![MemberEdit { parent: parent.to_owned(), key: key.to_owned(), value: Value::Object(values) }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edit(parent: &str, key: &str, value: Value) -> MemberEdit {
        MemberEdit { parent: parent.into(), key: key.into(), value }
    }

    fn edited(name: &str, text: &str, edits: &[MemberEdit]) -> (String, Vec<usize>) {
        Source::new(name, text).apply_edits(edits)
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        let text = "---\n# head\nname: x   # mine\nops:\n  read:\n    - name: 'get'  # one\n      title: Old\n    - {name: b}\n---\n\nBody: {}\n";
        let edits = [
            edit("/ops/read/0", "title", json!("New: \"x\"")),
            edit("/ops/read/0", "annotations", json!({"readOnlyHint": true})),
            edit("/ops/read/1", "title", json!("B")),
        ];
        let (out, refused) = edited("a.md", text, &edits);
        assert_eq!(refused, [] as [usize; 0]);
        assert_eq!(
            out,
            "---\n# head\nname: x   # mine\nops:\n  read:\n    - name: 'get'  # one\n      annotations: {\"readOnlyHint\": true}\n      title: \"New: \\\"x\\\"\"\n    - {\"title\": \"B\", name: b}\n---\n\nBody: {}\n"
        );
    }

    #[test]
    fn json_keeps_its_shape() {
        let text = "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": {}\n}\n";
        let edits = [edit("/a", "d", json!("x")), edit("/c", "e", json!(true)), edit("/c", "f", json!(1))];
        let (out, refused) = edited("a.json", text, &edits);
        assert_eq!(refused, [] as [usize; 0]);
        assert_eq!(
            out,
            "{\n  \"a\": {\n    \"d\": \"x\",\n    \"b\": 1\n  },\n  \"c\": {\"f\": 1, \"e\": true}\n}\n"
        );
    }

    #[test]
    fn a_mapping_of_mappings_takes_another_one() {
        let text = "operations:\r\n  one:\r\n    title: One\r\n";
        let (out, refused) = edited("a.yaml", text, &[edit("/operations", "no", json!({"title": "No"}))]);
        assert_eq!(refused, [] as [usize; 0]);
        assert_eq!(out, "operations:\r\n  \"no\": {\"title\": \"No\"}\r\n  one:\r\n    title: One\r\n");
    }

    #[test]
    fn an_edit_that_would_change_something_else_is_refused() {
        let text = "a: &x {title: One}\nb: *x\nc: |\n  several\n  lines\nd: [1]\n";
        let edits = [
            edit("/a", "title", json!("Two")),
            edit("", "c", json!("one")),
            edit("", "d", json!(1)),
            edit("/absent", "e", json!(1)),
            edit("", "f", json!(1)),
        ];
        let (out, refused) = edited("a.yaml", text, &edits);
        assert_eq!(refused, [0, 1, 2, 3]);
        assert!(out.contains("\nf: 1\n") && out.contains("several\n  lines"), "{out}");
    }
}
