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
/// radius of convergence of 2√π: a series for small η, otherwise a start within 4e-8 and one step of Newton's.
#[inline]
pub fn g_inverse(y: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    if y >= 1.0 {
        return f64::INFINITY;
    }
    // g(x) is x²/2 to the last digit; and numbers near the least there is are slow.
    if y < 1e-33 {
        return (2.0 * y).sqrt();
    }
    // 1 - y is exact from 1/2 on, and ln is faster than ln_1p.
    excess_inverse(if y < 0.5 { -(-y).ln_1p() } else { -(1.0 - y).ln() })
}

/// Coefficients of x(η)/η; from x x' = η (1+x).
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

/// x(η)/η for η from 1 to 8.7 (beyond all 1 - y that a double holds), in t = (η - 4.85)/3.85; relative error 4e-8.
const START: [f64; 10] = [
    2.990_151_333_419_803,
    1.741_851_528_389_893,
    0.068_064_355_878_545_24,
    -0.026_022_118_983_996_475,
    0.009_853_383_574_991_595,
    -0.003_601_402_193_724_453,
    0.001_311_148_545_821_455_6,
    -0.000_469_876_876_873_691_75,
    7.763_904_935_242_462e-5,
    2.301_139_471_934_306e-5,
];

/// The x ≥ 0 at which x - ln(1+x) = `z`, for z up to 37.
#[inline]
fn excess_inverse(z: f64) -> f64 {
    let eta = (2.0 * z).sqrt();
    if eta < 1.0 {
        return eta * polynomial(&SERIES, eta);
    }
    let x = eta * polynomial(&START, (eta - 4.85) * (1.0 / 3.85));
    x - (x - (1.0 + x).ln() - z) * (1.0 + x) / x
}

/// Σ a_k t^k, even and odd powers apart: two short chains instead of a long one.
#[inline]
fn polynomial(coefficients: &[f64], t: f64) -> f64 {
    let square = t * t;
    let (mut even, mut odd) = (0.0, 0.0);
    for pair in coefficients.as_chunks::<2>().0.iter().rev() {
        even = even * square + pair[0];
        odd = odd * square + pair[1];
    }
    even + t * odd
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
