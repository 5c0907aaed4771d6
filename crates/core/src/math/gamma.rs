//! The regularized incomplete gamma function of integer order.
//!
//! `residual(k, x)` is R^k(x) = P(k+1, x) = 1 - e^{-x} Σ_{j≤k} x^j/j!, the probability that a Poisson variable of
//! mean x exceeds k. The crawl value needs thousands of these per second and page, at integer orders only; a general
//! routine costs ten times as much and gives up at 0 and at infinity.

use super::integrate::integrate;

/// 1/n for small n: a division costs more than the rest of a step of the sums below.
const RECIPROCALS: [f64; 256] = {
    let mut table = [0.0; 256];
    let mut n = 1;
    while n < 256 {
        table[n] = 1.0 / n as f64;
        n += 1;
    }
    table
};

/// 1/n!, correctly rounded up to 20.
const INVERSE_FACTORIALS: [f64; 66] = {
    let mut table = [1.0; 66];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < 66 {
        factorial *= n as f64;
        table[n] = 1.0 / factorial;
        n += 1;
    }
    table
};

/// From this order on, integrating is faster than adding.
const LARGE: u32 = 5000;

/// Terms below this share of the sum do not change it.
const NEGLIGIBLE: f64 = 1e-16;

/// 1/n.
#[inline]
pub fn reciprocal(n: u32) -> f64 {
    RECIPROCALS.get(n as usize).copied().unwrap_or_else(|| 1.0 / f64::from(n))
}

/// Whether 1 - [`residual`]`(k, x)` is below 1e-16: x ≥ k + 37 + 8.22 √k (the exact bound is k + 36.9 + s √k with s
/// rising from 0 to 8.21 as k grows).
#[inline]
pub fn is_saturated(k: f64, x: f64) -> bool {
    let over = x - k - 37.0;
    over >= 0.0 && over * over >= 67.6 * k
}

/// R^k(x) = P(k+1, x), to a relative 1e-13 or better, for all x (what is negative counts as 0).
#[inline]
pub fn residual(k: u32, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if k == 0 {
        return -(-x).exp_m1();
    }
    let order = f64::from(k);
    if is_saturated(order, x) {
        return 1.0;
    }
    if k > LARGE {
        return residual_large(order, x);
    }
    if x <= order + 1.0 {
        return poisson(k + 1, x) * rising(k + 1, x);
    }
    if k <= 20 {
        return 1.0 - (-x).exp() * exponential_sum(k, x);
    }
    1.0 - poisson(k, x) * falling(k, x)
}

/// R^k(x) = ∫_0^x t^k e^{-t}/k! dt for large orders, where the sums have thousands of terms: the density is nearly a
/// normal one, of which nine and a half standard deviations are all there is, or (away from its middle) nearly an
/// exponential, of which forty mean lengths are.
fn residual_large(k: f64, x: f64) -> f64 {
    let density = |t: f64| poisson_large(k, t);
    let reach = (9.5 * x.sqrt()).min(40.0 / (k / x - 1.0).abs());
    if x > k + 1.0 {
        return 1.0 - integrate(density, x, x + reach);
    }
    // Next to nothing, and its digits are lost to underflow.
    if density(x) < 1e-250 { 0.0 } else { integrate(density, (x - reach).max(0.0), x) }
}

/// R^k(x) to an absolute 1e-15 (and a relative 1e-12 where x is small against k): for sums whose first terms are of
/// order one. Three times as fast as [`residual`] where most terms of such sums are.
#[inline]
pub fn residual_in_sum(k: u32, x: f64) -> f64 {
    if k == 0 {
        return -(-x).exp_m1();
    }
    let order = f64::from(k);
    if is_saturated(order, x) {
        return 1.0;
    }
    if k > 64 || x < 0.3 * (order + 1.0) {
        return residual(k, x);
    }
    (1.0 - (-x).exp() * exponential_sum(k, x)).max(0.0)
}

/// Σ_{j≤k} x^j/j!, for k ≤ 64 and x < 170, where nothing overflows: Horner's form, even and odd powers apart.
#[inline]
fn exponential_sum(k: u32, x: f64) -> f64 {
    let square = x * x;
    let terms = &INVERSE_FACTORIALS[..=k as usize];
    let (pairs, rest) = terms.as_chunks::<2>();
    let (mut even, mut odd) = (rest.first().copied().unwrap_or(0.0), 0.0);
    for [first, second] in pairs.iter().rev() {
        even = even * square + first;
        odd = odd * square + second;
    }
    even + x * odd
}

/// Σ_{j≥0} x^j / ((k+1)(k+2)…(k+j)), for x ≤ k+1.
fn rising(k: u32, x: f64) -> f64 {
    let (mut sum, mut term, mut j) = (1.0, 1.0, k);
    while term > NEGLIGIBLE * sum {
        j += 1;
        term *= x * reciprocal(j);
        sum += term;
    }
    sum
}

