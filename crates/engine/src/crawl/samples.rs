//! How it went, while after while: what is there after a restart, when pulses are forgotten.
//!
//! Expected freshness is what beliefs say. Whether they are right only looks can tell, and they tell of the copy that is looked at, from the look before
//! until now: of a time t with n signals in it. Let S(s) be the chance that nothing came unannounced within s, and Q = S(t) e^{-nb} that nothing came
//! at all. Then ∫₀ᵗ S seconds of fresh copy were expected. If nothing has changed there were t; if something has, nobody knows when, so there were as
//! many as are to be expected then, (∫S - tQ)/(1 - Q). (As if signals came just before the look: where they are believed it follows them soon, and
//! where not they change nothing.) If beliefs are right, what is found is on average what was expected, whoever is looked at and whenever: a look is
//! decided by what is known before it. So the one over the other says by how much expectations are off, also at the start of a crawl, when only
//! those have been looked at twice that change often or matter much, and most of the others have no copy at all.

use refrain_core::frontier::AttentivePage;
use refrain_core::time::{Span, Time};
use refrain_core::value::{CrawlValue as _, GammaPosterior};
use refrain_store::Sample;

use super::Crawl;
use super::pulse::{has_signals, log_fresh};
use crate::read::Answer;
use crate::told::{Pulse, Summary};
use crate::visit::{Seen, Visited};

/// A while is this share of the time since the crawl began: what has just begun is told by seconds, and some fifty rows lead to the longest.
const SHARE: u64 = 12;
const SHORTEST: Span = Span::from_whole_secs(2);
const LONGEST: Span = Span::from_whole_secs(60);

/// The while that has not ended yet.
#[derive(Default)]
pub(super) struct Sampling {
    /// When the first one began.
    first: Option<Time>,
    /// When it began, and what the crawl had come to then.
    since: Option<(Time, Summary)>,
    freshness: Mean,
    rate: Mean,
    price: Mean,
}

/// A mean over pulses.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.sum += value;
            self.count += 1.0;
        }
    }

    fn is(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Sampling {
    fn hear(&mut self, pulse: &Pulse) {
        if let Some(freshness) = pulse.freshness {
            self.freshness.add(freshness);
        }
        self.rate.add(pulse.rate);
        if let Some(price) = pulse.summary.price {
            self.price.add(price);
        }
    }

    /// How long a while is by now.
    fn long(&self, now: Time) -> Span {
        let age = self.first.map_or(Span::ZERO, |first| now.since(first));
        Span::from_nanos(age.as_nanos() / SHARE).max(SHORTEST).min(LONGEST)
    }

    /// Ends the while, if it was long enough.
    fn end(&mut self, now: Time, summary: &Summary, least: Span) -> Option<Sample> {
        let Some((since, before)) = self.since else {
            (self.first, self.since) = (Some(now), Some((now, *summary)));
            return None;
        };
        let span = now.since(since);
        if span < least {
            return None;
        }
        let next = Self { first: self.first, since: Some((now, *summary)), ..Self::default() };
        let Self { freshness, rate, price, .. } = std::mem::replace(self, next);
        Some(Sample {
            time: now,
            span,
            freshness: freshness.is(),
            fresh: summary.fresh - before.fresh,
            foretold: summary.foretold - before.foretold,
            rate: rate.is().unwrap_or(0.0),
            price: price.is(),
            requests: summary.requests - before.requests,
            looks: summary.looks - before.looks,
            changed: summary.changed - before.changed,
            unchanged: summary.unchanged - before.unchanged,
            failed: summary.failed - before.failed,
        })
    }
}

impl Crawl {
    /// What a look says of the time since the one before.
    pub(super) fn measure(&mut self, visited: &Visited) {
        let Seen::Read(read) = &visited.seen else { return };
        let changed = match read.answer {
            Answer::First => return,
            Answer::Unchanged | Answer::NotModified => false,
            Answer::Changed => true,
        };
        let Some(elapsed) = read.elapsed.map(Span::as_secs) else { return };
        let Ok((page, since)) = self.scheduler.frontier.page(visited.page) else { return };
        let page = page.inner();
        let Some(Told { foretold, found }) = told(page, elapsed, since.signals(), changed) else { return };
        let importance = f64::from(page.importance());
        self.summary.fresh += importance * found;
        self.summary.foretold += importance * foretold;
    }

    /// A pulse later.
    pub(super) fn take_sample(&mut self, pulse: &Pulse) {
        self.sampling.hear(pulse);
        let least = self.sampling.long(pulse.time);
        if let Some(sample) = self.sampling.end(pulse.time, &pulse.summary, least) {
            self.journal.sample(pulse.time, sample);
        }
    }

    /// The crawl ends: what there was of the last while.
    pub(super) fn last_sample(&mut self, now: Time) {
        if let Some(sample) = self.sampling.end(now, &self.summary, SHORTEST) {
            self.journal.sample(now, sample);
        }
    }
}

/// Seconds of fresh copy since the last look.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    foretold: f64,
    found: f64,
}

