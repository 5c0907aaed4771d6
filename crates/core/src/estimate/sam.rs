//! SAM, stochastic approximation with momentum: z_{k+1} = z_k + η_k [I (z_k + p) - z_k] + ζ_k (z_k - z_{k-1}), with
//! ζ_k = (β_k - ω η_k)/β_{k-1}, β_k = (k+1)^{-β}, ω = 1, and z_0 = z_{-1} = 0. (Avrachenkov, Patil and Thoppe, eq. 3.)
//!
//! As in SA, v = z/p is kept.
//! Domain: 0 < β < η ≤ 2β, η ≤ 1 (the paper proves β > ½). Nothing changed: 0. Everything changed: grows without end,
//! faster than SA. Momentum may carry the iterate below 0, where the estimate is 0.

use super::sa::Step;

/// η and β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    step: Step,
    beta: f64,
}

impl Momentum {
    /// The paper's first experiment: η = .75, β = .6.
    pub const USUAL: Self = Self { step: Step::USUAL, beta: 0.6 };

    /// `None` unless 0 < β < η ≤ 2β.
    pub fn new(step: Step, beta: f64) -> Option<Self> {
        let eta = step.exponent();
        (beta > 0.0 && beta < eta && eta <= 2.0 * beta).then_some(Self { step, beta })
    }

    /// η_k.
    pub fn step(self) -> Step {
        self.step
    }

    /// ζ_k; 0 at k = 0.
    pub fn at(self, k: f64) -> f64 {
        self.beside(k, self.step.at(k))
    }

    /// ζ_k beside a step of this size.
    fn beside(self, k: f64, eta: f64) -> f64 {
        if k < 1.0 {
            return 0.0;
        }
        // β_k/β_{k-1} - η_k/β_{k-1}
        (k / (k + 1.0)).powf(self.beta) - eta * k.powf(self.beta)
    }
}

/// The iterate after so many intervals, and the one before it, per rate of fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sam {
    /// k.
    pub seen: f64,
    /// v = z/p.
    pub iterate: f64,
    /// v one interval ago.
    pub before: f64,
}

impl Sam {
    /// One more interval.
    pub fn observe(&mut self, changed: bool, momentum: Momentum) {
        self.move_by(changed, momentum, momentum.step.at(self.seen));
    }

    /// One more interval, with a step of this size.
    pub(super) fn move_by(&mut self, changed: bool, momentum: Momentum, eta: f64) {
        let step = eta * if changed { 1.0 } else { -self.iterate };
        let carried = momentum.beside(self.seen, eta) * (self.iterate - self.before);
        self.before = self.iterate;
        self.iterate += step + carried;
        self.seen += 1.0;
    }

    /// The estimate for fetches at rate `p`.
    pub fn rate(&self, p: f64) -> f64 {
        (p * self.iterate).max(0.0)
    }
}
