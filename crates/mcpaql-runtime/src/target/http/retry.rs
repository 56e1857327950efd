//! Decides whether a failed attempt is retried, and after which delay.
//!
//! What always holds: only operations that are safe to repeat are retried; a delay never goes beyond the deadline of
//! the call; a delay that the upstream requests is never shortened.

use mcpaql_core::timestamp::timestamp;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::{Map, Value};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, SystemTime};

/// How APIs start the names of the headers about their rate limit.
const RATE_LIMIT_PREFIXES: [&str; 3] = ["x-ratelimit", "ratelimit", "x-rate-limit"];
/// A reset from here on is a time since 1970. A smaller one is a wait.
const MIN_EPOCH_SECONDS: u64 = 1_000_000_000;

/// The delays between attempts if the upstream does not request any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The delay before the first retry; doubled for each further one.
    pub base: Duration,
    /// Maximum delay.
    pub max: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { base: Duration::from_millis(200), max: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// Returns the delay before retry `n` (from 0): between half of the exponential delay and all of it, so that
    /// clients that failed together do not retry together.
    #[must_use]
    pub fn delay(self, n: u32) -> Duration {
        let full = self.base.saturating_mul(2_u32.saturating_pow(n)).min(self.max);
        let half = full / 2;
        let spread = u64::try_from(half.as_nanos()).unwrap_or(u64::MAX);
        half + Duration::from_nanos(if spread == 0 { 0 } else { random() % (spread + 1) })
    }
}

/// For jitter, the seed of the standard library's hash maps is random enough.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns the delay before the next attempt after this response; `None` if the response is final.
pub(super) fn wait_after(
    status: StatusCode,
    headers: &HeaderMap,
    backoff: Duration,
    left: Duration,
    now: SystemTime,
) -> Option<Duration> {
    let requested = retry_after(headers, now);
    let wait = match status {
        // If the upstream requests no delay, the backoff still applies.
        StatusCode::TOO_MANY_REQUESTS => requested?.max(backoff),
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
            requested.unwrap_or_default().max(backoff)
        }
        _ => return None,
    };
    (wait < left).then_some(wait)
}

/// The value of `Retry-After`, in seconds or as a date.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Rounds up to whole seconds.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// Returns what the headers of a 429 say about the rate limit: `limit`, `remaining`, `resets_at` and
/// `retry_after_seconds`. Without `Retry-After`, the wait ends when the limit resets.
pub(super) fn rate_limit_details(headers: &HeaderMap, now: SystemTime) -> Map<String, Value> {
    let number = |name: &str| {
        let text = RATE_LIMIT_PREFIXES.iter().find_map(|prefix| headers.get(format!("{prefix}-{name}")))?;
        // A list of limits starts with the one that applies: `100, 100;w=60`.
        text.to_str().ok()?.split([',', ';']).next()?.trim().parse::<u64>().ok()
    };
    let since = now.duration_since(SystemTime::UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
    let resets = number("reset").map(|reset| match reset {
        millis if millis >= MIN_EPOCH_SECONDS * 1000 => millis / 1000,
        seconds if seconds >= MIN_EPOCH_SECONDS => seconds,
        wait => since.saturating_add(wait),
    });
    let wait = retry_after(headers, now).map(whole_seconds);
    let wait = wait.or_else(|| resets.map(|resets| resets.saturating_sub(since)));
    let mut details = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        details.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("limit", number("limit").map(Value::from));
    add("remaining", number("remaining").map(Value::from));
    add("resets_at", resets.and_then(|at| i64::try_from(at).ok()).map(|at| timestamp(at).into()));
    add("retry_after_seconds", wait.map(Value::from));
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;
    use serde_json::json;

    fn headers(value: &str) -> HeaderMap {
        [(RETRY_AFTER, HeaderValue::from_str(value).unwrap())].into_iter().collect()
    }

    fn now() -> SystemTime {
        httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap()
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        for (text, expected) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(retry_after(&headers(text), now()), expected.map(Duration::from_secs), "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now()), None);
    }

    #[test]
    fn the_headers_of_a_rate_limit_become_details() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let details = |rows: &[(&'static str, &'static str)]| {
            let headers = rows.iter().map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            Value::Object(rate_limit_details(&headers.collect(), now))
        };
        let github = [
            ("x-ratelimit-limit", "5000"),
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "1700000090"),
        ];
        let expected = json!({"limit": 5000, "remaining": 0, "resets_at": "2023-11-14T22:14:50Z", "retry_after_seconds": 90});
        assert_eq!(details(&github), expected);
        let draft = [("ratelimit-limit", "100, 100;w=60"), ("ratelimit-reset", "5"), ("retry-after", "7")];
        assert_eq!(
            details(&draft),
            json!({"limit": 100, "resets_at": "2023-11-14T22:13:25Z", "retry_after_seconds": 7})
        );
        assert_eq!(details(&[("x-rate-limit-reset", "1699999990000")])["retry_after_seconds"], 0);
        assert_eq!(details(&[("x-ratelimit-limit", "many")]), json!({}));
    }

    #[test]
    fn a_delay_is_used_only_if_it_ends_before_the_deadline() {
        let (backoff, left) = (Duration::from_secs(1), Duration::from_secs(10));
        let wait = |status, header: Option<&str>| {
            let headers = header.map(headers).unwrap_or_default();
            let status = StatusCode::from_u16(status).unwrap();
            wait_after(status, &headers, backoff, left, now()).map(|wait| wait.as_secs())
        };
        assert_eq!(wait(503, None), Some(1));
        assert_eq!(wait(502, None), Some(1));
        assert_eq!(wait(504, Some("7")), Some(7));
        assert_eq!(wait(503, Some("10")), None);
        assert_eq!(wait(429, Some("3")), Some(3));
        assert_eq!(wait(429, Some("3600")), None);
        assert_eq!(wait(429, None), None);
        assert_eq!(wait(500, Some("1")), None);
        assert_eq!(wait(404, None), None);
    }

    #[test]
    fn delays_double_up_to_the_maximum_and_vary_within_a_half() {
        let backoff = Backoff { base: Duration::from_millis(100), max: Duration::from_millis(300) };
        for (n, full) in [(0, 100), (1, 200), (2, 300), (31, 300), (u32::MAX, 300)] {
            for _ in 0..50 {
                let delay = backoff.delay(n).as_millis();
                assert!((full / 2..=full).contains(&delay), "{n}: {delay}");
            }
        }
        assert_eq!(Backoff { base: Duration::ZERO, max: Duration::ZERO }.delay(3), Duration::ZERO);
    }
}
