//! Hidden fields: removes fields from an answer before anything else reads it.
//!
//! ```
//! use mcpaql_shape::{FieldPath, HiddenFields};
//! use serde_json::json;
//!
//! let hidden = HiddenFields::new(["user.email", "ssn"].into_iter().filter_map(FieldPath::parse));
//! let data = json!({"items": [{"id": 1, "ssn": "x", "user": {"login": "ada", "email": "a@x"}}]});
//! let shown = json!({"items": [{"id": 1, "user": {"login": "ada"}}]});
//! assert_eq!(hidden.remove_from(data.into()).into_value(), shown);
//! ```
//!
//! A path matches wherever it starts, inside all lists and objects: `email` hides every field of this name. So the form of an
//! answer does not matter. A text that is JSON is searched like JSON. Another text cannot be searched: if it names a hidden
//! field like a field (`email: …`), it is left out as a whole.
//!
//! What always holds: parsed and unparsed JSON give the same result. Unparsed JSON keeps its digits and its escapes.

use super::path::FieldPath;
use crate::answer::Payload;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What stands in place of a text that is left out.
const LEFT_OUT: &str = "(left out: this text names a hidden field)";
/// White space around JSON text.
const BLANK: [char; 5] = [' ', '\t', '\r', '\n', '\u{feff}'];

/// The fields that no answer has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenFields {
    paths: Vec<FieldPath>,
}

/// A path, and how many of its names have been found.
type PathState = (usize, usize);

