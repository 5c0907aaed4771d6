//! Name servers, asked directly.

use std::net::SocketAddr;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{ResolverBuilder, TokioResolver};

use super::{Answer, DnsError, Resolve, Resolved};
use crate::clock::Stopwatch;

/// No host needs more addresses than this.
const MOST_ADDRESSES: usize = 16;

/// Asks name servers.
#[derive(Debug)]
pub struct NameServers(TokioResolver);

impl NameServers {
    /// Those that this machine is configured to use.
    ///
    /// # Errors
    /// If the system's configuration cannot be read.
    pub fn of_system() -> Result<Self, DnsError> {
        build(TokioResolver::builder_tokio().map_err(|why| unusable(&why))?)
    }

    /// These, and no others.
    ///
    /// # Errors
    /// If the resolver cannot be set up.
    pub fn at(servers: &[SocketAddr]) -> Result<Self, DnsError> {
        let servers = servers.iter().map(|server| {
            let mut config = NameServerConfig::udp_and_tcp(server.ip());
            config.connections.iter_mut().for_each(|way: &mut ConnectionConfig| way.port = server.port());
            config
        });
        let config = ResolverConfig::from_name_servers(servers.collect());
        build(TokioResolver::builder_with_config(config, TokioRuntimeProvider::default()))
    }
}

fn build(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Result<NameServers, DnsError> {
    // What is remembered, and for how long, is decided in one place: `Cached`.
    builder.options_mut().cache_size = 0;
    builder.build().map(NameServers).map_err(|why| unusable(&why))
}

fn unusable(why: &dyn std::fmt::Display) -> DnsError {
    DnsError(format!("the DNS configuration cannot be used: {why}"))
}

impl Resolve for NameServers {
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a> {
        Box::pin(async move {
            // With its last dot a name is complete: search domains are for people at keyboards.
            let found =
                self.0.lookup_ip(format!("{name}.")).await.map_err(|why| DnsError(why.to_string()))?;
            let addresses: Vec<_> = found.iter().take(MOST_ADDRESSES).collect();
            if addresses.is_empty() {
                return Err(DnsError("the name has no address".into()));
            }
            Ok(Resolved { addresses, holds_for: Stopwatch::until(found.valid_until()) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;
    use tokio::net::UdpSocket;

    /// Knows `known.example`, by its IPv4 address, for five minutes; of all other names it says that there are none.
    async fn name_server(socket: UdpSocket) {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let query = &buffer[..length];
            let Some(name_end) = query[12..].iter().position(|byte| *byte == 0).map(|end| end + 13) else {
                continue;
            };
            let is_known = query[12..name_end].eq_ignore_ascii_case(b"\x05known\x07example\0");
            let is_v4 = query[name_end..name_end + 2] == [0, 1];
            let mut answer = query[..name_end + 4].to_vec();
            // A response, recursion available; three means that there is no such name.
            answer[2..4].copy_from_slice(&[0x81, if is_known { 0x80 } else { 0x83 }]);
            answer[6..12].copy_from_slice(&[0, u8::from(is_known && is_v4), 0, 0, 0, 0]);
            if is_known && is_v4 {
                // The name as above, type A, class IN, 300 seconds, four bytes.
                answer.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 93, 184, 216, 34]);
            }
            let _ = socket.send_to(&answer, from).await;
        }
    }

    #[tokio::test]
    async fn names_are_asked_for() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let server = socket.local_addr().expect("an address");
        tokio::spawn(name_server(socket));
        let servers = NameServers::at(&[server]).expect("a resolver");
        let found = servers.resolve("known.example").await.expect("an address");
        assert_eq!(found.addresses, [IpAddr::from([93, 184, 216, 34])]);
        assert!(found.holds_for > Duration::from_secs(200) && found.holds_for <= Duration::from_secs(300));
        assert!(servers.resolve("other.example").await.is_err());
    }
}