/// Σ_{j≤k} k(k-1)…(k-j+1) / x^j, for x ≥ k.
fn falling(k: u32, x: f64) -> f64 {
    let inverse = 1.0 / x;
    let (mut sum, mut term, mut j) = (1.0, 1.0, k);
    while j > 0 && term > NEGLIGIBLE * sum {
        term *= f64::from(j) * inverse;
        sum += term;
        j -= 1;
    }
    sum
}

/// The Poisson probability x^k e^{-x} / k!, without overflow at any order.
#[inline]
pub fn poisson(k: u32, x: f64) -> f64 {
    if k <= 20 && x < 600.0 {
        // x^20 stays far below overflow and e^-x far above underflow.
        return x.powi(k as i32) * (-x).exp() * INVERSE_FACTORIALS[k as usize];
    }
    poisson_large(f64::from(k), x)
}

/// Loader's saddle-point form: exp(-k φ(x/k)) / √(2πk) with Stirling's correction, which keeps its relative accuracy
/// where (k ln x - x - ln k!) is the small difference of large numbers.
fn poisson_large(k: f64, x: f64) -> f64 {
    if x == 0.0 || x.is_infinite() {
        return 0.0;
    }
    if k == 0.0 {
        return (-x).exp();
    }
    let stirling = stirling_error(k);
    (-stirling - deviance(k, x)).exp() / (std::f64::consts::TAU * k).sqrt()
}

/// ln k! - ln(√(2πk) (k/e)^k).
fn stirling_error(k: f64) -> f64 {
    if k <= 20.0 {
        let factorial: f64 = 1.0 / INVERSE_FACTORIALS[k as usize];
        return factorial.ln() - ((k + 0.5) * k.ln() - k + 0.5 * std::f64::consts::TAU.ln());
    }
    let inverse = 1.0 / k;
    let square = inverse * inverse;
    inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
}

/// k ln(k/x) + x - k ≥ 0, without cancellation around x = k.
fn deviance(k: f64, x: f64) -> f64 {
    let difference = k - x;
    if difference.abs() >= 0.1 * (k + x) {
        return k * (k / x).ln() + x - k;
    }
    // ln(k/x) = 2 artanh(v), v = (k-x)/(k+x): the first term is taken out, the rest is a fast series.
    let v = difference / (k + x);
    let mut sum = difference * v;
    let mut power = 2.0 * k * v;
    let square = v * v;
    let mut n = 1.0;
    loop {
        power *= square;
        n += 2.0;
        let next = sum + power / n;
        if next == sum {
            return sum;
        }
        sum = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::function::gamma::gamma_lr;

    fn relative(a: f64, b: f64) -> f64 {
        (a - b).abs() / b.abs().max(f64::MIN_POSITIVE)
    }

    #[test]
    fn edges_are_ordinary() {
        for k in [0, 1, 5, 20, 21, 300, 100_000] {
            assert_eq!(residual(k, 0.0), 0.0);
            assert_eq!(residual(k, -1.0), 0.0);
            assert_eq!(residual(k, f64::INFINITY), 1.0);
            assert_eq!(residual(k, 1e300), 1.0);
            assert!(residual(k, 1e-300) >= 0.0);
        }
        assert!(relative(residual(1, 1e-8), 0.5e-16 * (1.0 - 2e-8 / 3.0)) < 1e-15);
    }

    /// Figures by 50-digit arithmetic.
    #[test]
    fn known_values() {
        let known = [
            (0, 0.5, 0.393_469_340_287_366_6),
            (1, 2.0, 0.593_994_150_290_161_9),
            (20, 5.0, 8.109_250_459_888_172e-8),
            (20, 30.0, 0.964_715_381_545_771_4),
            (99, 100.0, 0.513_298_798_279_148_6),
            (999, 1000.0, 0.504_205_244_180_215_5),
            (5001, 5000.0, 0.4905981585592233),
            (100_000, 99_500.0, 0.056381887260791556),
            (1_000_000, 1_002_000.0, 0.977_141_769_187_373),
        ];
        for (k, x, expected) in known {
            assert!(relative(residual(k, x), expected) < 2e-13, "R^{k}({x}) = {}", residual(k, x));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_general_routine(k in 0u32..400, share in 0.02f64..4.0) {
            let x = f64::from(k + 1) * share;
            let expected = gamma_lr(f64::from(k) + 1.0, x);
            prop_assume!(expected > 1e-250);
            // The general routine's own error grows with the order.
            prop_assert!(relative(residual(k, x), expected) < 1e-11, "{} {expected}", residual(k, x));
        }

        #[test]
        fn falls_with_the_order_and_grows_with_x(k in 0u32..8000, x in 0.0f64..10_000.0) {
            let here = residual(k, x);
            prop_assert!((0.0..=1.0).contains(&here));
            prop_assert!(residual(k + 1, x) <= here * (1.0 + 1e-12));
            prop_assert!(residual(k, x * 1.001) >= here * (1.0 - 1e-12));
        }

        #[test]
        fn neighbours_differ_by_a_poisson_probability(k in 1u32..20_000, share in 0.3f64..2.0) {
            let x = f64::from(k) * share;
            let step = residual(k - 1, x) - residual(k, x);
            prop_assert!((step - poisson(k, x)).abs() < 1e-12);
        }
    }
}
