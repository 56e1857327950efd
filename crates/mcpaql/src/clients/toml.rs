//! Parses TOML, the format of Codex's configuration, and changes one entry of it without touching the rest of the text.
//!
//! What always holds: an error has a position and a reason, and never quotes the text; an edit changes no byte outside the entry, and
//! its result parses as the old value with that one change.

pub(crate) mod edit;
mod mask;
#[cfg(test)]
mod properties;

pub(crate) use mask::mask_values;

use super::jsonc::strip_bom;
use serde_json::{Map, Number, Value};
use toml_edit::{Document, Item, Table, Value as TomlValue};

/// Parses a text, or returns the position and the reason of the error. Positions are byte offsets without the byte order mark.
pub(crate) fn parse(text: &str) -> Result<Document<&str>, String> {
    let text = strip_bom(text);
    Document::parse(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}: {}", error.message().trim().replace('\n', ", "))
    })
}

/// Converts a document to a value without positions.
pub(crate) fn to_json(document: &Document<&str>) -> Value {
    table_to_json(document.as_table())
}

fn table_to_json(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_to_json(item))).collect())
}

fn item_to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_to_json(value),
        Item::Table(table) => table_to_json(table),
        Item::ArrayOfTables(tables) => tables.iter().map(table_to_json).collect(),
    }
}

fn value_to_json(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::from(text.value().as_str()),
        TomlValue::Integer(number) => Value::from(*number.value()),
        // JSON has no infinity and no NaN.
        TomlValue::Float(number) => Number::from_f64(*number.value())
            .map_or_else(|| Value::from(number.value().to_string()), Value::Number),
        TomlValue::Boolean(flag) => Value::from(*flag.value()),
        TomlValue::Datetime(time) => Value::from(time.value().to_string()),
        TomlValue::Array(items) => items.iter().map(value_to_json).collect(),
        TomlValue::InlineTable(table) => {
            let members: Map<String, Value> =
                table.iter().map(|(key, value)| (key.to_owned(), value_to_json(value))).collect();
            Value::Object(members)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_table_is_read() {
        let text =
            "\u{feff}a = 1\r\nb.c = 'x'\n[d]\ne = { f = [1.5, true], g.h = 1979-05-27 }\n[[i]]\nj = inf\n";
        let expected = json!({"a": 1, "b": {"c": "x"}, "d": {"e": {"f": [1.5, true], "g": {"h": "1979-05-27"}}}, "i": [{"j": "inf"}]});
        assert_eq!(to_json(&parse(text).unwrap()), expected);
    }

    #[test]
    fn an_error_has_a_position_and_quotes_nothing() {
        for (text, line) in [
            ("a = 1\nb = hunter2\n", 2),
            ("a = 1\na = 'hunter2'\n", 2),
            ("[a]\nb = \"hunter2\n", 2),
            ("[hunter2\n", 1),
            ("{\"mcpServers\": \"hunter2\"}", 1),
        ] {
            let problem = parse(text).err().unwrap();
            assert!(problem.starts_with(&format!("line {line}, column ")), "{text}: {problem}");
            assert!(!problem.contains("hunter2") && !problem.contains('\n'), "{problem}");
        }
    }
}
