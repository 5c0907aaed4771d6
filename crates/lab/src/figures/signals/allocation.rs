//! Who is fetched how often: empirical rates against the optimal ones without signals.

use refrain_core::time::Span;

use super::RATE;
use super::sweep::{draw, seed};
use crate::figures::measured::Measured;
use crate::figures::{Axis, Cell, Chart, Curve, Desk, FigureError, Look, Point, Scaling};
use crate::made_up::MadeUp;
use crate::policy::Policy;
use crate::simulate::{self, Setting, World};

/// More dots than this are not drawn.
const DOTS: usize = 600;
/// Change rate, recall, optimal rate; then a rate for each policy.
const KNOWN: usize = 3;

/// Worlds of some sizes, and who fetches in them.
pub(super) struct Plan {
    pub(super) sizes: Vec<usize>,
    pub(super) instances: u64,
    pub(super) horizon: f64,
    pub(super) policies: Vec<(&'static str, Policy)>,
    pub(super) pages: fn(usize) -> MadeUp,
}

/// A page, and how often it was fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetched<'a>(&'a [f64]);

impl Fetched<'_> {
    pub(super) fn change_rate(&self) -> f64 {
        self.0[0]
    }

    pub(super) fn recall(&self) -> f64 {
        self.0[1]
    }

    /// The optimal rate without signals.
    pub(super) fn optimal(&self) -> f64 {
        self.0[2]
    }

    /// Fetches per unit of time by the policy of this place.
    pub(super) fn rate(&self, policy: usize) -> f64 {
        self.0[KNOWN + policy]
    }
}

/// The pages of all worlds.
pub(super) struct Allocated {
    sizes: Vec<usize>,
    columns: usize,
    /// By size, instance by instance.
    numbers: Vec<Vec<Vec<f64>>>,
}

impl Plan {
    pub(super) fn measure(&self, desk: &Desk<'_>) -> Result<Allocated, FigureError> {
        let cells: Vec<Cell<'_>> = self
            .sizes
            .iter()
            .flat_map(|size| (0..self.instances).map(|instance| (*size, instance)))
            .map(|(size, instance)| {
                let seed = seed(desk, size, instance);
                Cell::new(format!("{size} pages, {instance}"), move || self.instance(size, seed))
            })
            .collect();
        let mut measured = desk.measure(&cells)?.into_iter();
        let numbers =
            self.sizes.iter().map(|_| measured.by_ref().take(self.instances as usize).collect()).collect();
        Ok(Allocated { sizes: self.sizes.clone(), columns: KNOWN + self.policies.len(), numbers })
    }

    fn instance(&self, size: usize, seed: u64) -> Result<Vec<f64>, FigureError> {
        let pages = draw(&(self.pages)(size), seed)?;
        let optimal = simulate::optimal_rates(&pages, RATE)?;
        let columns = KNOWN + self.policies.len();
        let mut numbers = vec![0.0; pages.len() * columns];
        for ((page, optimal), row) in pages.iter().zip(optimal).zip(numbers.chunks_exact_mut(columns)) {
            row[..KNOWN].copy_from_slice(&[page.change_rate(), page.recall(), optimal]);
        }
        let setting = Setting::steady(RATE, Span::from_secs(self.horizon), seed);
        for (place, (_, policy)) in self.policies.iter().enumerate() {
            simulate::run(*policy, World::known(&pages, None), &setting, |_, page| {
                numbers[page as usize * columns + KNOWN + place] += 1.0 / self.horizon;
            })?;
        }
        Ok(numbers)
    }
}

impl Allocated {
    /// The instances of a size, page by page; none, if it was not tried.
    fn instances(&self, size: usize) -> impl Iterator<Item = impl Iterator<Item = Fetched<'_>>> + Clone {
        let place = self.sizes.iter().position(|one| *one == size);
        let instances = place.map(|place| self.numbers[place].as_slice()).unwrap_or_default();
        instances.iter().map(|numbers| numbers.chunks_exact(self.columns).map(Fetched))
    }

    /// All pages of a size.
    pub(super) fn pages(&self, size: usize) -> impl Iterator<Item = Fetched<'_>> {
        self.instances(size).flatten()
    }

    /// The mean of something over the pages of a size for which there is such a thing, over instances.
    pub(super) fn mean(&self, size: usize, of: impl Fn(Fetched<'_>) -> Option<f64> + Clone) -> Measured {
        let means = self.instances(size).filter_map(|pages| {
            let (count, sum) =
                pages.filter_map(&of).fold((0.0, 0.0), |(count, sum), number| (count + 1.0, sum + number));
            (count > 0.0).then(|| sum / count)
        });
        Measured::of(means.collect::<Vec<_>>().into_iter())
    }

    /// Dots of a policy, and what their colours tell.
    pub(super) fn dots(
        &self,
        size: usize,
        policy: usize,
        name: &str,
        shade: Option<fn(Fetched<'_>) -> f64>,
    ) -> Curve {
        let points = self.pages(size).take(DOTS).map(|page| Point {
            shade: shade.map(|shade| shade(page)),
            ..Point::at(page.optimal(), page.rate(policy))
        });
        Curve { name: name.into(), look: Look::Dots, points: points.collect() }
    }

    /// Dots with the diagonal.
    pub(super) fn scatter(
        &self,
        file: &'static str,
        title: String,
        size: usize,
        mut curves: Vec<Curve>,
    ) -> Chart {
        let most = self.pages(size).map(|page| page.optimal()).fold(0.0, f64::max);
        curves.push(Curve {
            name: "as in the optimum".into(),
            look: Look::Dashes,
            points: vec![Point::at(0.0, 0.0), Point::at(most, most)],
        });
        let axis = |label: &str| Axis { label: label.into(), scaling: Scaling::Linear, range: None };
        Chart {
            file,
            title,
            x: axis("optimal rate without signals, fetches per unit of time"),
            y: axis("empirical rate, fetches per unit of time"),
            curves,
        }
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::value::ValueFunction;

    use super::*;

    /// All fetches are someone's, and the optimum has as many.
    #[test]
    fn rates_add_up() {
        let greedy = Policy::Value(ValueFunction::Greedy);
        let plan = Plan {
            sizes: vec![80],
            instances: 1,
            horizon: 20.0,
            policies: vec![("GREEDY", greedy), ("LDS", Policy::LowDiscrepancy)],
            pages: MadeUp::paper,
        };
        let numbers = vec![vec![plan.instance(80, 3).unwrap()]];
        let allocated = Allocated { sizes: vec![80], columns: 5, numbers };
        assert_eq!(allocated.pages(80).count(), 80);
        for policy in 0..2 {
            let sum: f64 = allocated.pages(80).map(|page| page.rate(policy)).sum();
            assert!((sum - RATE).abs() < 1e-6, "{sum}");
        }
        let optimal: f64 = allocated.pages(80).map(|page| page.optimal()).sum();
        assert!((optimal - RATE).abs() < 1e-6, "{optimal}");
        let mean = allocated.mean(80, |page| (page.recall() > 0.5).then(|| page.recall()));
        assert!(mean.mean > 0.5 && allocated.pages(81).count() == 0);
        let dots = allocated.dots(80, 0, "GREEDY", Some(|page| page.recall()));
        assert!(dots.points.iter().all(|dot| dot.shade.is_some_and(|shade| (0.0..=1.0).contains(&shade))));
    }
}
