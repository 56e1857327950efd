//! A record: its id, its times, its text on the wire, and the text that search reads.
//!
//! Ids are short because agents read and repeat them: the first letter of the resource, then 60 bits as 12 characters of
//! Crockford's base 32 (41 bits of milliseconds since 2020, 19 random bits). They sort by age; the table's unique key settles the
//! rest. They are not counted up, so that a guessed id hits nothing.

use serde_json::{Map, Value};
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Digits that no eye confuses, in ascending order.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 2020-01-01, in milliseconds.
const EPOCH_MS: u64 = 1_577_836_800_000;
const RANDOM_BITS: u32 = 19;

/// A stored record. The body is a JSON object as text, never parsed on the way out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) rank: i64,
    pub(super) seq: i64,
    pub(super) id: &'a str,
    pub(super) version: i64,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) body: &'a str,
}

impl<'a> Row<'a> {
    /// Reads the columns of a record in order, between unit separators.
    pub(super) fn read(text: &'a str) -> Option<Row<'a>> {
        let mut columns = text.splitn(7, '\u{1f}');
        let rank = columns.next()?.parse().ok()?;
        let seq = columns.next()?.parse().ok()?;
        let id = columns.next()?;
        let version = columns.next()?.parse().ok()?;
        let created_at = columns.next()?.parse().ok()?;
        let updated_at = columns.next()?.parse().ok()?;
        Some(Row { rank, seq, id, version, created_at, updated_at, body: columns.next()? })
    }
}

/// Appends the record as clients see it.
pub(super) fn write_record(out: &mut String, id: &str, version: i64, created: i64, updated: i64, body: &str) {
    let fields = body.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    // Ids are made of letters and digits alone, so they need no escaping.
    let _ = write!(out, "{{\"id\":\"{id}\"");
    if !fields.trim().is_empty() {
        out.push(',');
        out.push_str(fields);
    }
    let (created, updated) = (timestamp(created), timestamp(updated));
    let _ =
        write!(out, ",\"created_at\":\"{created}\",\"updated_at\":\"{updated}\",\"_etag\":\"{version}\"}}");
}

/// A fresh id for a record of that resource.
pub(super) fn fresh_id(resource: &str) -> String {
    let uuid = uuid::Uuid::now_v7().as_u128();
    let millis = u64::try_from(uuid >> 80).unwrap_or_default();
    let random = u64::try_from(uuid & u128::from(u32::MAX)).unwrap_or_default();
    id_of(resource, millis, random)
}

fn id_of(resource: &str, millis: u64, random: u64) -> String {
    let letter = resource.chars().find(char::is_ascii_lowercase).unwrap_or('r');
    let bits = (millis.saturating_sub(EPOCH_MS) << RANDOM_BITS) | (random & ((1 << RANDOM_BITS) - 1));
    let digits = (0..12).rev().map(|place| digit(bits >> (5 * place)));
    std::iter::once(letter).chain(digits).collect()
}

fn digit(bits: u64) -> char {
    DIGITS.get(usize::try_from(bits & 31).unwrap_or_default()).map_or('0', |&byte| char::from(byte))
}

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

/// RFC 3339 in UTC, to the second.
pub(crate) fn timestamp(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Howard Hinnant's days-to-date: years begin in March, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Text without case. Upper then lower case per character folds what lower case alone leaves apart (ß and SS, σ and ς).
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// What search reads of a record: the first search field, and all others.
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

/// Where a page ended. Opaque to callers; short, because agents repeat it.
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
        // One spelling only: signs and leading zeros are not ours.
        (cursor.encode() == text).then_some(cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn timestamps_are_rfc_3339_in_utc() {
        let rows = [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_210_096, "2024-02-29T12:34:56Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (seconds, text) in rows {
            assert_eq!(timestamp(seconds), text);
        }
    }

    #[test]
    fn ids_are_short_and_sort_by_age() {
        let millis = EPOCH_MS + 200_000_000_000;
        let (older, newer) = (id_of("note", millis, u64::MAX), id_of("note", millis + 1, 0));
        assert!(older < newer, "{older} {newer}");
        assert_eq!(older.len(), 13);
        assert!(older.starts_with('n'));
        assert!(fresh_id("_Weird").chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
        assert_ne!(fresh_id("note"), fresh_id("note"));
    }

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
        let row = Row { rank: 0, seq: 7, id: "n1", version: 2, created_at: 3, updated_at: 4, body: &body };
        assert_eq!(Row::read(&text), Some(row));
        assert_eq!(Row::read("0\u{1f}7\u{1f}n1"), None);
        assert_eq!(Row::read("0\u{1f}x\u{1f}n1\u{1f}2\u{1f}3\u{1f}4\u{1f}{}"), None);
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
