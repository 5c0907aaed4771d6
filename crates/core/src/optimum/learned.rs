use super::candidate::{Candidate, SignalPage, Visit};
use crate::estimate::signals::quality::Quality;
use crate::page::{Belief, BeliefError};
use crate::value::{CrawlValue, GammaPosterior};

/// A page of which only a belief is known, Gamma(a, B): fetched every τ, it is fresh for (1/τ) ∫ S of the time, S(s) = (B/(B+s))^a.
///
/// That is more than with the mean rate a/B: what may be slow stays fresh for long. With V(τ) = μ [∫ S - τ S(τ)], the crawl value, it is V(τ)/(μτ) + S(τ),
/// in which nothing cancels.
///
/// A page with signals may be visited by them as well, as a [`SignalPage`] whose changes are known to be as many as is believed on average. It is
/// visited in whichever way is worth more at the price, so what it gets is what can be had, and not all of it: the best schedule would use both,
/// what signals say and what is not known of the changes that they do not announce.
#[derive(Clone, Copy, Debug)]
pub struct LearnedPage {
    value: GammaPosterior,
    shape: f64,
    rate: f64,
    importance: f64,
    signals: Option<SignalPage>,
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
        let value = GammaPosterior::new(shape, rate, importance)?;
        Ok(Self { value, shape, rate, importance, signals: None })
    }

    /// The same page with signals of this quality.
    ///
    /// # Errors
    /// If its numbers are beyond all bounds.
    pub fn with_signals(self, quality: &Quality) -> Result<Self, BeliefError> {
        let belief = Belief::new(quality.change_rate(), self.importance)?
            .with_signals(quality.recall().clamp(0.0, 1.0), quality.false_rate())?;
        Ok(Self { signals: Some(SignalPage::of(&belief)), ..self })
    }

    /// At this price, whatever its signals say.
    fn by_time(&self, price: f64) -> Visit {
        if price >= self.latest() {
            return NEVER;
        }
        match self.value.moment(price, 0) {
            Some(interval) if interval > 0.0 => self.every(interval, price),
            Some(_) => Visit { rate: f64::MAX, freshness: 1.0 },
            None => NEVER,
        }
    }

    /// The price from which on it is not visited but for its signals.
    fn latest(&self) -> f64 {
        let longest = LONGEST * self.rate / self.shape;
        self.value.supremum().min(self.value.value(longest, 0))
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
    /// The last threshold of its signals.
    type Hint = f64;

    fn importance(&self) -> f64 {
        self.importance
    }

    fn ceiling(&self) -> f64 {
        self.signals.map_or(0.0, |signals| signals.ceiling()).max(self.latest())
    }

    /// Of two ways the one with the greater μF - price × rate. That is the greater of two convex functions of the price, so the rate never rises
    /// with it.
    fn visit(&self, price: f64, hint: &mut f64) -> Visit {
        let by_time = self.by_time(price);
        let Some(signals) = &self.signals else { return by_time };
        let by_signals = signals.visit(price, hint);
        let worth = |visit: &Visit| self.importance * visit.freshness - price * visit.rate;
        if worth(&by_signals) > worth(&by_time) { by_signals } else { by_time }
    }

    fn at_rate(&self, rate: f64) -> Visit {
        if !(rate > 0.0) || self.importance == 0.0 {
            return Visit { rate, freshness: 0.0 };
        }
        let interval = 1.0 / rate;
        let by_time = Visit { rate, ..self.every(interval, self.value.value(interval, 0)) };
        let by_signals = self.signals.map_or(0.0, |signals| signals.at_rate(rate).freshness);
        Visit { rate, freshness: by_time.freshness.max(by_signals) }
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
            let (one, two) = (sure.visit(price, &mut 0.0), page.visit(price, &mut ()));
            assert!(
                (one.rate - two.rate).abs() < 1e-6 && (one.freshness - two.freshness).abs() < 1e-6,
                "{price}"
            );
        }
        assert_eq!(sure.visit(sure.ceiling(), &mut 0.0), NEVER);
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

    #[test]
    fn signals_help_and_never_harm() {
        // Δ = 1, of which nine in ten are announced; one signal in ten is false.
        let quality = Quality::new(0.1, 10_f64.ln(), 1.0).unwrap();
        for shape in [0.4, 3.0, 1e9] {
            let silent = LearnedPage::new(1.0, shape, 2.0).unwrap();
            let page = silent.with_signals(&quality).unwrap();
            let (mut rate, mut hint) = (f64::INFINITY, 0.0);
            for step in 0..200 {
                let price = 1e-3 * 1.05_f64.powi(step);
                let (with, without) = (page.visit(price, &mut hint), silent.visit(price, &mut 0.0));
                let worth = |visit: Visit| 2.0 * visit.freshness - price * visit.rate;
                assert!(worth(with) >= worth(without) - 1e-9, "{shape} {price}: {with:?} {without:?}");
                assert!(with.rate <= rate * (1.0 + 1e-9), "{shape} {price}: {with:?} {rate}");
                rate = with.rate;
            }
            assert_eq!(page.visit(page.ceiling(), &mut 0.0), NEVER);
            let (with, without) = (page.at_rate(1.0).freshness, silent.at_rate(1.0).freshness);
            assert!(with >= without && (shape < 1.0 || with > without + 0.1), "{shape}: {with} {without}");
        }
        // Who is sure of the rate is a page with signals.
        let belief = Belief::new(1.0, 2.0).unwrap().with_signals(0.9, 0.1).unwrap();
        let sure = LearnedPage::new(1.0, 1e9, 2.0).unwrap().with_signals(&quality).unwrap();
        for price in [0.01, 0.3, 1.0] {
            let (one, two) = (sure.visit(price, &mut 0.0), SignalPage::of(&belief).visit(price, &mut 0.0));
            assert!((one.rate - two.rate).abs() < 1e-6 && (one.freshness - two.freshness).abs() < 1e-6);
        }
        // A budget is spent to the last fetch, whoever listens to what.
        let pages: Vec<LearnedPage> = (1..40_u32)
            .map(|number| LearnedPage::new(0.1 * f64::from(number), 0.5, 1.0).unwrap())
            .map(|page| page.with_signals(&quality).unwrap())
            .collect();
        let best = allocate(&pages, 5.0).unwrap();
        assert!((best.rate - 5.0).abs() < 1e-6, "{}", best.rate);
    }
}
