//! How sure precision and recall are: which of them agree with what they were learned from. The figures themselves ([`super::trust::Trust`]) are the top
//! of a posterior, of the host's own intervals and of what the kind of signal is elsewhere; so are these intervals, and they always contain the figures.
//!
//! A precision agrees if, with the share of unannounced changes that suits it best, the posterior is lower by no more than 1.92 nats than at
//! its top (Wilks 1938: twice the drop is of χ²'s law with one degree of freedom). Unlike an interval from the curvature at the top this
//! holds near the edges, where most signals are: never false, or never missing. Intervals with neither a signal nor a change say next to nothing
//! of a precision, and count for as much here. What has faded counts for less.
//!
//! For the recall r the pairs with r/(1 - r) = γp/a are one curve each, γ the signals per expected change. γ is learned from the number of
//! signals alone: what is not known of it (a variance of one over that number, in ln γ) is added to what is not known of a/p.

use super::likelihood::{MOST_NATS, SignalScore};
use super::pool::SignalPool;
use super::trust::{SignalPrior, Trust};
use crate::math::root::{Bracket, newton};

/// Half of the 95 % point of χ² with one degree of freedom.
const DROP: f64 = 1.920_729;
/// The 97.5 % point of the normal law.
const Z: f64 = 1.959_964;
/// Precisions and recalls are told apart up to these odds.
const FURTHEST: f64 = 9.0;
/// Steps of a search for an end, and of one for a top.
const STEPS: usize = 40;
const SECTIONS: usize = 16;
/// An end is known well enough if it is as close as this, or what was seen is as little more or less likely there than it should be.
const CLOSE: f64 = 1e-3;

/// Where precision and recall lie, each in 19 of 20 cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sure {
    /// The least and the greatest share of signals that are true,
    pub precision: (f64, f64),
    /// and of changes that are announced.
    pub recall: (f64, f64),
}

impl Sure {
    /// Nothing is known.
    const NOTHING: Self = Self { precision: (0.0, 1.0), recall: (0.0, 1.0) };

    /// What the intervals of a group say, leaning on the parent as [`SignalPool::trust`] does.
    pub fn of(pool: &SignalPool, parent: Trust) -> Self {
        let prior = SignalPrior::new(parent, 1.0);
        let per_change = prior.signal_rate(pool.signals(), pool.expected());
        Self::from(&prior.posterior(&pool.score()), pool.signals() + prior.signals(), per_change)
    }

    /// What a posterior says that was made from so many signals, of which so many come per expected change.
    fn from(seen: &SignalScore<'_>, signals: f64, per_change: f64) -> Self {
        if !(signals > 0.0 && per_change > 0.0 && per_change.is_finite()) {
            return Self::NOTHING;
        }
        let Some(top) = seen.maximum() else { return Self::NOTHING };
        let least = seen.value(top.alpha, top.nats) - DROP;
        // Everything below is in log odds.
        let precise = |odds: f64| best_silent(seen, nats_of(odds)) - least;
        let precision = reach(precise, odds_of(-(-top.nats).exp_m1()));
        let gamma = per_change.ln();
        let announces = |odds: f64| best_precision(seen, (gamma - odds).exp()) - least;
        let (precise_top, announced) = (-(-top.nats).exp_m1(), -(-top.nats).exp_m1() * per_change);
        let middle = odds_of(announced / (announced + top.alpha));
        let (low, high) = reach(announces, middle);
        let doubt = Z / signals.sqrt();
        let widened = |end: f64, sign: f64| {
            if end.abs() >= FURTHEST { end } else { middle + sign * (end - middle).hypot(doubt) }
        };
        let recall_top = if announced > 0.0 { announced / (announced + top.alpha) } else { 0.0 };
        Self {
            precision: around(precise_top, (share_of(precision.0), share_of(precision.1))),
            recall: around(recall_top, (share_of(widened(low, -1.0)), share_of(widened(high, 1.0)))),
        }
    }
}

/// An interval with the figure in it: beyond the furthest odds shares are not told apart, but the figure may lie there.
fn around(figure: f64, (low, high): (f64, f64)) -> (f64, f64) {
    (low.min(figure), high.max(figure))
}

/// The log odds of a share; those of what is no number, a share of nothing, are even.
fn odds_of(share: f64) -> f64 {
    let odds = (share / (1.0 - share)).ln();
    if odds.is_nan() { 0.0 } else { odds.clamp(-FURTHEST, FURTHEST) }
}

