//! For how long new pages are asked for: requests by the age of their pages, hub by hub.
//!
//! Ages are in steps that grow by half an octave. In each step the requests are counted, and for how long its pages were watched; so pages
//! that are older than the log, or that the log ends before, count as far as they were seen. The curve that follows, requests of a page up to
//! an age, is fitted by P(1 - e^{-δ·age}), leaning on that of all hubs together.

use std::collections::HashMap;
use std::ops::ControlFlow;

use refrain_core::estimate::interest::clicks::{Clicks, Interest};
use refrain_core::time::Time;
use refrain_store::{PageId, Reader, Role, StoreError};

use crate::interest::hash;

/// The first step ends at this age, in seconds; there are so many, up to more than a year.
const FIRST: f64 = 30.0;
const STEPS: usize = 42;
/// With fewer requests a hub is believed to be like the others.
const ENOUGH: f64 = 20.0;
/// With more it is believed to be like itself alone.
const PLENTY: f64 = 10.0 * ENOUGH;
/// A page that is older than so many lives, and asked for all the same, is no news but here to stay.
const LIVES: f64 = 7.0;

/// A page that a hub led to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) page: PageId,
    pub(crate) hub: PageId,
    pub(crate) born: Time,
}

/// Requests for the pages that hubs led to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Novelty {
    newcomers: HashMap<u64, Newcomer>,
    requests: HashMap<PageId, [f64; STEPS]>,
}

/// Where the step begins that a number stands for, and where it ends.
fn step(number: usize) -> (f64, f64) {
    let end = |number: usize| FIRST * (0.5 * number as f64).exp2();
    (if number == 0 { 0.0 } else { end(number - 1) }, end(number))
}

fn number(age: f64) -> Option<usize> {
    let number = if age <= FIRST { 0 } else { (2.0 * (age / FIRST).log2()).ceil() as usize };
    (number < STEPS).then_some(number)
}

impl Novelty {
    /// The pages of a store that hubs led to.
    pub(crate) fn of(reader: &Reader) -> Result<Self, StoreError> {
        let mut novelty = Self::default();
        reader.pages(|row| {
            if let (Some(hub), Role::Page) = (row.origin.hub, row.origin.role) {
                let newcomer = Newcomer { page: row.id, hub, born: row.born() };
                novelty.newcomers.insert(hash(row.url), newcomer);
            }
            ControlFlow::Continue(())
        })?;
        Ok(novelty)
    }

    /// Somebody asked for the page whose address has this hash.
    pub(crate) fn add(&mut self, url: u64, time: Time) {
        let Some(newcomer) = self.newcomers.get(&url).filter(|newcomer| time >= newcomer.born) else {
            return;
        };
        if let Some(number) = number(time.since(newcomer.born).as_secs()) {
            self.requests.entry(newcomer.hub).or_insert([0.0; STEPS])[number] += 1.0;
        }
    }

    /// What a new page is asked for in its life, and how fast that falls, if requests were watched for this long: in the mean of all hubs, and by
    /// hub. Where pages are asked for without end there is nothing to tell.
    pub(crate) fn learned(&self, first: Time, last: Time) -> (Option<Interest>, HashMap<PageId, Interest>) {
        let mut watched: HashMap<PageId, [f64; STEPS]> = HashMap::new();
        for newcomer in self.newcomers.values() {
            let (from, to) = (first.since(newcomer.born).as_secs(), last.since(newcomer.born).as_secs());
            let of_hub = watched.entry(newcomer.hub).or_insert([0.0; STEPS]);
            for (number, time) in of_hub.iter_mut().enumerate() {
                let (begin, end) = step(number);
                *time += (end.min(to) - begin.max(from)).max(0.0);
            }
        }
        let sum = |all: &HashMap<PageId, [f64; STEPS]>| {
            all.values().fold([0.0; STEPS], |mut sum, one| {
                sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
                sum
            })
        };
        let Some(mean) = fitted(&sum(&self.requests), &sum(&watched), None) else {
            return (None, HashMap::new());
        };
        let of_hub = |(hub, requests): (&PageId, &[f64; STEPS])| {
            let count: f64 = requests.iter().sum();
            let own = watched.get(hub).filter(|_| count >= ENOUGH)?;
            Some((*hub, fitted(requests, own, Some(&mean).filter(|_| count < PLENTY))?))
        };
        (Some(mean), self.requests.iter().filter_map(of_hub).collect())
    }

