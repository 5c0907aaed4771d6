//! (α, b) by maximum likelihood. (Appendix E of the signals paper, whose Ber(e^{-…}) is the chance of *no* change.)
//!
//! ℓ(α, b) = -α T₀ - b N₀ + Σ_{changed} w ln(1 - e^{-(ατ + nb)}), T₀ and N₀ the time and the signals of the unchanged
//! intervals. A prior has the same form: a Gamma(a, B) of α is a changes without signals in no time and B of time
//! without; a Beta(A, C) of the precision is A true signals and C false ones. ℓ is concave; Newton's steps, cut back until
//! it grows, find the top.
//!
//! Without a prior the top may lie on the edge: b = 0 (signals say nothing), α = 0 (everything is announced), or at
//! infinity (no signal was ever false: b is cut off at [`MOST_NATS`]).

/// A signal that takes this many nats off is never false.
pub const MOST_NATS: f64 = 40.0;
const MAX_STEPS: u32 = 200;

/// Changed intervals with (about) this length and number of signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Changed {
    /// τ.
    pub length: f64,
    /// n.
    pub signals: f64,
    /// How many.
    pub weight: f64,
}

/// What was seen, and what is believed beforehand.
#[derive(Clone, Copy, Debug)]
pub struct SignalScore<'a> {
    /// T₀ + B: time in which nothing changed.
    pub unchanged_time: f64,
    /// N₀ + C: false signals in unchanged intervals.
    pub unchanged_signals: f64,
    /// a: changes without signals in no time.
    pub silent_changes: f64,
    /// A: true signals in no time.
    pub true_signals: f64,
    /// The changed intervals.
    pub changed: &'a [Changed],
}

/// Where the likelihood is greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// α: unannounced changes per unit of time.
    pub alpha: f64,
    /// b: what a signal costs in nats; at most [`MOST_NATS`].
    pub nats: f64,
    /// The variance of b, if the top is not on the edge.
    pub nats_variance: Option<f64>,
}

/// Value, slope and curvature at a point.
#[derive(Default)]
struct Local {
    value: f64,
    slope: [f64; 2],
    /// -∂²ℓ: αα, αb, bb.
    curvature: [f64; 3],
}

