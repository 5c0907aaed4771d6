//! One subscription, from the wish to its end: what happens to it, and what is to be done. No clock and no network.
//!
//! ```text
//! Wanted ──asked──▶ Asked ──verified──▶ Active ──⅔ of the lease──▶ Renewing ──verified──▶ Active
//!   ▲                 │ refused, denied, or nobody came                │ the same
//!   └──waits longer───┘◀───────────── the lease is over ───────────────┘ (Active again while the lease lasts)
//! ```
//!
//! After so many failures in a row that a week has gone nobody asks any more.
//!
//! What is not wanted any more is told to the hub, if it distributes or may do so, and it comes to see whether we meant that, too:
//!
//! ```text
//! Asked, Active, Renewing ──not wanted──▶ Leaving ──asked──▶ Left ──verified──▶ Gone
//!                                            ▲                 │ refused, or nobody came: a few times, then Gone
//!                                            └─────────────────┘
//! ```

use refrain_core::time::{Span, Time};
use refrain_store::PageId;

/// A hub has so long to come and verify.
const VERIFY: Span = Span::from_whole_secs(600);
/// What is asked for: ten days.
pub(super) const LEASE: Span = Span::from_whole_secs(10 * DAY);
const SHORTEST: Span = Span::from_whole_secs(10);
const LONGEST: Span = Span::from_whole_secs(365 * DAY);
const DAY: u64 = 86_400;
/// After the first failure it is tried again after this, then after twice as long, and so on,
const FIRST_WAIT: u64 = 60;
/// but not later than this,
const LAST_WAIT: u64 = DAY;
/// and not after so many failures in a row.
const MOST_FAILURES: u32 = 16;
/// A hub is told so often that something is not wanted any more; then it finds out when the lease is over.
const MOST_FAREWELLS: u32 = 4;

/// What was asked of a hub, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subscription {
    /// The page that is distributed.
    pub(super) page: PageId,
    /// What the hub calls it.
    pub(super) topic: String,
    pub(super) hub: String,
    /// Where the hub was told to come, without the name of the subscription; empty if nobody knows any more.
    pub(super) callback: String,
    /// What the hub signs with.
    pub(super) secret: String,
    pub(super) state: State,
    /// In a row.
    pub(super) failures: u32,
    /// The hub was asked by a process that has ended, and may not have heard it: it is asked again at once. Until it comes, its answer to the first
    /// question counts. Not kept.
    pub(super) asks_again: bool,
}

/// How far a subscription is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// To be asked for, not before `at`.
    Wanted { at: Time },
    /// Asked for; the hub must come before `by`.
    Asked { by: Time },
    /// The hub distributes, until `until`; it is asked again at `renew`.
    Active { until: Time, renew: Time },
    /// The hub still distributes, and was asked again; it must come before `by`.
    Renewing { until: Time, by: Time },
    /// Not wanted any more; the hub is to be told, not before `at`.
    Leaving { at: Time },
    /// The hub was told, and must come before `by`.
    Left { by: Time },
    /// Given up.
    Gone,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Rest,
    /// The hub is to be asked, after this was kept.
    Ask,
    /// Something is another way than it was: to be kept.
    Keep,
}

impl Subscription {
    pub(super) fn new(page: PageId, topic: String, hub: String, secret: String, now: Time) -> Self {
        let callback = String::new();
        Self {
            page,
            topic,
            hub,
            callback,
            secret,
            state: State::Wanted { at: now },
            failures: 0,
            asks_again: false,
        }
    }

    /// As it goes on in a new process. A hub that was asked before may come at any time, also before it is asked again.
    pub(super) fn restored(mut self, now: Time) -> Self {
        let last_wait = now + Span::from_whole_secs(LAST_WAIT);
        match &mut self.state {
            // By a clock that was ahead: how long the hub distributes is not known, or when to ask it.
            State::Renewing { until, .. } if until.since(now) > LONGEST => {
                self.state = State::Wanted { at: now }
            }
            State::Active { until, renew } if (*until).max(*renew).since(now) > LONGEST => {
                self.state = State::Wanted { at: now };
            }
            State::Asked { by } | State::Renewing { by, .. } | State::Left { by } => {
                *by = now + VERIFY;
                self.asks_again = true;
            }
            State::Wanted { at } | State::Leaving { at } => *at = (*at).min(last_wait),
            State::Active { .. } | State::Gone => {}
        }
        self
    }

