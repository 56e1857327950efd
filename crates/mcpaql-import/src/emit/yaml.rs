//! A small YAML writer.
//!
//! What always holds: the output reads back as the same value, and the same value always gives the same output.
//!
//! Maps are in block style with one key per line. Short lists and short maps without descriptions are on one line, long texts
//! in blocks. There are no anchors, tags or comments.

use super::scalar;
use serde_json::{Number, Value};
use std::borrow::Cow;

/// Maximum width of a line that can be broken.
const WIDTH: usize = 110;
/// Minimum width of a folded text.
const MIN_FOLD_WIDTH: usize = 50;
/// Maximum length of a key; parsers reject longer keys without a `?` before them.
const MAX_PLAIN_KEY: usize = 1000;

/// A value and its layout.
#[derive(Debug, Clone)]
pub(super) enum YamlValue<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<YamlValue<'a>>),
    /// On one line if it is short enough.
    Map(YamlMembers<'a>),
    /// Always one key per line.
    Tall(YamlMembers<'a>),
}

/// The members of a map, in order.
pub(super) type YamlMembers<'a> = Vec<(Cow<'a, str>, YamlValue<'a>)>;

impl<'a> From<&'a Value> for YamlValue<'a> {
    fn from(value: &'a Value) -> YamlValue<'a> {
        match value {
            Value::Null => YamlValue::Null,
            Value::Bool(flag) => YamlValue::Bool(*flag),
            Value::Number(number) => YamlValue::Number(number.clone()),
            Value::String(text) => YamlValue::from(text.as_str()),
            Value::Array(items) => YamlValue::List(items.iter().map(YamlValue::from).collect()),
            Value::Object(map) => YamlValue::Map(
                map.iter().map(|(key, value)| (Cow::from(key), YamlValue::from(value))).collect(),
            ),
        }
    }
}

impl<'a> From<&'a str> for YamlValue<'a> {
    fn from(text: &'a str) -> YamlValue<'a> {
        YamlValue::Text(Cow::Borrowed(text))
    }
}

impl From<String> for YamlValue<'_> {
    fn from(text: String) -> Self {
        YamlValue::Text(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for YamlValue<'a> {
    fn from(text: Cow<'a, str>) -> YamlValue<'a> {
        YamlValue::Text(text)
    }
}

impl From<bool> for YamlValue<'_> {
    fn from(flag: bool) -> Self {
        YamlValue::Bool(flag)
    }
}

impl<'a> YamlValue<'a> {
    /// Returns a list of texts.
    pub(super) fn texts(texts: &'a [String]) -> YamlValue<'a> {
        YamlValue::List(texts.iter().map(|text| YamlValue::from(text.as_str())).collect())
    }
}

/// Writes the members of a map, one per line, indented by `indent` spaces.
pub(super) fn members(out: &mut String, members: &[(Cow<'_, str>, YamlValue<'_>)], indent: usize) {
    for (key, node) in members {
        spaces(out, indent);
        member(out, key, node, indent);
    }
}

/// Writes one entry of a list whose dashes are indented by `indent` spaces.
pub(super) fn item(out: &mut String, node: &YamlValue<'_>, indent: usize) {
    spaces(out, indent);
    out.push('-');
    if let YamlValue::Map(entries) | YamlValue::Tall(entries) = node
        && let Some(((key, first), rest)) = entries.split_first()
        && flow(node, WIDTH.saturating_sub(indent + 2)).is_none()
    {
        out.push(' ');
        member(out, key, first, indent + 2);
        members(out, rest, indent + 2);
    } else {
        value(out, node, indent, indent + 1);
    }
}

/// Writes a key and its value on a line that is already indented.
fn member(out: &mut String, key: &str, node: &YamlValue<'_>, indent: usize) {
    let key = scalar::key(key);
    let mut column = indent + key.chars().count() + 1;
    if key.len() > MAX_PLAIN_KEY {
        out.push_str("? ");
        out.push_str(&key);
        out.push('\n');
        spaces(out, indent);
        column = indent + 1;
    } else {
        out.push_str(&key);
    }
    out.push(':');
    value(out, node, indent, column);
}

/// Writes the value after a key or a dash, including the last line break. `indent` is the indentation of its collection.
fn value(out: &mut String, node: &YamlValue<'_>, indent: usize, column: usize) {
    let text = match node {
        YamlValue::Text(text) => return block_text(out, text, indent, column),
        _ => flow(node, WIDTH.saturating_sub(column + 1)),
    };
    match (text, node) {
        (Some(text), _) => {
            out.push(' ');
            out.push_str(&text);
            out.push('\n');
        }
        (None, YamlValue::List(items)) => {
            out.push('\n');
            for node in items {
                item(out, node, indent + 2);
            }
        }
        (None, YamlValue::Map(entries) | YamlValue::Tall(entries)) => {
            out.push('\n');
            members(out, entries, indent + 2);
        }
        (None, _) => out.push('\n'),
    }
}

fn block_text(out: &mut String, text: &str, indent: usize, column: usize) {
    if let Some((header, lines)) = scalar::literal(text) {
        return block(out, header, lines, indent);
    }
    let inline = scalar::inline(text, false);
    if column + 1 + inline.chars().count() > WIDTH {
        let width = WIDTH.saturating_sub(indent + 2).max(MIN_FOLD_WIDTH);
        if let Some(lines) = scalar::folded(text, width) {
            return block(out, ">-", lines.into_iter(), indent);
        }
    }
    out.push(' ');
    out.push_str(&inline);
    out.push('\n');
}

fn block<'t>(out: &mut String, header: &str, lines: impl Iterator<Item = &'t str>, indent: usize) {
    out.push(' ');
    out.push_str(header);
    out.push('\n');
    for line in lines {
        if !line.is_empty() {
            spaces(out, indent + 2);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Returns the node on one line, if that is possible within `width`. A scalar may be wider, because it cannot be broken.
fn flow(node: &YamlValue<'_>, width: usize) -> Option<String> {
    let mut out = String::new();
    let scalar = !matches!(node, YamlValue::List(_) | YamlValue::Map(_) | YamlValue::Tall(_));
    let fits = put(&mut out, node, if scalar { usize::MAX } else { width });
    let empty = matches!(node, YamlValue::List(items) if items.is_empty())
        || matches!(node, YamlValue::Map(entries) | YamlValue::Tall(entries) if entries.is_empty());
    (fits || empty).then_some(out)
}

/// Appends the node; returns `false` if it does not fit on one line of this width.
fn put(out: &mut String, node: &YamlValue<'_>, width: usize) -> bool {
    match node {
        YamlValue::Null => out.push_str("null"),
        YamlValue::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        YamlValue::Number(number) => out.push_str(&number_text(number)),
        YamlValue::Text(text) if text.len() > width.saturating_mul(4) => return false,
        YamlValue::Text(text) => out.push_str(&scalar::inline(text, true)),
        YamlValue::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                // In a list of maps, each map gets its own line.
                if matches!(item, YamlValue::Map(_) | YamlValue::Tall(_)) || !put(out, item, width) {
                    return false;
                }
            }
            out.push(']');
        }
        YamlValue::Map(entries) | YamlValue::Tall(entries) if entries.is_empty() => out.push_str("{}"),
        YamlValue::Map(entries) => {
            out.push_str("{ ");
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                out.push_str(&scalar::key(key));
                out.push_str(": ");
                if key.len() > MAX_PLAIN_KEY || !put(out, value, width) {
                    return false;
                }
            }
            out.push_str(" }");
        }
        YamlValue::Tall(_) => return false,
    }
    out.len() <= width || out.chars().count() <= width
}

/// Writes a number. YAML 1.1 reads an exponent as text, unless the mantissa has a point and the exponent a sign.
fn number_text(number: &Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}