impl SignalScore<'_> {
    /// ℓ and its derivatives; `None` where what was seen is impossible. `scale` is the unit of time.
    fn at(&self, [alpha, nats]: [f64; 2], scale: f64) -> Option<Local> {
        let mut local = Local {
            value: -alpha * self.unchanged_time / scale - nats * self.unchanged_signals,
            slope: [-self.unchanged_time / scale, -self.unchanged_signals],
            ..Local::default()
        };
        if self.silent_changes > 0.0 {
            if !(alpha > 0.0) {
                return None;
            }
            local.value += self.silent_changes * alpha.ln();
            local.slope[0] += self.silent_changes / alpha;
            local.curvature[0] += self.silent_changes / (alpha * alpha);
        }
        let prior = Changed { length: 0.0, signals: 1.0, weight: self.true_signals };
        for seen in self.changed.iter().chain([&prior]).filter(|seen| seen.weight > 0.0) {
            let (time, signals) = (seen.length / scale, seen.signals);
            let x = alpha * time + nats * signals;
            if !(x > 0.0) {
                return None;
            }
            let stays = (-x).exp();
            let change = if x > 0.5 { 1.0 - stays } else { -(-x).exp_m1() };
            // d ln(1 - e^{-x})/dx = e^{-x}/(1 - e^{-x}); the next derivative is minus that over 1 - e^{-x}.
            let first = seen.weight * stays / change;
            let second = first / change;
            local.value += seen.weight * change.ln();
            local.slope[0] += first * time;
            local.slope[1] += first * signals;
            local.curvature[0] += second * time * time;
            local.curvature[1] += second * time * signals;
            local.curvature[2] += second * signals * signals;
        }
        local.value.is_finite().then_some(local)
    }

    /// ℓ; -∞ where what was seen is impossible.
    pub(super) fn value(&self, alpha: f64, nats: f64) -> f64 {
        self.at([alpha, nats], 1.0).map_or(f64::NEG_INFINITY, |local| local.value)
    }

    /// ∂ℓ/∂α and -∂²ℓ/∂α²; `None` where what was seen is impossible.
    pub(super) fn slope_in_alpha(&self, alpha: f64, nats: f64) -> Option<(f64, f64)> {
        self.at([alpha, nats], 1.0).map(|local| (local.slope[0], local.curvature[0]))
    }

    /// Time without changes bounds α; without any, what was seen does not tell 40 changes in the shortest interval from more.
    pub(super) fn most_alpha(&self) -> f64 {
        let changed = || self.changed.iter().filter(|seen| seen.weight > 0.0);
        let changes: f64 = changed().map(|seen| seen.weight).sum();
        let shortest = changed().map(|seen| seen.length).fold(f64::INFINITY, f64::min);
        // Adding 0.0 turns the sum of nothing, which is -0.0, into no time at all.
        let bound = (changes + self.silent_changes) / (self.unchanged_time + 0.0);
        bound.min(MOST_NATS / shortest + self.silent_changes / self.unchanged_time)
    }

    /// The top of the likelihood; `None` without any time or signals to learn from.
    pub fn maximum(&self) -> Option<Fit> {
        let changes: f64 = self.changed.iter().map(|seen| seen.weight).sum();
        let time: f64 = self.unchanged_time + self.changed.iter().map(|s| s.weight * s.length).sum::<f64>();
        let signals: f64 = self.unchanged_signals
            + self.true_signals
            + self.changed.iter().map(|s| s.weight * s.signals).sum::<f64>();
        if !(time > 0.0 && signals > 0.0) {
            return None;
        }
        // In units of time in which about one change is seen, both numbers are of the order of 1.
        let scale = time / (1.0 + changes + self.silent_changes);
        let most = [self.most_alpha() * scale, MOST_NATS];
        let mut point = [0.5, 0.5];
        let mut here = self.at(point, scale)?;
        for _ in 0..MAX_STEPS {
            let direction = direction(&here, point, most);
            let Some((next, local)) = self.climb(&here, point, direction, most, scale) else { break };
            let moved =
                (0..2).map(|i| (next[i] - point[i]).abs() / (1e-12 + next[i].abs())).fold(0.0, f64::max);
            (point, here) = (next, local);
            // Steps shrink by their square: the next would be nothing.
            if moved < 1e-8 {
                break;
            }
        }
        let [alpha, nats] = point;
        let [aa, ab, bb] = here.curvature;
        let inside = nats > 0.0 && nats < MOST_NATS;
        let determinant = aa * bb - ab * ab;
        let variance = if alpha > 0.0 && determinant > 0.0 { aa / determinant } else { 1.0 / bb };
        let nats_variance = (inside && variance.is_finite() && variance > 0.0).then_some(variance);
        Some(Fit { alpha: alpha / scale, nats, nats_variance })
    }

    /// A step in this direction, cut off at the edges, halved until the likelihood grows; `None` at the top.
    fn climb(
        &self,
        here: &Local,
        from: [f64; 2],
        by: [f64; 2],
        most: [f64; 2],
        scale: f64,
    ) -> Option<([f64; 2], Local)> {
        // On a ridge Newton's step has no measure.
        let longest = |i: usize| 100.0 * (1.0 + from[i]) / by[i].abs();
        let mut share = longest(0).min(longest(1)).min(1.0);
        for _ in 0..60 {
            let next: [f64; 2] = std::array::from_fn(|i| (from[i] + share * by[i]).clamp(0.0, most[i]));
            if next == from {
                return None;
            }
            // Coming down to the edge may make the impossible of what was seen: halve, too.
            if let Some(local) = self.at(next, scale) {
                let gain: f64 = (0..2).map(|i| here.slope[i] * (next[i] - from[i])).sum();
                if local.value >= here.value + 1e-4 * gain.max(0.0) {
                    return Some((next, local));
                }
                // At the top rounding decides; a slope that shrinks is as good.
                let steep = |at: &Local| at.slope.iter().map(|s| s * s).sum::<f64>();
                if gain.abs() < 1e-12 * (1.0 + here.value.abs()) && steep(&local) < steep(here) {
                    return Some((next, local));
                }
            }
            share *= 0.5;
        }
        None
    }
}

