//! Checks arbitrary addresses, and redirects between them, against the networks that an adapter may reach. It must not panic, and must
//! decide the same for every spelling of an address.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::host::{self, NetworkAccess, NetworkRange};
use std::net::{IpAddr, Ipv6Addr};
use url::Url;

fuzz_target!(|input: (&str, &str, &str, u32)| {
    let (base, location, range, address) = input;
    let _ = (host::address_problem(base), host::path_start(base), host::is_loopback(base));
    let _ = NetworkRange::parse(range);
    let access = NetworkAccess::default();
    // The target of a redirect is joined to the address before it.
    if let Some(target) = Url::parse(base).ok().and_then(|base| base.join(location).ok())
        && let Some(name) = target.host_str()
    {
        let is_admitted = access.admits_host(name, None);
        if let Ok(ip) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
            assert_eq!(is_admitted, access.admits_ip(ip, false), "{name}");
        }
    }
    let address = std::net::Ipv4Addr::from(address);
    let mapped: Ipv6Addr = address.to_ipv6_mapped();
    assert_eq!(access.admits_ip(address.into(), false), access.admits_ip(mapped.into(), false), "{address}");
    assert_eq!(access.admits_host(&address.to_string(), None), access.admits_ip(address.into(), false));
});
