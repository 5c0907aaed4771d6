//! g(x) = 1 - (1+x) e^{-x} = R^1(x), the shape of every crawl value without signals, and its inverse.
//!
//! The inverse is the work of the continuous optimum: one per page and per price that is tried.

use super::gamma::residual;

/// g(x) = 1 - (1+x) e^{-x}: 0 at 0, x²/2 for small x, 1 at infinity.
#[inline]
pub fn g(x: f64) -> f64 {
    if x < 1.0 {
        return residual(1, x);
    }
    if x == f64::INFINITY { 1.0 } else { 1.0 - (1.0 + x) * (-x).exp() }
}

/// The x at which g(x) = `y`; 0 for y ≤ 0, infinite for y ≥ 1. Relative error below 1e-14 (for y near 1, that of
/// 1 - y).
///
/// With z = -ln(1-y) the equation is x - ln(1+x) = z, and in η = √(2z) the solution is an analytic function with a
/// radius of convergence of 2√π: a series for small η, otherwise a start within 1e-4 and Halley's steps.
#[inline]
pub fn g_inverse(y: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    if y >= 1.0 {
        return f64::INFINITY;
    }
    excess_inverse(-(-y).ln_1p())
}

/// Coefficients of x(η) from η¹ on; from x x' = η (1+x).
const SERIES: [f64; 20] = [
    1.0,
    1.0 / 3.0,
    1.0 / 36.0,
    -1.0 / 270.0,
    1.0 / 4320.0,
    1.0 / 17010.0,
    -139.0 / 5_443_200.0,
    1.0 / 204_120.0,
    -571.0 / 2_351_462_400.0,
    -281.0 / 1_515_591_000.0,
    163_879.0 / 2_172_751_257_600.0,
    -5221.0 / 354_648_294_000.0,
    5.159_887_341_078_076e-10,
    7.329_864_131_600_22e-10,
    -2.921_357_345_635_569e-10,
    5.717_312_238_897_994e-11,
    -1.500_834_940_879_191_1e-12,
    -3.239_317_851_416_903e-12,
    1.282_207_790_561_442_9e-12,
    -2.513_834_640_057_088e-13,
];

/// The x ≥ 0 at which x - ln(1+x) = `z`.
#[inline]
fn excess_inverse(z: f64) -> f64 {
    let eta = (2.0 * z).sqrt();
    if eta < 1.0 {
        return series(&SERIES, eta);
    }
    let mut x = if eta < 2.5 { series(&SERIES[..12], eta) } else { z + (z + z.ln_1p()).ln_1p() };
    for _ in 0..2 {
        // Halley: f = x - ln(1+x) - z, f' = x/(1+x), f'' = 1/(1+x)².
        let newton = (x - x.ln_1p() - z) * (1.0 + x) / x;
        x -= newton / (1.0 - 0.5 * newton / (x * (1.0 + x)));
    }
    x
}

/// Σ a_k η^{k+1}, even and odd powers apart: two short chains instead of a long one.
#[inline]
fn series(coefficients: &[f64], eta: f64) -> f64 {
    let square = eta * eta;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in coefficients.chunks_exact(2).rev() {
        even = even * square + pair[0];
        odd = odd * square + pair[1];
    }
    eta * (even + eta * odd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_inverses() {
        // Golden figures of the cost-optimal interval.
        for (y, x) in [(0.01, 0.148_554_74), (0.5, 1.678_346_99), (0.99, 6.638_352_07)] {
            assert!((g_inverse(y) - x).abs() < 1e-8, "{y}: {}", g_inverse(y));
        }
        assert_eq!(g_inverse(0.0), 0.0);
        assert_eq!(g_inverse(-1.0), 0.0);
        assert_eq!(g_inverse(1.0), f64::INFINITY);
        assert_eq!(g(f64::INFINITY), 1.0);
        // g(x) ≈ x²/2
        assert!((g_inverse(5e-301) / 1e-150 - 1.0).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn inverse_of_g(exponent in -150f64..1.4) {
            let x = 10f64.powf(exponent);
            let y = g(x);
            let back = g_inverse(y);
            // What y's own rounding allows: dx/x = (y/(x² e^-x)) ε.
            let allowed = 1e-14 + 4.0 * f64::EPSILON * y / (x * x * (-x).exp());
            prop_assert!((back / x - 1.0).abs() < allowed, "{x} {back}");
        }

        #[test]
        fn inverse_is_monotone(y in 0.0f64..1.0, step in 1e-12f64..0.1) {
            prop_assert!(g_inverse(y * (1.0 + step)) >= g_inverse(y));
        }
    }
}
