//! The string formats that are checked. The checks are small: strict enough to find wrong values, never stricter than
//! the standard.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A checked format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringFormat {
    Date,
    DateTime,
    Time,
    Email,
    Uri,
    Uuid,
    Ipv4,
    Ipv6,
    Hostname,
    Byte,
}

impl StringFormat {
    /// Returns the format with this name; `None` for unknown names, which are not checked.
    pub(super) fn named(name: &str) -> Option<StringFormat> {
        Some(match name {
            "date" => StringFormat::Date,
            "date-time" => StringFormat::DateTime,
            "time" => StringFormat::Time,
            "email" => StringFormat::Email,
            "uri" => StringFormat::Uri,
            "uuid" => StringFormat::Uuid,
            "ipv4" => StringFormat::Ipv4,
            "ipv6" => StringFormat::Ipv6,
            "hostname" => StringFormat::Hostname,
            "byte" => StringFormat::Byte,
            _ => return None,
        })
    }

    pub(super) const ALL: [StringFormat; 10] = [
        StringFormat::Date,
        StringFormat::DateTime,
        StringFormat::Time,
        StringFormat::Email,
        StringFormat::Uri,
        StringFormat::Uuid,
        StringFormat::Ipv4,
        StringFormat::Ipv6,
        StringFormat::Hostname,
        StringFormat::Byte,
    ];

    /// Returns the format that an unknown name misspells. Returns `None` for names that other tools use.
    pub(super) fn nearest_name(name: &str) -> Option<&'static str> {
        const OTHERS: [&str; 4] = ["iri", "uris", "bytes", "url"];
        if name.len() < 4 || name.len() > 20 || OTHERS.contains(&name) {
            return None;
        }
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_', ' '], "");
        let names = StringFormat::ALL.map(StringFormat::name);
        names.into_iter().find(|known| plain(known) == plain(name)).or_else(|| {
            names.into_iter().find(|known| known.len() > 3 && strsim::damerau_levenshtein(known, name) == 1)
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            StringFormat::Date => "date",
            StringFormat::DateTime => "date-time",
            StringFormat::Time => "time",
            StringFormat::Email => "email",
            StringFormat::Uri => "uri",
            StringFormat::Uuid => "uuid",
            StringFormat::Ipv4 => "ipv4",
            StringFormat::Ipv6 => "ipv6",
            StringFormat::Hostname => "hostname",
            StringFormat::Byte => "byte",
        }
    }

    /// Returns the rule as a fragment that follows the parameter's name in a sentence.
    pub(super) const fn fragment(self) -> &'static str {
        match self {
            StringFormat::Date => "must be a date such as 2025-01-31",
            StringFormat::DateTime => "must be a date and time with zone such as 2025-01-31T09:30:00Z",
            StringFormat::Time => "must be a time with zone such as 09:30:00Z",
            StringFormat::Email => "must be an email address such as name@example.com",
            StringFormat::Uri => "must be an absolute URI such as https://example.com/page",
            StringFormat::Uuid => "must be a UUID such as 123e4567-e89b-12d3-a456-426614174000",
            StringFormat::Ipv4 => "must be an IPv4 address such as 192.0.2.1",
            StringFormat::Ipv6 => "must be an IPv6 address such as 2001:db8::1",
            StringFormat::Hostname => "must be a host name such as example.com",
            StringFormat::Byte => "must be base64 text such as aGVsbG8=",
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            StringFormat::Date => is_date(text),
            StringFormat::DateTime => is_date_time(text),
            StringFormat::Time => is_time(text),
            StringFormat::Email => is_email(text),
            StringFormat::Uri => is_uri(text),
            StringFormat::Uuid => is_uuid(text),
            StringFormat::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            StringFormat::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            StringFormat::Hostname => is_hostname(text),
            StringFormat::Byte => is_base64(text),
        }
    }
}

/// Parses a number of exactly `width` ASCII digits.
fn digits(text: &str, width: usize) -> Option<u32> {
    let plain = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time))
}

fn is_time(text: &str) -> bool {
    let Some(zone) = text.find(['Z', 'z', '+', '-']) else { return false };
    let (Some(clock), Some(zone)) = (text.get(..zone), text.get(zone..)) else { return false };
    let zone_fits = match zone.strip_prefix(['+', '-']) {
        None => zone.len() == 1,
        Some(offset) => offset.split_once(':').is_some_and(|(hour, minute)| {
            digits(hour, 2).is_some_and(|h| h < 24) && digits(minute, 2).is_some_and(|m| m < 60)
        }),
    };
    let (whole, fraction) = clock.split_once('.').map_or((clock, None), |(whole, rest)| (whole, Some(rest)));
    let fraction_fits = fraction.is_none_or(|f| !f.is_empty() && f.bytes().all(|byte| byte.is_ascii_digit()));
    let mut parts = whole.splitn(3, ':').map(|part| digits(part, 2));
    let (Some(Some(hour)), Some(Some(minute)), Some(Some(second))) =
        (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    zone_fits && fraction_fits && hour < 24 && minute < 60 && second <= 60
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && local.len() <= 64
            && !local.chars().any(|c| c.is_whitespace() || c.is_control())
            && (is_hostname(domain) || (domain.starts_with('[') && domain.ends_with(']')))
    })
}

fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
            && !rest.is_empty()
            && !rest.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"'))
    })
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    !text.is_empty()
        && text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        })
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_right_from_wrong() {
        for (name, right, wrong) in [
            (
                "date",
                &["2024-02-29", "1999-12-31"][..],
                &["2023-02-29", "2024-13-01", "24-1-1", "", "2024-01-01T"][..],
            ),
            (
                "date-time",
                &["2025-01-31T09:30:00Z", "2025-01-31t09:30:00.123+02:00", "1990-12-31T23:59:60Z"],
                &["2025-01-31", "2025-01-31T09:30:00", "2025-01-31 09:30:00Z", "2025-01-31T25:00:00Z", "TZ"],
            ),
            (
                "time",
                &["09:30:00Z", "23:59:59.5-01:30"],
                &["9:30", "09:30:00", "09:30:00.Z", "09:60:00Z", "é:é:éZ"],
            ),
            (
                "email",
                &["a@b.c", "a+b@example.com", "a@localhost"],
                &["a", "@b.c", "a@", "a b@c.d", "a@-b.c"],
            ),
            (
                "uri",
                &["https://x.y/z?q#f", "mailto:a@b.c", "urn:x"],
                &["x", "/a/b", "://x", "http:", "http://a b"],
            ),
            (
                "uuid",
                &["123e4567-e89b-12d3-a456-426614174000"],
                &["123e4567e89b12d3a456426614174000", "x", ""],
            ),
            ("ipv4", &["192.0.2.1"], &["192.0.2.256", "1.2.3", "::1"]),
            ("ipv6", &["2001:db8::1", "::"], &["192.0.2.1", ":::", ""]),
            (
                "hostname",
                &["example.com", "a", "xn--p1ai", "example.com."],
                &["", "a..b", "-a", "a_b", "a b"],
            ),
            ("byte", &["", "aGVsbG8=", "QUJD"], &["aGVsbG8", "a===", "&&&&"]),
        ] {
            let format = StringFormat::named(name).expect(name);
            assert_eq!(format.name(), name);
            for text in right {
                assert!(format.accepts(text), "{name} should accept {text:?}");
            }
            for text in wrong {
                assert!(!format.accepts(text), "{name} should reject {text:?}");
            }
        }
        assert_eq!(StringFormat::named("int32"), None);
    }
}
