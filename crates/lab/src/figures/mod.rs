//! The papers' figures, measured anew: one command tells whether this is their system, and where it goes beyond them.
//!
//! An [`Experiment`] is a figure (or a table) of a paper: it works at a [`Desk`], cell by cell, and brings back [`Findings`]: charts, tables, and
//! for each claim of the paper what was measured and whether that agrees. A cell is a piece of work that can be done apart from all others
//! and is nothing but numbers: cells run side by side, and what was measured once is not measured again when a run is resumed.

mod cost;
mod desk;
mod ephemeral;
mod findings;
mod polite;

pub use desk::{Cell, Desk, FigureError, InterestSet, ItemSet, Keeper, Recorded};
pub use findings::{Axis, Chart, Claim, Curve, Findings, Look, Point, Scaling, Table, Verdict};

/// Where an experiment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paper {
    /// Optimal scheduling with noisy change signals.
    Signals,
    /// Polite plans for a limited time.
    Polite,
    /// Online estimation of change rates.
    Rates,
    /// Short-lived new content.
    Ephemeral,
    /// What refreshing costs.
    Cost,
}

/// How large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// All experiments in minutes: fewer repetitions, and smaller where that does not change what is seen.
    Quick,
    /// As in the paper.
    Paper,
}

/// One figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What is typed: `signals-2`.
    pub name: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Which figure of it: `Fig 2`.
    pub figure: &'static str,
    /// One line for a list: what is compared with what.
    pub title: &'static str,
    /// Does it.
    pub run: fn(&Desk<'_>) -> Result<Findings, FigureError>,
}

/// All of them, paper by paper.
pub fn all() -> Vec<Experiment> {
    let papers: Vec<&[Experiment]> = vec![
        // In the order of the papers.
        &polite::EXPERIMENTS,
        &ephemeral::EXPERIMENTS,
        &cost::EXPERIMENTS,
    ];
    papers.concat()
}
