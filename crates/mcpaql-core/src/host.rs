//! Checks addresses: whether one is this machine or a private network, whether an adapter may reach it, and whether one is
//! sent as it is written. Documents, imports, requests, redirects and servers all use these checks.

mod access;
mod reach;

pub use access::{InvalidRange, NetworkAccess, NetworkRange};
pub use reach::{Reachability, is_local_name, reachability};

use std::net::IpAddr;

/// Returns whether an address is this machine: `http://localhost:8080/x`, `127.0.0.1:80`, `[::1]`, with or without a
/// scheme.
#[must_use]
pub fn is_loopback(address: &str) -> bool {
    is_loopback_host(host(address))
}

/// Returns the host of an address, with or without a scheme. An IPv6 address has no brackets.
#[must_use]
pub fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// Returns where the path or the query of an absolute address starts, if it has one.
#[must_use]
pub fn path_start(address: &str) -> Option<usize> {
    let authority = address.find("://")? + 3;
    let length = address.get(authority..)?.find(['/', '?', '#'])?;
    Some(authority + length)
}

/// Returns whether a host is this machine: `localhost`, a subdomain of it, or a loopback address.
#[must_use]
pub fn is_loopback_host(host: &str) -> bool {
    if let Ok(ip) = host.parse() {
        return is_loopback_ip(ip);
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let (before, last) = name.rsplit_once('.').map_or((None, name), |(before, last)| (Some(before), last));
    last.eq_ignore_ascii_case("localhost") && before.is_none_or(|before| !before.is_empty())
}

/// Returns whether this is a loopback address, including IPv4 addresses written as IPv6.
#[must_use]
pub fn is_loopback_ip(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Returns why a URL or a path cannot be sent as it is written, as the rest of a sentence that starts with its name. HTTP
/// libraries change such addresses without an error.
#[must_use]
pub fn address_problem(address: &str) -> Option<&'static str> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    if address.contains(char::is_control) {
        Some("contains a control character; remove it")
    } else if path.contains('\\') {
        Some("contains a backslash; write `/`, or `%5C` for the character itself")
    } else if path.split('/').any(is_dot_segment) {
        Some("contains `.` or `..` as a segment; write the path without it")
    } else {
        None
    }
}

/// Returns whether a segment of a path is `.` or `..`, perhaps encoded. Such a segment leads to another path.
#[must_use]
pub fn is_dot_segment(segment: &str) -> bool {
    // The longest one is `%2e%2e`.
    segment.len() <= 6
        && segment.starts_with(['.', '%'])
        && matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_http_libraries_would_change_have_a_reason() {
        for (address, word) in [
            ("https://a.example/b\nc", "control"),
            ("https://a.example/b?c=\u{7f}", "control"),
            ("https://a.example\\b", "backslash"),
            ("https://a.example/b/../c", "segment"),
            ("https://a.example/..", "segment"),
            ("/a/./b", "segment"),
            ("/a/%2E%2e/b", "segment"),
            ("/a/.%2e", "segment"),
        ] {
            assert!(address_problem(address).is_some_and(|reason| reason.contains(word)), "{address:?}");
        }
        for address in ["https://a.example/v1.2/..b/.c/...?d=../\\", "/a/.{b}", "/%2e%2e%2e", "/gr\u{fc}n"] {
            assert_eq!(address_problem(address), None, "{address:?}");
        }
    }

    #[test]
    fn this_machine_is_known_however_it_is_written() {
        for address in [
            "localhost",
            "LocalHost:8080",
            "http://localhost./x",
            "http://api.localhost?x=1",
            "127.0.0.1:80",
            "https://127.1.2.3/",
            "[::1]:80",
            "http://[::ffff:127.0.0.1]/x",
            "http://me:word@localhost:80/",
        ] {
            assert!(is_loopback(address), "{address}");
        }
        for address in [
            "",
            "http://",
            "example.com",
            "localhost.example.com",
            "mylocalhost",
            ".localhost",
            "http://localhost:80@example.com/",
            "http://example.com/localhost",
            "http://example.com\\@localhost",
            "10.0.0.1",
            "[::2]",
            "[::ffff:10.0.0.1]:80",
            "0.0.0.0",
        ] {
            assert!(!is_loopback(address), "{address}");
        }
    }
}