/// The share of these log odds; what cannot be told from nothing, or from all, is that.
fn share_of(odds: f64) -> f64 {
    match odds {
        odds if odds <= -FURTHEST => 0.0,
        odds if odds >= FURTHEST => 1.0,
        odds => 1.0 / (1.0 + (-odds).exp()),
    }
}

/// b of a precision: -ln(1 - p) = ln(1 + e^odds).
fn nats_of(odds: f64) -> f64 {
    odds.exp().ln_1p().min(MOST_NATS)
}

/// Where a function that is positive around `middle` comes down to 0, on both sides.
fn reach(above: impl Fn(f64) -> f64, middle: f64) -> (f64, f64) {
    let end = |edge: f64| {
        let below = above(edge);
        if below >= 0.0 {
            return edge;
        }
        // False position; a side that stays counts half the next time (the Illinois rule), so that both move.
        let (mut inside, mut outside) = ((middle, above(middle).max(CLOSE)), (edge, below));
        let mut stayed = false;
        for _ in 0..STEPS {
            let (one, other) = (inside, outside);
            let share = if other.1.is_finite() { one.1 / (one.1 - other.1) } else { 0.5 };
            let next = one.0 + share.clamp(0.02, 0.98) * (other.0 - one.0);
            let value = above(next);
            if value.abs() < CLOSE || (other.0 - one.0).abs() < CLOSE {
                return next;
            }
            let is_inside = value > 0.0;
            if is_inside {
                inside = (next, value);
                outside.1 *= if stayed { 0.5 } else { 1.0 };
            } else {
                outside = (next, value);
                inside.1 *= if stayed { 1.0 } else { 0.5 };
            }
            stayed = is_inside;
        }
        0.5 * (inside.0 + outside.0)
    };
    (end(-FURTHEST), end(FURTHEST))
}

/// The likelihood with this b, and the share of unannounced changes that suits it best: its slope in that falls.
fn best_silent(seen: &SignalScore<'_>, nats: f64) -> f64 {
    let slope = |alpha: f64| seen.slope_in_alpha(alpha, nats);
    if slope(0.0).is_some_and(|(slope, _)| slope <= 0.0) {
        return seen.value(0.0, nats);
    }
    // Where what was seen is impossible without unannounced changes, there must be some.
    let falling = |alpha: f64| slope(alpha).map_or((-1.0, 0.0), |(slope, curvature)| (-slope, curvature));
    let alpha = newton(Bracket { low: 0.0, high: seen.most_alpha() }, 0.5, 1e-4, falling);
    seen.value(alpha, nats)
}

