//! Roots of increasing functions: always inside a bracket, fast when the function is smooth, at worst bisection.

/// An interval that holds the root of an increasing function: f(low) ≤ 0 ≤ f(high).
#[derive(Clone, Copy, Debug)]
pub struct Bracket {
    /// f is not positive here.
    pub low: f64,
    /// f is not negative here; may be infinite.
    pub high: f64,
}

const MAX_STEPS: u32 = 200;

/// Newton's method inside a bracket. `f` gives value and slope; a step that leaves the bracket, or does not shrink
/// the value by half, is replaced by bisection (by doubling while `high` is infinite). Stops after a Newton step of
/// at most `last_step` relative to the root (what is left is of the order of its square), at an exact zero, or when
/// the bracket has closed around a jump.
///
/// Invariant: f(low) ≤ 0 ≤ f(high) at every step, so the answer is as good as the bracket if f is rough.
pub fn newton(mut bracket: Bracket, start: f64, last_step: f64, mut f: impl FnMut(f64) -> (f64, f64)) -> f64 {
    // Not clamp, which panics where rounding has put the low end above the high one.
    let mut x = start.max(bracket.low).min(bracket.high);
    let mut previous = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let (value, slope) = f(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            bracket.low = x;
        } else {
            bracket.high = x;
        }
        let step = value / slope;
        let target = x - step;
        let trusted = slope > 0.0 && value.abs() <= 0.5 * previous;
        if trusted && step.abs() <= last_step * x.abs() {
            return target.max(bracket.low).min(bracket.high);
        }
        if bracket.high - bracket.low <= 4.0 * f64::EPSILON * bracket.low.abs() {
            return bracket.high;
        }
        let inside = target > bracket.low && target < bracket.high;
        x = if trusted && inside { target } else { bracket.middle() };
        previous = value.abs();
    }
    x
}

impl Bracket {
    /// The point to try when nothing better is known. Spans of many orders of magnitude are halved in the exponent.
    pub(crate) fn middle(self) -> f64 {
        let Self { low, high } = self;
        if high == f64::INFINITY {
            return if low > 0.0 { 2.0 * low } else { 1.0 };
        }
        if low > 0.0 && high > 4.0 * low {
            return low.sqrt() * high.sqrt();
        }
        low + 0.5 * (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bracket_that_rounding_has_turned_around() {
        let turned = Bracket { low: 1.3703493889631655, high: 1.3703493889631653 };
        let found = newton(turned, 1.0, 1e-12, |x| (x - 1.370_349_388_963_165_4, 1.0));
        assert!((found - 1.370_349_388_963_165_4).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn finds_the_root_of_a_smooth_function(root in 1e-6f64..1e6, start in 1e-9f64..1e9) {
            let found = newton(Bracket { low: 0.0, high: f64::INFINITY }, start, 1e-14, |x| {
                (x * x * x - root * root * root, 3.0 * x * x)
            });
            prop_assert!((found / root - 1.0).abs() < 1e-13);
        }

        #[test]
        fn finds_a_jump_even_if_slopes_lie(root in 0.1f64..100.0, slope in -3.0f64..3.0) {
            let found = newton(Bracket { low: 0.0, high: 1000.0 }, 1.0, 1e-13, |x| {
                (if x < root { -1.0 } else { 1.0 }, slope)
            });
            prop_assert!((found / root - 1.0).abs() < 1e-9, "{found} {root}");
        }
    }
}
