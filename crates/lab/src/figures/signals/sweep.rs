//! Policies over worlds of several sizes: the same pages and the same signals for all of them.

use refrain_core::page::Belief;
use refrain_core::time::Span;

use super::RATE;
use crate::figures::measured::Measured;
use crate::figures::{Cell, Curve, Desk, FigureError, Look, Table};
use crate::made_up::MadeUp;
use crate::policy::Policy;
use crate::simulate::{self, Lateness, Setting, World};

/// A policy, and how late its signals come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) policy: Policy,
    /// The mean delay of signals in steps between fetches; `None`: at once, and changes are integrated, not drawn.
    pub(super) late: Option<f64>,
    /// Signals so many steps after a fetch do not count.
    pub(super) ignored: f64,
}

impl Trial {
    pub(super) const fn of(name: &'static str, policy: Policy) -> Self {
        Self { name, policy, late: None, ignored: 0.0 }
    }
}

/// What is tried.
pub(super) struct Sweep {
    /// What its cells are called, beside the number of pages.
    pub(super) name: &'static str,
    /// Pages, and how often with others.
    pub(super) sizes: Vec<(usize, u64)>,
    /// Units of time.
    pub(super) horizon: f64,
    pub(super) trials: Vec<Trial>,
    /// What pages are like.
    pub(super) pages: fn(usize) -> MadeUp,
}

/// What policies are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// The optimal rates without signals, in the long run.
    Baseline,
    /// The best continuous schedule with signals, in the long run.
    Bound,
    /// One of the trials.
    Trial(usize),
    /// The same, in the second half of the time.
    Settled(usize),
}

/// What was measured: for each size, repetition by repetition.
pub(super) struct Swept {
    sizes: Vec<usize>,
    names: Vec<&'static str>,
    numbers: Vec<Vec<Vec<f64>>>,
}