/// The likelihood with a/p as given, and the precision that suits that best: by golden sections, in ln b.
fn best_precision(seen: &SignalScore<'_>, silent_per_precision: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let at = |ln_nats: f64| {
        let nats = ln_nats.exp();
        seen.value(silent_per_precision * -(-nats).exp_m1(), nats)
    };
    let (mut low, mut high) = (-FURTHEST, MOST_NATS.ln());
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (at(left), at(right));
    for _ in 0..SECTIONS {
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = at(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = at(right);
        }
    }
    at_left.max(at_right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    use super::*;

    /// So many intervals of pages, looked at after up to twice the time between two changes, of which signals of this quality speak.
    fn pool(rng: &mut ChaCha8Rng, (precision, recall): (f64, f64), intervals: u32) -> SignalPool {
        let mut pool = SignalPool::default();
        for _ in 0..intervals {
            let changes = 2.0 * rng.random::<f64>();
            let mut draw = |mean: f64| Poisson::new(mean.max(1e-12)).unwrap().sample(rng) as u32;
            let (told, silent) = (draw(recall * changes), draw((1.0 - recall) * changes));
            let wrong = draw(recall * changes * (1.0 - precision) / precision);
            pool.observe(changes, told + wrong, told + silent > 0);
        }
        pool
    }

    /// What is known elsewhere of signals of this quality.
    fn elsewhere((precision, recall): (f64, f64)) -> Trust {
        Trust { precision, silent: 1.0 - recall, signals: recall / precision }
    }

    /// In which share of cases precision and recall lie within; and how wide the intervals are.
    fn covered(quality: (f64, f64), parent: Trust, intervals: u32, times: u32) -> [f64; 4] {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut sums = [0.0; 4];
        for _ in 0..times {
            let Sure { precision, recall } = Sure::of(&pool(&mut rng, quality, intervals), parent);
            let is_in = |(low, high): (f64, f64), truth| f64::from(u8::from(low <= truth && truth <= high));
            let width = |(low, high): (f64, f64)| high - low;
            let figures =
                [is_in(precision, quality.0), is_in(recall, quality.1), width(precision), width(recall)];
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
        sums.map(|sum| sum / f64::from(times))
    }

    /// By chance, of 150 cases 95 % are between 88 % and 100 %, nearly always. With little of its own a host is believed to be what the kind is elsewhere,
    /// so a host like that is in nearly all cases; with much of its own it does not matter what the kind is elsewhere.
    #[test]
    fn the_truth_lies_within_in_nineteen_cases_of_twenty() {
        let qualities = [(0.5, 0.5), (0.9, 0.9), (0.99, 0.3), (0.2, 0.9), (0.7, 0.97), (0.95, 0.6)];
        for intervals in [25, 100, 800] {
            for quality in qualities {
                let [precision, recall, ..] = covered(quality, elsewhere(quality), intervals, 100);
                assert!(precision.min(recall) >= 0.88, "{intervals} {quality:?}: {precision} {recall}");
            }
        }
        // Unlike what the kind is elsewhere, but not at an edge: ten made-up signals that are half of them false hide one in a hundred for long.
        for quality in [(0.5, 0.9), (0.3, 0.5), (0.7, 0.6)] {
            let [precision, recall, ..] = covered(quality, Trust::START, 4000, 100);
            assert!(precision.min(recall) >= 0.85, "{quality:?}: {precision} {recall}");
        }
    }

    #[test]
    fn who_saw_more_is_surer() {
        let [.., precision, recall] = covered((0.9, 0.9), Trust::START, 30, 40);
        let [.., closer, close] = covered((0.9, 0.9), Trust::START, 480, 40);
        for (few, many) in [(precision, closer), (recall, close)] {
            assert!((2.0..8.0).contains(&(few / many)), "{few} {many}");
        }
    }

    #[test]
    fn the_edges() {
        // Changes, and never a word.
        let mut pool = SignalPool::default();
        (0..200).for_each(|look| pool.observe(1.0, 0, look % 2 == 0));
        let Sure { recall, .. } = Sure::of(&pool, Trust::START);
        assert!(recall.1 < 0.15, "{recall:?}");
        // Never wrong, and never missing.
        let mut pool = SignalPool::default();
        (0..400).for_each(|look| pool.observe(0.7, u32::from(look % 2 == 0), look % 2 == 0));
        let Sure { precision, recall } = Sure::of(&pool, Trust::START);
        assert!(precision.0 > 0.85 && recall.0 > 0.85, "{precision:?} {recall:?}");
        // With little of its own a host is what the kind is elsewhere, and that is not sure.
        let Sure { precision, recall } = Sure::of(&SignalPool::default(), elsewhere((0.9, 0.8)));
        assert!(
            precision.0 < 0.75 && precision.1 > 0.9 && recall.0 < 0.75 && recall.1 > 0.8,
            "{precision:?} {recall:?}"
        );
    }

    proptest! {
        /// Whatever was seen, here and elsewhere: shares, in order, and what is believed lies among them.
        #[test]
        fn figures_lie_within_their_intervals(
            looks in prop::collection::vec((-12f64..6.0, prop_oneof![4 => 0u32..4, 1 => 0u32..5000], any::<bool>()), 0..60),
            times in 1u32..40,
            parent in (0f64..=1.0, 0f64..2.0, 0f64..50.0),
        ) {
            let parent = Trust { precision: parent.0, silent: parent.1, signals: parent.2 };
            let mut pool = SignalPool::default();
            for _ in 0..times {
                for (expected, signals, changed) in &looks {
                    pool.observe(10f64.powf(*expected), *signals, *changed);
                }
            }
            let trust = pool.trust(parent);
            let Sure { precision, recall } = Sure::of(&pool, parent);
            for (figure, (low, high)) in [(trust.precision, precision), (trust.recall(), recall)] {
                prop_assert!(0.0 <= low && low <= high && high <= 1.0, "{low} {high}");
                prop_assert!(low <= figure + 1e-9 && figure <= high + 1e-9, "{figure}: {low} {high}");
            }
        }
    }
}
