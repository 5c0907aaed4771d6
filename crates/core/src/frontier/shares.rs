//! Shares of the budget by weight: each page is fetched as often as its weight says, whatever the budget.
//!
//! A value of (weight × age) keeps that promise: all pages are fetched at the same value, so each at an age that is inverse
//! to its weight. Uniform, change-rate-proportional and importance-proportional schedules are this; LambdaCrawl is a value of
//! the same kind.

use super::HostId;
use super::model::{AHEAD, Model, ahead, not_after};
use super::race::Look;
use crate::estimate::Observation;
use crate::page::{Belief, SinceFetch};
use crate::time::{Span, Time};

/// What decides how often a page is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All alike.
    Uniform,
    /// In proportion to how often it changes.
    ChangeRate,
    /// In proportion to how important it is.
    Importance,
    /// By the harmonic objective of LambdaCrawl: at the rate ρ with ρ² + ρΔ = μΔ/Λ, for a price Λ.
    LambdaCrawl,
}

/// A frontier that shares its budget out by weight.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    by: Share,
}

impl Shares {
    /// By these weights.
    pub fn new(by: Share) -> Self {
        Self { by }
    }

    fn at(self, page: &Belief, age: f64) -> f64 {
        let (delta, mu) = (page.change_rate(), page.importance());
        match self.by {
            Share::Uniform => age,
            Share::ChangeRate => delta * age,
            Share::Importance => mu * age,
            // The price at which 1/age is the rate.
            Share::LambdaCrawl => mu * delta * age * age / (1.0 + delta * age),
        }
    }

    fn slope(self, page: &Belief, age: f64) -> f64 {
        match self.by {
            Share::LambdaCrawl => page.importance() * (1.0 - (1.0 + page.change_rate() * age).powi(-2)),
            _ => self.at(page, 1.0),
        }
    }

    fn age_of(self, page: &Belief, value: f64) -> f64 {
        match self.by {
            Share::LambdaCrawl => {
                // μΔ age² - vΔ age - v = 0.
                let (delta, mu) = (page.change_rate(), page.importance());
                let half = 0.5 * value / mu;
                half + (half * half + value / (mu * delta)).sqrt()
            }
            _ => value / self.at(page, 1.0),
        }
    }
}

impl Model for Shares {
    type Page = Belief;
    type Past = ();

    fn value(&self, page: &Belief, since: &SinceFetch, now: Time) -> f64 {
        self.at(page, since.elapsed(now).as_secs())
    }

    fn reaches(&self, page: &Belief, since: &SinceFetch, _now: Time, level: f64, _near: bool) -> Time {
        not_after(since.fetched(), Some(self.age_of(page, level)).filter(|age| age.is_finite()))
    }

    fn look(&self, page: &Belief, since: &SinceFetch, now: Time) -> Look {
        let age = since.elapsed(now).as_secs();
        // No slope falls with age.
        let growth = self.slope(page, age * (1.0 + AHEAD)) * (1.0 + 1e-12);
        Look { value: self.at(page, age), growth, until: ahead(since, now), tight: true, ..Look::NOTHING }
    }

    fn sooner(&self, _page: &Belief) -> Option<Span> {
        Some(Span::ZERO)
    }

    fn are_alike(&self, one: &Belief, other: &Belief) -> bool {
        one == other
    }

    fn observe(
        &mut self,
        _page: &mut Belief,
        _past: &mut (),
        _host: HostId,
        _now: Time,
        _seen: &Observation,
    ) {
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Answer;
    use crate::frontier::{Budget, Frontier, Manners, Outcome, Settings};

    fn counts(by: Share) -> Vec<f64> {
        let mut frontier =
            Frontier::new(Shares::new(by), Budget::Rate(20.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners::default());
        // Twenty of each: one alone would be fetched in whole steps only.
        for _ in 0..20 {
            for (delta, mu) in [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (4.0, 0.0)] {
                frontier.insert(Time::ZERO, Belief::new(delta, mu).unwrap(), host, Time::ZERO).unwrap();
            }
        }
        let mut counts = vec![0.0; 4];
        for k in 1..=6000 {
            let now = Time::ZERO + Span::from_millis(50 * k);
            let order = frontier.poll(now).unwrap().unwrap();
            counts[order.page.index() as usize % 4] += 1.0 / 6000.0;
            frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
        }
        counts
    }

    #[test]
    fn budgets_are_shared_by_weight() {
        let close = |by, expected: [f64; 4]| {
            let found = counts(by);
            assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 0.02), "{by:?} {found:?}");
        };
        close(Share::Uniform, [0.25; 4]);
        close(Share::ChangeRate, [0.125, 0.25, 0.125, 0.5]);
        close(Share::Importance, [0.25, 0.25, 0.5, 0.0]);
        // ρ = (-Δ + √(Δ² + 4μΔ/Λ))/2 with Λ such that they add up to 1.
        let rho = |delta: f64, mu: f64, price: f64| {
            0.5 * ((delta * delta + 4.0 * mu * delta / price).sqrt() - delta)
        };
        let (mut low, mut high) = (1e-3, 1e3_f64);
        for _ in 0..100 {
            let price = (low * high).sqrt();
            let sum = rho(1.0, 1.0, price) + rho(2.0, 1.0, price) + rho(1.0, 2.0, price);
            if sum > 1.0 { low = price } else { high = price }
        }
        close(Share::LambdaCrawl, [rho(1.0, 1.0, low), rho(2.0, 1.0, low), rho(1.0, 2.0, low), 0.0]);
    }
}
