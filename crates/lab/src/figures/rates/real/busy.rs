//! A page that changes often, and the law of its gaps.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::estimate::observation::SHORTEST;
use refrain_core::estimate::sam::Momentum;
use refrain_core::estimate::{Answer, Observation};
use refrain_core::time::Time;

use crate::figures::rates::{estimators, linear};
use crate::figures::{Chart, Curve, FigureError, Look, Point};
use crate::study::Watching;
use crate::trace::{Clock, Trace, TracePage};

/// So many pages with the most changes are tested.
const BUSIEST: usize = 20;
/// Fewer changes than this say little about their law.
const FEWEST: usize = 30;
const DAY: f64 = 86_400.0;

/// A page, in days of usable time since it was first seen.
pub(super) struct Busy {
    pub(super) name: String,
    pub(super) changes: Vec<f64>,
    /// Between changes, sorted.
    pub(super) gaps: Vec<f64>,
    end: f64,
}

/// The pages with the most changes, the busiest first; among equals, in their order.
pub(super) fn busiest(trace: &Trace) -> Result<Vec<Busy>, FigureError> {
    let mut pages: Vec<&TracePage> = trace.pages.iter().filter(|page| page.changes.len() >= FEWEST).collect();
    pages.sort_by_key(|page| std::cmp::Reverse(page.changes.len()));
    if pages.is_empty() {
        return Err(FigureError(format!(
            "no page of the recorded trace has {FEWEST} changes; expected one at least"
        )));
    }
    Ok(pages.into_iter().take(BUSIEST).map(|page| Busy::of(trace, page)).collect())
}

impl Busy {
    /// The list of all pages: it changes whenever one of them does, once if several do at the same moment.
    pub(super) fn list(trace: &Trace) -> Self {
        let (first, last) = trace.span().unwrap_or_default();
        let mut changes: Vec<Time> =
            trace.pages.iter().flat_map(|page| page.changes.iter().copied()).collect();
        changes.sort_unstable();
        changes.dedup();
        // One recorder's outages stand for all.
        let clock = trace.sources.first().cloned().unwrap_or_default();
        Self::new("the list".into(), &clock, (first, last), &changes)
    }

    fn of(trace: &Trace, page: &TracePage) -> Self {
        Self::new(format!("page {}", page.number), trace.clock(page), (page.first, page.last), &page.changes)
    }

    fn new(name: String, clock: &Clock, (first, last): (Time, Time), changes: &[Time]) -> Self {
        let changes: Vec<f64> = changes.iter().map(|change| clock.between(first, *change) / DAY).collect();
        let mut gaps: Vec<f64> = changes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_by(f64::total_cmp);
        Self { name, changes, gaps, end: clock.between(first, last) / DAY }
    }

    /// Changes per day: one over the mean gap, as in the paper.
    pub(super) fn rate(&self) -> f64 {
        self.gaps.len() as f64 / self.gaps.iter().sum::<f64>()
    }

    /// The deviation of gaps by their mean.
    pub(super) fn spread(&self) -> f64 {
        let mean = 1.0 / self.rate();
        let square = self.gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
        (square / self.gaps.len() as f64).sqrt() / mean
    }

    /// Stephens' statistic: how far the gaps are from an exponential law with their mean.
    pub(super) fn test(&self) -> f64 {
        let (count, rate) = (self.gaps.len() as f64, self.rate());
        let distance = self.gaps.iter().enumerate().map(|(place, gap)| {
            let expected = -(-rate * gap).exp_m1();
            (expected - place as f64 / count).abs().max(((place + 1) as f64 / count - expected).abs())
        });
        let distance = distance.fold(0.0, f64::max);
        (distance - 0.2 / count) * (count.sqrt() + 0.26 + 0.5 / count.sqrt())
    }

    /// How well a straight line describes the quantiles: the square of their correlation.
    pub(super) fn straight(&self) -> f64 {
        let pairs = self.pairs();
        let count = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let product = mean(&|pair| (pair.0 - x) * (pair.1 - y));
        product * product / (mean(&|pair| (pair.0 - x).powi(2)) * mean(&|pair| (pair.1 - y).powi(2)))
    }

    /// Quantiles of the exponential law and of the gaps.
    fn pairs(&self) -> Vec<(f64, f64)> {
        let (count, rate) = (self.gaps.len() as f64, self.rate());
        let expected = |place: usize| -(1.0 - (place as f64 + 0.5) / count).ln() / rate;
        self.gaps.iter().enumerate().map(|(place, gap)| (expected(place), *gap)).collect()
    }

    pub(super) fn quantiles(&self, file: &'static str) -> Chart {
        let pairs = self.pairs();
        let most = pairs.iter().map(|pair| pair.0.max(pair.1)).fold(0.0, f64::max);
        let points = pairs.iter().map(|(expected, gap)| Point::at(*expected, *gap));
        let diagonal = vec![Point::at(0.0, 0.0), Point::at(most, most)];
        Chart {
            file,
            title: format!("Gaps between changes of {} against an exponential law (Fig 1a)", self.name),
            x: linear("quantile of the exponential law, days"),
            y: linear("quantile of the gaps, days"),
            curves: vec![
                Curve { name: "gaps".into(), look: Look::Dots, points: points.collect() },
                Curve { name: "the same law".into(), look: Look::Dashes, points: diagonal },
            ],
        }
    }