/// What was expected of a copy that was looked at after so many seconds and signals, and what there was of it. Nothing was learned from the look yet.
fn told(page: &AttentivePage, elapsed: f64, signals: u32, changed: bool) -> Option<Told> {
    let changes = page.change_rate()?;
    // Where signals are believed, of changes that nothing announces.
    let rate = if has_signals(page) { page.quality()?.alpha() } else { changes.mean() };
    // V(t) = ∫S - t S(t) is the value of a fetch, in which nothing cancels.
    let value = GammaPosterior::new(changes.shape(), changes.shape() / rate, 1.0).ok()?.value(elapsed, 0);
    let (silent, fresh) = (log_fresh(page, elapsed, 0)?, log_fresh(page, elapsed, signals)?);
    let foretold = value + elapsed * silent.exp();
    let found = if changed {
        let announced = silent.exp() * -(fresh - silent).exp_m1();
        (value + elapsed * announced) / -fresh.exp_m1()
    } else {
        elapsed
    };
    (foretold.is_finite() && found.is_finite()).then(|| Told { foretold, found: found.clamp(0.0, elapsed) })
}

#[cfg(test)]
mod tests {
    use refrain_core::estimate::{self, Observation};
    use refrain_core::frontier::{Attentive, AttentivePast, Budget, Frontier, Manners, Model as _, Settings};

    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    /// A page that was looked at every 80 s, and had changed two times of three; signals came in two times of three as well, once of those for nothing.
    fn learned(with_signals: bool) -> AttentivePage {
        let (mut learner, mut past) = (Attentive::default(), AttentivePast::default());
        let frontier = Frontier::new(Attentive::default(), Budget::Rate(1.0), Settings::default(), at(0));
        let host = frontier.unwrap().add_host(Manners::default());
        let mut page = learner.page(host, 0, 2.0).unwrap();
        for look in 0..300 {
            let signals = u32::from(with_signals && look % 3 != 1);
            let answer = if look % 3 == 0 { estimate::Answer::Unchanged } else { estimate::Answer::Changed };
            let seen = Observation::new(80.0, signals, answer).unwrap();
            learner.observe(&mut page, &mut past, host, at(80 * (look + 1)), &seen);
        }
        page
    }

    #[test]
    fn what_is_found_is_what_was_expected_if_beliefs_are_right() {
        for with_signals in [false, true] {
            let page = learned(with_signals);
            assert_eq!(has_signals(&page), with_signals);
            for elapsed in [1e-6, 0.5, 30.0, 80.0, 4000.0] {
                // By its definition.
                let steps = 100_000;
                let step = elapsed / f64::from(steps);
                let survival = |s: f64| log_fresh(&page, s, 0).unwrap().exp() * step;
                let exact: f64 = (0..steps).map(|i| survival((f64::from(i) + 0.5) * step)).sum();
                for signals in [0, 1, 5] {
                    let [no, yes] =
                        [false, true].map(|changed| told(&page, elapsed, signals, changed).unwrap());
                    assert!((no.foretold / exact - 1.0).abs() < 1e-4, "{elapsed}: {no:?} {exact}");
                    assert_eq!((no.found, no.foretold), (elapsed, yes.foretold));
                    let stays = log_fresh(&page, elapsed, signals).unwrap().exp();
                    let mean = stays * no.found + (1.0 - stays) * yes.found;
                    assert!((mean / no.foretold - 1.0).abs() < 1e-9, "{elapsed} {signals}: {yes:?}");
                }
            }
            // Who changes rarely changed halfway, on average; with a signal that is believed, when it came.
            let sooner = told(&page, 1e-3, 0, true).unwrap();
            assert!((sooner.found / 5e-4 - 1.0).abs() < 1e-3, "{sooner:?}");
            let announced = told(&page, 1e-3, 1, true).unwrap();
            assert_eq!(announced.found > 9.9e-4, with_signals, "{announced:?}");
        }
    }

    #[test]
    fn whiles_are_short_at_first_and_never_many() {
        let (mut sampling, mut spans) = (Sampling::default(), Vec::new());
        for second in 0..3600 {
            let least = sampling.long(at(second));
            spans.extend(sampling.end(at(second), &Summary::default(), least).map(|sample| sample.span));
        }
        assert_eq!((spans[0], spans[spans.len() - 1]), (SHORTEST, LONGEST));
        assert!(spans.is_sorted() && spans.len() < 55 + 3600 / 60, "{}", spans.len());
    }

    #[test]
    fn a_while_is_what_came_in_it() {
        let pulse = |seconds, freshness, summary| Pulse {
            time: at(seconds),
            summary,
            rate: 2.0,
            waiting: 0,
            freshness,
            under_way: Vec::new(),
            backed_off: 0,
            hosts: Vec::new(),
        };
        let mut sampling = Sampling::default();
        let first = Summary { requests: 100, looks: 90, price: Some(5.0), ..Summary::default() };
        assert_eq!(sampling.end(at(0), &first, LONGEST), None, "it begins");
        sampling.hear(&pulse(1, Some(0.5), first));
        sampling.hear(&pulse(2, Some(0.7), Summary { price: Some(7.0), ..first }));
        assert_eq!(sampling.end(at(59), &first, LONGEST), None, "not yet");
        let later = Summary { requests: 130, looks: 110, fresh: 6.0, foretold: 8.0, ..first };
        let sample = sampling.end(at(60), &later, LONGEST).unwrap();
        assert_eq!((sample.requests, sample.looks), (30, 20));
        assert!((sample.freshness.unwrap() - 0.6).abs() < 1e-12);
        assert!((sample.found().unwrap() - 0.6 * 0.75).abs() < 1e-12);
        assert_eq!((sample.price, sample.span), (Some(6.0), LONGEST));
        let next = sampling.end(at(120), &later, LONGEST).unwrap();
        assert_eq!((next.requests, next.freshness, next.found()), (0, None, None));
    }
}
