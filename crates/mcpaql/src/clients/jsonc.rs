//! Parses JSON with comments and trailing commas, with the position of every part.
//!
//! What always holds: nothing else of JSON5 is accepted; an error has a position and a reason, and never quotes the text.

use jsonc_parser::ast::{ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

/// A parsed text. Positions are byte offsets in the text without its byte order mark.
pub(crate) struct JsoncDocument<'t> {
    pub(crate) root: Node<'t>,
    tokens: Vec<TokenAndRange<'t>>,
}

impl JsoncDocument<'_> {
    /// Returns the ranges of the comments, in order.
    pub(crate) fn comments(&self) -> impl Iterator<Item = Range> {
        let is_comment = |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        self.tokens.iter().filter(move |one| is_comment(&one.token)).map(|one| one.range)
    }

    /// Returns the position of the comma after a member, if there is one.
    pub(crate) fn comma_after(&self, member: &ObjectProp<'_>) -> Option<usize> {
        let first = self.tokens.partition_point(|one| one.range.start < member.end());
        let mut following = self.tokens.iter().skip(first);
        let next =
            following.find(|one| !matches!(one.token, Token::CommentLine(_) | Token::CommentBlock(_)))?;
        (next.token == Token::Comma).then_some(next.range.start)
    }

    /// Returns the node at this path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node<'_>> {
        path.iter().try_fold(&self.root, |node, key| get(node, key))
    }
}

/// Converts a node to a value without positions. If a key occurs twice, the last one counts.
pub(crate) fn to_json(node: &Node<'_>) -> Value {
    node.clone().into()
}

pub(crate) fn members<'d, 't>(node: &'d Node<'t>) -> &'d [ObjectProp<'t>] {
    node.as_object().map(|object| object.properties.as_slice()).unwrap_or_default()
}

/// Returns the value of a key. If the key occurs twice, the last one counts.
pub(crate) fn get<'d, 't>(node: &'d Node<'t>, key: &str) -> Option<&'d Node<'t>> {
    members(node).iter().rev().find(|member| member.name.as_str() == key).map(|member| &member.value)
}

/// Whether a text is empty, which means no settings.
pub(crate) fn is_blank(text: &str) -> bool {
    strip_bom(text).trim().is_empty()
}

/// Returns the text without its byte order mark.
pub(crate) fn strip_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Parses a text, or returns the position and the reason of the error.
pub(crate) fn parse(text: &str) -> Result<JsoncDocument<'_>, String> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(strip_bom(text), &collect, &options).map_err(|error| problem(&error))?;
    let root = parsed.value.ok_or_else(|| "line 1, column 1: the file has no value".to_owned())?;
    Ok(JsoncDocument { root, tokens: parsed.tokens.unwrap_or_default() })
}

fn problem(error: &ParseError) -> String {
    let reason = error.kind().to_string();
    let lower: String =
        reason.chars().take(1).flat_map(char::to_lowercase).chain(reason.chars().skip(1)).collect();
    format!("line {}, column {}: {lower}", error.line_display(), error.column_display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let text = "// of mine\r\n{ /* a \" */ \"a\": [1, 2,], // end\n \"b\": {\"c\": \"x // y\",},\n /*/ odd */ }\n// last";
        let document = parse(text).unwrap();
        assert_eq!(to_json(&document.root), json!({"a": [1, 2], "b": {"c": "x // y"}}));
        let comments: Vec<&str> = document.comments().map(|range| range.text(text)).collect();
        assert_eq!(comments, ["// of mine", "/* a \" */", "// end", "/*/ odd */", "// last"]);
    }

    #[test]
    fn plain_json_is_read_as_by_a_json_parser() {
        for text in ["{}", "[]", "null", "-1.5e3", r#""\u00e4\"\\""#, r#"{"a":{"b":[true,false,null,"x"]}}"#]
        {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(to_json(&parse(text).unwrap().root), expected, "{text}");
        }
        assert_eq!(parse(r#"{"a": 1, "a": 2}"#).unwrap().at(&["a"]).map(to_json), Some(json!(2)));
    }

    #[test]
    fn an_error_has_a_position_and_quotes_nothing() {
        for (text, line, column) in [
            ("{\n  \"secret\": \"hunter2", 2, 13),
            ("{\"a\": 1 \"b\": 2}", 1, 8),
            ("{\"a\" 1}", 1, 6),
            ("{a: 1}", 1, 2),
            ("[1 2]", 1, 3),
            ("{} x", 1, 4),
            ("{,}", 1, 2),
            ("{\"a\": hunter2}", 1, 7),
            ("/* open", 1, 1),
            ("/*/", 1, 1),
            ("", 1, 1),
        ] {
            let problem = parse(text).err().unwrap();
            assert!(problem.starts_with(&format!("line {line}, column {column}: ")), "{text}: {problem}");
            assert!(!problem.contains("hunter2"));
        }
    }

    #[test]
    fn nothing_else_of_json5_is_accepted() {
        for text in ["{a: 1}", "{'a': 1}", "0xff", "+1", ".5", "NaN", r#""\x41""#, "01", "[1,,2]"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
