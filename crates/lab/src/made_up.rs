//! Pages drawn from distributions, the same from the same seed.

use std::str::FromStr;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, Gamma, Pareto};
use refrain_core::page::{Belief, BeliefError};

/// A distribution of numbers that are not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbers {
    /// Always the same.
    Constant(f64),
    /// Between two numbers.
    Uniform(f64, f64),
    /// Between two numbers, all magnitudes alike.
    LogUniform(f64, f64),
    /// From 0 to 1.
    Beta(f64, f64),
    /// By shape and rate.
    Gamma(f64, f64),
    /// By least value and exponent: Zipf's law.
    Pareto(f64, f64),
}

/// What is no distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no distribution; expected a number, or uniform(LOW,HIGH), log-uniform(LOW,HIGH), beta(A,B), gamma(SHAPE,RATE) or pareto(LEAST,EXPONENT)"
)]
pub struct NoDistribution(String);

impl FromStr for Numbers {
    type Err = NoDistribution;

    fn from_str(text: &str) -> Result<Self, NoDistribution> {
        let wrong = || NoDistribution(text.to_owned());
        let text = text.trim();
        if let Ok(number) = text.parse::<f64>() {
            return if number.is_finite() && number >= 0.0 {
                Ok(Self::Constant(number))
            } else {
                Err(wrong())
            };
        }
        let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
        let (a, b) = rest.strip_suffix(')').and_then(|rest| rest.split_once(',')).ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
        let (a, b) = number(a).zip(number(b)).ok_or_else(wrong)?;
        let positive = a > 0.0 && b > 0.0;
        match name.trim() {
            "uniform" if a <= b => Ok(Self::Uniform(a, b)),
            "log-uniform" if positive && a <= b => Ok(Self::LogUniform(a, b)),
            "beta" if positive => Ok(Self::Beta(a, b)),
            "gamma" if positive => Ok(Self::Gamma(a, b)),
            "pareto" if positive => Ok(Self::Pareto(a, b)),
            _ => Err(wrong()),
        }
    }
}

impl Numbers {
    pub(crate) fn draw(self, random: &mut ChaCha8Rng) -> f64 {
        let share = |random: &mut ChaCha8Rng| random.random::<f64>();
        match self {
            Self::Constant(number) => number,
            Self::Uniform(low, high) => low + (high - low) * share(random),
            Self::LogUniform(low, high) => low * (high / low).powf(share(random)),
            Self::Beta(a, b) => Beta::new(a, b).map_or(0.5, |beta| beta.sample(random)),
            Self::Gamma(shape, rate) => {
                Gamma::new(shape, 1.0 / rate).map_or(1.0, |gamma| gamma.sample(random))
            }
            Self::Pareto(least, exponent) => {
                Pareto::new(least, exponent).map_or(least, |pareto| pareto.sample(random))
            }
        }
    }
}

/// Pages of which only distributions are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MadeUp {
    /// How many.
    pub pages: usize,
    /// Changes per unit of time.
    pub change_rate: Numbers,
    /// How much they matter.
    pub importance: Numbers,
    /// The share of changes that a signal announces.
    pub recall: Numbers,
    /// Signals that announce nothing, per unit of time.
    pub false_rate: Numbers,
}

impl MadeUp {
    /// The signals paper's pages.
    pub fn paper(pages: usize) -> Self {
        Self {
            pages,
            change_rate: Numbers::Uniform(0.0, 1.0),
            importance: Numbers::Uniform(0.0, 1.0),
            recall: Numbers::Beta(0.25, 0.25),
            false_rate: Numbers::Uniform(0.1, 0.6),
        }
    }

    /// The pages that come from a seed.
    ///
    /// # Errors
    /// If a distribution gives what cannot be, such as a recall of 2.
    pub fn draw(&self, seed: u64) -> Result<Vec<Belief>, BeliefError> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..self.pages).map(|_| self.draw_one(&mut random)).collect()
    }

    /// One page.
    ///
    /// # Errors
    /// As [`MadeUp::draw`].
    pub fn draw_one(&self, random: &mut ChaCha8Rng) -> Result<Belief, BeliefError> {
        let belief = Belief::new(self.change_rate.draw(random), self.importance.draw(random))?;
        belief.with_signals(self.recall.draw(random), self.false_rate.draw(random))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_their_means() {
        for (text, mean) in [
            ("0.3", 0.3),
            ("uniform(0.1, 0.6)", 0.35),
            ("beta(0.25,0.25)", 0.5),
            ("gamma(2,4)", 0.5),
            ("pareto(1,3)", 1.5),
            ("log-uniform(1,2.718281828459045)", 1.718281828459045),
        ] {
            let numbers: Numbers = text.parse().unwrap();
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let sum: f64 = (0..40_000).map(|_| numbers.draw(&mut random)).sum();
            assert!((sum / 40_000.0 - mean).abs() < 0.02, "{text}: {}", sum / 40_000.0);
        }
        for wrong in ["", "-1", "NaN", "uniform(1)", "uniform(2,1)", "beta(0,1)", "zipf(1,2)", "gamma(1,2"] {
            assert!(wrong.parse::<Numbers>().is_err(), "{wrong}");
        }
    }
}
