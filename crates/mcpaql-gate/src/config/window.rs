//! Lengths of time in the file: `minute`, or a number with a unit such as `10m`.

/// What may be written.
pub(super) const EXPECTED: &str = "second, minute, hour, day, or a number with s, m, h or d, such as 10m";
/// The longest window: a year.
const MAX_SECONDS: u64 = 366 * 86_400;

/// Returns the seconds of a length of time.
pub(super) fn parse(text: &str) -> Option<u64> {
    let (number, unit) = match text {
        "second" => (1, 's'),
        "minute" => (1, 'm'),
        "hour" => (1, 'h'),
        "day" => (1, 'd'),
        _ => {
            let unit = text.chars().next_back()?;
            let digits = text.strip_suffix(unit)?;
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            (digits.parse::<u64>().ok().filter(|_| is_number)?, unit)
        }
    };
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    number.checked_mul(seconds).filter(|seconds| (1..=MAX_SECONDS).contains(seconds))
}

/// Writes a length of time for people.
pub(crate) fn describe(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (length, unit) =
        units.into_iter().find(|(length, _)| seconds.is_multiple_of(*length)).unwrap_or((1, "second"));
    match seconds / length {
        1 => unit.to_owned(),
        number => format!("{number} {unit}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_with_a_unit_are_lengths_of_time() {
        for (text, expected) in [
            ("second", Some(1)),
            ("minute", Some(60)),
            ("hour", Some(3_600)),
            ("day", Some(86_400)),
            ("10m", Some(600)),
            ("90s", Some(90)),
            ("366d", Some(31_622_400)),
            ("367d", None),
            ("0s", None),
            ("m", None),
            ("", None),
            ("+5m", None),
            ("-5m", None),
            ("5", None),
            ("5 m", None),
            ("5é", None),
            ("99999999999999999999d", None),
            ("999999999999999999d", None),
            ("month", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn descriptions_use_the_largest_whole_unit() {
        for (seconds, expected) in
            [(1, "second"), (60, "minute"), (600, "10 minutes"), (90, "90 seconds"), (172_800, "2 days")]
        {
            assert_eq!(describe(seconds), expected);
        }
    }
}
