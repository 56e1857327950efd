//! Changing one member of a configuration and not a byte of the rest.
//!
//! What always holds: comments, order, indentation and line ends stay as they are; the result reads as the old value with that
//! one change.

#[cfg(test)]
mod properties;

use super::jsonc::{self, Kind, Member, Node, Problem};
use serde_json::{Map, Value};
use std::ops::Range;

/// Why a text cannot be changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Broken(Problem),
    /// What stands under these keys is no object, so nothing can be put into it.
    NoObject(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Broken(problem) => write!(f, "{problem}"),
            Refused::NoObject(path) if path.is_empty() => write!(f, "it is not an object"),
            Refused::NoObject(path) => write!(f, "`{path}` in it is not an object"),
        }
    }
}

impl std::error::Error for Refused {}

struct Edit {
    range: Range<usize>,
    text: String,
}

/// The text with `value` behind these keys; objects on the way are made where they are missing.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, Refused> {
    if jsonc::is_blank(text) {
        return set("{}\n", path, value);
    }
    let document = jsonc::parse(text).map_err(Refused::Broken)?;
    let layout = Layout::of(text, &document.root);
    let mut node = &document.root;
    for (depth, key) in path.iter().enumerate() {
        let Kind::Object(members) = &node.kind else {
            return Err(Refused::NoObject(path.get(..depth).unwrap_or(path).join(".")));
        };
        let Some(next) = node.get(key) else {
            let missing = path.get(depth + 1..).unwrap_or_default();
            let nested = missing.iter().rev().fold(value.clone(), |value, key| {
                Value::Object(Map::from_iter([((*key).to_owned(), value)]))
            });
            return Ok(apply(text, layout.insert(node, members, key, &nested)));
        };
        node = next;
    }
    if node.value() == *value {
        return Ok(text.to_owned());
    }
    let new = layout.render(value, layout.line_indent(node.span.start));
    Ok(apply(text, vec![Edit { range: node.span.clone(), text: new }]))
}