/// Newton's direction; a variable at an edge that would leave goes by itself, so that it does not hold up the other
/// (Bertsekas's projected Newton method). Where α cannot be told from b (all intervals have signals in proportion to their
/// length) a trace of damping lets the step run along the ridge.
fn direction(here: &Local, point: [f64; 2], most: [f64; 2]) -> [f64; 2] {
    const DAMPING: f64 = 1e-10;
    const NEAR: f64 = 1e-6;
    let [aa, ab, bb] = here.curvature;
    let [ga, gb] = here.slope;
    // The step to the edge, for a variable that is as good as there and would go on.
    let leaving = |i: usize| {
        let (low, high) = (point[i] <= NEAR, point[i] >= most[i] * (1.0 - NEAR));
        let (slope, to) = (here.slope[i], |edge: f64| Some(edge - point[i]));
        if low && slope <= 0.0 { to(0.0) } else { to(most[i]).filter(|_| high && slope >= 0.0) }
    };
    let (da, db) = (aa * (1.0 + DAMPING), bb * (1.0 + DAMPING));
    let determinant = da * db - ab * ab;
    match (leaving(0), leaving(1)) {
        (None, None) if determinant > 0.0 => {
            [(db * ga - ab * gb) / determinant, (da * gb - ab * ga) / determinant]
        }
        (a, b) => {
            let alone = |slope: f64, curvature: f64| if curvature > 0.0 { slope / curvature } else { slope };
            [a.unwrap_or_else(|| alone(ga, aa)), b.unwrap_or_else(|| alone(gb, bb))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn score(changed: &[Changed], time: f64, signals: f64) -> SignalScore<'_> {
        SignalScore {
            unchanged_time: time,
            unchanged_signals: signals,
            silent_changes: 0.0,
            true_signals: 0.0,
            changed,
        }
    }

    fn seen(length: f64, signals: f64) -> Changed {
        Changed { length, signals, weight: 1.0 }
    }

    /// Forty intervals of length 10 whose maximum an independent implementation knows.
    #[test]
    fn golden_fit() {
        const SIGNALS: [u32; 40] = [
            1, 0, 1, 1, 3, 3, 0, 1, 1, 1, 1, 0, 0, 1, 0, 2, 1, 0, 3, 3, 2, 4, 0, 0, 0, 0, 2, 1, 0, 0, 2, 1,
            0, 0, 1, 1, 0, 0, 2, 0,
        ];
        const CHANGED: [u8; 40] = [
            1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0,
            1, 0, 1, 0, 1, 1, 1, 0,
        ];
        let all = || SIGNALS.into_iter().zip(CHANGED);
        let changed: Vec<_> = all().filter(|(_, z)| *z == 1).map(|(n, _)| seen(10.0, f64::from(n))).collect();
        let quiet = all().filter(|(_, z)| *z == 0);
        let (count, signals) = quiet.fold((0, 0), |(count, signals), (n, _)| (count + 1, signals + n));
        let fit = score(&changed, 10.0 * f64::from(count), f64::from(signals)).maximum().unwrap();
        assert!((fit.alpha - 0.06287089717543466).abs() < 1e-9, "{fit:?}");
        assert!((fit.nats - 0.28344371284923264).abs() < 1e-9, "{fit:?}");
    }

    #[test]
    fn the_edges() {
        // Nothing was ever unchanged, and whoever added up nothing got -0.0.
        let all = [seen(10.0, 1.0), seen(10.0, 0.0)];
        assert_eq!(score(&all, -0.0, -0.0).maximum(), score(&all, 0.0, 0.0).maximum());
        // No signal was ever false: b is as large as it gets.
        let fit = score(&[seen(10.0, 1.0), seen(10.0, 0.0)], 80.0, 0.0).maximum().unwrap();
        assert_eq!(fit.nats, MOST_NATS);
        assert!(fit.alpha > 0.0 && fit.nats_variance.is_none());
        // Changes only without signals: they say nothing.
        let fit = score(&[seen(10.0, 0.0), seen(10.0, 0.0)], 80.0, 20.0).maximum().unwrap();
        assert_eq!(fit.nats, 0.0);
        // Changes only with signals: nothing comes unannounced.
        let fit = score(&[seen(10.0, 1.0), seen(10.0, 2.0)], 800.0, 3.0).maximum().unwrap();
        assert_eq!(fit.alpha, 0.0);
        assert!(fit.nats > 0.0);
        // Nothing to learn from.
        assert_eq!(score(&[], 0.0, 0.0).maximum(), None);
        assert_eq!(score(&[], 10.0, 0.0).maximum(), None);
        let fit = score(&[], 10.0, 3.0).maximum().unwrap();
        assert_eq!((fit.alpha, fit.nats), (0.0, 0.0));
    }

    proptest! {
        /// Nothing near the top is higher, whatever was seen and however strong the prior.
        #[test]
        fn the_top_is_the_top(
            changed in proptest::collection::vec((-2f64..4.0, 0u32..5), 0..30),
            time in -2f64..5.0,
            signals in 0u32..60,
            prior in proptest::option::of((0.1f64..5.0, 0.1f64..5.0)),
        ) {
            let changed: Vec<_> = changed.iter().map(|(t, n)| seen(10f64.powf(*t), f64::from(*n))).collect();
            let mut score = score(&changed, 10f64.powf(time), f64::from(signals));
            if let Some((silent, loud)) = prior {
                score.silent_changes = silent;
                score.true_signals = loud;
                score.unchanged_signals += loud;
            }
            let Some(fit) = score.maximum() else { return Ok(()) };
            prop_assert!(fit.alpha.is_finite() && fit.alpha >= 0.0 && (0.0..=MOST_NATS).contains(&fit.nats));
            let top = score.at([fit.alpha, fit.nats], 1.0);
            let top = top.map_or(f64::NEG_INFINITY, |local| local.value);
            for (da, db) in [(1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99), (1.01, 0.99), (0.99, 1.01)] {
                let near = [fit.alpha * da + 1e-9 * (da - 1.0).max(0.0), (fit.nats * db + 1e-9 * (db - 1.0).max(0.0)).min(MOST_NATS)];
                if let Some(local) = score.at(near, 1.0) {
                    prop_assert!(local.value <= top + 1e-7 * (1.0 + top.abs()), "{fit:?}: {} > {top} at {near:?}", local.value);
                }
            }
        }
    }
}
