//! What one look at a contestant tells about its future.

use super::level::first_root;
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
    /// How much more that may be with every second, for ever: infinite if nobody knows.
    pub bend: f64,
    /// Whether it really grows about that fast.
    pub tight: bool,
    /// The age of the page in seconds, if the logarithm of its value is a concave function of that of its age; else 0.
    pub concave_from: f64,
}

impl Look {
    /// Worth nothing, and nobody knows for how long.
    pub(crate) const NOTHING: Self = Self {
        value: 0.0,
        growth: 0.0,
        until: Time::MIN,
        bend: f64::INFINITY,
        tight: false,
        concave_from: 0.0,
    };

    /// A moment not after the one at which the value reaches `level`, which falls by so much per second, if the look tells.
    pub(super) fn reaches(&self, now: Time, level: f64, fall: f64) -> Option<Time> {
        let wait = (level - self.value) / (self.growth + fall);
        // Shorter by a part in a billion, for rounding.
        let moment = now.later(Span::from_nanos((wait * (1e9 - 1.0)) as u64));
        if self.tight && wait.is_finite() && moment <= self.until {
            return Some(moment);
        }
        let wait = self.tangent(level, fall).or_else(|| self.parabola(level, fall))?;
        Some(now.later(Span::from_nanos((wait * (1e9 - 10.0)) as u64)))
    }

    /// A value stays below the parabola of its bend for ever: where that reaches a level, the value does not yet. Not where it
    /// bends so much that this is far too early.
    fn parabola(&self, level: f64, fall: f64) -> Option<f64> {
        let bend = if self.tight && self.bend.is_finite() { self.bend } else { return None };
        let growth = self.growth + fall;
        let gap = level - self.value * (1.0 + 1e-9);
        let wait = first_root(0.5 * bend, growth, -gap);
        (bend * wait < BENT * growth).then_some(wait)
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

/// By what share the growth may grow until a level is reached along a parabola.
const BENT: f64 = 1.0;

/// How far above a value a level may be to be reached along a tangent.
const FAR_AWAY: f64 = 0.25;
