//! Writes Python expressions with the layout of the formatter: on one line if they fit, otherwise with one item per line.

use crate::model::CodeWriter;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Maximum width of a line.
pub(super) const WIDTH: usize = 120;

/// An expression.
#[derive(Debug, Clone)]
pub(super) enum Expression {
    /// Literal source code.
    Word(String),
    /// Items between brackets.
    Group {
        /// The opening: `HttpRequest(`.
        open: String,
        /// The items, each with its label: `name=`.
        items: Vec<(String, Expression)>,
        /// The closing bracket.
        close: &'static str,
        /// Whether each item has its own line even if all fit on one.
        spread: bool,
    },
}

impl Expression {
    pub(super) fn word(text: impl Into<String>) -> Expression {
        Expression::Word(text.into())
    }

    pub(super) fn text(text: &str) -> Expression {
        Expression::Word(string(text))
    }

    pub(super) fn flag(flag: bool) -> Expression {
        Expression::word(if flag { "True" } else { "False" })
    }

    pub(super) fn call(name: &str, items: Vec<(String, Expression)>) -> Expression {
        Expression::Group { open: format!("{name}("), items, close: ")", spread: false }
    }

    pub(super) fn tuple(items: Vec<Expression>) -> Expression {
        let items = items.into_iter().map(|item| (String::new(), item)).collect();
        Expression::Group { open: "(".into(), items, close: ")", spread: false }
    }

    pub(super) fn dict(items: Vec<(String, Expression)>) -> Expression {
        let items = items.into_iter().map(|(key, item)| (format!("{key}: "), item)).collect();
        Expression::Group { open: "{".into(), items, close: "}", spread: false }
    }

    /// Returns a JSON value as an expression.
    pub(super) fn value(value: &Value) -> Expression {
        match value {
            Value::Null => Expression::word("None"),
            Value::Bool(flag) => Expression::flag(*flag),
            Value::Number(number) => Expression::word(number.to_string()),
            Value::String(text) => Expression::text(text),
            Value::Array(items) => {
                let items = items.iter().map(|item| (String::new(), Expression::value(item))).collect();
                Expression::Group { open: "[".into(), items, close: "]", spread: false }
            }
            Value::Object(fields) => Expression::object(fields),
        }
    }

    /// Returns a JSON object as an expression.
    pub(super) fn object(fields: &Map<String, Value>) -> Expression {
        Expression::dict(
            fields.iter().map(|(name, value)| (string(name), Expression::value(value))).collect(),
        )
    }

    /// Returns the expression with one item per line.
    pub(super) fn one_per_line(self) -> Expression {
        match self {
            Expression::Group { open, items, close, .. } if !items.is_empty() => {
                Expression::Group { open, items, close, spread: true }
            }
            other => other,
        }
    }

    /// Collects the names that the expression calls.
    pub(super) fn calls<'e>(&'e self, found: &mut BTreeSet<&'e str>) {
        if let Expression::Group { open, items, .. } = self {
            found.extend(open.strip_suffix('(').filter(|name| !name.is_empty()));
            items.iter().for_each(|(_, item)| item.calls(found));
        }
    }

    /// Returns the expression on one line.
    pub(super) fn to_line(&self) -> String {
        match self {
            Expression::Word(text) => text.clone(),
            Expression::Group { open, items, close, .. } => {
                let inner: Vec<String> =
                    items.iter().map(|(label, item)| format!("{label}{}", item.to_line())).collect();
                let lone = if open == "(" && items.len() == 1 { "," } else { "" };
                format!("{open}{}{lone}{close}", inner.join(", "))
            }
        }
    }

    /// Writes the expression between `before` and `after`.
    pub(super) fn write(&self, text: &mut CodeWriter, before: &str, after: &str) {
        let line = format!("{before}{}{after}", self.to_line());
        match self {
            Expression::Group { open, items, close, spread }
                if *spread || (!items.is_empty() && line.chars().count() > text.room(WIDTH)) =>
            {
                text.block(format!("{before}{open}"), format!("{close}{after}"), |text| {
                    // A single index has no trailing comma, which would make it a tuple.
                    let behind = if *close == "]" && open != "[" && items.len() == 1 { "" } else { "," };
                    for (label, item) in items {
                        item.write(text, label, behind);
                    }
                });
            }
            _ => {
                text.line(line);
            }
        }
    }
}

/// Returns a text as a Python string, in the quotes that need fewer escapes.
pub(super) fn string(text: &str) -> String {
    let count = |quote: char| text.chars().filter(|ch| *ch == quote).count();
    let quote = if count('"') > count('\'') { '\'' } else { '"' };
    let mut out = String::from(quote);
    for ch in text.chars() {
        match ch {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ch if ch == quote => out.extend(['\\', ch]),
            ch if is_hidden(ch) => {
                let code = u32::from(ch);
                out.push_str(&match code {
                    0..=0xFF => format!("\\x{code:02x}"),
                    0x100..=0xFFFF => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
            ch => out.push(ch),
        }
    }
    out.push(quote);
    out
}

/// Returns whether source code should escape a character: control characters, unusual spaces, direction marks.
fn is_hidden(ch: char) -> bool {
    ch.is_control()
        || (ch.is_whitespace() && ch != ' ')
        || matches!(ch, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(expression: &Expression) -> String {
        let mut text = CodeWriter::new("    ");
        expression.write(&mut text, "x = ", "");
        text.finish()
    }

    #[test]
    fn expressions_that_fit_are_on_one_line() {
        let args = vec![
            (String::new(), Expression::text("a")),
            ("b=".into(), Expression::tuple(vec![Expression::text("c")])),
        ];
        let call = Expression::call("F", args);
        assert_eq!(written(&call), "x = F(\"a\", b=(\"c\",))\n");
        assert_eq!(written(&call.one_per_line()), "x = F(\n    \"a\",\n    b=(\"c\",),\n)\n");
        let long = Expression::dict(vec![
            ("1".into(), Expression::text(&"y".repeat(70))),
            ("2".into(), Expression::text(&"z".repeat(70))),
        ]);
        assert_eq!(
            written(&long),
            format!("x = {{\n    1: \"{}\",\n    2: \"{}\",\n}}\n", "y".repeat(70), "z".repeat(70))
        );
        assert_eq!(written(&Expression::call("F", vec![]).one_per_line()), "x = F()\n");
    }

    #[test]
    fn no_text_can_end_its_string() {
        for (text, quoted) in [
            ("plain", "\"plain\""),
            ("it's", "\"it's\""),
            ("say \"x\"", "'say \"x\"'"),
            ("'\"", "\"'\\\"\""),
            ("a\\b\n\u{1b}\u{200b}\u{a0}é😀", "\"a\\\\b\\n\\x1b\\u200b\\xa0é😀\""),
        ] {
            assert_eq!(string(text), quoted);
        }
    }
}