    /// Fetches at random times, and what they see.
    fn fetches(&self, p: f64, seed: u64) -> Vec<Observation> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut now, mut seen) = (0.0, Vec::new());
        loop {
            let elapsed = (-(1.0 - random.random::<f64>()).ln() / p).max(SHORTEST);
            let until = |time: f64| self.changes.partition_point(|change| *change <= time);
            let changed = until(now + elapsed) > until(now);
            now += elapsed;
            if now > self.end {
                return seen;
            }
            let answer = if changed { Answer::Changed } else { Answer::Unchanged };
            seen.extend(Observation::new(elapsed, 0, answer).ok());
        }
    }

    /// What each estimator says after each fetch: fetch by fetch.
    pub(super) fn course(&self, fetches: f64, seed: u64) -> Vec<f64> {
        let p = fetches * self.rate();
        let mut watching =
            Watching::new(estimators(p, Momentum::USUAL).into_iter().map(|(_, method)| method));
        let mut rates = Vec::new();
        for seen in self.fetches(p, seed) {
            watching.observe(&seen);
            rates.extend(watching.rates(p));
        }
        rates
    }

    /// What each estimator says in the end, as shares of the rate: run by run.
    pub(super) fn ends(&self, fetches: f64, runs: u32, seed: u64) -> Vec<f64> {
        let p = fetches * self.rate();
        let methods = estimators(p, Momentum::USUAL);
        let mut ends = Vec::new();
        for run in 0..runs {
            let mut watching = Watching::new(methods.iter().map(|(_, method)| *method));
            for seen in self.fetches(p, seed.wrapping_add(u64::from(run))) {
                watching.observe(&seen);
            }
            ends.extend(watching.rates(p).map(|rate| rate / self.rate()));
        }
        ends
    }
}

#[cfg(test)]
pub(super) mod tests {
    use refrain_core::time::Span;

    use super::*;
    use crate::figures::rates::real::{CRITICAL, Ends, FETCHES};
    use crate::figures::rates::{MLE, NAIVE, REFRAIN};

    pub(in crate::figures::rates::real) fn page(gap: impl Fn(f64) -> f64, count: u32) -> Busy {
        // Quantiles, in an order that mixes them.
        let gaps: Vec<f64> =
            (0..count).map(|place| gap((f64::from(place * 37 % count) + 0.5) / f64::from(count))).collect();
        let changes: Vec<f64> = gaps
            .iter()
            .scan(0.0, |now, gap| {
                *now += gap;
                Some(*now)
            })
            .collect();
        let end = changes.last().copied().unwrap_or(0.0);
        let mut sorted = gaps;
        sorted.sort_by(f64::total_cmp);
        Busy { name: "a page".into(), changes, gaps: sorted, end }
    }

    #[test]
    fn a_clock_is_not_exponential_and_chance_is() {
        let chance = page(|share| -(1.0 - share).ln(), 200);
        assert!(chance.test() < CRITICAL && chance.straight() > 0.99 && (chance.spread() - 1.0).abs() < 0.1);
        let clock = page(|share| 0.95 + 0.1 * share, 200);
        assert!(clock.test() > 5.0 && clock.spread() < 0.1, "{}", clock.test());
    }

    #[test]
    fn fetches_see_what_changed_in_between() {
        let page = page(|share| -(1.0 - share).ln(), 2000);
        let seen = page.fetches(1.0, 4);
        assert!((seen.len() as f64 / page.end - 1.0).abs() < 0.1);
        // Half of them, as many fetches as changes.
        let changed = seen.iter().filter(|seen| seen.changed()).count() as f64 / seen.len() as f64;
        assert!((changed - 0.5).abs() < 0.05, "{changed}");
        let ends = Ends::of(&page.ends(FETCHES[0], 40, 1));
        assert!(ends.bias(NAIVE) < -0.5 && ends.bias(MLE).abs() < 0.05 && ends.bias(REFRAIN).abs() < 0.05);
    }

    /// Two pages that change at the same moment are one change of the list.
    #[test]
    fn the_list_changes_with_its_pages() {
        let at = |day: u64| Time::ZERO + Span::from_whole_secs(86_400 * day);
        let page = |changes: &[u64]| TracePage {
            number: 0,
            importance: 1.0,
            source: 0,
            group: 0,
            directory: None,
            first: at(1),
            last: at(11),
            heard_from: None,
            changes: changes.iter().map(|day| at(*day)).collect(),
        };
        let pages = vec![page(&[2, 5]), page(&[3, 5, 9])];
        let trace = Trace { pages, sources: vec![Clock::default()], groups: 1, ..Trace::default() };
        let list = Busy::list(&trace);
        assert_eq!(
            (list.changes, list.gaps, list.end),
            (vec![1.0, 2.0, 4.0, 8.0], vec![1.0, 2.0, 4.0], 10.0)
        );
        assert!(busiest(&trace).is_err());
    }
}
