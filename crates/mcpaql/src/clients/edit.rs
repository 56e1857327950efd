//! Changes one member of a configuration without touching the rest of the text.
//!
//! What always holds: comments, order, indentation and line ends do not change; the result parses as the old value with that one
//! change.

#[cfg(test)]
mod properties;

use super::jsonc::{self, JsoncDocument};
use jsonc_parser::ast::{ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Value};
use std::ops::Range;

/// Why a text cannot be changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    Invalid(String),
    /// The value under these keys is not an object, so it cannot contain the member.
    NotAnObject(String),
    /// The value under these keys is not a table of TOML, so it cannot contain the entry.
    NotATable(String),
}

impl std::fmt::Display for EditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EditError::Invalid(problem) => write!(f, "{problem}"),
            EditError::NotAnObject(path) if path.is_empty() => write!(f, "its root is not an object"),
            EditError::NotAnObject(path) => write!(f, "`{path}` is not an object"),
            EditError::NotATable(path) => write!(f, "`{path}` is not a table"),
        }
    }
}

impl std::error::Error for EditError {}

/// A new text for a range of bytes after the byte order mark.
pub(crate) struct TextEdit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Returns the text with `value` at this path of keys. Missing objects are created.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    if jsonc::is_blank(text) {
        return set("{}\n", path, value);
    }
    let document = jsonc::parse(text).map_err(EditError::Invalid)?;
    let layout = JsoncLayout::of(jsonc::strip_bom(text), &document);
    let mut node = &document.root;
    for (depth, key) in path.iter().enumerate() {
        if node.as_object().is_none() {
            return Err(EditError::NotAnObject(path.get(..depth).unwrap_or(path).join(".")));
        }
        let Some(next) = jsonc::get(node, key) else {
            let missing = path.get(depth + 1..).unwrap_or_default();
            let nested = missing.iter().rev().fold(value.clone(), |value, key| {
                Value::Object(Map::from_iter([((*key).to_owned(), value)]))
            });
            return Ok(apply(text, layout.insert(node, key, &nested)));
        };
        node = next;
    }
    if jsonc::to_json(node) == *value {
        return Ok(text.to_owned());
    }
    let new = layout.render(value, layout.line_indent(node.start()));
    Ok(apply(text, vec![TextEdit { range: node.start()..node.end(), text: new }]))
}