    /// Pages that are news still, by their numbers: their importance is that of their hub.
    pub(crate) fn news(
        &self,
        mean: Option<Interest>,
        by_hub: &HashMap<PageId, Interest>,
        now: Time,
    ) -> HashMap<PageId, Interest> {
        let young = |newcomer: &Newcomer| {
            let interest = by_hub.get(&newcomer.hub).copied().or(mean)?;
            let lives = now.since(newcomer.born).as_secs() * interest.decay;
            (lives < LIVES).then_some((newcomer.page, interest))
        };
        self.newcomers.values().filter_map(young).collect()
    }
}

/// The curve through what was counted, if it shows an end.
fn fitted(requests: &[f64; STEPS], watched: &[f64; STEPS], prior: Option<&Interest>) -> Option<Interest> {
    if requests.iter().sum::<f64>() < ENOUGH {
        return None;
    }
    let mut total = 0.0;
    let mut points = Vec::with_capacity(STEPS);
    for (number, (requests, time)) in requests.iter().zip(watched).enumerate() {
        let (begin, end) = step(number);
        // What nobody watched says nothing; before that, nothing was asked for as far as is known.
        if *time > 0.0 {
            total += requests / time * (end - begin);
            points.extend(Clicks::new(end, total));
        }
    }
    Interest::fit(&points, prior).filter(|fit| fit.saturates).map(|fit| fit.interest)
}

#[cfg(test)]
mod tests {
    use refrain_core::time::Span;

    use super::*;

    #[test]
    fn steps_hold_their_ages() {
        for age in [0.0, 10.0, 30.0, 31.0, 42.0, 43.0, 1e5, 3e7] {
            let (begin, end) = step(number(age).unwrap());
            assert!(begin <= age && age <= end * (1.0 + 1e-12), "{age}: {begin} to {end}");
        }
        assert_eq!(number(1e9), None);
    }

    /// Two hubs: articles that live an hour with 50 requests, and those that live a day with 10; every minute or hour one.
    #[test]
    fn lives_are_learned_by_hub() {
        let at = |seconds: f64| Time::from_nanos(1_700_000_000_000_000_000) + Span::from_secs(seconds);
        let mut novelty = Novelty::default();
        let span = 20.0 * 86_400.0;
        let mut all = Vec::new();
        for (hub, every, life, count) in [(1, 3600.0, 3600.0, 50), (2, 7200.0, 86_400.0, 10)] {
            for item in 0..(span / every) as i64 {
                let born = item as f64 * every;
                let (url, page) = ((hub * 1_000_000 + item) as u64, PageId(hub * 1_000_000 + item));
                novelty.newcomers.insert(url, Newcomer { page, hub: PageId(hub), born: at(born) });
                for k in 0..count {
                    // The quantiles of an exponential distribution.
                    let age = -life * (1.0 - (f64::from(k) + 0.5) / f64::from(count)).ln();
                    all.push((url, born + age));
                }
            }
        }
        for (url, time) in all.iter().filter(|(_, time)| *time < span) {
            novelty.add(*url, at(*time));
        }
        let (mean, hubs) = novelty.learned(at(0.0), at(span));
        let (fast, slow) = (hubs[&PageId(1)], hubs[&PageId(2)]);
        assert!(
            (fast.profit / 50.0 - 1.0).abs() < 0.1 && (fast.decay * 3600.0 - 1.0).abs() < 0.2,
            "{fast:?}"
        );
        assert!(
            (slow.profit / 10.0 - 1.0).abs() < 0.2 && (slow.decay * 86_400.0 - 1.0).abs() < 0.3,
            "{slow:?}"
        );
        let mean = mean.unwrap();
        assert!(mean.profit > slow.profit && mean.profit < fast.profit, "{mean:?}");
        let news = novelty.news(Some(mean), &hubs, at(span));
        assert!(news.contains_key(&PageId(1_000_000 + 479)) && !news.contains_key(&PageId(1_000_000 + 400)));
    }

    #[test]
    fn what_is_asked_for_without_end_is_no_news() {
        let mut novelty = Novelty::default();
        let at = |days: f64| Time::from_nanos(1_700_000_000_000_000_000) + Span::from_secs(86_400.0 * days);
        let newcomer = Newcomer { page: PageId(9), hub: PageId(1), born: at(0.0) };
        novelty.newcomers.insert(5, newcomer);
        for hour in 0..(24 * 60) {
            novelty.add(5, at(f64::from(hour) / 24.0));
        }
        novelty.add(6, at(1.0));
        assert_eq!(novelty.learned(at(0.0), at(60.0)), (None, HashMap::new()));
    }
}
