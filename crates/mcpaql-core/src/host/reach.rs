//! Which part of the network an IP address belongs to.
//!
//! ```
//! use mcpaql_core::host::{Reachability, reachability};
//!
//! assert_eq!(reachability("8.8.8.8".parse().unwrap()), Reachability::Public);
//! assert_eq!(reachability("10.0.0.1".parse().unwrap()), Reachability::Private);
//! // An IPv4 address inside an IPv6 address counts as itself.
//! assert_eq!(reachability("64:ff9b::169.254.169.254".parse().unwrap()), Reachability::Restricted);
//! ```
//!
//! What always holds: an address is public only if it is known to be; an IPv6 address that contains an IPv4 address is
//! never more public than that one.

use super::is_loopback_host;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which part of the network an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reachability {
    /// The internet.
    Public,
    /// This machine or a private network. Services there often trust every client.
    Private,
    /// Link-local addresses, metadata services of clouds, and addresses that belong to no machine.
    Restricted,
}

/// Metadata services of clouds outside the link-local range. They hand out credentials to every client.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)];

/// The top level domains of names that only a private network resolves.
const LOCAL_DOMAINS: [&str; 5] = [".local", ".internal", ".home.arpa", ".lan", ".intranet"];

/// Returns which part of the network an address belongs to.
#[must_use]
pub fn reachability(ip: IpAddr) -> Reachability {
    match ip {
        IpAddr::V4(ip) => of_v4(ip),
        IpAddr::V6(ip) => embedded(ip).into_iter().map(of_v4).fold(of_v6(ip), Ord::max),
    }
}

/// Returns whether only a private network resolves a name: `localhost`, a name without a dot, `printer.local`.
#[must_use]
pub fn is_local_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    is_loopback_host(&name)
        || !name.contains(['.', ':'])
        || LOCAL_DOMAINS.iter().any(|domain| name.ends_with(domain))
}

fn of_v4(ip: Ipv4Addr) -> Reachability {
    let [a, b, c, _] = ip.octets();
    if METADATA_V4.contains(&ip) || ip.is_link_local() {
        return Reachability::Restricted;
    }
    match (a, b, c) {
        // "This network", multicast, reserved, broadcast.
        (0 | 224..=255, ..) => Reachability::Restricted,
        (10 | 127, ..)
        | (172, 16..=31, _)
        | (192, 168, _)
        // Carrier-grade NAT, benchmarks, and addresses of protocols.
        | (100, 64..=127, _)
        | (198, 18..=19, _)
        | (192, 0, 0) => Reachability::Private,
        _ => Reachability::Public,
    }
}

/// What an IPv6 address is, whatever it contains.
fn of_v6(ip: Ipv6Addr) -> Reachability {
    if METADATA_V6.contains(&ip) || ip.is_unspecified() || ip.is_multicast() || ip.is_unicast_link_local() {
        return Reachability::Restricted;
    }
    let [first, second, third, ..] = ip.segments();
    // What the addresses of NAT64 contain is checked, too. Others with this prefix are for private use.
    let is_nat64 = (first, second, third) == (0x64, 0xff9b, 0);
    match first {
        0x2000..=0x3fff => Reachability::Public,
        _ if is_nat64 || is_carrier(ip) => Reachability::Public,
        _ => Reachability::Private,
    }
}

/// Whether an address does nothing but carry an IPv4 address: mapped, translated or compatible.
fn is_carrier(ip: Ipv6Addr) -> bool {
    matches!(ip.segments(), [0, 0, 0, 0, 0, 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..])
        || (ip.to_ipv4().is_some() && !ip.is_loopback() && !ip.is_unspecified())
}

/// The IPv4 addresses that an IPv6 address contains: mapped, compatible, translated, NAT64, 6to4, Teredo and ISATAP.
fn embedded(ip: Ipv6Addr) -> Vec<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let mut found = Vec::new();
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0) if ip.is_loopback() || ip.is_unspecified() => {}
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0, 0, 0, 0, 0xffff, 0) | (0x64, 0xff9b, ..) => found.push(v4(g, h)),
        (0x2002, ..) => found.push(v4(b, c)),
        (0x2001, 0, ..) => found.extend([v4(c, d), v4(!g, !h)]),
        _ => {}
    }
    if matches!(e, 0 | 0x200) && f == 0x5efe {
        found.push(v4(g, h));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Reachability {
        reachability(text.parse().unwrap_or_else(|_| panic!("{text}")))
    }

    #[test]
    fn every_form_of_an_address_has_its_part_of_the_network() {
        for text in [
            "127.0.0.1",
            "127.255.255.255",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "198.18.0.1",
            "192.0.0.1",
            "::1",
            "fc00::1",
            "fd12:3456::1",
            "fec0::1",
            "::ffff:10.0.0.1",
            "::10.0.0.1",
            "::ffff:0:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "2002:a00:1::1",
            "2001:0:808:808::f5ff:fffe",
            "2a00::5efe:192.168.0.1",
            "100::1",
            "5f00::1",
        ] {
            assert_eq!(of(text), Reachability::Private, "{text}");
        }
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "169.254.170.2",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "2002::1",
            "::ffff:0.0.0.0",
            "2001:0:a9fe:a9fe::1",
        ] {
            assert_eq!(of(text), Reachability::Restricted, "{text}");
        }
        for text in [
            "8.8.8.8",
            "1.1.1.1",
            "172.32.0.1",
            "172.15.255.255",
            "100.128.0.1",
            "192.0.1.1",
            "203.0.113.7",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2001:0:808:808::f7f7:f7f7",
        ] {
            assert_eq!(of(text), Reachability::Public, "{text}");
        }
    }

    #[test]
    fn local_names_are_not_names_of_the_internet() {
        for name in
            ["localhost", "api.localhost", "db", "Printer.LOCAL", "x.internal.", "nas.home.arpa", "a.lan"]
        {
            assert!(is_local_name(name), "{name}");
        }
        for name in ["example.com", "local.example", "internal.example.", "lan.com"] {
            assert!(!is_local_name(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_disguise_makes_an_address_more_public(bits in any::<u32>(), prefix in 0..5_usize) {
            let plain = Ipv4Addr::from(bits);
            let low = u128::from(bits);
            let disguised = match prefix {
                0 => (0xffff_u128 << 32) | low,
                1 => (0x64_ff9b_u128 << 96) | low,
                2 => (0x2002_u128 << 112) | (low << 80) | 1,
                3 => (0xffff_u128 << 48) | low,
                _ => (0x2001_u128 << 112) | (0x0808_0808_u128 << 64) | u128::from(!bits),
            };
            let disguised = IpAddr::V6(Ipv6Addr::from(disguised));
            prop_assert!(reachability(disguised) >= reachability(plain.into()), "{disguised}");
        }
    }
}
