//! Checks whether an address is this machine. Documents, imports, requests, redirects and servers all use these checks.

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

/// Returns whether this is a loopback, unspecified or link-local address. Services there often trust every caller.
#[must_use]
pub fn is_local_ip(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    ip.is_loopback() || ip.is_unspecified() || is_link_local
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn services_that_trust_whoever_reaches_them_are_local() {
        let local = ["127.0.0.1", "::1", "0.0.0.0", "::", "169.254.169.254", "fe80::1", "::ffff:169.254.1.1"];
        for text in local {
            assert!(is_local_ip(text.parse().unwrap()), "{text}");
        }
        for text in ["10.0.0.1", "8.8.8.8", "2001:db8::1", "::ffff:8.8.8.8"] {
            assert!(!is_local_ip(text.parse().unwrap()), "{text}");
        }
    }
}
