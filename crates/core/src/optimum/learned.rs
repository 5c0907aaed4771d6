use super::candidate::{Candidate, Visit};
use crate::page::BeliefError;
use crate::value::{CrawlValue, GammaPosterior};

/// A page of which only a belief is known, Gamma(a, B): fetched every τ, it is fresh for (1/τ) ∫ S of the time, S(s) = (B/(B+s))^a.
///
/// That is more than with the mean rate a/B: what may be slow stays fresh for long. With V(τ) = μ [∫ S - τ S(τ)], the crawl value, it is V(τ)/(μτ) + S(τ),
/// in which nothing cancels.
#[derive(Clone, Copy, Debug)]
pub struct LearnedPage {
    value: GammaPosterior,
    shape: f64,
    rate: f64,
    importance: f64,
}

/// Nobody waits for longer, in mean intervals between changes: with a ≤ 1 the value has no bound, and somewhere a price must be too high.
const LONGEST: f64 = 1e9;

impl LearnedPage {
    /// A page whose change rate has this mean, in a Gamma distribution of this shape.
    ///
    /// # Errors
    /// Unless mean and shape are finite and positive, and the importance is finite and not negative.
    pub fn new(mean: f64, shape: f64, importance: f64) -> Result<Self, BeliefError> {
        let rate = shape / mean;
        Ok(Self { value: GammaPosterior::new(shape, rate, importance)?, shape, rate, importance })
    }

    /// How it is visited if a fetch is worth so much after this time.
    fn every(&self, interval: f64, worth: f64) -> Visit {
        let survival = (-self.shape * (interval / self.rate).ln_1p()).exp();
        let freshness = worth / (self.importance * interval) + survival;
        Visit { rate: 1.0 / interval, freshness: freshness.clamp(0.0, 1.0) }
    }
}

const NEVER: Visit = Visit { rate: 0.0, freshness: 0.0 };

impl Candidate for LearnedPage {
    type Hint = ();

    fn importance(&self) -> f64 {
        self.importance
    }

    fn ceiling(&self) -> f64 {
        let longest = LONGEST * self.rate / self.shape;
        self.value.supremum().min(self.value.value(longest, 0))
    }

    fn visit(&self, price: f64, (): &mut ()) -> Visit {
        if price >= self.ceiling() {
            return NEVER;
        }
        match self.value.moment(price, 0) {
            Some(interval) if interval > 0.0 => self.every(interval, price),
            Some(_) => Visit { rate: f64::MAX, freshness: 1.0 },
            None => NEVER,
        }
    }

    fn at_rate(&self, rate: f64) -> Visit {
        if !(rate > 0.0) || self.importance == 0.0 {
            return Visit { rate, freshness: 0.0 };
        }
        let interval = 1.0 / rate;
        Visit { rate, ..self.every(interval, self.value.value(interval, 0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Page;
    use super::super::{allocate, curve};
    use super::*;

    #[test]
    fn freshness_is_the_mean_of_survival() {
        for (mean, shape) in [(0.5f64, 0.4f64), (0.5, 1.0), (3.0, 2.5), (0.01, 40.0)] {
            let page = LearnedPage::new(mean, shape, 2.0).unwrap();
            for rate in [0.05, 1.0, 20.0] {
                let (interval, steps) = (1.0 / rate, 20_000);
                let survival = |s: f64| (1.0 + s * mean / shape).powf(-shape);
                let sum: f64 =
                    (0..steps).map(|i| survival(interval * (f64::from(i) + 0.5) / f64::from(steps))).sum();
                let visit = page.at_rate(rate);
                assert!(
                    (visit.freshness - sum / f64::from(steps)).abs() < 1e-6,
                    "{mean} {shape} {rate}: {visit:?}"
                );
            }
        }
    }

    #[test]
    fn who_is_sure_is_a_page_with_that_rate() {
        let sure = LearnedPage::new(0.7, 1e9, 3.0).unwrap();
        let page = Page::new(0.7, 3.0).unwrap();
        for price in [0.01, 0.5, 2.0, 4.0] {
            let (one, two) = (sure.visit(price, &mut ()), page.visit(price, &mut ()));
            assert!(
                (one.rate - two.rate).abs() < 1e-6 && (one.freshness - two.freshness).abs() < 1e-6,
                "{price}"
            );
        }
        assert_eq!(sure.visit(sure.ceiling(), &mut ()), NEVER);
    }

    #[test]
    fn a_budget_is_spent_as_well_as_can_be() {
        let pages: Vec<LearnedPage> = [(0.2, 0.5, 1.0), (1.0, 3.0, 2.0), (5.0, 1.0, 1.0)]
            .into_iter()
            .map(|(mean, shape, importance)| LearnedPage::new(mean, shape, importance).unwrap())
            .collect();
        let best = allocate(&pages, 1.5).unwrap();
        assert!((best.rate - 1.5).abs() < 1e-6, "{best:?}");
        let of = |rates: [f64; 3]| -> f64 {
            pages
                .iter()
                .zip(rates)
                .map(|(page, rate)| page.importance() * page.at_rate(rate).freshness)
                .sum::<f64>()
                / 4.0
        };
        for first in 1..60 {
            for second in 1..(60 - first) {
                let (a, b) = (1.5 * f64::from(first) / 60.0, 1.5 * f64::from(second) / 60.0);
                assert!(of([a, b, 1.5 - a - b]) <= best.freshness + 1e-9, "{a} {b}");
            }
        }
        let rates: Vec<f64> =
            curve(&pages, [3.0, 1.0, 0.1, 0.01], || {}).iter().map(|point| point.rate).collect();
        assert!(rates.windows(2).all(|pair| pair[0] < pair[1]), "{rates:?}");
    }
}
