use super::CrawlValue;
use crate::math::integrate::integrate;
use crate::math::root::{Bracket, newton};

/// A curve S(s) = P(the page is unchanged s after it was last seen): 1 at 0, never rising.
pub trait Survival {
    /// S(s), for s ≥ 0.
    fn unchanged(&self, s: f64) -> f64;

    /// ∫_0^t (S(s) - S(t)) ds: the fresh time that a fetch at t earns over never looking again. By quadrature unless
    /// the curve knows better.
    fn gain(&self, t: f64) -> f64 {
        let end = self.unchanged(t);
        integrate(|s| self.unchanged(s) - end, 0.0, t)
    }

    /// What [`gain`](Self::gain) tends to: the mean time until the page changes, if it surely does. May be infinite.
    fn gain_limit(&self) -> f64;
}

/// The crawl value of any survival curve: V(τ) = μ ∫_0^τ (S(s) - S(τ)) ds. Signals are ignored.
///
/// e^{-Δs} gives GREEDY, (B/(B+s))^a gives [`super::GammaPosterior`]; periodic pages and hour-of-week profiles are
/// curves too.
#[derive(Clone, Debug)]
pub struct SurvivalValue<S> {
    curve: S,
    importance: f64,
}

impl<S: Survival> SurvivalValue<S> {
    /// The value of this curve for a page of this importance (what is negative or not a number counts as 0).
    pub fn new(curve: S, importance: f64) -> Self {
        Self { curve, importance: importance.max(0.0) }
    }
}

impl<S: Survival> CrawlValue for SurvivalValue<S> {
    fn value(&self, elapsed: f64, _signals: u32) -> f64 {
        if elapsed == f64::INFINITY {
            return self.supremum();
        }
        self.importance * self.curve.gain(elapsed.max(0.0)).max(0.0)
    }

    fn supremum(&self) -> f64 {
        if self.importance == 0.0 { 0.0 } else { self.importance * self.curve.gain_limit() }
    }

    fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        if value <= 0.0 {
            return Some(0.0);
        }
        if value >= self.supremum() {
            return None;
        }
        // V(τ) ≤ μτ, so the root is not below value/μ. A curve may be flat: bisection when the slope says nothing.
        let low = value / self.importance;
        let moment = newton(Bracket { low, high: f64::INFINITY }, 2.0 * low, 1e-12, |at| {
            let here = self.value(at, signals) - value;
            (here, (self.value(at * (1.0 + 1e-6), signals) - value - here) / (at * 1e-6))
        });
        moment.is_finite().then_some(moment)
    }
}

/// A curve whose hazard (rate of change given that nothing changed yet) is constant between given ages: what a
/// page's own gaps, or an hour-of-week profile, look like when they are counted in bins.
#[derive(Clone, Debug)]
pub struct PiecewiseHazard {
    /// Start age and hazard of each piece, the first at 0; the last one goes on for ever.
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start: f64,
    hazard: f64,
    /// S(start)
    unchanged: f64,
    /// ∫_0^start s (-S'(s)) ds
    gain: f64,
}

impl PiecewiseHazard {
    /// A curve from (start age, hazard) pairs: ages rising from 0, hazards finite and not negative. `None` if not.
    pub fn new(pieces: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let mut built: Vec<Piece> = Vec::new();
        for (start, hazard) in pieces {
            let in_order = built.last().map_or(start == 0.0, |last| start > last.start);
            if !in_order || !start.is_finite() || !hazard.is_finite() || hazard < 0.0 {
                return None;
            }
            let (unchanged, gain) =
                built.last().map_or((1.0, 0.0), |last| (last.unchanged_at(start), last.mass_until(start)));
            built.push(Piece { start, hazard, unchanged, gain });
        }
        (!built.is_empty()).then_some(Self { pieces: built })
    }

    fn piece(&self, age: f64) -> &Piece {
        let after = self.pieces.partition_point(|piece| piece.start <= age);
        &self.pieces[after.saturating_sub(1)]
    }
}

impl Piece {
    fn unchanged_at(&self, age: f64) -> f64 {
        self.unchanged * (-self.hazard * (age - self.start)).exp()
    }

    /// ∫_0^age s (-S'(s)) ds, which is ∫_0^age (S(s) - S(age)) ds: a sum of positive parts.
    fn mass_until(&self, age: f64) -> f64 {
        let x = self.hazard * (age - self.start);
        let within = if self.hazard == 0.0 { 0.0 } else { crate::math::greedy::g(x) / self.hazard };
        self.gain + self.unchanged * (within - self.start * (-x).exp_m1())
    }
}

impl Survival for PiecewiseHazard {
    fn unchanged(&self, s: f64) -> f64 {
        self.piece(s.max(0.0)).unchanged_at(s.max(0.0))
    }

