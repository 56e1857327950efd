//! A point in time on the command line: a duration before now, or a date and time.

use mcpaql_core::timestamp::timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time as RFC 3339 in UTC, or the beginning of it, so that it can be compared with the times of records as text.
///
/// # Errors
/// When the text is neither a duration nor a date.
pub(crate) fn parse(text: &str) -> anyhow::Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    parse_at(text, i64::try_from(now).unwrap_or(i64::MAX)).ok_or_else(|| {
        crate::output::error_with_hint(
            format!("'{}' is not a time", crate::output::sanitize_line(text)),
            "pass a duration such as 30m, 2h or 7d, or a date and time such as 2026-01-31T12:00:00Z",
        )
    })
}

fn parse_at(text: &str, now: i64) -> Option<String> {
    let unit = text.chars().next_back()?;
    let seconds = match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(86_400),
        _ => None,
    };
    if let Some(seconds) = seconds {
        let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|number| *number >= 0)?;
        return Some(timestamp(now.saturating_sub(number.saturating_mul(seconds))));
    }
    // 2026-01-31T12:00:00Z, or the first part of it.
    let pattern = "dddd-dd-ddTdd:dd:ddZ";
    let fits = |(letter, expected): (char, char)| match expected {
        'd' => letter.is_ascii_digit(),
        other => letter == other,
    };
    let is_date = text.len() >= "2026".len() && text.len() <= pattern.len() && text.chars().zip(pattern.chars()).all(fits);
    is_date.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_at;

    #[test]
    fn a_time_is_a_duration_or_a_date() {
        let now = 1_769_860_800; // 2026-01-31T12:00:00Z
        for (text, time) in [
            ("30m", Some("2026-01-31T11:30:00Z")),
            ("2h", Some("2026-01-31T10:00:00Z")),
            ("7d", Some("2026-01-24T12:00:00Z")),
            ("0s", Some("2026-01-31T12:00:00Z")),
            ("2026-01-31", Some("2026-01-31")),
            ("2026-01-31T12:00:00Z", Some("2026-01-31T12:00:00Z")),
            ("-5m", None),
            ("yesterday", None),
            ("h", None),
            ("", None),
            ("2026-01-31T12:00:00+01:00", None),
        ] {
            assert_eq!(parse_at(text, now).as_deref(), time, "{text}");
        }
    }
}