/// The text without the member behind these keys; as it was where there is none.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, Refused> {
    if jsonc::is_blank(text) {
        return Ok(text.to_owned());
    }
    let document = jsonc::parse(text).map_err(Refused::Broken)?;
    let Some((key, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let Some(object) = document.root.at(above) else { return Ok(text.to_owned()) };
    let members = object.members().unwrap_or_default();
    let Some(index) = members.iter().rposition(|member| member.key == *key) else {
        return Ok(text.to_owned());
    };
    Ok(apply(text, without(text, object, members, index)))
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.range.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// What takes a member out: its lines, the comment behind it, and the comma that would be left over.
fn without(text: &str, object: &Node, members: &[Member], index: usize) -> Vec<Edit> {
    let Some(member) = members.get(index) else { return Vec::new() };
    let gone = |range: Range<usize>| Edit { range, text: String::new() };
    if members.len() == 1 {
        let inner = object.span.start + 1..object.span.end - 1;
        let end = member.comma.map_or(member.value.span.end, |comma| comma + 1);
        let around = [inner.start..member.start, end..inner.end];
        if around.iter().all(|range| text.get(range.clone()).unwrap_or_default().trim().is_empty()) {
            return vec![gone(inner)];
        }
    }
    let before = text.get(..member.start).unwrap_or_default();
    let start = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let own_line = text.get(start..member.start).is_some_and(|space| space.contains('\n'));
    let end = member.comma.map_or(member.value.span.end, |comma| comma + 1);
    let end = if own_line { past_comment(text, end) } else { end };
    let behind = text.get(end..).unwrap_or_default().trim_start_matches([' ', '\t']);
    // What stands behind it must not come to stand behind a comment of the line before.
    let start = if own_line && !behind.starts_with(['\r', '\n']) { member.start } else { start };
    let mut edits = vec![gone(start..end)];
    let previous = index.checked_sub(1).and_then(|index| members.get(index));
    if let (None, Some(comma)) = (member.comma, previous.and_then(|previous| previous.comma)) {
        edits.push(gone(comma..comma + 1));
    }
    edits
}

/// Past a comment that stands behind the member on its last line, and nothing else does.
fn past_comment(text: &str, end: usize) -> usize {
    let line = text.get(end..).unwrap_or_default().split('\n').next().unwrap_or_default();
    let line = line.trim_end_matches('\r');
    if line.trim_start().starts_with("//") { end + line.len() } else { end }
}

/// How a text is laid out.
struct Layout<'t> {
    text: &'t str,
    /// What one level is indented by.
    unit: &'t str,
    line_end: &'static str,
}

impl<'t> Layout<'t> {
    fn of(text: &'t str, root: &Node) -> Layout<'t> {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut layout = Layout { text, unit: "  ", line_end };
        let first = root.members().and_then(<[Member]>::first);
        let indent = first
            .filter(|first| layout.begins_line(first.start))
            .map(|first| layout.line_indent(first.start));
        if let Some(unit) = indent.filter(|indent| !indent.is_empty()) {
            layout.unit = unit;
        }
        layout
    }

    /// What the line at a place begins with.
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

    fn insert(&self, object: &Node, members: &[Member], key: &str, value: &Value) -> Vec<Edit> {
        let quoted = Value::from(key);
        let here = |at: usize, text: String| Edit { range: at..at, text };
        let inner = object.span.start + 1..object.span.end - 1;
        let last = members.last();
        if let (Some(first), Some(last)) = (members.first(), last)
            && !self.text.get(inner.start..first.start).unwrap_or_default().contains('\n')
        {
            let member = format!("{quoted}: {}", inline(value));
            return vec![match last.comma {
                Some(comma) => here(comma + 1, format!(" {member},")),
                None => here(last.value.span.end, format!(", {member}")),
            }];
        }
        let outer = self.line_indent(object.span.start);
        let indent = match last.filter(|last| self.begins_line(last.start)) {
            Some(last) => self.line_indent(last.start).to_owned(),
            None => format!("{outer}{}", self.unit),
        };
        let content = self.text.get(inner.clone()).unwrap_or_default();
        let at = inner.start + content.trim_end().len();
        let end = self.line_end;
        let mut member = format!("{end}{indent}{quoted}: {}", self.render(value, &indent));
        if last.is_some_and(|last| last.comma.is_some()) {
            member.push(',');
        }
        if !self.text.get(at..inner.end).unwrap_or_default().contains('\n') {
            member.push_str(&format!("{end}{outer}"));
        }
        let comma =
            last.filter(|last| last.comma.is_none()).map(|last| here(last.value.span.end, ",".into()));
        comma.into_iter().chain([here(at, member)]).collect()
    }

    /// A value whose first line stands behind its key and whose others are indented; lists stay on one line.
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

/// The text without any value but those behind `path` and one of `keys`, and without what comments say. For showing.
pub(crate) fn masked(text: &str, path: &[&str], keys: &[&str]) -> String {
    let Ok(document) = jsonc::parse(text) else { return String::new() };
    let mut edits: Vec<Edit> = document
        .comments
        .iter()
        .map(|range| {
            let block = text.get(range.clone()).is_some_and(|comment| comment.starts_with("/*"));
            Edit { range: range.clone(), text: if block { "/* … */" } else { "// …" }.to_owned() }
        })
        .collect();
    mask(&document.root, Some(path), keys, &mut edits);
    apply(text, edits)
}

/// `path` is what is left of the way to what may be shown; `None` off that way.
fn mask(node: &Node, path: Option<&[&str]>, keys: &[&str], edits: &mut Vec<Edit>) {
    match &node.kind {
        Kind::Scalar(value) => {
            let text = if value.is_string() { "\"…\"" } else { "…" };
            edits.push(Edit { range: node.span.clone(), text: text.to_owned() });
        }
        Kind::Array(items) => items.iter().for_each(|item| mask(item, None, keys, edits)),
        Kind::Object(members) => {
            for member in members {
                match path {
                    Some([]) if keys.contains(&member.key.as_str()) => {}
                    Some([next, rest @ ..]) if *next == member.key => {
                        mask(&member.value, Some(rest), keys, edits)
                    }
                    _ => mask(&member.value, None, keys, edits),
                }
            }
        }
    }
}

/// The lines that differ, with a few around them.
pub(crate) fn diff(old: &str, new: &str) -> String {
    const AROUND: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut old.iter().zip(&new));
    let after = same(&mut old.iter().rev().zip(new.iter().rev()))
        .min(old.len().saturating_sub(before))
        .min(new.len().saturating_sub(before));
    let part = |lines: &[&str], sign: &str| -> String {
        lines.iter().map(|line| format!("{sign}{line}\n")).collect()
    };
    let between = |lines: &'_ [&'_ str]| lines.len().saturating_sub(after);
    let first = before.saturating_sub(AROUND);
    let last = (between(&old) + AROUND).min(old.len());
    [
        part(old.get(first..before).unwrap_or_default(), " "),
        part(old.get(before..between(&old)).unwrap_or_default(), "-"),
        part(new.get(before..between(&new)).unwrap_or_default(), "+"),
        part(old.get(between(&old)..last).unwrap_or_default(), " "),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry() -> Value {
        json!({"command": "/bin/mcpaql", "args": ["serve"]})
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
            let mut expected = jsonc::parse(text).unwrap().root.value();
            expected["mcpServers"]["mcpaql"] = entry();
            assert_eq!(jsonc::parse(&new).unwrap().root.value(), expected, "{new}");
            for comment in jsonc::parse(text).unwrap().comments {
                assert!(new.contains(text.get(comment).unwrap()), "{new}");
            }
            assert_eq!(set(&new, PATH, &entry()).unwrap(), new, "a second time changes nothing");
        }
    }

    #[test]
    fn what_was_added_is_taken_out_without_a_trace() {
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
    fn missing_objects_are_made() {
        let expected = "{\n  \"mcpServers\": {\n    \"mcpaql\": {\n      \"command\": \"/bin/mcpaql\",\n      \"args\": [\"serve\"]\n    }\n  }\n}";
        assert_eq!(set("{}", PATH, &entry()).unwrap(), expected);
        assert_eq!(set(" \n", PATH, &entry()).unwrap(), format!("{expected}\n"));
        assert_eq!(set("{\n}", PATH, &entry()).unwrap(), expected);
        let commented = set("{\n  // nothing yet\n}\n", PATH, &entry()).unwrap();
        assert!(commented.starts_with("{\n  // nothing yet\n  \"mcpServers\": {\n"), "{commented}");
    }

    #[test]
    fn a_value_is_replaced_where_it_stands() {
        let text = "{\n  \"mcpServers\": {\n    \"mcpaql\": { \"command\": \"old\", /* mine */ \"args\": [] }\n  }\n}\n";
        let new = set(text, &["mcpServers", "mcpaql", "command"], &json!("new")).unwrap();
        assert_eq!(new, text.replace("old", "new"));
    }

    #[test]
    fn any_member_can_go() {
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
    fn what_cannot_hold_an_entry_is_refused() {
        assert_eq!(set("[]", PATH, &entry()), Err(Refused::NoObject(String::new())));
        assert_eq!(set("{\"mcpServers\": 1}", PATH, &entry()), Err(Refused::NoObject("mcpServers".into())));
        assert!(matches!(set("{", PATH, &entry()), Err(Refused::Broken(_))));
    }

    #[test]
    fn what_is_shown_holds_no_value_but_ours() {
        let text = "{\"mcpServers\": {\"a\": {\"env\": {\"T\": \"hunter2\", \"N\": 7}}, // hunter2\n\"mcpaql\": {\"command\": \"x\", \"env\": {\"S\": \"hunter2\"}}}}";
        let shown = masked(text, PATH, &["command", "args"]);
        assert!(!shown.contains("hunter2") && !shown.contains('7'), "{shown}");
        assert!(shown.contains("\"command\": \"x\""), "{shown}");
    }

    #[test]
    fn a_diff_shows_what_changes_and_a_little_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n";
        assert_eq!(diff(old, "1\n2\n3\n4,\nnew\n5\n6\n"), " 2\n 3\n-4\n+4,\n+new\n 5\n 6\n");
        assert_eq!(diff("", "a\n"), "+a\n");
        assert_eq!(diff("a\na\n", "a\n"), " a\n-a\n");
    }
}
