//! `refrain plan`, as it is typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use refrain_core::time::Span;

use super::Unit;
use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Files are CSV with a header line, columns in any order, plain or gzip'ed; '-' is standard input.
  pages: page_id, host, change_rate, importance [, age (or 'never')] [, gap]; per --unit, or with
         units in the header: change_rate_per_day, age_hours, gap_seconds
  gaps:  host, gap (like 15s)
Times are a number and a unit: 500ms, 15s, 5m, 24h, 7d.

Examples:
  refrain plan --pages pages.csv --horizon 24h --budget 8640000 --crawlers 10 --crawler-rate 10/s
  refrain plan --pages pages.csv --horizon 8h --budget 20000 --politeness 30s --out schedule.csv
  refrain plan --pages pages.csv --horizon 8h --budget 20000 --method psp --json | jq .staleness")]
pub(crate) struct PlanArgs {
    /// Pages, the hosts they are on, how often they change and how much they matter
    #[arg(long, value_name = "FILE", required_unless_present = "data", conflicts_with = "data")]
    pub(crate) pages: Option<PathBuf>,

    /// The pages of a data directory instead, as they are believed to be
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// How long the plan is
    #[arg(long, value_name = "TIME", value_parser = units::some_span, allow_hyphen_values = true)]
    pub(crate) horizon: Span,

    /// How many fetches there may be
    #[arg(long, value_name = "FETCHES", value_parser = fetches, allow_hyphen_values = true)]
    pub(crate) budget: u64,

    /// The least time between two requests to a host
    #[arg(long, value_name = "TIME", value_parser = units::span, default_value = "15s", allow_hyphen_values = true)]
    pub(crate) politeness: Span,

    /// Hosts with another least time
    #[arg(long, value_name = "FILE")]
    pub(crate) gaps: Option<PathBuf>,

    /// How many crawlers there are
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) crawlers: u32,

    /// How many fetches each crawler makes [default: 1/s]
    #[arg(long, value_name = "RATE", value_parser = units::rate, conflicts_with = "download_time")]
    pub(crate) crawler_rate: Option<Span>,

    /// How long a crawler is busy with a fetch, instead of its rate
    #[arg(long, value_name = "TIME", value_parser = units::some_span)]
    pub(crate) download_time: Option<Span>,

    /// How fetches are timed
    #[arg(long, value_enum, default_value_t = PlanMethod::Refrain)]
    pub(crate) method: PlanMethod,

    /// The unit of time of rates, ages and gaps, unless the header of the pages says it
    #[arg(long, value_enum, default_value_t = Unit::Hours)]
    pub(crate) unit: Unit,

    /// Write the plan as CSV: time (seconds from the start), crawler, `page_id`; gzip'ed if the name ends in .gz
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Write fetches and staleness over the horizon as a picture
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Print JSON instead of a summary
    #[arg(long)]
    pub(crate) json: bool,
}

/// The methods of `refrain plan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanMethod {
    /// As even as crawlers and hosts demand, in the order that loses least
    Refrain,
    /// The polite-policy paper: fetches of a host in the order of their best moments, evenly
    Psp,
    /// The same number of fetches, each at its best moment or as soon as possible after it
    Mp2,
    /// Numbers of fetches that ignore politeness, each at its best moment or as soon as possible after it
    MWolf,
}

fn fetches(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "expected a whole number of fetches, not negative".to_owned())
}
