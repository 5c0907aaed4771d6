use super::CrawlValue;
use crate::math::root::{Bracket, newton};

/// A value averaged over a few weighted possibilities: V = Σ w_k V_k. Three to five posterior points stand in for a
/// posterior that no closed form fits.
#[derive(Clone, Copy, Debug)]
pub struct Mixture<V, const N: usize> {
    parts: [(f64, V); N],
}

impl<V: CrawlValue, const N: usize> Mixture<V, N> {
    /// The mixture of these weights and values. Weights must be finite and not negative; they are used as they are
    /// (they should add up to 1). `None` if one is not.
    pub fn new(parts: [(f64, V); N]) -> Option<Self> {
        parts.iter().all(|(weight, _)| weight.is_finite() && *weight >= 0.0).then_some(Self { parts })
    }

    /// Σ over the parts that have a weight: 0 · ∞ is 0 here.
    fn average(&self, of: impl Fn(&V) -> f64) -> f64 {
        self.parts.iter().filter(|(weight, _)| *weight > 0.0).map(|(weight, part)| weight * of(part)).sum()
    }
}

impl<V: CrawlValue, const N: usize> CrawlValue for Mixture<V, N> {
    fn value(&self, elapsed: f64, signals: u32) -> f64 {
        self.average(|part| part.value(elapsed, signals))
    }

    fn supremum(&self) -> f64 {
        self.average(V::supremum)
    }

    fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        if value <= self.value(0.0, signals) {
            return Some(0.0);
        }
        if value > self.value(f64::INFINITY, signals) || value >= self.supremum() {
            return None;
        }
        // When every part has reached its share of the value, so has the mixture; the last of them bounds the root.
        let total: f64 = self.parts.iter().map(|(weight, _)| weight).sum();
        let arrivals = self.parts.iter().filter(|(weight, _)| *weight > 0.0);
        let high = arrivals
            .map(|(_, part)| part.moment(value / total, signals).unwrap_or(f64::INFINITY))
            .fold(0.0, f64::max);
        let distance = |at: f64| (self.value(at, signals) / value).ln();
        let start = if high.is_finite() { 0.5 * high } else { 1.0 };
        let moment = newton(Bracket { low: 0.0, high }, start, 1e-12, |at| {
            // A secant through a near point: the parts need not know their slopes.
            let here = distance(at);
            (here, (distance(at * (1.0 + 1e-6)) - here) / (at * 1e-6))
        });
        moment.is_finite().then_some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Belief;
    use crate::value::{GammaPosterior, Greedy, GreedyNcis};

    #[test]
    fn one_part_is_that_part() {
        let page = Belief::new(0.4, 2.0).unwrap().with_signals(0.6, 0.2).unwrap();
        let alone = GreedyNcis::new(&page);
        let mixture = Mixture::new([(1.0, alone)]).unwrap();
        for signals in 0..4 {
            let v = alone.value(3.0, signals) * 1.1;
            assert_eq!(mixture.value(3.0, signals), alone.value(3.0, signals));
            match (mixture.moment(v, signals), alone.moment(v, signals)) {
                (Some(a), Some(b)) => assert!((a - b).abs() <= 1e-9 * b, "{a} {b}"),
                (a, b) => assert_eq!(a, b),
            }
        }
        assert_eq!(mixture.supremum(), alone.supremum());
        assert_eq!(mixture.moment(mixture.supremum(), 0), None);
    }

    /// Enough points of a Gamma posterior (here: equal-probability bins, their medians) approach its closed form.
    #[test]
    fn many_points_approach_the_closed_form() {
        use statrs::distribution::{ContinuousCDF, Gamma};
        let gamma = Gamma::new(2.5, 4.0).unwrap();
        let parts: [(f64, Greedy); 400] = std::array::from_fn(|k| {
            let rate = gamma.inverse_cdf((k as f64 + 0.5) / 400.0);
            (1.0 / 400.0, Greedy::new(&Belief::new(rate, 1.0).unwrap()))
        });
        let points = Mixture::new(parts).unwrap();
        let exact = GammaPosterior::new(2.5, 4.0, 1.0).unwrap();
        for tau in [0.1, 1.0, 5.0] {
            let (a, b) = (points.value(tau, 0), exact.value(tau, 0));
            assert!((a / b - 1.0).abs() < 0.01, "{tau}: {a} {b}");
        }
        let v = exact.value(2.0, 0);
        assert!((points.moment(v, 0).unwrap() / 2.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn weights_must_be_weights() {
        let page = Greedy::new(&Belief::new(1.0, 1.0).unwrap());
        assert!(Mixture::new([(-0.1, page)]).is_none());
        assert!(Mixture::new([(f64::NAN, page)]).is_none());
    }
}