    /// When something is to be done.
    pub(super) fn due(&self) -> Option<Time> {
        match self.state {
            State::Gone => None,
            _ if self.asks_again => Some(Time::MIN),
            State::Wanted { at } | State::Leaving { at } => Some(at),
            State::Asked { by } | State::Renewing { by, .. } | State::Left { by } => Some(by),
            State::Active { renew, .. } => Some(renew),
        }
    }

    /// Whether the hub is asked when it is due: otherwise it has been, and did not come.
    pub(super) fn asks(&self) -> bool {
        let is_asked =
            matches!(self.state, State::Asked { .. } | State::Renewing { .. } | State::Left { .. });
        self.asks_again || !is_asked
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Time) -> Step {
        if self.due().is_none_or(|due| now < due) {
            return Step::Rest;
        }
        if !self.asks() {
            self.failed(now);
            return Step::Keep;
        }
        let by = now + VERIFY;
        self.turn(match self.state {
            State::Active { until, .. } | State::Renewing { until, .. } if now < until => {
                State::Renewing { until, by }
            }
            State::Leaving { .. } | State::Left { .. } => State::Left { by },
            // Either it is new, or it was not renewed in time.
            _ => State::Asked { by },
        });
        Step::Ask
    }

    fn turn(&mut self, state: State) {
        (self.state, self.asks_again) = (state, false);
    }

    /// The hub comes to see whether we meant it. Whether we did.
    pub(super) fn verified(&mut self, topic: &str, lease: Option<u64>, now: Time) -> bool {
        let is_asked = match self.state {
            State::Asked { by } | State::Renewing { by, .. } => now < by,
            _ => false,
        };
        if !is_asked || topic != self.topic {
            return false;
        }
        let lease = lease.map_or(LEASE, Span::from_whole_secs).clamp(SHORTEST, LONGEST);
        let two_thirds = Span::from_nanos(lease.as_nanos() / 3 * 2);
        self.turn(State::Active { until: now + lease, renew: now + two_thirds.max(SHORTEST) });
        self.failures = 0;
        true
    }

    /// The hub says that it will not, or not any more. Whether that is about us.
    pub(super) fn denied(&mut self, topic: &str, now: Time) -> bool {
        if topic != self.topic || self.state == State::Gone {
            return false;
        }
        if self.is_leaving() {
            // That is what was wanted.
            self.turn(State::Gone);
            return true;
        }
        self.turn(State::Wanted { at: now });
        self.failed(now);
        true
    }

    /// It is not wanted any more. Whether that is news.
    pub(super) fn leave(&mut self, now: Time) -> bool {
        match self.state {
            State::Leaving { .. } | State::Left { .. } | State::Gone => return false,
            // Nobody distributes.
            State::Wanted { .. } => self.turn(State::Gone),
            State::Active { until, .. } if until <= now => self.turn(State::Gone),
            State::Asked { .. } | State::Active { .. } | State::Renewing { .. } => {
                self.turn(State::Leaving { at: now });
                self.failures = 0;
            }
        }
        true
    }

    /// The hub comes to see whether we meant that it shall end. Whether we did.
    pub(super) fn released(&mut self, topic: &str, now: Time) -> bool {
        let is_asked = matches!(self.state, State::Left { by } if now < by);
        if is_asked && topic == self.topic {
            self.turn(State::Gone);
            return true;
        }
        false
    }

    /// Whether it is not wanted any more.
    pub(super) fn is_leaving(&self) -> bool {
        matches!(self.state, State::Leaving { .. } | State::Left { .. })
    }

    /// The hub did not take the question.
    pub(super) fn refused(&mut self, now: Time) {
        // It may have come and verified while it answered.
        if matches!(self.state, State::Asked { .. } | State::Renewing { .. } | State::Left { .. }) {
            self.failed(now);
        }
    }

    /// Whether what is distributed is listened to.
    pub(super) fn is_active(&self, now: Time) -> bool {
        match self.state {
            State::Active { until, .. } | State::Renewing { until, .. } => now < until,
            _ => false,
        }
    }

