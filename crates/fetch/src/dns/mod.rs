//! From names to addresses.
//!
//! The default asks the system's name servers itself rather than through `getaddrinfo`: that blocks a thread for each name
//! under way, and does not say how long its answers hold. `/etc/hosts` is honoured, other sources of names are not.

mod cache;
mod servers;

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::time::Duration;

pub use cache::Cached;
pub use servers::NameServers;

/// An answer that is under way.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Resolved, DnsError>> + Send + 'a>>;

/// Knows where names lead.
pub trait Resolve: Send + Sync + 'static {
    /// The addresses of a host; `name` is in lower case, without a last dot, and no address itself.
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a>;
}

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The addresses, in the order in which to try them.
    pub addresses: Vec<IpAddr>,
    /// How long this holds.
    pub holds_for: Duration,
}

/// Why a name leads nowhere, in a few words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DnsError(pub String);

/// Where a host leads that no name server needs to be asked for: an address, or a name of this machine. That holds for ever.
pub(crate) fn immediate(host: &str) -> Option<Resolved> {
    let addresses = host.parse().map(|address| vec![address]).ok().or_else(|| loopback(host))?;
    Some(Resolved { addresses, holds_for: Duration::MAX })
}

/// Names that mean this machine, whatever a name server says (RFC 6761).
fn loopback(name: &str) -> Option<Vec<IpAddr>> {
    (name == "localhost" || name.ends_with(".localhost"))
        .then(|| vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
}
