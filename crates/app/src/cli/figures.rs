//! `refrain lab list`, `run` and `report`, as they are typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use refrain_lab::figures::Scale;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refrain lab list
  refrain lab list --json")]
pub(crate) struct FigureListArgs {
    /// Print JSON instead of lines
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Measures figures of the papers anew, says claim by claim whether they hold, and writes into the folder:
  report.html              all of it, for people (refrain lab report makes it anew)
  figures/NAME-CHART.svg   the charts, and as numbers (.csv); tables as .csv
  figures/NAME.md, .json   what the paper claims and what was measured, for people and for programs
  cells/                   what is measured so far: a run that was stopped continues where it was
The same name, scale and seed give the same numbers, on any number of processors.

Examples:
  refrain lab run all
  refrain lab run polite cost-5 --seed 7
  refrain lab run all --scale paper --out paper-report")]
pub(crate) struct FigureRunArgs {
    /// Names of experiments or papers, as in refrain lab list; or all
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,

    /// How large: everything in minutes, or as in the papers
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    pub(crate) scale: ScaleName,

    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// The folder to write
    #[arg(long, value_name = "DIR", default_value = "lab-report")]
    pub(crate) out: PathBuf,

    /// Measure everything again, whatever an earlier run left
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
One HTML file that needs nothing else: what was asked, what was found, every chart, and where it disagrees with the papers.

Examples:
  refrain lab report
  refrain lab report --out paper-report")]
pub(crate) struct FigureReportArgs {
    /// The folder that refrain lab run wrote
    #[arg(long, value_name = "DIR", default_value = "lab-report")]
    pub(crate) out: PathBuf,
}

/// How large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleName {
    /// All experiments in minutes
    Quick,
    /// As in the papers: hours
    Paper,
}

impl ScaleName {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }
}

impl From<ScaleName> for Scale {
    fn from(name: ScaleName) -> Self {
        match name {
            ScaleName::Quick => Self::Quick,
            ScaleName::Paper => Self::Paper,
        }
    }
}
