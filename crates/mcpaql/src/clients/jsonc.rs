//! JSON as people write it, with comments and trailing commas, and where every part of it stands.
//!
//! Nothing is read leniently beyond that: what is broken has a place and a reason, and never a piece of the text.

use serde_json::{Map, Value};
use std::ops::Range;

/// Deeper values are nobody's configuration.
const MAX_DEPTH: usize = 128;

/// A text that was understood.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Node,
    /// Where comments stand, in order.
    pub(crate) comments: Vec<Range<usize>>,
}

/// A value and where it stands, in bytes.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// One key of an object.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// Where its key begins.
    pub(crate) start: usize,
    pub(crate) value: Node,
    /// Where the comma behind it stands, if there is one.
    pub(crate) comma: Option<usize>,
}

impl Node {
    /// Without places; of keys that stand twice the last one counts.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.key.clone(), member.value.value()))
                    .collect::<Map<_, _>>(),
            ),
            Kind::Array(items) => items.iter().map(Node::value).collect(),
            Kind::Scalar(value) => value.clone(),
        }
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: &'static str,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Problem {}

/// Whether there is nothing in a text, so that it stands for no settings.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Reads a text.
pub(crate) fn parse(text: &str) -> Result<Document, Problem> {
    let mut parser = Parser { text, at: 0, comments: Vec::new() };
    if text.starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    let root = parser.space().and_then(|()| parser.value(0)).and_then(|root| {
        parser.space()?;
        if parser.at < text.len() { Err("something stands behind the end") } else { Ok(root) }
    });
    match root {
        Ok(root) => Ok(Document { root, comments: parser.comments }),
        Err(what) => Err(place(text, parser.at, what)),
    }
}

fn place(text: &str, at: usize, what: &'static str) -> Problem {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Problem { line, column, what }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    comments: Vec<Range<usize>>,
}

type Parsed<T> = Result<T, &'static str>;

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.next() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Past spaces and comments.
    fn space(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let begin = self.at + spaces;
            let rest = rest.get(spaces..).unwrap_or_default();
            let length = if rest.starts_with("//") {
                rest.find('\n')
                    .map_or(rest.len(), |end| rest.get(..end).unwrap_or(rest).trim_end_matches('\r').len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    // `/*/` is not yet closed.
                    Some(end) if end >= 2 => end + 2,
                    Some(_) => match rest.get(3..).and_then(|rest| rest.find("*/")) {
                        Some(end) => end + 5,
                        None => return Err("a comment is never closed"),
                    },
                    None => return Err("a comment is never closed"),
                }
            } else {
                self.at = begin;
                return Ok(());
            };
            self.comments.push(begin..begin + length);
            self.at = begin + length;
        }
    }

    fn value(&mut self, depth: usize) -> Parsed<Node> {
        if depth > MAX_DEPTH {
            return Err("values are nested too deeply");
        }
        let start = self.at;
        let kind = match self.next() {
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => Kind::Array(self.array(depth)?),
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => Kind::Scalar(self.word()?),
            None => return Err("a value is missing"),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Parsed<Vec<Member>> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.space()?;
            if self.eat(b'}') {
                return Ok(members);
            }
            if members.last().is_some_and(|last| last.comma.is_none()) {
                return Err("a comma or a closing brace is missing");
            }
            let start = self.at;
            if self.next() != Some(b'"') {
                return Err("a key in double quotes is missing");
            }
            let key = self.string()?;
            self.space()?;
            if !self.eat(b':') {
                return Err("a colon is missing");
            }
            self.space()?;
            let value = self.value(depth + 1)?;
            self.space()?;
            let comma = (self.next() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            members.push(Member { key, start, value, comma });
        }
    }

    fn array(&mut self, depth: usize) -> Parsed<Vec<Node>> {
        self.at += 1;
        let mut items = Vec::new();
        let mut separated = true;
        loop {
            self.space()?;
            if self.eat(b']') {
                return Ok(items);
            }
            if !separated {
                return Err("a comma or a closing bracket is missing");
            }
            items.push(self.value(depth + 1)?);
            self.space()?;
            separated = self.eat(b',');
        }
    }

    fn string(&mut self) -> Parsed<String> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.bytes().enumerate().skip(1).find_map(|(index, byte)| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes.then_some(index + 1)
        });
        let Some(literal) = end.and_then(|end| rest.get(..end)) else {
            return Err("a text is never closed");
        };
        let text =
            serde_json::from_str(literal).map_err(|_| "a text holds a character that must be escaped")?;
        self.at += literal.len();
        Ok(text)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Parsed<Value> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let rest = self.rest();
        let word = rest.get(..rest.len() - rest.trim_start_matches(is_part).len()).unwrap_or_default();
        let value = serde_json::from_str(word).map_err(|_| "this is not a value")?;
        self.at += word.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let text = "\u{feff}// of mine\r\n{ /* a \" */ \"a\": [1, 2,], // end\n \"b\": {\"c\": \"x // y\",},\n /*/ odd */ }\n// last";
        let document = parse(text).unwrap();
        assert_eq!(document.root.value(), json!({"a": [1, 2], "b": {"c": "x // y"}}));
        let comments: Vec<&str> =
            document.comments.iter().map(|range| text.get(range.clone()).unwrap()).collect();
        assert_eq!(comments, ["// of mine", "/* a \" */", "// end", "/*/ odd */", "// last"]);
    }

    #[test]
    fn what_json_reads_is_read_alike() {
        for text in ["{}", "[]", "null", "-1.5e3", r#""\u00e4\"\\""#, r#"{"a":{"b":[true,false,null,"x"]}}"#]
        {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text).unwrap().root.value(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_broken_has_a_place_and_shows_nothing() {
        for (text, line, column) in [
            ("{\n  \"secret\": \"hunter2", 2, 13),
            ("{\"a\": 1 \"b\": 2}", 1, 9),
            ("{\"a\" 1}", 1, 6),
            ("{a: 1}", 1, 2),
            ("[1 2]", 1, 4),
            ("{} x", 1, 4),
            ("{,}", 1, 2),
            ("{\"a\": hunter2}", 1, 7),
            ("/* open", 1, 1),
            ("/*/", 1, 1),
            ("", 1, 1),
        ] {
            let problem = parse(text).unwrap_err();
            assert_eq!((problem.line, problem.column), (line, column), "{text}: {problem}");
            assert!(!problem.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
