//! Which hosts an adapter may reach, and which of them get its credentials.
//!
//! ```
//! use mcpaql_core::host::NetworkAccess;
//!
//! let access = NetworkAccess::default();
//! assert!(access.admits_host("api.example.com", None));
//! assert!(!access.admits_host("169.254.169.254", None));
//! // A document whose own address is local means that host, and no other one.
//! assert!(access.admits_host("localhost", Some("localhost")));
//! assert!(!access.admits_host("10.0.0.1", Some("localhost")));
//! ```
//!
//! What always holds: a description from the network grants nothing, neither a host nor a credential. A name is checked
//! again by the addresses that it resolves to, with [`NetworkAccess::admits_ip`].

use super::reach::{Reachability, is_local_name, reachability};
use super::{host, is_loopback_host};
use std::fmt;
use std::net::IpAddr;

/// A range of addresses, such as `10.0.0.0/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkRange {
    ip: IpAddr,
    /// The number of leading bits that all addresses of the range share.
    prefix: u8,
}

/// Why a text is not a range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRange;

impl fmt::Display for InvalidRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a network; write it as 10.0.0.0/8 or fd00::/8")
    }
}

impl std::error::Error for InvalidRange {}

impl NetworkRange {
    /// Parses `10.0.0.0/8`, `fd00::/8` or a single address.
    ///
    /// # Errors
    /// When the text is neither, or has bits set after the prefix, which is usually a typing error.
    pub fn parse(text: &str) -> Result<NetworkRange, InvalidRange> {
        let (ip, prefix) = text.split_once('/').map_or((text, None), |(ip, prefix)| (ip, Some(prefix)));
        let ip: IpAddr = ip.parse().map_err(|_| InvalidRange)?;
        let bits = if ip.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) if !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit()) => {
                prefix.parse().ok().filter(|prefix| *prefix <= bits).ok_or(InvalidRange)?
            }
            Some(_) => return Err(InvalidRange),
            None => bits,
        };
        let range = NetworkRange { ip, prefix };
        if range.network(ip) == number(ip) { Ok(range) } else { Err(InvalidRange) }
    }

    /// Returns whether an address is in the range. An IPv4 address that is written as IPv6 counts as IPv4.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv4() == self.ip.is_ipv4() && self.network(ip) == number(self.ip)
    }

    /// The leading bits of an address.
    fn network(&self, ip: IpAddr) -> u128 {
        let bits = if ip.is_ipv4() { 32 } else { 128 };
        let rest = u32::from(bits) - u32::from(self.prefix.min(bits));
        number(ip).checked_shr(rest).and_then(|network| network.checked_shl(rest)).unwrap_or_default()
    }
}

impl fmt::Display for NetworkRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u32::from(ip).into(),
        IpAddr::V6(ip) => ip.into(),
    }
}

/// Which hosts outside the public internet an adapter may reach, and where its credentials may go. Only the operator
/// decides that; a document or description cannot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkAccess {
    /// All private networks and this machine. Link-local addresses and metadata services need an entry in `networks`.
    pub allow_private: bool,
    /// Networks that are allowed, whatever they are.
    pub networks: Vec<NetworkRange>,
    /// Hosts that the operator typed. Their names may lead into private networks.
    pub hosts: Vec<String>,
    /// Hosts that get the credentials, besides those of the addresses that the operator wrote.
    pub credential_hosts: Vec<String>,
    /// The addresses of the adapter come from a description that was fetched, not from the operator.
    pub is_fetched: bool,
}

impl NetworkAccess {
    /// Returns whether requests to a host may be attempted. `base` is the host of the address that the call starts from.
    #[must_use]
    pub fn admits_host(&self, host: &str, base: Option<&str>) -> bool {
        let host = plain(host);
        if self.is_granted(host, base) {
            return true;
        }
        match host.parse() {
            Ok(ip) => self.admits_ip(ip, false),
            Err(_) => !is_local_name(host) || self.allow_private || !self.networks.is_empty(),
        }
    }

    /// Returns whether an address that a name resolved to may be connected. `is_granted` says that the name itself was
    /// granted: it may lead into a private network, but never to a link-local address or a metadata service.
    #[must_use]
    pub fn admits_ip(&self, ip: IpAddr, is_granted: bool) -> bool {
        match reachability(ip) {
            Reachability::Public => true,
            Reachability::Private if is_granted || self.allow_private => true,
            Reachability::Private | Reachability::Restricted => {
                self.networks.iter().any(|range| range.contains(ip))
            }
        }
    }

    /// Returns whether a host is allowed by its name: the operator typed it, or it is the local host of an address that
    /// the operator wrote.
    #[must_use]
    pub fn is_granted(&self, host: &str, base: Option<&str>) -> bool {
        let host = plain(host);
        let is_own = || base.is_some_and(|base| is_same(host, plain(base))) && is_local(host);
        self.hosts.iter().any(|typed| is_same(host, plain(typed))) || (!self.is_fetched && is_own())
    }

    /// Returns whether a request to this host may carry the credentials of the adapter.
    #[must_use]
    pub fn gets_credentials(&self, host: &str) -> bool {
        let approved = self.hosts.iter().chain(&self.credential_hosts);
        !self.is_fetched || approved.into_iter().any(|approved| is_same(plain(host), plain(approved)))
    }

    /// Adds what else the operator allows.
    pub fn extend(&mut self, more: &NetworkAccess) {
        self.allow_private |= more.allow_private;
        self.networks.extend(&more.networks);
        self.hosts.extend(more.hosts.iter().cloned());
        self.credential_hosts.extend(more.credential_hosts.iter().cloned());
    }

