//! `refrain optimum`, as it is typed.

use std::path::PathBuf;

use clap::Args;

use super::positive;
use crate::failure::Failure;
use crate::units;

/// A rate as it was typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SomeRate {
    /// Per unit of time of the pages.
    PerUnit(f64),
    /// With a unit of its own.
    PerSecond(f64),
}

impl SomeRate {
    /// The rate per unit of time of the pages, which has so many seconds if it is known.
    pub(crate) fn per(self, unit: Option<f64>) -> Result<f64, Failure> {
        match (self, unit) {
            (Self::PerUnit(rate), _) => Ok(rate),
            (Self::PerSecond(rate), Some(unit)) => Ok(rate * unit),
            (Self::PerSecond(_), None) => Err(Failure::input(
                "--rate has a unit, but the table has none; expected a column like change_rate_per_day, or a plain number",
            )),
        }
    }
}

fn some_rate(text: &str) -> Result<SomeRate, String> {
    if text.contains('/') {
        units::rate(text).map(|each| SomeRate::PerSecond(1.0 / each.as_secs()))
    } else {
        positive(text).map(SomeRate::PerUnit)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Rates are per one unit of time: that of the column change_rate_per_day (or _second, _minute, _hour);
without such a name whichever you like, as long as it is the same everywhere.
Files are CSV with a header line, columns in any order, plain or gzip'ed; '-' is standard input.
  pages: page_id, change_rate, importance [, recall, false_rate] [, host] [, min_rate, max_rate]
  hubs:  hub_id, link_rate, profit, decay

Examples:
  refrain optimum --pages pages.csv --rate 100
  refrain optimum --pages pages.csv --rate 100 --json | jq .freshness
  refrain optimum --pages pages.csv --sweep --svg curve.svg
  refrain optimum --pages pages.csv --fetch-cost 1 --stale-cost 0.5
  refrain optimum --hubs hubs.csv --rate 20")]
pub(crate) struct OptimumArgs {
    /// Pages and what is believed about them
    #[arg(long, value_name = "FILE", required_unless_present_any = ["hubs", "data"], conflicts_with_all = ["hubs", "data"])]
    pub(crate) pages: Option<PathBuf>,

    /// The pages of a data directory instead, as they are believed to be; rates are per day
    #[arg(long, value_name = "DIR", conflicts_with = "hubs")]
    pub(crate) data: Option<PathBuf>,

    /// Hubs (front pages, feeds) that show links to short-lived pages
    #[arg(long, value_name = "FILE")]
    pub(crate) hubs: Option<PathBuf>,

    /// The budget: fetches per unit of time, or with a unit of its own, like 5/s
    #[arg(long, value_name = "R", value_parser = some_rate)]
    pub(crate) rate: Option<SomeRate>,

    /// What a fetch costs; with --stale-cost it fixes the price, and the rate comes out
    #[arg(long, value_name = "C", value_parser = positive, requires = "stale_cost", conflicts_with = "rate")]
    pub(crate) fetch_cost: Option<f64>,

    /// What a stale copy of a page of importance 1 costs per unit of time
    #[arg(long, value_name = "S", value_parser = positive, requires = "fetch_cost")]
    pub(crate) stale_cost: Option<f64>,

    /// Ignore the columns recall and `false_rate`
    #[arg(long, conflicts_with = "hubs")]
    pub(crate) no_signals: bool,

    /// The curve of freshness against budget: which budget buys 90 %?
    #[arg(long, conflicts_with_all = ["hubs", "csv", "fetch_cost"])]
    pub(crate) sweep: bool,

    /// Write the curve as a picture (with --sweep)
    #[arg(long, value_name = "FILE", requires = "sweep")]
    pub(crate) svg: Option<PathBuf>,

    /// Charge for the links of every hub, visited or not, as the ephemeral-content paper does
    #[arg(long, requires = "hubs", conflicts_with = "pages")]
    pub(crate) every_hub: bool,

    /// Write each page's rate, interval and freshness as CSV (gzip'ed if the name ends in .gz; '-' is standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// Print JSON instead of a summary
    #[arg(long)]
    pub(crate) json: bool,
}