    fn failed(&mut self, now: Time) {
        self.failures += 1;
        let doubled = FIRST_WAIT.saturating_mul(1 << (self.failures - 1).min(20));
        let again = now + Span::from_whole_secs(doubled.min(LAST_WAIT));
        self.turn(match self.state {
            State::Renewing { until, .. } if now < until => State::Active { until, renew: again.min(until) },
            State::Left { .. } if self.failures >= MOST_FAREWELLS => State::Gone,
            State::Left { .. } => State::Leaving { at: again },
            _ if self.failures >= MOST_FAILURES => State::Gone,
            _ => State::Wanted { at: again },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(secs)
    }

    fn wanted() -> Subscription {
        Subscription::new(PageId(1), "topic".to_owned(), "hub".to_owned(), "secret".to_owned(), at(0))
    }

    #[test]
    fn a_life() {
        let mut one = wanted();
        assert!(!one.verified("topic", None, at(0)), "nobody asked");
        assert_eq!(one.tick(at(0)), Step::Ask);
        assert_eq!(one.tick(at(1)), Step::Rest);
        assert!(!one.verified("another", Some(300), at(1)));
        assert!(!one.is_active(at(1)));
        assert!(one.verified("topic", Some(300), at(1)));
        assert!(!one.verified("topic", Some(3000), at(2)), "once is enough");
        assert_eq!(one.state, State::Active { until: at(301), renew: at(201) });
        assert!(one.is_active(at(300)) && !one.is_active(at(301)));
        assert_eq!((one.tick(at(200)), one.tick(at(201))), (Step::Rest, Step::Ask));
        assert!(one.is_active(at(300)), "while it is renewed");
        assert!(one.verified("topic", None, at(202)));
        assert_eq!(one.due(), Some(at(202 + 10 * DAY / 3 * 2)));
    }

    #[test]
    fn failures_wait_longer_each_time_and_end() {
        let mut one = wanted();
        let (mut now, mut waits) = (at(0), Vec::new());
        while one.state != State::Gone {
            assert_eq!(one.tick(now), Step::Ask);
            one.refused(now);
            if let Some(due) = one.due() {
                waits.push(due.since(now).as_secs() as u64);
                now = due;
            }
        }
        assert_eq!(waits[..4], [60, 120, 240, 480]);
        assert_eq!((waits.len(), waits[14]), (15, DAY));
        assert_eq!((one.tick(Time::LAST), one.due()), (Step::Rest, None));
    }

    #[test]
    fn a_renewal_that_fails_keeps_the_lease() {
        let mut one = wanted();
        one.tick(at(0));
        one.verified("topic", Some(3000), at(0));
        assert_eq!(one.tick(at(2000)), Step::Ask);
        one.refused(at(2000));
        assert_eq!(one.state, State::Active { until: at(3000), renew: at(2060) });
        // Nobody comes at all: the deadline ends it, and after the lease it is asked for anew.
        assert_eq!((one.tick(at(2060)), one.tick(at(2660))), (Step::Ask, Step::Keep));
        assert!(one.is_active(at(2999)));
        assert_eq!(one.tick(at(3000)), Step::Ask);
        assert!(matches!(one.state, State::Asked { .. }));
    }

    #[test]
    fn denied_is_denied_at_any_time() {
        let mut one = wanted();
        one.tick(at(0));
        one.verified("topic", Some(3000), at(0));
        assert!(!one.denied("another", at(1)) && one.is_active(at(1)));
        assert!(one.denied("topic", at(1)) && !one.is_active(at(1)));
        assert_eq!(one.state, State::Wanted { at: at(61) });
        // A hub that answers with an error after it verified is not held to the error.
        one.tick(at(61));
        one.verified("topic", None, at(62));
        one.refused(at(63));
        assert!(one.is_active(at(64)));
    }

    #[test]
    fn after_a_crash_the_hub_is_asked_again() {
        let mut one = wanted();
        one.tick(at(0));
        let mut one = one.restored(at(5));
        assert_eq!((one.tick(at(5)), one.tick(at(5))), (Step::Ask, Step::Rest));
        one.verified("topic", Some(300), at(6));
        one.tick(at(206));
        let mut one = one.restored(at(210));
        assert!(one.is_active(at(210)));
        assert_eq!(one.tick(at(210)), Step::Ask);
        let mut late = one.restored(at(1000));
        assert!(!late.is_active(at(1000)));
        assert_eq!(late.tick(at(1000)), Step::Ask);
    }

    #[test]
    fn after_a_crash_the_hub_may_come_before_it_is_asked_again() {
        let mut asked = wanted();
        asked.tick(at(0));
        let mut first = asked.clone().restored(at(5000));
        assert!(first.verified("topic", Some(300), at(5000)), "however long nobody was here");
        assert_eq!((first.tick(at(5001)), first.due()), (Step::Rest, Some(at(5200))), "that is all");
        let mut renewing = first.clone();
        renewing.tick(at(5200));
        assert!(renewing.restored(at(5201)).verified("topic", Some(300), at(5202)));
        let mut left = first;
        left.leave(at(5100));
        left.tick(at(5100));
        assert!(left.restored(at(5101)).released("topic", at(5102)));
        let mut denied = asked.restored(at(5));
        assert!(denied.denied("topic", at(6)));
        assert_eq!(denied.tick(at(6)), Step::Rest, "it is not asked again at once");
        assert!(!wanted().restored(at(5)).verified("topic", None, at(5)), "nobody asked");
    }

    #[test]
    fn what_is_not_wanted_any_more_ends() {
        let mut one = wanted();
        assert!(one.clone().leave(at(0)));
        one.tick(at(0));
        one.verified("topic", Some(3000), at(0));
        assert!(!one.released("topic", at(1)), "nobody asked for an end");
        assert!(one.leave(at(10)) && !one.leave(at(10)) && !one.is_active(at(10)));
        assert!(!one.released("topic", at(10)), "nor was it told");
        assert_eq!(one.tick(at(10)), Step::Ask);
        assert!(!one.released("another", at(11)) && !one.verified("topic", None, at(11)));
        assert_eq!(one.clone().restored(at(12)).tick(at(12)), Step::Ask);
        let mut denied = one.clone();
        assert!(denied.denied("topic", at(12)) && denied.state == State::Gone);
        let mut told = one.clone();
        assert!(told.released("topic", at(12)) && told.state == State::Gone && told.due().is_none());
        // A hub that does not want to hear of it is told a few times.
        let (mut now, mut times) = (at(10), 1);
        while one.state != State::Gone {
            one.refused(now);
            if let Some(due) = one.due() {
                now = due;
                assert_eq!(one.tick(now), Step::Ask);
                times += 1;
            }
        }
        assert_eq!(times, 4);
        let mut never = wanted();
        assert!(never.leave(at(0)) && never.state == State::Gone, "no hub was ever asked");
    }

    proptest! {
        /// Whatever happens, in any order: it is active only after a verification that was asked for, hubs are not asked more often than they allow, and
        /// something is always due unless all is over.
        #[test]
        fn nothing_leads_astray(events in prop::collection::vec((0_u8..8, 0_u64..2000, prop::option::of(any::<u64>())), 0..60)) {
            let (mut one, mut now, mut pending) = (wanted(), 0, false);
            for (event, wait, lease) in events {
                now += wait;
                let active = one.is_active(at(now));
                match event {
                    0 | 1 => match one.tick(at(now)) {
                        Step::Ask => pending = true,
                        Step::Keep => pending = false,
                        Step::Rest => {}
                    },
                    2 => {
                        let verified = one.verified("topic", lease, at(now));
                        prop_assert!(!verified || pending);
                        pending &= !verified;
                    }
                    3 => { one.refused(at(now)); pending = false; }
                    4 => { prop_assert!(one.state == State::Gone || one.denied("topic", at(now))); pending = false; }
                    5 => one = one.restored(at(now)),
                    6 => { if one.leave(at(now)) { pending = false; } }
                    _ => { let left = one.released("topic", at(now)); prop_assert!(!left || pending); }
                }
                prop_assert!(event == 2 || active || !one.is_active(at(now)));
                prop_assert_eq!(one.due().is_none(), one.state == State::Gone);
            }
        }
    }
}