    /// Adds the host of an address that the operator typed.
    pub fn grant_address(&mut self, address: &str) {
        let host = host(address);
        if !host.is_empty() && !host.contains('$') {
            self.hosts.push(host.to_owned());
        }
    }
}

/// A host without brackets and without the dot of the root.
fn plain(host: &str) -> &str {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host)
}

/// Whether a host is outside the public internet.
fn is_local(host: &str) -> bool {
    host.parse().map_or_else(|_| is_local_name(host), |ip| reachability(ip) != Reachability::Public)
}

/// Whether both are one host. `localhost`, `127.0.0.1` and `::1` are the same machine.
fn is_same(a: &str, b: &str) -> bool {
    let is_here = |host: &str| {
        host.parse::<IpAddr>().map_or_else(
            |_| is_loopback_host(host) && host.eq_ignore_ascii_case("localhost"),
            |ip| matches!(ip.to_canonical().to_string().as_str(), "127.0.0.1" | "::1"),
        )
    };
    a.eq_ignore_ascii_case(b) || (is_here(a) && is_here(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> NetworkRange {
        NetworkRange::parse(text).unwrap_or_else(|_| panic!("{text}"))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_contains_its_addresses_in_every_form() {
        let ten = range("10.0.0.0/8");
        assert!(
            ten.contains(ip("10.255.0.1"))
                && ten.contains(ip("::ffff:10.1.1.1"))
                && !ten.contains(ip("11.0.0.1"))
        );
        assert!(range("0.0.0.0/0").contains(ip("1.2.3.4")) && !range("0.0.0.0/0").contains(ip("::1")));
        assert!(range("fd00::/8").contains(ip("fd12::1")) && !range("fd00::/8").contains(ip("fe80::1")));
        assert!(
            range("192.168.1.7").contains(ip("192.168.1.7"))
                && !range("192.168.1.7").contains(ip("192.168.1.8"))
        );
        assert_eq!(range("fd00::/8").to_string(), "fd00::/8");
        for text in
            ["", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/+8", "::/129", "intranet", "10/8"]
        {
            assert_eq!(NetworkRange::parse(text), Err(InvalidRange), "{text}");
        }
    }

    #[test]
    fn only_public_hosts_are_admitted_by_default() {
        let access = NetworkAccess::default();
        for host in ["example.com", "8.8.8.8", "[2606:4700::1111]"] {
            assert!(access.admits_host(host, None), "{host}");
        }
        for host in [
            "localhost",
            "db",
            "127.0.0.1",
            "[::1]",
            "10.1.2.3",
            "169.254.169.254",
            "[fd00:ec2::254]",
            "0.0.0.0",
        ] {
            assert!(!access.admits_host(host, Some("example.com")), "{host}");
        }
        assert!(!access.admits_ip(ip("10.0.0.1"), false) && access.admits_ip(ip("10.0.0.1"), true));
        assert!(!access.admits_ip(ip("169.254.169.254"), true), "a name never leads to a metadata service");
    }

    #[test]
    fn the_own_host_of_a_local_api_is_admitted_and_no_other_one() {
        let access = NetworkAccess::default();
        assert!(access.admits_host("10.1.2.3", Some("10.1.2.3")));
        assert!(
            access.admits_host("LOCALHOST.", Some("localhost"))
                && access.admits_host("127.0.0.1", Some("localhost"))
        );
        assert!(
            !access.admits_host("10.1.2.4", Some("10.1.2.3"))
                && !access.admits_host("127.0.0.2", Some("localhost"))
        );
        assert!(
            !access.is_granted("api.example.com", Some("api.example.com")),
            "a public name is no private one"
        );
        let fetched = NetworkAccess { is_fetched: true, ..NetworkAccess::default() };
        assert!(!fetched.admits_host("localhost", Some("localhost")), "a fetched description grants nothing");
    }

    #[test]
    fn the_operator_opens_networks_and_hosts() {
        let all = NetworkAccess { allow_private: true, ..NetworkAccess::default() };
        assert!(all.admits_host("10.0.0.1", None) && all.admits_host("db", None));
        assert!(!all.admits_host("169.254.169.254", None), "a metadata service needs its own entry");
        let one = NetworkAccess { networks: vec![range("10.0.0.0/8")], ..NetworkAccess::default() };
        assert!(one.admits_host("10.0.0.1", None) && !one.admits_host("192.168.0.1", None));
        assert!(one.admits_host("db", None) && !one.admits_ip(ip("192.168.0.1"), false));
        let metadata = NetworkAccess { networks: vec![range("169.254.169.254")], ..NetworkAccess::default() };
        assert!(metadata.admits_host("169.254.169.254", None));
        let mut typed = NetworkAccess { is_fetched: true, ..NetworkAccess::default() };
        typed.grant_address("http://api.corp.example:8080/openapi.json");
        assert!(typed.is_granted("api.corp.example", None) && !typed.is_granted("corp.example", None));
    }

    #[test]
    fn credentials_of_a_fetched_description_go_to_approved_hosts_only() {
        assert!(NetworkAccess::default().gets_credentials("api.example.com"));
        let mut access = NetworkAccess { is_fetched: true, ..NetworkAccess::default() };
        access.grant_address("https://docs.example.com/openapi.json");
        access.credential_hosts.push("api.example.com".into());
        assert!(access.gets_credentials("docs.example.com") && access.gets_credentials("API.example.com"));
        for host in ["evil.example", "example.com", "api.example.com.evil.example"] {
            assert!(!access.gets_credentials(host), "{host}");
        }
    }
}
