//! Ids and times of what is kept.
//!
//! Ids are short because agents read and repeat them: the first letter of the resource, then 60 bits as 12 characters of
//! Crockford's base 32 (41 bits of milliseconds since 2020, 19 random bits). They sort by age; the table's unique key settles the
//! rest. They are not counted up, so that a guessed id hits nothing.

use std::time::{SystemTime, UNIX_EPOCH};

/// Digits that no eye confuses, in ascending order.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 2020-01-01, in milliseconds.
const EPOCH_MS: u64 = 1_577_836_800_000;
const RANDOM_BITS: u32 = 19;

/// A fresh id for something of that kind.
pub(crate) fn fresh_id(resource: &str) -> String {
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
pub(crate) fn now() -> i64 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
