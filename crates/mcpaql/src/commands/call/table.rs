//! Tables of items, for people. Numbers are shown as they are written.

use crate::output;
use mcpaql_core::shape::raw_members;
use mcpaql_core::syntax::minified;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Maximum columns. Select others with --fields.
const MAX_COLUMNS: usize = 12;
/// Maximum characters of a cell.
const MAX_CELL_CHARS: usize = 60;

/// Returns a table with a row for each item and a column for each of their fields.
pub(super) fn of_items(items: &[&RawValue]) -> String {
    let rows: Vec<Vec<(String, &RawValue)>> = items.iter().map(|item| raw_members(item)).collect();
    let mut seen = HashSet::new();
    let names = rows.iter().flatten().map(|(name, _)| name.as_str());
    let mut columns: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    let hidden = columns.len().saturating_sub(MAX_COLUMNS);
    columns.truncate(MAX_COLUMNS);
    if columns.is_empty() {
        return lines(&items.iter().map(|item| vec![cell(item)]).collect::<Vec<_>>());
    }
    let more = (hidden > 0).then(|| format!("… and {hidden} more"));
    let head = columns.iter().map(|name| line_of(name)).chain(more).collect();
    let of_column = |row: &[(String, &RawValue)], column: &str| {
        row.iter().find(|(name, _)| name == column).map(|(_, value)| cell(value)).unwrap_or_default()
    };
    let row = |(row, item): (&Vec<(String, &RawValue)>, &&RawValue)| match row.as_slice() {
        // An item without fields is shown in the first column.
        [] => vec![cell(item)],
        row => columns.iter().map(|column| of_column(row, column)).collect(),
    };
    lines(&std::iter::once(head).chain(rows.iter().zip(items).map(row)).collect::<Vec<_>>())
}

/// Returns a table with a row for each field of an item.
pub(super) fn of_item(item: &RawValue) -> String {
    let members = raw_members(item);
    if members.is_empty() {
        return cell(item);
    }
    let rows = members.iter().map(|(name, value)| vec![line_of(name), cell(value)]);
    lines(&rows.collect::<Vec<_>>())
}

fn cell(value: &RawValue) -> String {
    let text = match value.get() {
        "null" => String::new(),
        // A text that cannot be decoded, such as half of a surrogate pair, is shown as JSON.
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
        other => minified(other),
    };
    line_of(&text)
}

/// Returns a text as one short line.
fn line_of(text: &str) -> String {
    let line = output::sanitize_line(text);
    if line.chars().count() <= MAX_CELL_CHARS {
        return line;
    }
    line.chars().take(MAX_CELL_CHARS - 1).chain(['…']).collect()
}

/// Joins rows, with columns of equal width.
fn lines(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn a_table_has_the_fields_of_all_items() {
        let items = ["{\"id\": 1, \"title\": \"A\"}", "{\"id\": 20, \"tags\": [ \"x\" ]}"].map(raw);
        assert_eq!(of_items(&[&items[0], &items[1]]), "id  title  tags\n1   A\n20         [\"x\"]");
        assert_eq!(of_items(&[&raw("\"a\""), &raw("2")]), "a\n2");
        assert_eq!(of_item(&raw("{\"id\": 1, \"long\": \"x\", \"none\": null}")), "id    1\nlong  x\nnone");
        assert_eq!(of_item(&raw("{}")), "{}");
        let long = json!("a\u{1b}[31m\nb".repeat(40)).to_string();
        assert_eq!(cell(&raw(&long)).chars().count(), MAX_CELL_CHARS);
    }

    #[test]
    fn no_item_and_no_field_is_left_out_silently() {
        let items = ["{\"a\": 1}", "5", "null", "[1]", "{}"].map(raw);
        let items: Vec<&RawValue> = items.iter().map(AsRef::as_ref).collect();
        assert_eq!(of_items(&items), "a\n1\n5\n\n[1]\n{}");
        let wide: Value = (0..15).map(|n| (format!("c{n}"), json!(n))).collect();
        assert!(of_items(&[&raw(&wide.to_string())]).starts_with("c0  c1"));
        assert!(of_items(&[&raw(&wide.to_string())]).contains("c11  … and 3 more\n"));
        let long = json!({"k".repeat(5000): 1}).to_string();
        assert!(of_items(&[&raw(&long)]).len() < 200 && of_item(&raw(&long)).len() < 200);
    }

    #[test]
    fn cells_show_numbers_and_texts_as_they_are_written() {
        for text in ["1e400", "123456789012345678901234567890", "1E5", "\"\\ud800\"", "[1e400]"] {
            assert_eq!(of_items(&[&raw(&format!("{{\"d\": {text}}}"))]), format!("d\n{text}"));
        }
    }
}