/// Where chance starts from: other pages for each size and repetition, the same ones in every figure.
pub(super) fn seed(desk: &Desk<'_>, size: usize, repetition: u64) -> u64 {
    let mixed = (desk.seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed.wrapping_add((size as u64) << 20).wrapping_add(repetition)
}

/// The pages of an instance.
pub(super) fn draw(made_up: &MadeUp, seed: u64) -> Result<Vec<Belief>, FigureError> {
    made_up.draw(seed).map_err(|why| FigureError(why.to_string()))
}

impl Sweep {
    pub(super) fn measure(self, desk: &Desk<'_>) -> Result<Swept, FigureError> {
        let cells: Vec<Cell<'_>> = self
            .sizes
            .iter()
            .flat_map(|(size, repetitions)| (0..*repetitions).map(|repetition| (*size, repetition)))
            .map(|(size, repetition)| {
                let seed = seed(desk, size, repetition);
                let sweep = &self;
                Cell::new(format!("{}, {size} pages, {repetition}", self.name), move || {
                    sweep.instance(size, seed)
                })
            })
            .collect();
        let mut measured = desk.measure(&cells)?.into_iter();
        let numbers =
            self.sizes.iter().map(|(_, count)| measured.by_ref().take(*count as usize).collect()).collect();
        let names = self.trials.iter().map(|trial| trial.name).collect();
        Ok(Swept { sizes: self.sizes.iter().map(|(size, _)| *size).collect(), names, numbers })
    }

    /// Baseline, bound, and for each trial its accuracy in all of the time and in the second half of it.
    fn instance(&self, size: usize, seed: u64) -> Result<Vec<f64>, FigureError> {
        let pages = draw(&(self.pages)(size), seed)?;
        let mut numbers = vec![simulate::baseline(&pages, RATE)?, simulate::bound(&pages, RATE)?];
        let step = 1.0 / RATE;
        for trial in &self.trials {
            let setting = Setting {
                every: Some(Span::from_secs(self.horizon / 2.0)),
                late: trial.late.map(|steps| Lateness { steps, step: Span::from_secs(step) }),
                delay: Span::from_secs(trial.ignored * step),
                ..Setting::steady(RATE, Span::from_secs(self.horizon), seed)
            };
            let run = simulate::run(trial.policy, World::known(&pages, None), &setting, |_, _| {})?;
            numbers.extend([run.accuracy, run.series.last().copied().unwrap_or(run.accuracy)]);
        }
        Ok(numbers)
    }
}

impl Who {
    fn column(self) -> usize {
        match self {
            Self::Baseline => 0,
            Self::Bound => 1,
            Self::Trial(trial) => 2 + 2 * trial,
            Self::Settled(trial) => 3 + 2 * trial,
        }
    }
}

impl Swept {
    pub(super) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    fn place(&self, size: usize) -> Option<usize> {
        self.sizes.iter().position(|one| *one == size)
    }

    /// The accuracy at the size of this place.
    pub(super) fn accuracy(&self, place: usize, who: Who) -> Measured {
        Measured::of(self.numbers[place].iter().map(|numbers| numbers[who.column()]))
    }

    /// How much better one is than another, instance by instance, at the size of this place.
    pub(super) fn gain(&self, place: usize, who: Who, than: Who) -> Measured {
        let gains = self.numbers[place].iter().map(|numbers| numbers[who.column()] - numbers[than.column()]);
        Measured::of(gains)
    }

    /// The same at each size.
    pub(super) fn gains(&self, who: Who, than: Who) -> Vec<Measured> {
        (0..self.sizes.len()).map(|place| self.gain(place, who, than)).collect()
    }

    /// The same at a size, if it was tried.
    pub(super) fn gain_at(&self, size: usize, who: Who, than: Who) -> Option<Measured> {
        self.place(size).map(|place| self.gain(place, who, than))
    }

    pub(super) fn name(&self, who: Who) -> &'static str {
        match who {
            Who::Baseline => "baseline",
            Who::Bound => "optimum with signals",
            Who::Trial(trial) | Who::Settled(trial) => self.names[trial],
        }
    }

    /// Accuracy by size; with `than`, the difference to that.
    pub(super) fn curve(&self, who: Who, than: Option<Who>) -> Curve {
        let look = if matches!(who, Who::Baseline | Who::Bound) { Look::Dashes } else { Look::Line };
        let points = self.sizes.iter().enumerate().map(|(place, size)| {
            let measured = than.map_or_else(|| self.accuracy(place, who), |than| self.gain(place, who, than));
            measured.at(*size as f64)
        });
        Curve { name: self.name(who).to_owned(), look, points: points.collect() }
    }

    /// All accuracies with their errors.
    pub(super) fn table(&self, file: &'static str, title: &str, who: &[Who]) -> Table {
        let mut columns = vec!["pages".to_owned(), "instances".to_owned()];
        columns.extend(who.iter().map(|who| match who {
            Who::Settled(_) => format!("{}, second half", self.name(*who)),
            _ => self.name(*who).to_owned(),
        }));
        let rows = self.sizes.iter().enumerate().map(|(place, size)| {
            let mut row = vec![size.to_string(), self.numbers[place].len().to_string()];
            row.extend(who.iter().map(|who| self.accuracy(place, *who).to_string()));
            row
        });
        Table { file, title: title.to_owned(), columns, rows: rows.collect() }
    }

    /// "100: +0.0692 ± 0.0008, 500: ..."
    pub(super) fn list(&self, gains: &[Measured]) -> String {
        let each = self.sizes.iter().zip(gains).map(|(size, gain)| format!("{size}: {gain:+}"));
        each.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use refrain_core::value::ValueFunction;

    use super::*;
    use crate::figures::{Keeper, Recorded, Scale};

    /// Remembers what cells measured, and how often one was told.
    #[derive(Default)]
    struct Notes(Mutex<HashMap<String, (Vec<f64>, u32)>>);

    impl Keeper for Notes {
        fn kept(&self, cell: &str) -> Option<Vec<f64>> {
            self.0.lock().unwrap().get(cell).map(|(numbers, _)| numbers.clone())
        }

        fn keep(&self, cell: &str, numbers: &[f64]) {
            let mut notes = self.0.lock().unwrap();
            notes.entry(cell.into()).or_insert((numbers.to_vec(), 0)).1 += 1;
        }

        fn expect(&self, _cells: usize) {}
    }

    fn sweep() -> Sweep {
        let ncis = Policy::Value(ValueFunction::GreedyNcis);
        Sweep {
            name: "tiny",
            sizes: vec![(150, 2), (300, 3)],
            horizon: 30.0,
            trials: vec![Trial::of("GREEDY", Policy::Value(ValueFunction::Greedy)), Trial::of("NCIS", ncis)],
            pages: MadeUp::paper,
        }
    }

    /// Every cell has its name, and its numbers depend on nothing else.
    #[test]
    fn a_sweep_is_the_same_again() {
        let recorded = Recorded::default();
        let (notes, others) = (Notes::default(), Notes::default());
        let desk = Desk::new(Scale::Quick, 7, &recorded, &notes);
        let first = sweep().measure(&desk).unwrap();
        assert_eq!(notes.0.lock().unwrap().len(), 5);
        let again = sweep().measure(&Desk::new(Scale::Quick, 7, &recorded, &others)).unwrap();
        assert_eq!(first.numbers, again.numbers);
        let resumed = sweep().measure(&desk).unwrap();
        assert_eq!(first.numbers, resumed.numbers);
        let other = Notes::default();
        let other = sweep().measure(&Desk::new(Scale::Quick, 8, &recorded, &other)).unwrap();
        assert_ne!(first.numbers, other.numbers);
        let gains = first.gains(Who::Trial(1), Who::Trial(0));
        assert!(gains.iter().all(|gain| gain.mean > 0.02), "{gains:?}");
        assert_eq!(first.curve(Who::Trial(0), None).points.len(), 2);
        assert_eq!(first.gain_at(300, Who::Trial(1), Who::Trial(0)), Some(gains[1]));
        assert_eq!(first.gain_at(7, Who::Trial(1), Who::Trial(0)), None);
    }

    /// A Poisson(6) delay costs .013 at 100 pages.
    #[test]
    fn late_signals_cost_what_is_known() {
        let ncis = Policy::Value(ValueFunction::GreedyNcis);
        let late = |steps| Trial { late: Some(steps), ..Trial::of("NCIS", ncis) };
        let (recorded, notes) = (Recorded::default(), Notes::default());
        let sweep =
            Sweep { sizes: vec![(100, 8)], horizon: 150.0, trials: vec![late(0.0), late(6.0)], ..sweep() };
        let swept = sweep.measure(&Desk::new(Scale::Quick, 1, &recorded, &notes)).unwrap();
        let loss = swept.gain(0, Who::Trial(1), Who::Trial(0));
        assert!((loss.mean + 0.013).abs() < 0.004, "{loss}");
    }
}
