//! Where an experiment works.

use rayon::prelude::*;

use super::Scale;
use crate::discover::Item;
use crate::trace::Trace;

/// What an experiment is given.
pub struct Desk<'a> {
    /// How large.
    pub scale: Scale,
    /// Where chance starts from.
    pub seed: u64,
    /// Real histories.
    pub recorded: &'a Recorded,
    keeper: &'a dyn Keeper,
}

/// Who keeps what cells measured, and shows how far it has come. It must be quick.
pub trait Keeper: Sync {
    /// What this cell measured before, in a run with the same scale and seed.
    fn kept(&self, cell: &str) -> Option<Vec<f64>>;
    /// A cell is done.
    fn keep(&self, cell: &str, numbers: &[f64]);
    /// So many more cells are going to be asked for.
    fn expect(&self, cells: usize);
}

/// A piece of work that stands alone. Its numbers depend on its name, the scale and the seed, and on nothing else.
pub struct Cell<'a> {
    /// A name that no other cell of the experiment has.
    pub name: String,
    /// The work. It may be called on any thread, and may use rayon itself.
    pub work: Box<dyn Fn() -> Result<Vec<f64>, FigureError> + Send + Sync + 'a>,
}

impl<'a> Cell<'a> {
    /// A cell.
    pub fn new(
        name: impl Into<String>,
        work: impl Fn() -> Result<Vec<f64>, FigureError> + Send + Sync + 'a,
    ) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }
}

/// Real histories that come with Refrain.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Pages with changes and signals.
    pub trace: Option<Trace>,
    /// Short-lived items, by where they are from.
    pub items: Vec<ItemSet>,
    /// How the interest in items went, by where they are from.
    pub interest: Vec<InterestSet>,
}

/// Short-lived items of some sources.
#[derive(Clone, Debug, Default)]
pub struct ItemSet {
    /// What they are called: `reddit`.
    pub name: String,
    /// The items of each source, in the order of time.
    pub sources: Vec<Vec<Item>>,
}

impl ItemSet {
    /// How many appear in a day.
    pub fn per_day(&self) -> f64 {
        let births = || self.sources.iter().flatten().map(|item| item.born);
        let seconds =
            births().min().zip(births().max()).map_or(0.0, |(first, last)| last.since(first).as_secs());
        self.count() * 86_400.0 / seconds.max(1.0)
    }

    /// How many a source has in the mean.
    pub fn per_source(&self) -> f64 {
        self.count() / self.sources.len().max(1) as f64
    }

    fn count(&self) -> f64 {
        self.sources.iter().map(Vec::len).sum::<usize>() as f64
    }
}

/// How interest went.
#[derive(Clone, Debug, Default)]
pub struct InterestSet {
    /// In what: `news`.
    pub name: String,
    /// For each item: seconds since it appeared, and what had been counted by then; both grow.
    pub curves: Vec<Vec<(f64, f64)>>,
}

/// Why there are no findings.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FigureError(pub String);

impl<'a> Desk<'a> {
    /// A desk.
    pub fn new(scale: Scale, seed: u64, recorded: &'a Recorded, keeper: &'a dyn Keeper) -> Self {
        Self { scale, seed, recorded, keeper }
    }

    /// One of two, by the scale.
    pub fn pick<T>(&self, quick: T, paper: T) -> T {
        match self.scale {
            Scale::Quick => quick,
            Scale::Paper => paper,
        }
    }

    /// What the cells measure, in their order, side by side; those that were done before are not done again.
    ///
    /// # Errors
    /// The first one that a cell returns.
    pub fn measure(&self, cells: &[Cell<'_>]) -> Result<Vec<Vec<f64>>, FigureError> {
        self.keeper.expect(cells.len());
        let measured = cells.par_iter().map(|cell| {
            let before = self.keeper.kept(&cell.name);
            let numbers = before.map_or_else(|| (cell.work)(), Ok)?;
            self.keeper.keep(&cell.name, &numbers);
            Ok(numbers)
        });
        measured.collect()
    }
}