impl HiddenFields {
    /// Hides these paths.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = FieldPath>) -> HiddenFields {
        HiddenFields { paths: paths.into_iter().collect() }
    }

    /// Returns whether nothing is hidden.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The hidden paths.
    #[must_use]
    pub fn paths(&self) -> &[FieldPath] {
        &self.paths
    }

    /// Returns these hidden fields and others.
    #[must_use]
    pub fn join<'h>(&'h self, more: &'h HiddenFields) -> Cow<'h, HiddenFields> {
        match (self.is_empty(), more.is_empty()) {
            (_, true) => Cow::Borrowed(self),
            (true, false) => Cow::Borrowed(more),
            (false, false) => {
                let new = more.paths.iter().filter(|path| !self.paths.contains(path));
                Cow::Owned(HiddenFields::new(self.paths.iter().chain(new).cloned()))
            }
        }
    }

    /// Returns data without the hidden fields.
    #[must_use]
    pub fn remove_from(&self, data: Payload) -> Payload {
        if self.is_empty() {
            return data;
        }
        match data {
            Payload::Raw(raw) if raw.get().starts_with('[') && is_list_of_texts(&raw) => {
                let mut value = Payload::Raw(raw).into_value();
                self.remove_from_value(&mut value);
                Payload::Value(value)
            }
            Payload::Raw(raw) if raw.get().starts_with(['{', '[']) => match self.cut(raw.get()) {
                None => Payload::Raw(raw),
                Some(text) => RawValue::from_string(text).map_or(Payload::Value(Value::Null), Payload::Raw),
            },
            Payload::Raw(raw) if !raw.get().starts_with('"') => Payload::Raw(raw),
            text => {
                let mut value = text.into_value();
                self.remove_from_value(&mut value);
                Payload::Value(value)
            }
        }
    }

    /// Removes the hidden fields from a value. Texts in it are searched only if the value is a text or a list of texts.
    pub fn remove_from_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.replace_text(text),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let texts = items.iter_mut().filter_map(|item| match item {
                    Value::String(text) => Some(text),
                    _ => None,
                });
                self.remove_from_texts(&mut texts.collect::<Vec<_>>());
            }
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) => self.replace_text(text),
                        other => self.remove(other, &[]),
                    }
                }
            }
            other => self.remove(other, &[]),
        }
    }

    /// Removes the hidden fields from texts that belong together, such as the lines of a program. If one is left out, so are
    /// the others: the value of the field may be in the next text. Returns whether any was left out.
    pub fn remove_from_texts(&self, texts: &mut [&mut String]) -> bool {
        let mut is_left_out = false;
        let mut unchanged = Vec::new();
        for text in texts {
            match self.remove_from_text(text) {
                Some(shown) => {
                    is_left_out |= shown == LEFT_OUT;
                    **text = shown;
                }
                None => unchanged.push(text),
            }
        }
        for text in unchanged.into_iter().filter(|_| is_left_out) {
            LEFT_OUT.clone_into(text);
        }
        is_left_out
    }

    /// Returns a text without the hidden fields; `None` if it has none.
    #[must_use]
    pub fn remove_from_text(&self, text: &str) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
        let trimmed = text.trim_matches(BLANK);
        if trimmed.starts_with(['{', '[']) {
            if is_json(trimmed) {
                return self.cut(trimmed);
            }
            let is_json_line = |line: &str| line.trim().is_empty() || is_json(line);
            if trimmed.lines().all(is_json_line) {
                let lines: Vec<Option<String>> = trimmed.lines().map(|line| self.cut(line)).collect();
                if lines.iter().all(Option::is_none) {
                    return None;
                }
                let kept =
                    trimmed.lines().zip(lines).map(|(line, cut)| cut.unwrap_or_else(|| line.to_owned()));
                return Some(kept.collect::<Vec<_>>().join("\n"));
            }
        }
        self.is_named_in(text).then(|| LEFT_OUT.to_owned())
    }

    fn replace_text(&self, text: &mut String) {
        if let Some(shown) = self.remove_from_text(text) {
            *text = shown;
        }
    }

    /// Returns whether a text has a hidden field as `name: …`, `name = …`, `"name": …` or `<name>`.
    fn is_named_in(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        let names = self.paths.iter().filter_map(|path| path.parts().last());
        names.map(|name| name.to_ascii_lowercase()).any(|name| {
            text.match_indices(name.as_str()).any(|(start, _)| {
                let before = text.get(..start).and_then(|text| text.chars().next_back());
                let after = text.get(start.saturating_add(name.len())..).unwrap_or_default();
                let is_whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
                let sign = after.trim_start_matches(['"', '\'', '`', '*', '\\', ' ', '\t']);
                is_whole
                    && (sign.starts_with([':', '=']) || before == Some('<') && after.starts_with(['>', ' ']))
            })
        })
    }

    fn remove(&self, value: &mut Value, active: &[PathState]) {
        match value {
            Value::Object(members) => {
                let all = std::mem::take(members);
                let kept = all.into_iter().filter_map(|(name, mut member)| {
                    let next = self.follow(active, &name)?;
                    self.remove(&mut member, &next);
                    Some((name, member))
                });
                *members = kept.collect::<Map<_, _>>();
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.remove(item, active)),
            _ => {}
        }
    }

    /// Follows the paths into a member. `None` if the member is hidden.
    fn follow(&self, active: &[PathState], name: &str) -> Option<Vec<PathState>> {
        let starts = (0..self.paths.len()).map(|path| (path, 0));
        let mut next = Vec::new();
        for (path, found) in active.iter().copied().chain(starts) {
            let Some(rest) = self.paths.get(path).and_then(|path| path.parts().get(found..)) else {
                continue;
            };
            let step = match rest.first() {
                Some(first) if first == name => 1,
                // A name may contain dots itself.
                Some(_) if name.contains('.') => {
                    let parts: Vec<&str> = name.split('.').collect();
                    let is_same = rest.len() >= parts.len() && rest.iter().zip(&parts).all(|(a, b)| a == b);
                    if is_same { parts.len() } else { continue }
                }
                _ => continue,
            };
            if step == rest.len() {
                return None;
            }
            next.push((path, found.saturating_add(step)));
        }
        Some(next)
    }

    /// Returns JSON text without the hidden fields and without white space; `None` if it has none.
    fn cut(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut is_changed = false;
        let mut levels: Vec<TextLevel> = Vec::new();
        let mut member_paths: Vec<PathState> = Vec::new();
        let mut rest = text;
        while let Some((token, after)) = next_token(rest) {
            rest = after;
            let is_top = levels.len() == 1;
            match (token, levels.last_mut()) {
                (",", _) => {}
                (":", _) => out.push(':'),
                ("}" | "]", _) => {
                    levels.pop();
                    out.push_str(token);
                }
                ("{" | "[", level) => {
                    let active = match level {
                        Some(level) if !level.is_object => {
                            level.separate(&mut out);
                            level.active.clone()
                        }
                        Some(level) => {
                            level.is_in_member = false;
                            std::mem::take(&mut member_paths)
                        }
                        None => Vec::new(),
                    };
                    out.push_str(token);
                    levels.push(TextLevel { is_object: token == "{", active, ..TextLevel::default() });
                }
                (name, Some(level)) if level.is_object && !level.is_in_member => {
                    match self.follow(&level.active, &unquoted(name)) {
                        Some(next) => {
                            level.separate(&mut out);
                            level.is_in_member = true;
                            out.push_str(name);
                            member_paths = next;
                        }
                        None => {
                            is_changed = true;
                            let value = next_token(rest).map(|(_, value)| value);
                            // The text is JSON, so there is a value.
                            rest = value.and_then(after_value).unwrap_or_default();
                        }
                    }
                }
                (scalar, Some(level)) if level.is_object => {
                    level.is_in_member = false;
                    out.push_str(scalar);
                }
                (scalar, level) => {
                    if let Some(level) = level {
                        level.separate(&mut out);
                    }
                    // A list of texts, each of which may be JSON.
                    let shown = if is_top && scalar.starts_with('"') {
                        self.remove_from_text(&unquoted(scalar))
                    } else {
                        None
                    };
                    match shown {
                        Some(shown) => {
                            is_changed = true;
                            out.push_str(&Value::from(shown).to_string());
                        }
                        None => out.push_str(scalar),
                    }
                }
            }
        }
        is_changed.then_some(out)
    }
}

