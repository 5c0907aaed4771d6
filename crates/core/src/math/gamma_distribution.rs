//! The Gamma distribution of real shape: how much lies below a point, and where a given share lies.
//!
//! Used for intervals and risks that people read, not in the hot path, so the incomplete gamma function of real order
//! is the library's; only its edges are kept safe here.

use super::root::{Bracket, newton};
use statrs::function::gamma::{checked_gamma_lr, checked_gamma_ur, ln_gamma};

/// P(X ≤ x) for X ~ Gamma(`shape`, 1), shape > 0.
pub fn below(shape: f64, x: f64) -> f64 {
    if !(x > 0.0) {
        return 0.0;
    }
    if x == f64::INFINITY {
        return 1.0;
    }
    checked_gamma_lr(shape, x).map_or(1.0, |share| share.clamp(0.0, 1.0))
}

/// ln P(X > x), also where P itself is too small for a number.
pub fn ln_above(shape: f64, x: f64) -> f64 {
    if !(x > 0.0) {
        return 0.0;
    }
    let above = checked_gamma_ur(shape, x).unwrap_or(0.0);
    if above > 1e-280 {
        return above.min(1.0).ln();
    }
    // The head of the continued fraction; so far out the rest is nothing.
    shape * x.ln() - x - ln_gamma(shape) - (x + 1.0 - shape).max(1.0).ln()
}

/// The x with P(X ≤ x) = `share`; 0 for share ≤ 0, infinite for share ≥ 1.
pub fn quantile(shape: f64, share: f64) -> f64 {
    if !(share > 0.0) {
        return 0.0;
    }
    if share >= 1.0 {
        return f64::INFINITY;
    }
    // P(a, x) ≤ x^a/Γ(a+1), which is also what it is for small x.
    let low = ((share.ln() + ln_gamma(shape + 1.0)) / shape).exp();
    // Below the smallest numbers there is nothing to refine.
    if low < 1e-300 {
        return low;
    }
    let ln_normal = ln_gamma(shape);
    newton(Bracket { low, high: f64::INFINITY }, low.max(shape * 0.5), 1e-10, |x| {
        let reached = below(shape, x).max(f64::MIN_POSITIVE);
        let density = ((shape - 1.0) * x.ln() - x - ln_normal).exp();
        ((reached / share).ln(), density / reached)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exponential_is_a_gamma() {
        assert!((quantile(1.0, 0.5) - 2f64.ln()).abs() < 1e-12);
        assert!((below(1.0, 2.0) - (1.0 - (-2f64).exp())).abs() < 1e-14);
        assert_eq!(quantile(3.0, 0.0), 0.0);
        assert_eq!(quantile(3.0, 1.0), f64::INFINITY);
        assert_eq!(below(3.0, f64::INFINITY), 1.0);
        assert_eq!(below(3.0, -1.0), 0.0);
        // P(X > x) = e^{-x}, near and far.
        for x in [0.0, 1e-3, 1.0, 100.0, 5000.0, 1e10] {
            assert!((ln_above(1.0, x) + x).abs() <= 1e-12 * (1.0 + x), "{x}: {}", ln_above(1.0, x));
        }
    }

    proptest! {
        #[test]
        fn quantiles_invert(log_shape in -1.5f64..4.0, share in 0.001f64..0.999) {
            let shape = 10f64.powf(log_shape);
            let x = quantile(shape, share);
            prop_assert!(x.is_finite() && x >= 0.0);
            if x > 1e-290 {
                prop_assert!((below(shape, x) - share).abs() < 1e-7, "{shape} {share} {x}");
            }
        }
    }
}
