//! `refrain lab list`, `run` and `report`: the papers' figures, measured anew.
//!
//! A run asks an experiment for its findings, which works cell by cell; a [`notebook`] keeps what cells measured. Findings become a [`record`], a file from
//! which everything else is made: [`files`] for tools, charts ([`draw`]), and the `report` for people.

mod chosen;
mod draw;
mod files;
mod list;
mod notebook;
mod papers;
mod record;
mod recorded;
mod report;
mod run;

pub(super) use list::list;
pub(super) use report::report;
pub(super) use run::run;
