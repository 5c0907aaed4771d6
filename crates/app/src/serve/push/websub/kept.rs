//! Subscriptions as they are kept: JSON, a name each. What belongs to no subscription any more is empty, and not kept.

use refrain_core::time::Time;
use refrain_store::PageId;
use serde::{Deserialize, Serialize};

use super::subscription::{State, Subscription};

/// How their names begin.
pub(super) const START: &str = "websub.";

#[derive(Serialize, Deserialize)]
struct Kept {
    page: i64,
    topic: String,
    hub: String,
    #[serde(default)]
    callback: String,
    secret: String,
    failures: u32,
    #[serde(flatten)]
    phase: Phase,
}

/// Moments are in nanoseconds, as everywhere.
#[derive(Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Phase {
    Wanted { at: i64 },
    Asked { by: i64 },
    Active { until: i64, renew: i64 },
    Renewing { until: i64, by: i64 },
    Leaving { at: i64 },
    Left { by: i64 },
}

/// As it is kept.
pub(super) fn written(one: &Subscription) -> Vec<u8> {
    let phase = match one.state {
        State::Wanted { at } => Phase::Wanted { at: at.as_nanos() },
        State::Asked { by } => Phase::Asked { by: by.as_nanos() },
        State::Active { until, renew } => Phase::Active { until: until.as_nanos(), renew: renew.as_nanos() },
        State::Renewing { until, by } => Phase::Renewing { until: until.as_nanos(), by: by.as_nanos() },
        State::Leaving { at } => Phase::Leaving { at: at.as_nanos() },
        State::Left { by } => Phase::Left { by: by.as_nanos() },
        State::Gone => return Vec::new(),
    };
    let Subscription { page, topic, hub, callback, secret, failures, .. } = one.clone();
    // Texts and numbers can always be written.
    serde_json::to_vec(&Kept { page: page.0, topic, hub, callback, secret, failures, phase })
        .unwrap_or_default()
}

/// As it was kept; `None` if there is nothing, or nothing that can be read.
pub(super) fn read(bytes: &[u8]) -> Option<Subscription> {
    let Kept { page, topic, hub, callback, secret, failures, phase } = serde_json::from_slice(bytes).ok()?;
    let time = Time::from_nanos;
    let state = match phase {
        Phase::Wanted { at } => State::Wanted { at: time(at) },
        Phase::Asked { by } => State::Asked { by: time(by) },
        Phase::Active { until, renew } => State::Active { until: time(until), renew: time(renew) },
        Phase::Renewing { until, by } => State::Renewing { until: time(until), by: time(by) },
        Phase::Leaving { at } => State::Leaving { at: time(at) },
        Phase::Left { by } => State::Left { by: time(by) },
    };
    Some(Subscription {
        page: PageId(page),
        topic,
        hub,
        callback,
        secret,
        state,
        failures,
        asks_again: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_can_be_read() {
        let time = Time::from_nanos;
        let states = [
            State::Wanted { at: time(1) },
            State::Asked { by: time(i64::MAX) },
            State::Active { until: time(2), renew: time(-3) },
            State::Renewing { until: time(4), by: time(5) },
            State::Leaving { at: time(6) },
            State::Left { by: time(7) },
        ];
        let mut one =
            Subscription::new(PageId(7), "a\"b".to_owned(), "hub".to_owned(), "s".to_owned(), time(0));
        (one.failures, one.callback) = (3, "https://c.example".to_owned());
        for state in states {
            one.state = state;
            assert_eq!(read(&written(&one)), Some(one.clone()));
        }
        one.state = State::Gone;
        assert_eq!((written(&one), read(b"")), (Vec::new(), None));
        for broken in ["{", "[]", r#"{"page": 1}"#, r#"{"state": "asked"}"#] {
            assert_eq!(read(broken.as_bytes()), None);
        }
    }
}
