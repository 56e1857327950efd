//! Parses JSON: the value in one pass with `serde_json`, and on demand the tree of ranges.

use super::problem::SourceProblem;
use super::scalar::Scalar;
use super::tree::{MAX_DEPTH, MappingMember, NodeKind, SourceNode, push_segment};
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry as MapEntry;
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;

/// The start of the message for a JSON syntax error; the reason follows.
pub const NOT_JSON: &str = "This is not valid JSON: ";

/// Parses a JSON text. The flag is set if an object has a key twice; the first one wins.
pub(super) fn read(text: &str) -> Result<(Value, bool), SourceProblem> {
    let duplicates = Cell::new(false);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = FirstWins(&duplicates).deserialize(&mut deserializer);
    match value.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => Ok((value, duplicates.get())),
        Err(error) => Err(syntax_problem(text, &error)),
    }
}

fn syntax_problem(text: &str, error: &serde_json::Error) -> SourceProblem {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(index, _)| index + 1),
    };
    let offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    let full = error.to_string();
    // serde_json appends the position to the message; here the span has it.
    let message = full.rfind(" at line ").and_then(|index| full.get(..index)).unwrap_or(&full);
    if message == "recursion limit exceeded" {
        return SourceProblem::too_deep(offset..offset);
    }
    if let Some(part) = message.strip_prefix("EOF while parsing ") {
        let place = if part == "a value" { "before" } else { "inside" };
        let end = text.len();
        return SourceProblem::syntax(end..end, format!("{NOT_JSON}the text ends {place} {part}"));
    }
    let message = match message {
        "expected ident" => "expected true, false or null",
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "half of a surrogate pair, such as \\ud800, is not a character"
        }
        "number out of range" => "the number is too large",
        message => message,
    };
    let end = text.ceil_char_boundary((offset + 1).min(text.len()));
    SourceProblem::syntax(offset..end, format!("{NOT_JSON}{message}"))
}

/// Deserializes a value; if a key occurs twice, the first one wins.
struct FirstWins<'c>(&'c Cell<bool>);

impl<'de> DeserializeSeed<'de> for FirstWins<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FirstWins<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(FirstWins(self.0))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            let value = access.next_value_seed(FirstWins(self.0))?;
            match map.entry(name) {
                MapEntry::Vacant(entry) => {
                    entry.insert(value);
                }
                MapEntry::Occupied(_) => self.0.set(true),
            }
        }
        Ok(Value::Object(map))
    }
}

/// Returns the tree of a text that [`read`] accepts, with a problem for every duplicate key.
pub(super) fn tree(text: &str) -> Option<(Rc<SourceNode>, Vec<SourceProblem>)> {
    let mut scan =
        JsonScanner { text, offset: 0, pointer: String::new(), problems: Vec::new(), wanted: None };
    let root = scan.value(0)?;
    Some((root, scan.problems))
}

/// Like [`tree`], but values that are not on the path of a pointer stay empty.
pub(super) fn tree_to<'p>(text: &str, pointers: impl Iterator<Item = &'p str>) -> Option<Rc<SourceNode>> {
    let mut parents: HashSet<&str> = HashSet::new();
    for pointer in pointers {
        // From the end: once a parent is known, all its parents are known, too.
        let before = pointer.rmatch_indices('/').filter_map(|(end, _)| pointer.get(..end));
        before.take_while(|parent| parents.insert(parent)).for_each(drop);
    }
    let wanted = Some(&parents);
    JsonScanner { text, offset: 0, pointer: String::new(), problems: Vec::new(), wanted }.value(0)
}

struct JsonScanner<'t> {
    text: &'t str,
    offset: usize,
    pointer: String,
    problems: Vec<SourceProblem>,
    /// The collections to look into, by pointer; `None` means all.
    wanted: Option<&'t HashSet<&'t str>>,
}

impl JsonScanner<'_> {
    fn value(&mut self, depth: usize) -> Option<Rc<SourceNode>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let first = self.peek()?;
        let start = self.offset;
        let is_wanted = |scan: &Self| scan.wanted.is_none_or(|wanted| wanted.contains(scan.pointer.as_str()));
        let kind = match first {
            b'{' | b'[' if !is_wanted(self) => {
                self.skip()?;
                NodeKind::Scalar(Scalar::Null)
            }
            b'{' => NodeKind::Map(self.members(depth)?),
            b'[' => NodeKind::List(self.items(depth)?),
            b'"' => {
                self.string()?;
                NodeKind::Scalar(Scalar::Null)
            }
            _ => {
                self.word();
                NodeKind::Scalar(Scalar::Null)
            }
        };
        Some(Rc::new(SourceNode::new(start..self.offset, kind)))
    }

    fn members(&mut self, depth: usize) -> Option<IndexMap<String, MappingMember>> {
        self.offset += 1;
        let mut members = IndexMap::new();
        if self.accept(b'}') {
            return Some(members);
        }
        loop {
            self.peek()?;
            let start = self.offset;
            let name: String = serde_json::from_str(self.string()?).ok()?;
            let key = start..self.offset;
            if !self.accept(b':') {
                return None;
            }
            let (pointer, problems) = (self.pointer.len(), self.problems.len());
            push_segment(&mut self.pointer, &name);
            let value = self.value(depth + 1)?;
            match members.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(MappingMember { key, value });
                }
                Entry::Occupied(entry) => {
                    // Drop the problems inside a value that is ignored.
                    self.problems.truncate(problems);
                    self.problems.push(SourceProblem::duplicate(self.pointer.clone(), entry.key(), key));
                }
            }
            self.pointer.truncate(pointer);
            if !self.accept(b',') {
                return self.accept(b'}').then_some(members);
            }
        }
    }

    fn items(&mut self, depth: usize) -> Option<Vec<Rc<SourceNode>>> {
        self.offset += 1;
        let mut items = Vec::new();
        if self.accept(b']') {
            return Some(items);
        }
        loop {
            let pointer = self.pointer.len();
            push_segment(&mut self.pointer, &items.len().to_string());
            items.push(self.value(depth + 1)?);
            self.pointer.truncate(pointer);
            if !self.accept(b',') {
                return self.accept(b']').then_some(items);
            }
        }
    }

    /// Skips the collection at the current offset.
    fn skip(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            let rest = self.text.as_bytes().get(self.offset..)?;
            self.offset += rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))?;
            match self.text.as_bytes().get(self.offset)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                _ => open = open.saturating_sub(1),
            }
            self.offset += 1;
            if open == 0 {
                return Some(());
            }
        }
    }

    /// Returns the string at the current offset, with its quotes.
    fn string(&mut self) -> Option<&str> {
        let start = self.offset;
        let inside = self.text.get(start..)?.strip_prefix('"')?;
        let mut from = 0;
        let length = loop {
            // A plain loop: most strings are too short to gain from a vectorized search.
            let end = from + inside.as_bytes().get(from..)?.iter().position(|byte| *byte == b'"')?;
            let escapes = inside.as_bytes().get(from..end)?.iter().rev().take_while(|byte| **byte == b'\\');
            if escapes.count().is_multiple_of(2) {
                break end;
            }
            from = end + 1;
        };
        self.offset = start + length + 2;
        self.text.get(start..self.offset)
    }

    /// Skips a number, `true`, `false` or `null`.
    fn word(&mut self) {
        let rest = self.text.as_bytes().get(self.offset..).unwrap_or_default();
        let end =
            rest.iter().position(|byte| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n'));
        self.offset += end.unwrap_or(rest.len());
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.offset..)?;
        let blank = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
        self.offset += blank;
        rest.get(blank).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.offset += 1;
        }
        found
    }
}
