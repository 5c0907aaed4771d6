//! How much one address may ask: a bucket of requests that fills steadily.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use refrain_core::time::{Span, Time};

use super::server::slots::network;

/// Loopback is ourselves: it may ask this many times as much.
const LOOPBACK: u64 = 100;
/// So many requests may come at once, in seconds of the rate.
const BURST: u64 = 2;
/// Buckets that are full again are forgotten when there are so many.
const MOST: usize = 10_000;

/// The buckets of all addresses.
pub(crate) struct Allowance {
    each: Span,
    /// For each address, the moment at which its bucket is full again.
    full: Mutex<HashMap<IpAddr, Time>>,
}

impl Allowance {
    /// One request in `each`.
    pub(crate) fn new(each: Span) -> Self {
        Self { each, full: Mutex::default() }
    }

    /// What one request of an address takes out of its bucket, and what a full one holds; both as the time in which that comes.
    fn bucket(&self, address: IpAddr) -> (Span, Span) {
        let each = if address.is_loopback() {
            Span::from_nanos(self.each.as_nanos().div_ceil(LOOPBACK))
        } else {
            self.each
        };
        (each, Span::from_nanos(each.as_nanos().max(BURST * 1_000_000_000)))
    }

    /// Takes so many requests more out of a bucket that was taken from, as far as they are in it.
    pub(crate) fn fine(&self, address: IpAddr, now: Time, requests: u64) {
        let address = network(address);
        let (each, depth) = self.bucket(address);
        let mut buckets = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(full) = buckets.get_mut(&address) {
            let fine = Span::from_nanos(each.as_nanos().saturating_mul(requests));
            *full = ((*full).max(now) + fine).min(now + depth);
        }
    }

    /// Takes a request; if there is none left, says after which time there is.
    pub(crate) fn take(&self, address: IpAddr, now: Time) -> Result<(), Span> {
        let address = network(address);
        let (each, depth) = self.bucket(address);
        let mut buckets = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(&address) {
            buckets.retain(|_, full| *full > now);
        }
        let full = buckets.entry(address).or_insert(now);
        let after = (*full).max(now) + each;
        let lacks = after.since(now);
        if lacks > depth {
            return Err(Span::from_nanos(lacks.as_nanos() - depth.as_nanos()));
        }
        *full = after;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let at = |millis: i64| Time::from_nanos(millis * 1_000_000);
        let (far, near): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "127.0.0.1".parse().unwrap());
        let allowance = Allowance::new(Span::from_millis(100));
        let taken = (0..50).filter(|_| allowance.take(far, at(0)).is_ok()).count();
        assert_eq!(taken, 20, "two seconds of ten a second");
        assert_eq!(allowance.take(far, at(0)), Err(Span::from_millis(100)));
        assert!(allowance.take(far, at(100)).is_ok() && allowance.take(far, at(100)).is_err());
        assert!((0..1000).all(|_| allowance.take(near, at(0)).is_ok()));
        assert!(allowance.take("192.0.2.2".parse().unwrap(), at(0)).is_ok());
    }

    #[test]
    fn a_fine_empties_a_bucket_and_no_more() {
        let at = |millis: i64| Time::from_nanos(millis * 1_000_000);
        let far: IpAddr = "192.0.2.1".parse().unwrap();
        let allowance = Allowance::new(Span::from_millis(100));
        allowance.fine(far, at(0), 5);
        assert!(allowance.take(far, at(0)).is_ok());
        allowance.fine(far, at(0), 9);
        assert_eq!((0..50).filter(|_| allowance.take(far, at(0)).is_ok()).count(), 10);
        for _ in 0..100 {
            allowance.fine(far, at(0), u64::MAX);
        }
        assert_eq!(
            allowance.take(far, at(0)),
            Err(Span::from_millis(100)),
            "nobody is locked out for longer"
        );
        assert!(allowance.take(far, at(100)).is_ok());
    }
}