fn is_list_of_texts(raw: &RawValue) -> bool {
    serde_json::from_str::<Vec<Cow<'_, str>>>(raw.get()).is_ok()
}

/// An object or a list that is being read.
#[derive(Default)]
struct TextLevel {
    is_object: bool,
    /// The name of a member has been read, but not its value.
    is_in_member: bool,
    has_members: bool,
    active: Vec<PathState>,
}

impl TextLevel {
    /// Writes the comma before a member, unless it is the first one.
    fn separate(&mut self, out: &mut String) {
        if self.has_members {
            out.push(',');
        }
        self.has_members = true;
    }
}

/// Splits the first token off JSON text: a sign, a string, or another scalar.
fn next_token(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(BLANK);
    let end = match text.bytes().next()? {
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        b'"' => {
            let mut is_escaped = false;
            let close = text.bytes().skip(1).position(|byte| {
                let is_close = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_close
            });
            close?.saturating_add(2)
        }
        _ => text
            .find(|c| BLANK.contains(&c) || matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '"'))
            .unwrap_or(text.len()),
    };
    Some((text.get(..end)?, text.get(end..)?))
}

/// Returns the text after a value.
fn after_value(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        let (token, after) = next_token(rest)?;
        rest = after;
        match token {
            "{" | "[" => depth = depth.saturating_add(1),
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(rest);
        }
    }
}

