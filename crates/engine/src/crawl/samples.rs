//! How it went, a row a minute: what is there after a restart, when pulses are forgotten.
//!
//! Expected freshness is what beliefs say. Measured freshness is what looks found out: of the time between two looks at a page, the share for which the
//! copy was fresh. If nothing had changed that is all of it. If something had, the copy was fresh until the change came; when that was nobody knows, so
//! it counts as the moment that is expected of a page that changes as this one is believed to. All times are weighted by importance. A page that is
//! not looked at a second time is not measured: who gives up hopeless pages measures more than is expected.

use refrain_core::time::{Span, Time};
use refrain_store::Sample;

use super::Crawl;
use crate::read::Answer;
use crate::told::{Pulse, Summary};
use crate::visit::{Seen, Visited};

/// How often a row is written.
const EVERY: Span = Span::from_whole_secs(60);
/// A shorter while says little.
const SHORTEST: Span = Span::from_whole_secs(2);

/// The while that has not ended yet.
#[derive(Default)]
pub(super) struct Sampling {
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
        self.price.add(pulse.summary.price);
    }

    /// Ends the while, if it was long enough.
    fn end(&mut self, now: Time, summary: &Summary, least: Span) -> Option<Sample> {
        let Some((since, before)) = self.since else {
            self.since = Some((now, *summary));
            return None;
        };
        let span = now.since(since);
        if span < least {
            return None;
        }
        let Self { freshness, rate, price, .. } =
            std::mem::replace(self, Self { since: Some((now, *summary)), ..Self::default() });
        Some(Sample {
            time: now,
            span,
            freshness: freshness.is(),
            fresh: summary.fresh - before.fresh,
            watched: summary.watched - before.watched,
            rate: rate.is().unwrap_or(0.0),
            price: price.is().unwrap_or(0.0),
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
        let Some(elapsed) = read.elapsed.map(Span::as_secs) else { return };
        let Ok((page, _)) = self.scheduler.frontier.page(visited.page) else { return };
        let (importance, rate) = (f64::from(page.inner().importance()), page.inner().change_rate());
        let fresh = match read.answer {
            Answer::First => return,
            Answer::Unchanged | Answer::NotModified => elapsed,
            Answer::Changed => until_change(rate.map_or(0.0, |rate| rate.mean()), elapsed),
        };
        self.summary.fresh += importance * fresh;
        self.summary.watched += importance * elapsed;
    }

    /// A pulse later.
    pub(super) fn take_sample(&mut self, pulse: &Pulse) {
        self.sampling.hear(pulse);
        if let Some(sample) = self.sampling.end(pulse.time, &pulse.summary, EVERY) {
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

/// The expected time until the first change of a page that changes so often, if one came within `elapsed`: 1/Δ - t/(e^{Δt} - 1).
fn until_change(rate: f64, elapsed: f64) -> f64 {
    let x = rate * elapsed;
    // Where the two terms are nearly the same, what is left of them: halfway, for what changes rarely.
    let share = if x < 1e-3 { 0.5 - x / 12.0 } else { 1.0 / x - 1.0 / x.exp_m1() };
    elapsed * share.clamp(0.0, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_came_sooner_where_there_are_many() {
        assert!((until_change(0.0, 8.0) - 4.0).abs() < 1e-12);
        assert!((until_change(1e9, 8.0) - 1e-9).abs() < 1e-15);
        // The two forms meet.
        assert!((until_change(0.999e-3, 1.0) - until_change(1.001e-3, 1.0)).abs() < 1e-6);
        // By its definition: ∫ s Δ e^{-Δs} ds / (1 - e^{-Δt}).
        for (rate, elapsed) in [(0.5f64, 1.0f64), (2.0, 3.0), (10.0, 1.0)] {
            let steps = 200_000;
            let step = elapsed / f64::from(steps);
            let sum: f64 = (0..steps)
                .map(|i| (f64::from(i) + 0.5) * step)
                .map(|s| s * rate * (-rate * s).exp() * step)
                .sum();
            let exact = sum / -(-rate * elapsed).exp_m1();
            assert!((until_change(rate, elapsed) - exact).abs() < 1e-6, "{rate} {elapsed}");
        }
    }

    #[test]
    fn a_while_is_what_came_in_it() {
        let at = |seconds: i64| Time::from_nanos(seconds * 1_000_000_000);
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
        let first = Summary { requests: 100, looks: 90, price: 5.0, ..Summary::default() };
        assert_eq!(sampling.end(at(0), &first, EVERY), None, "it begins");
        sampling.hear(&pulse(1, Some(0.5), first));
        sampling.hear(&pulse(2, Some(0.7), Summary { price: 7.0, ..first }));
        assert_eq!(sampling.end(at(59), &first, EVERY), None, "not yet");
        let later = Summary { requests: 130, looks: 110, fresh: 6.0, watched: 8.0, ..first };
        let sample = sampling.end(at(60), &later, EVERY).unwrap();
        assert_eq!((sample.requests, sample.looks, sample.measured()), (30, 20, Some(0.75)));
        assert!((sample.freshness.unwrap() - 0.6).abs() < 1e-12);
        assert_eq!((sample.price, sample.span), (6.0, EVERY));
        let next = sampling.end(at(120), &later, EVERY).unwrap();
        assert_eq!((next.requests, next.freshness, next.measured()), (0, None, None));
    }
}
