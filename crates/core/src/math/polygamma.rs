//! ψ and ψ', the first derivatives of ln Γ: what fitting a Gamma distribution needs.

/// From here on the asymptotic series has all digits.
const LARGE: f64 = 8.0;

/// ψ(x) = d ln Γ(x)/dx for x > 0; -∞ at 0.
pub fn digamma(x: f64) -> f64 {
    if !(x > 0.0) {
        return f64::NEG_INFINITY;
    }
    // ψ(x) = ψ(x+1) - 1/x.
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += 1.0 / x;
        x += 1.0;
    }
    let u = 1.0 / (x * x);
    let series = u
        * (1.0 / 12.0
            - u * (1.0 / 120.0
                - u * (1.0 / 252.0
                    - u * (1.0 / 240.0 - u * (1.0 / 132.0 - u * (691.0 / 32760.0 - u / 12.0))))));
    x.ln() - 0.5 / x - series - below
}

/// ψ'(x) for x > 0; +∞ at 0.
pub fn trigamma(x: f64) -> f64 {
    if !(x > 0.0) {
        return f64::INFINITY;
    }
    let (mut x, mut below) = (x, 0.0);
    while x < LARGE {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let u = 1.0 / (x * x);
    let series = u
        * (1.0 / 6.0
            - u * (1.0 / 30.0
                - u * (1.0 / 42.0
                    - u * (1.0 / 30.0 - u * (5.0 / 66.0 - u * (691.0 / 2730.0 - u * 7.0 / 6.0))))));
    (1.0 + 0.5 / x + series) / x + below
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    #[test]
    fn known_values() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
        assert!((digamma(0.5) + 1.963_510_026_021_423_5).abs() < 1e-14);
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-14);
        assert!((trigamma(0.5) - PI * PI / 2.0).abs() < 1e-13);
        assert_eq!(digamma(0.0), f64::NEG_INFINITY);
        assert_eq!(trigamma(0.0), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn as_the_oracle_has_it(log_x in -3f64..5.0) {
            let x = 10f64.powf(log_x);
            let expected = statrs::function::gamma::digamma(x);
            prop_assert!((digamma(x) - expected).abs() < 1e-11 * (1.0 + expected.abs()));
            // ψ' is the slope of ψ.
            let h = 1e-4 * x;
            let slope = (digamma(x + h) - digamma(x - h)) / (2.0 * h);
            prop_assert!((trigamma(x) / slope - 1.0).abs() < 1e-5);
        }
    }
}