/// Returns the text of a JSON string.
fn unquoted(token: &str) -> Cow<'_, str> {
    let inside = token.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(token);
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    serde_json::from_str(token).map_or(Cow::Borrowed(inside), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hidden(paths: &[&str]) -> HiddenFields {
        HiddenFields::new(paths.iter().filter_map(|path| FieldPath::parse(path)))
    }

    fn both(paths: &[&str], data: &Value) -> Value {
        let hidden = hidden(paths);
        let parsed = hidden.remove_from(data.clone().into()).into_value();
        let raw = RawValue::from_string(data.to_string()).unwrap();
        assert_eq!(hidden.remove_from(raw.into()).into_value(), parsed, "{data}");
        parsed
    }

    #[test]
    fn a_path_matches_wherever_it_starts() {
        let data = json!({"total": 1, "items": [[{"email": 1, "user": {"email": {"a": 2}, "id": 3}}], {"user": [{"email": 4}]}],
            "a.b": 5, "a": {"b": 6, "c": 7}, "x": {"a.b": 8}, "user.email": 9});
        assert_eq!(
            both(&["email", "a.b"], &data),
            json!({"total": 1, "items": [[{"user": {"id": 3}}], {"user": [{}]}], "a": {"c": 7}, "x": {}, "user.email": 9})
        );
        assert_eq!(
            both(&["user.email"], &data),
            json!({"total": 1, "items": [[{"email": 1, "user": {"id": 3}}], {"user": [{}]}],
                "a.b": 5, "a": {"b": 6, "c": 7}, "x": {"a.b": 8}})
        );
        assert_eq!(both(&["items", "a", "x", "total"], &json!({"items": [1], "a": {}})), json!({}));
        assert_eq!(
            both(&["a.a.b"], &json!({"a": {"a": {"a": {"b": 1, "c": 2}}}})),
            json!({"a": {"a": {"a": {"c": 2}}}})
        );
        for scalar in [json!(null), json!(3), json!(true), json!([]), json!("email")] {
            assert_eq!(both(&["email"], &scalar), scalar);
        }
    }

    #[test]
    fn unparsed_json_keeps_its_digits_and_no_spelling_escapes() {
        let raw = RawValue::from_string(
            r#"{"n":12345678901234567890.50,"\u0065mail":"x\"}","\ud800":"\ud800","email":[{"a":"]"}],"l":[1,{"email":2}]}"#.to_owned(),
        );
        let Payload::Raw(shown) = hidden(&["email"]).remove_from(raw.unwrap().into()) else {
            panic!("parsed")
        };
        assert_eq!(shown.get(), r#"{"n":12345678901234567890.50,"\ud800":"\ud800","l":[1,{}]}"#);
        let twice = RawValue::from_string(r#"{"email":1,"id":2,"email":3}"#.to_owned()).unwrap();
        assert_eq!(hidden(&["email"]).remove_from(twice.into()).into_value(), json!({"id": 2}));
        let deep = format!("{}{{\"email\":1}}{}", "[".repeat(10_000), "]".repeat(10_000));
        let raw = RawValue::from_string(deep.clone()).unwrap();
        let Payload::Raw(shown) = hidden(&["email"]).remove_from(raw.into()) else { panic!("parsed") };
        assert_eq!(shown.get(), deep.replace("\"email\":1", ""));
    }

    #[test]
    fn texts_are_searched_as_json_or_left_out() {
        let hidden = hidden(&["user.email", "ssn"]);
        let shown = |text: &str| hidden.remove_from_text(text);
        assert_eq!(shown("{\n \"ssn\": 1,\n \"id\": [1, 2]\n}\n").as_deref(), Some(r#"{"id":[1,2]}"#));
        assert_eq!(shown("{\"ssn\":1}\n{\"id\":2}").as_deref(), Some("{}\n{\"id\":2}"));
        for text in [
            "ssn: 123",
            "SSN = 123",
            "- **email**: ada@x",
            "{\"ssn\": 1, broken",
            "```json\n{\"email\": \"a\"}\n```",
            "<ssn>1</ssn>",
            "{\\\"ssn\\\": 1}",
        ] {
            assert_eq!(shown(text).as_deref(), Some(LEFT_OUT), "{text}");
        }
        for text in ["Send an email to ada", "{\"id\": 1}", "my_ssn: 1", "", "[INFO] started"] {
            assert_eq!(shown(text), None, "{text}");
        }
        assert_eq!(
            both(&["ssn"], &json!(["{\"ssn\": 1, \"id\": 2}", "ssn: 5", {"ssn": 1}, "plain"])),
            json!(["{\"id\":2}", LEFT_OUT, {}, "plain"])
        );
        assert_eq!(both(&["ssn"], &json!(["ssn:", "5"])), json!([LEFT_OUT, LEFT_OUT]));
        assert_eq!(both(&["ssn"], &json!(["a", "{\"ssn\": 1}"])), json!(["a", "{}"]));
        assert_eq!(both(&["ssn"], &json!("{\"ssn\": 1}")), json!("{}"));
    }
}