    fn gain(&self, t: f64) -> f64 {
        self.piece(t).mass_until(t)
    }

    fn gain_limit(&self) -> f64 {
        let last = self.pieces[self.pieces.len() - 1];
        if last.unchanged == 0.0 || last.hazard == 0.0 {
            return last.gain;
        }
        last.gain + last.unchanged * (last.start + 1.0 / last.hazard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Belief;
    use crate::value::{GammaPosterior, Greedy};
    use proptest::prelude::*;

    struct Exponential(f64);
    impl Survival for Exponential {
        fn unchanged(&self, s: f64) -> f64 {
            (-self.0 * s).exp()
        }
        fn gain_limit(&self) -> f64 {
            1.0 / self.0
        }
    }

    struct Lomax(f64, f64);
    impl Survival for Lomax {
        fn unchanged(&self, s: f64) -> f64 {
            (1.0 + s / self.1).powf(-self.0)
        }
        fn gain_limit(&self) -> f64 {
            self.1 / (self.0 - 1.0)
        }
    }

    #[test]
    fn known_curves_give_known_values() {
        let greedy = Greedy::new(&Belief::new(0.7, 2.0).unwrap());
        let curve = SurvivalValue::new(Exponential(0.7), 2.0);
        let pieces = PiecewiseHazard::new([(0.0, 0.7), (1.0, 0.7), (4.0, 0.7)]).unwrap();
        let pieces = SurvivalValue::new(pieces, 2.0);
        let posterior = GammaPosterior::new(3.0, 5.0, 1.0).unwrap();
        let lomax = SurvivalValue::new(Lomax(3.0, 5.0), 1.0);
        for tau in [0.001, 0.5, 3.0, 20.0] {
            let expected = greedy.value(tau, 0);
            assert!((curve.value(tau, 0) / expected - 1.0).abs() < 1e-9);
            assert!((pieces.value(tau, 0) / expected - 1.0).abs() < 1e-12);
            assert!((lomax.value(tau, 0) / posterior.value(tau, 0) - 1.0).abs() < 1e-9);
            assert!((curve.moment(expected, 0).unwrap() / tau - 1.0).abs() < 1e-6);
            assert!((pieces.moment(expected, 0).unwrap() / tau - 1.0).abs() < 1e-9);
        }
        assert!((pieces.supremum() / greedy.supremum() - 1.0).abs() < 1e-12);
    }

    /// A page that changes every day at the same hour: worth nothing until then, nearly everything right after.
    #[test]
    fn a_periodic_page_is_worth_a_fetch_right_after_its_hour() {
        let daily = PiecewiseHazard::new([(0.0, 0.0), (23.5, 20.0), (24.5, 0.1)]).unwrap();
        let value = SurvivalValue::new(daily, 1.0);
        assert_eq!(value.value(23.0, 0), 0.0);
        assert!(value.value(24.5, 0) > 23.4);
        let due = value.moment(12.0, 0).unwrap();
        assert!((23.5..24.0).contains(&due));
    }

    #[test]
    fn a_page_that_may_never_change_stops_gaining() {
        let curve = PiecewiseHazard::new([(0.0, 1.0), (1.0, 0.0)]).unwrap();
        let value = SurvivalValue::new(curve, 1.0);
        assert_eq!(value.value(1.0, 0), value.value(100.0, 0));
        assert_eq!(value.supremum(), value.value(100.0, 0));
        assert_eq!(value.moment(value.supremum(), 0), None);
        assert!(value.moment(0.99 * value.supremum(), 0).unwrap() < 1.0);
    }

    #[test]
    fn bad_pieces_are_refused() {
        assert!(PiecewiseHazard::new([]).is_none());
        assert!(PiecewiseHazard::new([(1.0, 1.0)]).is_none());
        assert!(PiecewiseHazard::new([(0.0, 1.0), (0.0, 1.0)]).is_none());
        assert!(PiecewiseHazard::new([(0.0, -1.0)]).is_none());
        assert!(PiecewiseHazard::new([(0.0, f64::NAN)]).is_none());
    }

    proptest! {
        #[test]
        fn pieces_agree_with_quadrature(
            hazards in proptest::collection::vec(0.0f64..3.0, 1..6), t in 0.01f64..8.0
        ) {
            let curve = PiecewiseHazard::new(hazards.iter().enumerate().map(|(k, h)| (k as f64, *h))).unwrap();
            let end = curve.unchanged(t);
            let direct: f64 = (0..8)
                .map(|k| (f64::from(k), f64::from(k + 1).min(t)))
                .filter(|(from, to)| from < to)
                .map(|(from, to)| integrate(|s| curve.unchanged(s) - end, from, to))
                .sum();
            prop_assert!((curve.gain(t) - direct).abs() < 1e-10 * (1.0 + direct));
        }
    }
}
