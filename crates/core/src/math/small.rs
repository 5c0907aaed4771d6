//! Differences that vanish to second order, computed without subtracting.

/// e^x - 1 - x ≈ x²/2.
pub fn exp_m1_excess(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return x.exp_m1() - x;
    }
    taylor(x, 2)
}

/// e^x - 1 - x - x²/2 ≈ x³/6.
pub fn exp_m1_excess_less_half_square(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return x.exp_m1() - x - 0.5 * x * x;
    }
    taylor(x, 3)
}

/// Σ_{n≥first} x^n/n!, for |x| ≤ 1/2. Fourteen terms are enough for every digit, and no term waits for a division.
fn taylor(x: f64, first: usize) -> f64 {
    let terms = &INVERSE_FACTORIALS[first..first + 14];
    terms.iter().rev().fold(0.0, |sum, term| sum * x + term) * x.powi(first as i32)
}

const INVERSE_FACTORIALS: [f64; 17] = {
    let mut all = [1.0; 17];
    let mut n = 1;
    while n < 17 {
        all[n] = all[n - 1] / n as f64;
        n += 1;
    }
    all
};

/// Σ_{i<n} (e^{z - i·step} - 1) for an arithmetic progression of exponents 0 ≤ z - i·step.
///
/// Closed form where the exponents are large; where they are small the closed form cancels, and power sums around
/// the mean exponent take its place.
pub fn sum_exp_m1(z: f64, step: f64, n: f64) -> f64 {
    if n <= 0.0 {
        return 0.0;
    }
    if n <= 8.0 {
        return (0..n as u32).map(|i| (z - f64::from(i) * step).exp_m1()).sum();
    }
    if z > 0.02 {
        return z.exp() * (-n * step).exp_m1() / (-step).exp_m1() - n;
    }
    let mean = z - 0.5 * (n - 1.0) * step;
    let square = mean * mean;
    let second = step * step * (n * n - 1.0) / 12.0;
    let fourth = step.powi(4) * (n * n - 1.0) * (3.0 * n * n - 7.0) / 240.0;
    let moments = [
        mean,
        square + second,
        mean * (square + 3.0 * second),
        square * square + 6.0 * square * second + fourth,
        mean * (square * square + 10.0 * square * second + 5.0 * fourth),
    ];
    let inverse_factorials = [1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0];
    n * moments.iter().zip(inverse_factorials).map(|(m, f)| m * f).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_arguments_keep_all_digits() {
        let x = 1e-9;
        assert!((exp_m1_excess(x) / (x * x / 2.0 * (1.0 + x / 3.0)) - 1.0).abs() < 1e-15);
        assert!(
            (exp_m1_excess_less_half_square(x) / (x * x * x / 6.0 * (1.0 + x / 4.0)) - 1.0).abs() < 1e-15
        );
        assert_eq!(exp_m1_excess(0.0), 0.0);
        assert_eq!(exp_m1_excess_less_half_square(0.0), 0.0);
    }

    proptest! {
        #[test]
        fn both_sides_of_a_switch_agree(size in 0.3f64..0.7, negative: bool) {
            let x = if negative { -size } else { size };
            prop_assert!((exp_m1_excess(x) / (x.exp_m1() - x) - 1.0).abs() < 1e-13);
            let third = x.exp_m1() - x - x * x / 2.0;
            prop_assert!((exp_m1_excess_less_half_square(x) / third - 1.0).abs() < 1e-12);
        }

        #[test]
        fn sums_of_exponentials(top in 1e-6f64..3.0, n in 1u32..400, floor in 0.0f64..1.0) {
            let step = top / f64::from(n);
            let z = top * (1.0 + floor);
            let direct: f64 = (0..n).map(|i| (z - f64::from(i) * step).exp_m1()).sum();
            prop_assert!((sum_exp_m1(z, step, f64::from(n)) / direct - 1.0).abs() < 1e-11);
        }
    }
}
