//! How likely a page is to have been stale for too long, and the more careful interval that bounds it.
//!
//! Who knows the rate fetches every r/Δ, and no copy is stale for longer than that. Who has to guess may wait too long:
//! Grimes and Ford call a copy very stale when it was stale for longer than the interval that knowledge would have chosen.

use super::posterior::Posterior;
use crate::math::gamma_distribution::ln_above;
use crate::math::root::{Bracket, newton};

/// When a stale copy is very stale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VeryStale {
    /// After this time.
    After(f64),
    /// After r/Δ: so many mean times between changes, of the page as it really is.
    AfterChanges(f64),
}

impl Posterior {
    /// The chance that a copy fetched `interval` ago is very stale now.
    pub fn very_stale(&self, interval: f64, limit: VeryStale) -> f64 {
        let (shape, rate) = (self.shape(), self.rate());
        match limit {
            VeryStale::After(time) => -self.log_survival((interval - time).max(0.0)).exp_m1(),
            VeryStale::AfterChanges(r) => {
                // A change before interval - r/Δ: E[1 - e^{r - Δt}; Δt > r] over the belief. With Δ ~ Gamma(a, B) that is
                // Q(a, rB/t) - e^r (B/(B+t))^a Q(a, r(B+t)/t).
                if !(interval > 0.0) {
                    return 0.0;
                }
                let fast = ln_above(shape, r * rate / interval).exp();
                let spared =
                    r + self.log_survival(interval) + ln_above(shape, r * (rate + interval) / interval);
                (fast - spared.exp()).clamp(0.0, 1.0)
            }
        }
    }

    /// The longest interval, `wanted` at most, after which a copy is very stale with at most this chance.
    pub fn careful_interval(&self, wanted: f64, limit: VeryStale, chance: f64) -> f64 {
        if self.very_stale(wanted, limit) <= chance {
            return wanted;
        }
        newton(Bracket { low: 0.0, high: wanted }, 0.5 * wanted, 1e-9, |interval| {
            let step = 1e-6 * interval;
            let here = self.very_stale(interval, limit);
            (here - chance, (self.very_stale(interval + step, limit) - here) / step)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::integrate::integrate;

    fn belief(shape: f64, mean: f64) -> Posterior {
        Posterior::new(shape, shape / mean).unwrap()
    }

    #[test]
    fn the_closed_form_is_the_integral() {
        for shape in [0.7, 2.0, 30.0] {
            let belief = belief(shape, 0.04);
            for (interval, r) in [(10.0, 1.0 / 3.0), (50.0, 1.0), (3.0, 0.2)] {
                let scale = belief.rate();
                let normal = statrs::function::gamma::gamma(shape);
                let risk = |delta: f64| {
                    let x = delta * scale;
                    let density = x.powf(shape - 1.0) * (-x).exp() / normal * scale;
                    density * -(r - delta * interval).min(0.0).exp_m1()
                };
                let (from, to) = (r / interval, 60.0 * belief.mean() * (1.0 + 1.0 / shape));
                let expected = if from < to { integrate(risk, from, to) } else { 0.0 };
                let found = belief.very_stale(interval, VeryStale::AfterChanges(r));
                assert!((found - expected).abs() < 1e-7, "{shape} {interval}: {found} {expected}");
            }
        }
    }

    proptest::proptest! {
        /// A chance, growing with the interval, for any belief and however far off the interval is.
        #[test]
        fn a_chance_is_a_chance(log_shape in -1.5f64..4.0, log_interval in -12f64..16.0, log_r in -6f64..12.0) {
            let belief = belief(10f64.powf(log_shape), 1.0);
            let limit = VeryStale::AfterChanges(10f64.powf(log_r));
            let interval = 10f64.powf(log_interval);
            let (near, far) = (belief.very_stale(interval, limit), belief.very_stale(1.5 * interval, limit));
            proptest::prop_assert!((0.0..=1.0).contains(&near) && far >= near - 1e-7, "{near} {far}");
            let careful = belief.careful_interval(interval, limit, 0.05);
            proptest::prop_assert!(careful > 0.0 && careful <= interval);
            proptest::prop_assert!(belief.very_stale(careful, limit) < 0.0501, "{careful}");
        }
    }

    #[test]
    fn the_sure_are_never_very_stale_and_the_unsure_wait_less() {
        let r = 1.0 / 3.0;
        let limit = VeryStale::AfterChanges(r);
        let sure = belief(1e5, 1.0 / 24.0);
        assert!(sure.very_stale(8.0, limit) < 1e-3);
        let unsure = belief(2.0, 1.0 / 24.0);
        assert!(unsure.very_stale(8.0, limit) > 0.05);
        let careful = unsure.careful_interval(8.0, limit, 0.02);
        assert!(careful < 8.0 && (unsure.very_stale(careful, limit) - 0.02).abs() < 1e-6, "{careful}");
        assert_eq!(sure.careful_interval(8.0, limit, 0.02), 8.0);
        // A fixed limit: 12 hours, and a chance of 1 - (B/(B+4))^2 after 16.
        let found = unsure.very_stale(16.0, VeryStale::After(12.0));
        assert!((found - (1.0 - (48.0_f64 / 52.0).powi(2))).abs() < 1e-12);
        assert_eq!(unsure.very_stale(10.0, VeryStale::After(12.0)), 0.0);
    }
}
