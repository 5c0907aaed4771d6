//! `refrain lab discover` as it is typed.

use std::path::PathBuf;

use clap::Args;
use refrain_core::time::Span;
use refrain_lab::made_up::Numbers;

use super::{Unit, positive};
use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
There is one slot every 1/R: for a visit to a hub, which shows the links that appeared since the visit before, or for the first
fetch of a page that such a link leads to. That earns PROFIT times e^(-DECAY times its age).
  hubs:  hub_id, link_rate, profit, decay (rates per --unit)
  items: source_id, item_id, publish_time (seconds since 1970), popularity (the profit); the source is the hub
Files are CSV with a header line, columns in any order, plain or gzip'ed; '-' is standard input.
Distributions: a number, uniform(LOW,HIGH), log-uniform(LOW,HIGH), beta(A,B), gamma(SHAPE,RATE), pareto(LEAST,EXPONENT)
Policies: bfs, quota, frequency, echo-greedy, echo-schedule, echo-newpages, miniflux, refrain, all

Examples:
  refrain lab discover --hubs examples/hubs.csv --unit s --rate 0.012 --horizon 1000000
  refrain lab discover --made-up 200 --rate 0.5x --horizon 2000 --reps 10
  refrain lab discover --items examples/items.csv --half-life 6h --rate 20 --policy refrain,miniflux")]
pub(crate) struct DiscoverArgs {
    /// Hubs and what is known of them; links appear by chance
    #[arg(long, value_name = "FILE", required_unless_present_any = ["made_up", "items"], conflicts_with_all = ["made_up", "items"])]
    pub(crate) hubs: Option<PathBuf>,

    /// So many hubs by chance, others in each repetition
    #[arg(long, value_name = "HUBS", conflicts_with = "items")]
    pub(crate) made_up: Option<usize>,

    /// Recorded items: a file, or a directory with items.csv or items.csv.gz. Policies must learn what hubs are like
    #[arg(long, value_name = "PATH")]
    pub(crate) items: Option<PathBuf>,

    /// How long it takes until a recorded item is worth half as much [default: 6h]
    #[arg(long, value_name = "TIME", value_parser = units::some_span, conflicts_with_all = ["hubs", "made_up"])]
    pub(crate) half_life: Option<Span>,

    /// New links per unit of time on made-up hubs
    #[arg(long, value_name = "DISTRIBUTION", default_value = "log-uniform(0.01,1)", conflicts_with_all = ["hubs", "items"])]
    pub(crate) link_rate: Numbers,

    /// What new links of made-up hubs are worth
    #[arg(long, value_name = "DISTRIBUTION", default_value = "log-uniform(0.1,10)", conflicts_with_all = ["hubs", "items"])]
    pub(crate) profit: Numbers,

    /// How fast the worth of links of made-up hubs falls, per unit of time
    #[arg(long, value_name = "DISTRIBUTION", default_value = "log-uniform(0.01,0.1)", conflicts_with_all = ["hubs", "items"])]
    pub(crate) decay: Numbers,

    /// Policies must learn link rates and profits, instead of knowing them
    #[arg(long, conflicts_with = "items")]
    pub(crate) learn: bool,

    /// What pages were worth is known when the next access log arrives, every so often [default: when they are fetched]
    #[arg(long, value_name = "TIME", value_parser = units::some_span)]
    pub(crate) logs_every: Option<Span>,

    /// What links of a hub are believed to be worth until the first one is known [default: the mean of known hubs]
    #[arg(long, value_name = "P", value_parser = positive)]
    pub(crate) default_profit: Option<f64>,

    /// The budget: fetches per unit of time, or times the links that appear (0.5x)
    #[arg(long, value_name = "R", default_value = "1x")]
    pub(crate) rate: HubRate,

    /// How long it goes, in units of time; recorded items go as long as they go
    #[arg(long, value_name = "T", value_parser = positive, required_unless_present = "items", conflicts_with = "items")]
    pub(crate) horizon: Option<f64>,

    /// Score only from here on, in units of time
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) from: Option<f64>,

    /// Which policies, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "all")]
    pub(crate) policy: Vec<String>,

    /// Where chance starts from
    #[arg(long, default_value_t = 1, conflicts_with = "items")]
    pub(crate) seed: u64,

    /// How often to repeat it, with other links and made-up hubs
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "items", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) reps: u64,

    /// The unit of time
    #[arg(long, value_enum, default_value_t = Unit::Hours)]
    pub(crate) unit: Unit,

    /// Write what the policy fetches as CSV: time (from the start), `hub_id`, `item_id` (empty for a visit); of the first repetition
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// A budget for hubs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HubRate {
    /// Fetches per unit of time.
    PerUnit(f64),
    /// Fetches per link that appears.
    Times(f64),
}

impl std::str::FromStr for HubRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected fetches per unit of time like 20, or times the links that appear like 0.5x";
        let text = text.trim();
        let (number, times) = text.strip_suffix('x').map_or((text, false), |number| (number, true));
        let number = positive(number).map_err(|_| expected)?;
        Ok(if times { Self::Times(number) } else { Self::PerUnit(number) })
    }
}
