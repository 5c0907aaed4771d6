//! What one look at a contestant tells about its future.

use crate::time::{Span, Time};

/// A value, and what it can become if nothing happens to its page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The value now.
    pub value: f64,
    /// The most that it grows per second,
    pub growth: f64,
    /// until this moment; later, who knows.
    pub until: Time,
    /// Whether it really grows about that fast.
    pub tight: bool,
    /// The age of the page in seconds, if the logarithm of its value is a concave function of that of its age; else 0.
    pub concave_from: f64,
}

impl Look {
    /// Worth nothing, and nobody knows for how long.
    pub(crate) const NOTHING: Self =
        Self { value: 0.0, growth: 0.0, until: Time::MIN, tight: false, concave_from: 0.0 };

    /// A moment not after the one at which the value reaches `level`, which falls by so much per second, if the look tells.
    pub(super) fn reaches(&self, now: Time, level: f64, fall: f64) -> Option<Time> {
        let wait = (level - self.value) / (self.growth + fall);
        // Shorter by a part in a billion, for rounding.
        let moment = now + Span::from_nanos((wait * (1e9 - 1.0)) as u64);
        if self.tight && wait.is_finite() && moment <= self.until {
            return Some(moment);
        }
        self.tangent(level, fall).map(|wait| now + Span::from_nanos((wait * (1e9 - 10.0)) as u64))
    }

    /// A concave curve is below its tangents: where the tangent reaches a level, the value does not yet. Not for levels that
    /// are far away, where that is far too early.
    fn tangent(&self, level: f64, fall: f64) -> Option<f64> {
        let gap = level / self.value - 1.0;
        if !(self.concave_from > 0.0 && gap < FAR_AWAY) || fall > 0.0 {
            return None;
        }
        let steps = self.value / (self.concave_from * self.growth);
        // (1 + gap)^steps, from below where that is cheaper.
        let factor =
            if gap < 0.02 { steps * gap * (1.0 - 0.5 * gap) } else { (steps * gap.ln_1p()).exp_m1() };
        let wait = self.concave_from * factor;
        (wait < 9e9).then_some(wait)
    }
}

/// How far above a value a level may be to be reached along a tangent.
const FAR_AWAY: f64 = 0.25;