/// Returns the text without the member at this path of keys, or the same text if there is no such member.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, EditError> {
    if jsonc::is_blank(text) {
        return Ok(text.to_owned());
    }
    let document = jsonc::parse(text).map_err(EditError::Invalid)?;
    let Some((key, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let Some(object) = document.at(above) else { return Ok(text.to_owned()) };
    let Some(index) = jsonc::members(object).iter().rposition(|member| member.name.as_str() == *key) else {
        return Ok(text.to_owned());
    };
    Ok(apply(text, removal_edits(jsonc::strip_bom(text), &document, object, index)))
}

/// Applies edits to the text after the byte order mark.
pub(crate) fn apply(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let body = jsonc::strip_bom(text);
    out.push_str(text.strip_suffix(body).unwrap_or_default());
    let mut at = 0;
    for edit in edits {
        out.push_str(body.get(at..edit.range.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(body.get(at..).unwrap_or_default());
    out
}

/// Returns the edits that remove a member: its lines, the comment after it, and the comma that would be left over.
fn removal_edits(text: &str, document: &JsoncDocument<'_>, object: &Node<'_>, index: usize) -> Vec<TextEdit> {
    let members = jsonc::members(object);
    let Some(member) = members.get(index) else { return Vec::new() };
    let comma = document.comma_after(member);
    let end = comma.map_or(member.end(), |comma| comma + 1);
    let gone = |range: Range<usize>| TextEdit { range, text: String::new() };
    if members.len() == 1 {
        let inner = object.start() + 1..object.end() - 1;
        let around = [inner.start..member.start(), end..inner.end];
        if around.iter().all(|range| text.get(range.clone()).unwrap_or_default().trim().is_empty()) {
            return vec![gone(inner)];
        }
    }
    let before = text.get(..member.start()).unwrap_or_default();
    let start = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let own_line = text.get(start..member.start()).is_some_and(|space| space.contains('\n'));
    let end = if own_line { skip_comment(text, end) } else { end };
    let behind = text.get(end..).unwrap_or_default().trim_start_matches([' ', '\t']);
    // Text after the member must not become part of a comment on the line before.
    let start = if own_line && !behind.starts_with(['\r', '\n']) { member.start() } else { start };
    let mut edits = vec![gone(start..end)];
    let previous = index.checked_sub(1).and_then(|index| members.get(index));
    let left_over = previous.filter(|_| comma.is_none()).and_then(|previous| document.comma_after(previous));
    edits.extend(left_over.map(|comma| gone(comma..comma + 1)));
    edits
}

/// Returns the end of a `//` comment that directly follows a member on its last line, or `end`.
fn skip_comment(text: &str, end: usize) -> usize {
    let line = text.get(end..).unwrap_or_default().split('\n').next().unwrap_or_default();
    let line = line.trim_end_matches('\r');
    if line.trim_start().starts_with("//") { end + line.len() } else { end }
}

/// The layout of a text.
struct JsoncLayout<'t> {
    text: &'t str,
    document: &'t JsoncDocument<'t>,
    /// The indentation of one level.
    unit: &'t str,
    line_end: &'static str,
}

impl<'t> JsoncLayout<'t> {
    fn of(text: &'t str, document: &'t JsoncDocument<'t>) -> JsoncLayout<'t> {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut layout = JsoncLayout { text, document, unit: "  ", line_end };
        let first = jsonc::members(&document.root).first().map(Ranged::start);
        let indent = first.filter(|first| layout.begins_line(*first)).map(|first| layout.line_indent(first));
        if let Some(unit) = indent.filter(|indent| !indent.is_empty()) {
            layout.unit = unit;
        }
        layout
    }

    /// Returns the indentation of the line at a position.
    fn line_indent(&self, at: usize) -> &'t str {
        let before = self.text.get(..at).unwrap_or_default();
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let line = self.text.get(begin..).unwrap_or_default();
        line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
    }

    fn begins_line(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        before.contains('\n') && line.trim().is_empty()
    }

    fn insert(&self, object: &Node<'_>, key: &str, value: &Value) -> Vec<TextEdit> {
        let quoted = Value::from(key);
        let here = |at: usize, text: String| TextEdit { range: at..at, text };
        let inner = object.start() + 1..object.end() - 1;
        let members = jsonc::members(object);
        let last: Option<&ObjectProp<'_>> = members.last();
        let comma = last.and_then(|last| self.document.comma_after(last));
        if let (Some(first), Some(last)) = (members.first(), last)
            && !self.text.get(inner.start..first.start()).unwrap_or_default().contains('\n')
        {
            let member = format!("{quoted}: {}", inline(value));
            return vec![match comma {
                Some(comma) => here(comma + 1, format!(" {member},")),
                None => here(last.end(), format!(", {member}")),
            }];
        }
        let outer = self.line_indent(object.start());
        let indent = match last.filter(|last| self.begins_line(last.start())) {
            Some(last) => self.line_indent(last.start()).to_owned(),
            None => format!("{outer}{}", self.unit),
        };
        let content = self.text.get(inner.clone()).unwrap_or_default();
        let at = inner.start + content.trim_end().len();
        let end = self.line_end;
        let mut member = format!("{end}{indent}{quoted}: {}", self.render(value, &indent));
        if comma.is_some() {
            member.push(',');
        }
        if !self.text.get(at..inner.end).unwrap_or_default().contains('\n') {
            member.push_str(&format!("{end}{outer}"));
        }
        let missing = last.filter(|_| comma.is_none()).map(|last| here(last.end(), ",".into()));
        missing.into_iter().chain([here(at, member)]).collect()
    }

    /// Formats a value that starts after its key; its other lines are indented. Lists stay on one line.
    fn render(&self, value: &Value, indent: &str) -> String {
        let Value::Object(map) = value else { return inline(value) };
        if map.is_empty() {
            return "{}".into();
        }
        let inner = format!("{indent}{}", self.unit);
        let members: Vec<String> = map
            .iter()
            .map(|(key, value)| {
                format!("{inner}{}: {}", Value::from(key.as_str()), self.render(value, &inner))
            })
            .collect();
        let end = self.line_end;
        format!("{{{end}{}{end}{indent}}}", members.join(&format!(",{end}")))
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let members: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), inline(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

/// Returns the text for display: all values and comments are masked, except the values of `keys` in the object at `path`.
pub(crate) fn mask_values(text: &str, path: &[&str], keys: &[&str]) -> String {
    let Ok(document) = jsonc::parse(text) else { return String::new() };
    let body = jsonc::strip_bom(text);
    let comments = document.comments().map(|range| {
        let range = range.start..range.end;
        let block = body.get(range.clone()).is_some_and(|comment| comment.starts_with("/*"));
        TextEdit { range, text: if block { "/* … */" } else { "// …" }.to_owned() }
    });
    let mut edits: Vec<TextEdit> = comments.collect();
    mask_node(&document.root, Some(path), keys, &mut edits);
    apply(text, edits)
}

/// Masks a node; `path` is the remaining path to the object that may be shown, or `None` outside of it.
fn mask_node(node: &Node<'_>, path: Option<&[&str]>, keys: &[&str], edits: &mut Vec<TextEdit>) {
    match node {
        Node::Array(array) => array.elements.iter().for_each(|item| mask_node(item, None, keys, edits)),
        Node::Object(object) => {
            for member in &object.properties {
                let key = member.name.as_str();
                match path {
                    Some([]) if keys.contains(&key) => {}
                    Some([next, rest @ ..]) if *next == key => {
                        mask_node(&member.value, Some(rest), keys, edits)
                    }
                    _ => mask_node(&member.value, None, keys, edits),
                }
            }
        }
        scalar => {
            let text = if scalar.as_string_lit().is_some() { "\"…\"" } else { "…" };
            edits.push(TextEdit { range: scalar.start()..scalar.end(), text: text.to_owned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry() -> Value {
        json!({"command": "/bin/mcpaql", "args": ["serve"]})
    }

    fn read(text: &str) -> Value {
        jsonc::to_json(&jsonc::parse(text).unwrap().root)
    }

    const PATH: &[&str] = &["mcpServers", "mcpaql"];

    /// Texts of every layout people have.
    const TEXTS: &[&str] = &[
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  },\n  \"z\": 1\n}\n",
        "{\n\t\"z\": 1,\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"}, // last\n\t},\n}",
        "{\r\n    \"mcpServers\": {\r\n        \"a\": {} // last\r\n    }\r\n}\r\n",
        "{\"mcpServers\":{\"a\":{}}}",
        "{\"mcpServers\": {\"a\": {},}, \"z\": [1]}",
        "// mine\n{ // open\n  /* one */ \"mcpServers\": { /* two */ \"a\": {} /* three */ } // four\n}",
        "\u{feff}{\n  \"mcpServers\": {\n    \"a\": {},\n    // \"b\": {}\n  }\n}\n",
    ];

    #[test]
    fn an_entry_is_added_and_nothing_else_changes() {
        for text in TEXTS {
            let new = set(text, PATH, &entry()).unwrap();
            let mut expected = read(text);
            expected["mcpServers"]["mcpaql"] = entry();
            assert_eq!(read(&new), expected, "{new}");
            for comment in jsonc::parse(text).unwrap().comments() {
                assert!(new.contains(comment.text(jsonc::strip_bom(text))), "{new}");
            }
            assert_eq!(set(&new, PATH, &entry()).unwrap(), new, "setting it again changes nothing");
        }
    }

    #[test]
    fn adding_and_removing_gives_the_same_text() {
        for text in TEXTS {
            let new = set(text, PATH, &entry()).unwrap();
            assert_eq!(remove(&new, PATH).unwrap(), *text);
        }
    }

    #[test]
    fn new_lines_are_indented_and_ended_like_the_old_ones() {
        let tabs = set(TEXTS[1], PATH, &entry()).unwrap();
        assert!(tabs.contains("// last\n\t\t\"mcpaql\": {\n\t\t\t\"command\""), "{tabs}");
        assert!(tabs.contains("\n\t\t},\n\t},\n}"), "{tabs}");
        let windows = set(TEXTS[2], PATH, &entry()).unwrap();
        assert!(
            windows.contains("\"a\": {}, // last\r\n        \"mcpaql\": {\r\n            \"command\""),
            "{windows}"
        );
        assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
    }

    #[test]
    fn missing_objects_are_created() {
        let expected = "{\n  \"mcpServers\": {\n    \"mcpaql\": {\n      \"command\": \"/bin/mcpaql\",\n      \"args\": [\"serve\"]\n    }\n  }\n}";
        assert_eq!(set("{}", PATH, &entry()).unwrap(), expected);
        assert_eq!(set(" \n", PATH, &entry()).unwrap(), format!("{expected}\n"));
        assert_eq!(set("{\n}", PATH, &entry()).unwrap(), expected);
        let commented = set("{\n  // nothing yet\n}\n", PATH, &entry()).unwrap();
        assert!(commented.starts_with("{\n  // nothing yet\n  \"mcpServers\": {\n"), "{commented}");
    }

    #[test]
    fn a_value_is_replaced_in_place() {
        let text = "{\n  \"mcpServers\": {\n    \"mcpaql\": { \"command\": \"old\", /* mine */ \"args\": [] }\n  }\n}\n";
        let new = set(text, &["mcpServers", "mcpaql", "command"], &json!("new")).unwrap();
        assert_eq!(new, text.replace("old", "new"));
    }

    #[test]
    fn any_member_can_be_removed() {
        let text = "{\n  \"a\": 1, // of a\n  // of b\n  \"b\": 2,\n  \"c\": 3\n}\n";
        assert_eq!(remove(text, &["a"]).unwrap(), "{\n  // of b\n  \"b\": 2,\n  \"c\": 3\n}\n");
        assert_eq!(remove(text, &["b"]).unwrap(), "{\n  \"a\": 1, // of a\n  // of b\n  \"c\": 3\n}\n");
        assert_eq!(remove(text, &["c"]).unwrap(), "{\n  \"a\": 1, // of a\n  // of b\n  \"b\": 2\n}\n");
        assert_eq!(remove(text, &["d"]).unwrap(), text);
        assert_eq!(remove("{\n  \"a\": 1\n}\n", &["a"]).unwrap(), "{}\n");
        assert_eq!(remove("{\"a\": 1, \"b\": 2}", &["b"]).unwrap(), "{\"a\": 1}");
        assert_eq!(remove("{\"a\": 1, \"b\": 2}", &["a"]).unwrap(), "{ \"b\": 2}");
        assert_eq!(remove("{ \"a\": 1, // x\n\"b\": 2 }", &["b"]).unwrap(), "{ \"a\": 1 // x\n }");
    }

    #[test]
    fn a_value_that_is_not_an_object_is_refused() {
        assert_eq!(set("[]", PATH, &entry()), Err(EditError::NotAnObject(String::new())));
        assert_eq!(
            set("{\"mcpServers\": 1}", PATH, &entry()),
            Err(EditError::NotAnObject("mcpServers".into()))
        );
        assert!(matches!(set("{", PATH, &entry()), Err(EditError::Invalid(_))));
    }

    #[test]
    fn only_values_of_our_own_entry_are_shown() {
        let text = "{\"mcpServers\": {\"a\": {\"env\": {\"T\": \"hunter2\", \"N\": 7}}, // hunter2\n\"mcpaql\": {\"command\": \"x\", \"env\": {\"S\": \"hunter2\"}}}}";
        let shown = mask_values(text, PATH, &["command", "args"]);
        assert!(!shown.contains("hunter2") && !shown.contains('7'), "{shown}");
        assert!(shown.contains("\"command\": \"x\""), "{shown}");
    }
}
