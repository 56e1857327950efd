//! What the clients of each address use of the server: connections, and bytes of running requests.
//!
//! What always holds: a client that uses nothing is not remembered, so the memory is bounded by the limits.

use super::limits::HttpLimits;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The address of a client: an IPv4 address, or the first 64 bits of an IPv6 address, because one client often has all
/// addresses of such a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ClientAddress(IpAddr);

impl ClientAddress {
    pub(super) fn new(ip: IpAddr) -> ClientAddress {
        match ip.to_canonical() {
            IpAddr::V6(ip) => {
                let network = u128::from(ip) & (u128::MAX << 64);
                ClientAddress(Ipv6Addr::from(network).into())
            }
            ip => ClientAddress(ip),
        }
    }
}

impl std::fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)?;
        if self.0.is_ipv6() { f.write_str("/64") } else { Ok(()) }
    }
}

/// Which limit a client exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitScope {
    Address,
    Server,
}

#[derive(Debug, Default, Clone, Copy)]
struct ClientUse {
    connections: usize,
    request_bytes: usize,
}

#[derive(Debug, Default)]
struct ClientTable {
    addresses: HashMap<ClientAddress, ClientUse>,
    total: ClientUse,
}

/// The clients of a server.
#[derive(Debug)]
pub(super) struct HttpClients {
    limits: HttpLimits,
    table: Mutex<ClientTable>,
}

impl HttpClients {
    pub(super) fn new(limits: HttpLimits) -> Arc<HttpClients> {
        Arc::new(HttpClients { limits, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, ClientTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection until the slot is dropped.
    pub(super) fn connect(self: &Arc<Self>, address: ClientAddress) -> Result<ConnectionSlot, LimitScope> {
        let mut table = self.table();
        if table.total.connections >= self.limits.total {
            return Err(LimitScope::Server);
        }
        let used = table.addresses.entry(address).or_default();
        if used.connections >= self.limits.per_address {
            return Err(LimitScope::Address);
        }
        used.connections += 1;
        table.total.connections += 1;
        Ok(ConnectionSlot { clients: Arc::clone(self), address })
    }

    /// Counts the bytes of a request until the result is dropped.
    pub(super) fn begin_request(self: &Arc<Self>, address: ClientAddress) -> RequestBytes {
        RequestBytes { clients: Arc::clone(self), address, bytes: 0 }
    }

    fn update(&self, address: ClientAddress, change: impl Fn(&mut ClientUse)) {
        let mut table = self.table();
        change(&mut table.total);
        if let Some(used) = table.addresses.get_mut(&address) {
            change(used);
            if used.connections == 0 && used.request_bytes == 0 {
                table.addresses.remove(&address);
            }
        }
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    clients: Arc<HttpClients>,
    address: ClientAddress,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.clients.update(self.address, |used| used.connections = used.connections.saturating_sub(1));
    }
}

/// The bytes of a running request.
#[derive(Debug)]
pub(super) struct RequestBytes {
    clients: Arc<HttpClients>,
    address: ClientAddress,
    bytes: usize,
}

impl RequestBytes {
    /// Counts more bytes, unless a limit is exceeded.
    pub(super) fn add(&mut self, bytes: usize) -> Result<(), LimitScope> {
        let limits = self.clients.limits;
        let mut table = self.clients.table();
        if table.total.request_bytes.saturating_add(bytes) > limits.request_bytes {
            return Err(LimitScope::Server);
        }
        let used = table.addresses.entry(self.address).or_default();
        if used.request_bytes.saturating_add(bytes) > limits.request_bytes_per_address {
            return Err(LimitScope::Address);
        }
        used.request_bytes += bytes;
        table.total.request_bytes += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for RequestBytes {
    fn drop(&mut self) {
        let bytes = self.bytes;
        self.clients
            .update(self.address, |used| used.request_bytes = used.request_bytes.saturating_sub(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> ClientAddress {
        ClientAddress::new(text.parse().unwrap())
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        assert_eq!(address("2001:db8::1"), address("2001:db8::2:3"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_ne!(address("192.0.2.1"), address("192.0.2.2"));
        assert_eq!(address("2001:db8::1").to_string(), "2001:db8::/64");
    }

    #[test]
    fn a_slot_is_free_again_and_nothing_is_remembered() {
        let limits = HttpLimits {
            total: 3,
            per_address: 2,
            request_bytes: 15,
            request_bytes_per_address: 10,
            ..HttpLimits::default()
        };
        let clients = HttpClients::new(limits);
        let (one, other) = (address("192.0.2.1"), address("192.0.2.2"));
        let slots = [clients.connect(one).unwrap(), clients.connect(one).unwrap()];
        assert_eq!(clients.connect(one).unwrap_err(), LimitScope::Address);
        let third = clients.connect(other).unwrap();
        assert_eq!(clients.connect(other).unwrap_err(), LimitScope::Server);
        drop(slots);
        let again = clients.connect(one).unwrap();
        let (mut large, mut small) = (clients.begin_request(one), clients.begin_request(other));
        large.add(10).unwrap();
        assert_eq!(large.add(1), Err(LimitScope::Address));
        small.add(5).unwrap();
        assert_eq!(small.add(1), Err(LimitScope::Server));
        drop((again, third, large, small));
        assert!(clients.table().addresses.is_empty());
        assert_eq!(clients.table().total.request_bytes, 0);
    }
}
