//! Which keys are right, which are not, and how many are looked for: whoever calls must not make us knock at somebody else's door too often, nor keep
//! the site itself from being heard by calling with wrong keys.
//!
//! A key that was right once is looked for again whenever that is due. Any other takes one out of two buckets, of the caller's address and of the host;
//! a right one puts it back.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use refrain_core::time::{Span, Time};
use refrain_engine::Recent;
use tokio::sync::watch;

use super::super::buckets::Buckets;
use super::super::problem::Problem;

const MOST_VERDICTS: usize = 10_000;
/// A key that was there is believed for so long,
const GOOD_FOR: Span = Span::from_whole_secs(86_400);
/// and is looked for again without further ado for so long;
const KNOWN_FOR: Span = Span::from_whole_secs(60 * 86_400);
/// one that was not is not asked for again for so long,
const BAD_FOR: Span = Span::from_whole_secs(600);
/// and if the host did not answer, for so long.
const UNANSWERED_FOR: Span = Span::from_whole_secs(60);
/// An address may call with so many wrong keys at once, and with one more in such a time;
const OF_ADDRESS: (u32, Span) = (10, Span::from_whole_secs(60));
/// all together may do so with these of one host.
const OF_HOST: (u32, Span) = (30, Span::from_whole_secs(20));
/// So many keys of a host are looked for at the same time,
const MOST_OF_HOST: usize = 4;
/// and so many for one address.
const MOST_OF_ADDRESS: usize = 8;

/// A place, and the key that should be there.
pub(super) type Name = (String, String);

/// What came of looking for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    There,
    NotThere,
    /// The host did not answer.
    Unanswered,
}

/// Who calls, with what.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) name: Name,
    /// The host that is asked.
    pub(super) host: String,
    /// Where the call comes from, unless that says nothing: it was passed on by this machine.
    pub(super) address: Option<IpAddr>,
}

/// What is to be done about a key of which nothing is known.
#[derive(Debug)]
pub(super) enum Task {
    /// To look for it, and tell the others.
    Look(watch::Sender<Option<Found>>),
    /// Somebody looks for it already.
    Wait(watch::Receiver<Option<Found>>),
}

pub(super) struct Keys(Mutex<Inner>);

struct Inner {
    good: Recent<Name, ()>,
    bad: Recent<Name, ()>,
    /// Those that were right once.
    known: Recent<Name, ()>,
    by_address: Buckets<IpAddr>,
    by_host: Buckets<String>,
    under_way: HashMap<Name, watch::Receiver<Option<Found>>>,
    of_hosts: HashMap<String, usize>,
    of_addresses: HashMap<IpAddr, usize>,
}

impl Keys {
    pub(super) fn new() -> Self {
        let recent = || Recent::new(MOST_VERDICTS);
        Self(Mutex::new(Inner {
            good: recent(),
            bad: recent(),
            known: recent(),
            by_address: Buckets::new(OF_ADDRESS.0, OF_ADDRESS.1, MOST_VERDICTS),
            by_host: Buckets::new(OF_HOST.0, OF_HOST.1, MOST_VERDICTS),
            under_way: HashMap::new(),
            of_hosts: HashMap::new(),
            of_addresses: HashMap::new(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a key is right, if that is known.
    pub(super) fn verdict(&self, name: &Name, now: Time) -> Option<bool> {
        let inner = self.lock();
        if inner.good.get(name, now).is_some() {
            return Some(true);
        }
        inner.bad.get(name, now).map(|()| false)
    }

    /// A key is to be looked for, if its caller and its host have not had too many.
    pub(super) fn begin(&self, claim: &Claim, now: Time) -> Result<Task, Problem> {
        let mut inner = self.lock();
        if let Some(others) = inner.under_way.get(&claim.name) {
            return Ok(Task::Wait(others.clone()));
        }
        let busy = |what: &str| {
            Problem::too_many(format!("{what}: too many keys are looked for at this moment"), 30)
        };
        if inner.of_hosts.get(&claim.host).is_some_and(|count| *count >= MOST_OF_HOST) {
            return Err(busy(&claim.host));
        }
        if let Some(address) = claim.address
            && inner.of_addresses.get(&address).is_some_and(|count| *count >= MOST_OF_ADDRESS)
        {
            return Err(busy("this address"));
        }
        if inner.known.get(&claim.name, now).is_none() {
            inner.pay(claim, now)?;
        }
        *inner.of_hosts.entry(claim.host.clone()).or_default() += 1;
        if let Some(address) = claim.address {
            *inner.of_addresses.entry(address).or_default() += 1;
        }
        let (tell, others) = watch::channel(None);
        inner.under_way.insert(claim.name.clone(), others);
        Ok(Task::Look(tell))
    }

    /// What came of it.
    pub(super) fn end(&self, claim: &Claim, found: Found, now: Time) {
        let mut inner = self.lock();
        inner.under_way.remove(&claim.name);
        less(&mut inner.of_hosts, &claim.host);
        if let Some(address) = &claim.address {
            less(&mut inner.of_addresses, address);
        }
        let name = claim.name.clone();
        match found {
            Found::There => {
                if inner.known.get(&name, now).is_none() {
                    inner.pay_back(claim, now);
                }
                inner.known.put(name.clone(), (), now, KNOWN_FOR);
                inner.good.put(name, (), now, GOOD_FOR);
            }
            Found::NotThere => {
                // Whoever took it away does not want it any more.
                inner.known.forget(&name);
                inner.bad.put(name, (), now, BAD_FOR);
            }
            Found::Unanswered => inner.bad.put(name, (), now, UNANSWERED_FOR),
        }
    }
}

impl Inner {
    fn pay(&mut self, claim: &Claim, now: Time) -> Result<(), Problem> {
        let wait = |what: &str, wait: Span| {
            Problem::too_many(
                format!("{what}: too many keys that were not there"),
                wait.as_secs().ceil() as u32,
            )
        };
        if let Some(address) = claim.address {
            self.by_address.take(address, now).map_err(|span| wait("this address", span))?;
        }
        if let Err(span) = self.by_host.take(claim.host.clone(), now) {
            if let Some(address) = claim.address {
                self.by_address.give_back(address, now);
            }
            return Err(wait(&claim.host, span));
        }
        Ok(())
    }

    fn pay_back(&mut self, claim: &Claim, now: Time) {
        self.by_host.give_back(claim.host.clone(), now);
        if let Some(address) = claim.address {
            self.by_address.give_back(address, now);
        }
    }
}

fn less<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, name: &K) {
    if let Some(count) = counts.get_mut(name) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(name);
        }
    }
}
