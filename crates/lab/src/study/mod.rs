//! How wrong every estimator of a change rate is, on made-up pages.
//!
//! A page changes at rate Δ, and is fetched at random times of rate p, as in the change-rate paper.

mod errors;
mod watching;

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use refrain_core::estimate::observation::SHORTEST;
use refrain_core::estimate::theory;
use refrain_core::estimate::{Answer, Method, Observation};

pub use errors::Errors;
pub use watching::Watching;

/// Pages are made up in pieces of this many, each from its own stream: the same on any number of threads.
pub const PIECE: u32 = 50;

/// A page to estimate the rate of, and the estimators to do it.
#[derive(Clone, Debug)]
pub struct Study {
    /// Δ.
    pub delta: f64,
    /// p.
    pub p: f64,
    /// Estimators by name.
    pub methods: Vec<(&'static str, Method)>,
    /// Errors are measured after so many intervals: growing.
    pub after: Vec<u32>,
}

/// The errors of each method after each number of intervals.
#[derive(Clone, Debug)]
pub struct Measured {
    after: Vec<u32>,
    /// Method by method.
    errors: Vec<Errors>,
}

impl Measured {
    /// Those of a method (by its place) after `k` intervals; the last ones, if `k` is none of those that were asked for.
    pub fn at(&self, method: usize, k: u32) -> Errors {
        let place = self.after.iter().position(|after| *after == k).unwrap_or(self.after.len() - 1);
        self.errors[method * self.after.len() + place]
    }

    fn join(&mut self, other: &Self) {
        for (own, other) in self.errors.iter_mut().zip(&other.errors) {
            own.join(other);
        }
    }

    /// As numbers.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        self.errors.iter().flat_map(Errors::numbers).collect()
    }
}

impl Study {
    /// The errors over so many pages.
    pub fn run(&self, pages: u32, seed: u64) -> Measured {
        self.run_pieces(0..pages.div_ceil(PIECE), pages, seed)
    }

    /// Some pieces of a run over so many pages.
    pub(crate) fn run_pieces(&self, pieces: Range<u32>, pages: u32, seed: u64) -> Measured {
        let parts: Vec<Measured> = pieces
            .into_par_iter()
            .map(|piece| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                rng.set_stream(u64::from(piece));
                let mut part = self.nothing();
                for _ in piece * PIECE..pages.min((piece + 1) * PIECE) {
                    self.one_page(&mut rng, &mut part);
                }
                part
            })
            .collect();
        self.sum(&parts)
    }

    /// Parts together, in their order: floating-point sums depend on it.
    fn sum(&self, parts: &[Measured]) -> Measured {
        let mut sum = self.nothing();
        for part in parts {
            sum.join(part);
        }
        sum
    }

    /// Parts together, from their numbers.
    pub(crate) fn sum_of_numbers(&self, parts: &[Vec<f64>]) -> Measured {
        let part = |numbers: &Vec<f64>| {
            let errors = numbers.as_chunks().0.iter().map(|numbers| Errors::from_numbers(*numbers));
            Measured { after: self.after.clone(), errors: errors.collect() }
        };
        self.sum(&parts.iter().map(part).collect::<Vec<_>>())
    }

    fn nothing(&self) -> Measured {
        let errors = vec![Errors::default(); self.methods.len() * self.after.len()];
        Measured { after: self.after.clone(), errors }
    }

    fn one_page(&self, rng: &mut ChaCha8Rng, errors: &mut Measured) {
        for (method, rates) in self.course(rng).into_iter().enumerate() {
            for (place, rate) in rates.into_iter().enumerate() {
                errors.errors[method * self.after.len() + place].add(rate - self.delta);
            }
        }
    }

    /// What each method says of one page, after each number of intervals.
    pub fn course(&self, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let mut watching = Watching::new(self.methods.iter().map(|(_, method)| *method));
        let mut courses = vec![Vec::with_capacity(self.after.len()); self.methods.len()];
        for k in &self.after {
            while watching.intervals() < f64::from(*k) {
                let Some(interval) = interval(rng, self.delta, self.p) else { continue };
                watching.observe(&interval);
            }
            for (course, rate) in courses.iter_mut().zip(watching.rates(self.p)) {
                course.push(rate);
            }
        }
        courses
    }

    /// The moments of a method after `k` intervals, where theory gives them exactly.
    pub fn exact(&self, method: &Method, k: u32) -> Option<theory::Moments> {
        let (delta, p) = (self.delta, self.p);
        Some(match *method {
            Method::Naive => theory::of_naive(delta, p, k),
            Method::Lln(offset) => theory::of_lln(delta, p, offset, k),
            Method::Sa(step) => theory::sa(delta, p, step, k),
            Method::Sam(momentum) => theory::sam(delta, p, momentum, k),
            _ => return None,
        })
    }

    /// The number of intervals from which LLN is better than SAM for good.
    pub fn overtaken(&self) -> Option<u32> {
        let find = |wanted: fn(&Method) -> bool| self.methods.iter().map(|(_, m)| *m).find(wanted);
        let lln = find(|method| matches!(method, Method::Lln(_)))?;
        let sam = find(|method| matches!(method, Method::Sam(_)))?;
        let error = |method: &Method, k: u32| self.exact(method, k).map(|moments| moments.rmse(self.delta));
        let worse = |k: &u32| error(&lln, *k) > error(&sam, *k);
        (1..3000).rev().find(worse).map(|k| k + 1).filter(|k| *k < 3000)
    }
}

/// The next interval of a page that changes at rate `delta`, fetched at random times of rate `p`.
pub fn interval(rng: &mut ChaCha8Rng, delta: f64, p: f64) -> Option<Observation> {
    let elapsed = (-(1.0 - rng.random::<f64>()).ln() / p).max(SHORTEST);
    let changed = rng.random::<f64>() >= (-delta * elapsed).exp();
    Observation::new(elapsed, 0, if changed { Answer::Changed } else { Answer::Unchanged }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use refrain_core::estimate::lln::Offset;
    use refrain_core::estimate::sa::Step;

    fn study() -> Study {
        let methods =
            vec![("lln", Method::Lln(Offset::One)), ("sa", Method::Sa(Step::USUAL)), ("mle", Method::Mle)];
        Study { delta: 5.0, p: 3.0, methods, after: vec![10, 100] }
    }

    /// Measured errors are those that theory knows.
    #[test]
    fn errors_are_those_of_theory() {
        let study = study();
        let measured = study.run(400, 1);
        for (place, (name, method)) in study.methods.iter().enumerate() {
            let Some(exact) = study.exact(method, 100) else { continue };
            let errors = measured.at(place, 100);
            assert!(
                (errors.rmse() - exact.rmse(5.0)).abs() < 4.0 * errors.uncertainty(),
                "{name}: {errors:?} {exact:?}"
            );
        }
        assert!(study.exact(&Method::Mle, 100).is_none());
    }

    /// In parts and through numbers it is the same run.
    #[test]
    fn parts_add_up() {
        let study = study();
        let parts = [study.run_pieces(0..1, 120, 7).numbers(), study.run_pieces(1..3, 120, 7).numbers()];
        let (whole, sum) = (study.run(120, 7), study.sum_of_numbers(&parts));
        for place in 0..study.methods.len() {
            let (whole, sum) = (whole.at(place, 10), sum.at(place, 10));
            assert!((whole.rmse() / sum.rmse() - 1.0).abs() < 1e-9, "{whole:?} {sum:?}");
        }
    }
}
