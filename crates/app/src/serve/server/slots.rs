//! How many connections there are, all together and from one address.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Limits, at_once};

/// Places for connections.
pub(super) struct Slots {
    free: Arc<Semaphore>,
    per_address: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A place, until it is dropped.
pub(super) struct Slot {
    slots: Arc<Slots>,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    pub(super) fn new(limits: Limits) -> Self {
        let free = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
        Self { free, per_address: limits.per_address, taken: Mutex::default() }
    }

    /// The next connection, once there is a place for one; `None` if its address has all that it may have.
    pub(super) async fn accept(
        self: &Arc<Self>,
        listener: &TcpListener,
    ) -> io::Result<Option<(TcpStream, SocketAddr, Slot)>> {
        let permit = Arc::clone(&self.free).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, peer) = listener.accept().await?;
        at_once(&stream);
        let address = network(peer.ip());
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(address).or_default();
        if *count >= self.per_address && !address.is_loopback() {
            return Ok(None);
        }
        *count += 1;
        drop(taken);
        Ok(Some((stream, peer, Slot { slots: Arc::clone(self), address, _permit: permit })))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// What counts as one address: of IPv6 the network, for whoever has one has billions in it.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_counts_as_one() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3::4"), "2001:db8:1:2::");
        assert_eq!(
            (of("::ffff:192.0.2.1"), of("::1"), of("192.0.2.1")),
            ("192.0.2.1".into(), "::1".into(), "192.0.2.1".into())
        );
    }
}
