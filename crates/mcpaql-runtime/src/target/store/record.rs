//! A record: its text for clients, and its text for search.

use crate::state::timestamp;
use serde_json::{Map, Value};
use std::fmt::Write;

/// A stored record. The body is a JSON object as text; reading never parses it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RecordRow<'a> {
    pub(super) rank: i64,
    pub(super) seq: i64,
    pub(super) id: &'a str,
    pub(super) version: i64,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) body: &'a str,
}

impl<'a> RecordRow<'a> {
    /// Reads the columns of a record in order, separated by unit separators.
    pub(super) fn read(text: &'a str) -> Option<RecordRow<'a>> {
        let mut columns = text.splitn(7, '\u{1f}');
        let rank = columns.next()?.parse().ok()?;
        let seq = columns.next()?.parse().ok()?;
        let id = columns.next()?;
        let version = columns.next()?.parse().ok()?;
        let created_at = columns.next()?.parse().ok()?;
        let updated_at = columns.next()?.parse().ok()?;
        Some(RecordRow { rank, seq, id, version, created_at, updated_at, body: columns.next()? })
    }
}

/// Appends the record in the form for clients.
pub(super) fn write_record(out: &mut String, id: &str, version: i64, created: i64, updated: i64, body: &str) {
    let fields = body.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    // Ids consist of letters and digits, so they need no escaping.
    let _ = write!(out, "{{\"id\":\"{id}\"");
    if !fields.trim().is_empty() {
        out.push(',');
        out.push_str(fields);
    }
    let (created, updated) = (timestamp(created), timestamp(updated));
    let _ =
        write!(out, ",\"created_at\":\"{created}\",\"updated_at\":\"{updated}\",\"_etag\":\"{version}\"}}");
}

/// Removes case. Upper case followed by lower case also unifies characters that lower case alone does not (ß and SS,
/// σ and ς).
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The search text of a record: the first search field, and all others.
pub(super) fn search_text(search: &[String], body: &Map<String, Value>) -> (String, String) {
    let (mut head, mut rest) = (String::new(), String::new());
    for (index, name) in search.iter().enumerate() {
        let Some(value) = body.get(name) else { continue };
        collect_text(value, if index == 0 { &mut head } else { &mut rest });
    }
    (head, rest)
}

fn collect_text(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(&fold(text));
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_text(item, out)),
        Value::Object(map) => map.values().for_each(|item| collect_text(item, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The end of a page. Opaque to callers, and short, because agents repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) rank: i64,
    pub(super) seq: i64,
}

impl Cursor {
    /// Before the newest record.
    pub(super) const START: Cursor = Cursor { rank: -1, seq: i64::MAX };

    pub(super) fn encode(self) -> String {
        format!("c{}.{:x}", self.rank, self.seq)
    }

    pub(super) fn decode(text: &str) -> Option<Cursor> {
        let (rank, seq) = text.strip_prefix('c')?.split_once('.')?;
        let rank = rank.parse().ok().filter(|rank| (0..=1).contains(rank))?;
        let seq = i64::from_str_radix(seq, 16).ok().filter(|&seq| seq > 0)?;
        let cursor = Cursor { rank, seq };
        // Only one spelling is valid: no signs and no leading zeros.
        (cursor.encode() == text).then_some(cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_without_fields_is_still_valid_json() {
        for (body, expected) in [
            ("{}", json!({"id": "n1", "created_at": timestamp(1), "updated_at": timestamp(2), "_etag": "3"})),
            (
                r#"{"a":"}"}"#,
                json!({"id": "n1", "a": "}", "created_at": timestamp(1), "updated_at": timestamp(2), "_etag": "3"}),
            ),
        ] {
            let mut text = String::new();
            write_record(&mut text, "n1", 3, 1, 2, body);
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
        }
    }

    #[test]
    fn a_row_is_read_whole_or_not_at_all() {
        let body = json!({"a": "\u{1e}\u{1f}"}).to_string();
        let text = ["0", "7", "n1", "2", "3", "4", &body].join("\u{1f}");
        let row =
            RecordRow { rank: 0, seq: 7, id: "n1", version: 2, created_at: 3, updated_at: 4, body: &body };
        assert_eq!(RecordRow::read(&text), Some(row));
        assert_eq!(RecordRow::read("0\u{1f}7\u{1f}n1"), None);
        assert_eq!(RecordRow::read("0\u{1f}x\u{1f}n1\u{1f}2\u{1f}3\u{1f}4\u{1f}{}"), None);
    }

    #[test]
    fn folding_ignores_case_in_every_alphabet() {
        for (one, other) in [("STRASSE", "straße"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ЁЖ", "ёж"), ("Éa", "éA")]
        {
            assert_eq!(fold(one), fold(other));
        }
    }

    #[test]
    fn search_reads_strings_inside_lists_and_objects() {
        let Value::Object(body) = json!({"title": "A", "tags": ["B", 1, {"x": "C"}], "other": "D"}) else {
            unreachable!()
        };
        let search = ["title".to_owned(), "tags".to_owned(), "absent".to_owned()];
        assert_eq!(search_text(&search, &body), ("a\n".to_owned(), "b\nc\n".to_owned()));
    }

    #[test]
    fn a_cursor_has_one_spelling() {
        let cursor = Cursor { rank: 1, seq: 0x2f };
        assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
        for text in
            ["", "c", "c1.", "c2.1", "c0.0", "c0.+1", "c0.-1", "c-1.1", "c0.01", "c0.2F", "x0.1", "c0.1 "]
        {
            assert_eq!(Cursor::decode(text), None, "{text:?}");
        }
    }
}
