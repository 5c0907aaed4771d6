//! SA, stochastic approximation: y ← y + η_k [I (y + p) - y], η_k = (k+1)^{-η}. (Avrachenkov, Patil and Thoppe, eq. 2.)
//!
//! From y = 0 the iterate is proportional to p, so u = y/p is kept: u ← u + η_k [I (u + 1) - u]. The rate of fetches is
//! needed when the estimate is read, not while it is learned.
//! Domain: ½ < η ≤ 1. Nothing changed: 0. Everything changed: p Σ η_k, which grows without end, slowly.

/// η: how fast the steps shrink.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step(f64);

impl Step {
    /// The paper's first experiment.
    pub const USUAL: Self = Self(0.75);
    /// The slowest of the paper's third experiment: on the edge of what surely converges.
    pub const SLOWEST: Self = Self(0.5);

    /// Steps of (k+1)^{-exponent}; `None` unless the exponent is above ½ and at most 1.
    pub fn new(exponent: f64) -> Option<Self> {
        (exponent > 0.5 && exponent <= 1.0).then_some(Self(exponent))
    }

    /// η_k.
    pub fn at(self, k: f64) -> f64 {
        if self == Self::USUAL {
            // The same, in half the time.
            let root = (k + 1.0).sqrt();
            return 1.0 / (root * root.sqrt());
        }
        (k + 1.0).powf(-self.0)
    }

    /// η.
    pub fn exponent(self) -> f64 {
        self.0
    }
}

/// The iterate after so many intervals, per rate of fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sa {
    /// k.
    pub seen: f64,
    /// u = y/p.
    pub iterate: f64,
}

impl Sa {
    /// One more interval.
    pub fn observe(&mut self, changed: bool, step: Step) {
        self.move_by(changed, step.at(self.seen));
    }

    /// One more interval, with a step of this size.
    pub(super) fn move_by(&mut self, changed: bool, eta: f64) {
        self.iterate += eta * if changed { 1.0 } else { -self.iterate };
        self.seen += 1.0;
    }

    /// The estimate for fetches at rate `p`.
    pub fn rate(&self, p: f64) -> f64 {
        (p * self.iterate).max(0.0)
    }
}
