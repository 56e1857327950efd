//! Ids and times of stored data.
//!
//! Ids are short because agents read and repeat them: the first letter of the resource, then 60 bits as 12 characters
//! of Crockford's base 32 (41 bits of milliseconds since 2020, 19 random bits). They sort by age, and the table's
//! unique key prevents duplicates. They are not sequential, so agents cannot count up to another id.

use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// Digits that are hard to confuse, in ascending order.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 2020-01-01, in milliseconds.
const EPOCH_MS: u64 = 1_577_836_800_000;
const RANDOM_BITS: u32 = 19;

/// Returns a new id for this kind of resource.
pub(crate) fn fresh_id(resource: &str) -> String {
    let uuid = uuid::Uuid::now_v7().as_u128();
    let millis = u64::try_from(uuid >> 80).unwrap_or_default();
    let random = u64::try_from(uuid & u128::from(u32::MAX)).unwrap_or_default();
    id_of(resource, millis, random)
}

fn id_of(resource: &str, millis: u64, random: u64) -> String {
    let letter = resource.chars().find(char::is_ascii_lowercase).unwrap_or('r');
    let bits = (millis.saturating_sub(EPOCH_MS) << RANDOM_BITS) | (random & ((1 << RANDOM_BITS) - 1));
    let digits = (0..12).rev().map(|position| digit(bits >> (5 * position)));
    std::iter::once(letter).chain(digits).collect()
}

fn digit(bits: u64) -> char {
    DIGITS.get(usize::try_from(bits & 31).unwrap_or_default()).map_or('0', |&byte| char::from(byte))
}

/// Returns random bytes of the operating system, for tokens and keys.
pub(crate) fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system has no random numbers"))?;
    Ok(bytes)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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
