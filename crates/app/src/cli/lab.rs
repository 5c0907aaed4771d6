//! `refrain lab`, as it is typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use refrain_core::time::{Span, Time};
use refrain_lab::made_up::Numbers;

use super::{DiscoverArgs, FigureListArgs, FigureReportArgs, FigureRunArgs, Unit, moment, positive};
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Pages whose parameters are known, from a file or made up
    Simulate(SimulateArgs),
    /// A recorded history, crawled anew by policies that must learn
    Replay(ReplayArgs),
    /// Freshness against budget on a recorded history, and the fetches that others need for the same
    Sweep(SweepArgs),
    /// Make up a history: hosts, signals that are late, rates that drift, days and nights
    Invent(InventArgs),
    /// What a crawler logged, or the Bing freshness dataset, as a trace
    Import(ImportArgs),
    /// Hubs that show links to short-lived pages: which to visit, what to fetch
    Discover(DiscoverArgs),
    /// The figures of the papers that can be measured anew
    List(FigureListArgs),
    /// Measure figures of the papers anew, and say whether their claims hold
    Run(FigureRunArgs),
    /// What was measured, as one HTML file
    Report(FigureReportArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
All copies are fresh at the start, fetch k is at k/R, and signals come before the fetch at the same moment. Accuracy is the
chance that a request finds a fresh copy, integrated exactly; the baseline is what the optimal rates without signals give
in the long run.
  pages:   page_id, change_rate, importance [, recall, false_rate]
  signals: time, page_id, in the order of time
Distributions: a number, uniform(LOW,HIGH), log-uniform(LOW,HIGH), beta(A,B), gamma(SHAPE,RATE), pareto(LEAST,EXPONENT)
Policies: greedy, greedy-cis, greedy-ncis, approx-1, approx-2, greedy-cis-plus, greedy-ncis-d, lds, uniform, proportional,
importance, lambdacrawl, nutch, nutch-sync, stormcrawler, norconex, daily, refrain, all

Examples:
  refrain lab simulate --pages pages.csv --rate 5 --horizon 100
  refrain lab simulate --made-up 1000 --rate 100 --horizon 1000 --policy greedy,greedy-ncis --reps 20
  refrain lab simulate --pages pages.csv --signals signals.csv --rate 5 --horizon 20 --policy refrain --picks picks.csv")]
pub(crate) struct SimulateArgs {
    /// Pages and what is known about them
    #[arg(long, value_name = "FILE", required_unless_present = "made_up", conflicts_with = "made_up")]
    pub(crate) pages: Option<PathBuf>,

    /// So many pages by chance, others in each repetition [default distributions: the signals paper's]
    #[arg(long, value_name = "PAGES")]
    pub(crate) made_up: Option<usize>,

    /// Changes per unit of time of made-up pages
    #[arg(long, value_name = "DISTRIBUTION", default_value = "uniform(0,1)", conflicts_with = "pages")]
    pub(crate) change_rate: Numbers,

    /// The importance of made-up pages
    #[arg(long, value_name = "DISTRIBUTION", default_value = "uniform(0,1)", conflicts_with = "pages")]
    pub(crate) importance: Numbers,

    /// The share of changes of made-up pages that signals announce
    #[arg(long, value_name = "DISTRIBUTION", default_value = "beta(0.25,0.25)", conflicts_with = "pages")]
    pub(crate) recall: Numbers,

    /// False signals of made-up pages per unit of time
    #[arg(long, value_name = "DISTRIBUTION", default_value = "uniform(0.1,0.6)", conflicts_with = "pages")]
    pub(crate) false_rate: Numbers,

    /// Signals as they came, instead of signals by chance
    #[arg(long, value_name = "FILE", conflicts_with_all = ["made_up", "reps"])]
    pub(crate) signals: Option<PathBuf>,

    /// The budget: fetches per unit of time
    #[arg(long, value_name = "R", value_parser = positive)]
    pub(crate) rate: f64,

    /// How long it goes, in units of time
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) horizon: f64,

    /// Another budget later: fetches per unit of time. The baseline is that of this one
    #[arg(long, value_name = "R", value_parser = positive, requires = "then_at")]
    pub(crate) then_rate: Option<f64>,

    /// When the budget changes, in units of time
    #[arg(long, value_name = "T", value_parser = positive, requires = "then_rate")]
    pub(crate) then_at: Option<f64>,

    /// Score only from here on, in units of time
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) from: Option<f64>,

    /// For greedy-ncis-d: signals so soon after a fetch do not count
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) delay: Option<f64>,

    /// Which policies, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "all")]
    pub(crate) policy: Vec<String>,

    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// How often to repeat it, with other signals and made-up pages
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) reps: u64,

    /// The unit of time; only rules that speak of days need to know
    #[arg(long, value_enum, default_value_t = Unit::Hours)]
    pub(crate) unit: Unit,

    /// Write what the policy fetches as CSV: time, `page_id` (of the first repetition)
    #[arg(long, value_name = "FILE")]
    pub(crate) picks: Option<PathBuf>,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("history").required(true).args(["trace", "log"])))]
#[command(after_help = "\
A policy sees what a crawler sees and must learn the rest. A trace is a directory of CSV files, plain or gzip'ed (.csv.gz):
  pages.csv:   page_id, importance, first_seen, last_seen [, source, host_group, signals_from]
  changes.csv: page_id, timestamp_seconds
  signals.csv: page_id, timestamp_seconds [, kind, is_change]      (may be missing)
  outages.csv: source, start, end                                  (may be missing)
A log is what refrain crawl --decisions wrote. What was really done is one more row, 'recorded'. Between two looks there is at most one
change to be seen, and it is put at a moment by chance: nobody knows better.
Rates: 200 is fetches a day, 4x four fetches per change that there is, 0.5r half of the fetches that were recorded
Policies: as for simulate, and informed (knows the true mean rates) and clairvoyant (knows the future)

Examples:
  refrain lab replay --trace examples/scoop
  refrain lab replay --trace examples/scoop --rate 10/day --policy refrain,importance --signals none
  refrain lab replay --trace examples/scoop --rate 4x --policy refrain --fetches fetches.csv
  refrain lab replay --log refrain-data/decisions --rate 0.5r --policy refrain,uniform,nutch")]
pub(crate) struct ReplayArgs {
    /// The trace: a directory with pages.csv, changes.csv and, if there are any, signals.csv and outages.csv
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: Option<PathBuf>,

    /// Instead: what a crawl decided and saw, a file or a folder of them, plain or gzip'ed
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) log: Option<PathBuf>,

    /// The budget: fetches per day (200), times the changes (4x), or times the fetches recorded in a log (0.5r)
    /// [default: 1x, and 1r with --log]
    #[arg(long, value_name = "R")]
    pub(crate) rate: Option<ReplayRate>,

    /// Which policies, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "all")]
    pub(crate) policy: Vec<String>,

    /// Which kinds of signals, separated by commas; or none
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "all")]
    pub(crate) signals: Vec<String>,

    /// From when on, in seconds since 1970 or as a date
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) from: Option<Time>,

    /// Until when
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) to: Option<Time>,

    /// Fetches say when the page was last changed
    #[arg(long)]
    pub(crate) dated: bool,

    /// Policies with intervals of their own keep to those, whatever that costs
    #[arg(long)]
    pub(crate) own_pace: bool,

    /// For greedy-ncis-d: signals so soon after a fetch do not count
    #[arg(long, value_name = "TIME", value_parser = units::some_span)]
    pub(crate) delay: Option<Span>,

    /// No page waits longer than this for a fetch, if the budget allows; what that costs is the difference
    #[arg(long, value_name = "TIME", value_parser = units::some_span)]
    pub(crate) floor: Option<Span>,

    /// Write what the policy fetches as CSV: time, `page_id`
    #[arg(long, value_name = "FILE")]
    pub(crate) fetches: Option<PathBuf>,

    /// With --log: where the chance starts from that puts changes between two looks
    #[arg(long, default_value_t = 1, conflicts_with = "trace")]
    pub(crate) seed: u64,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Every policy crawls the trace with every budget, as in refrain lab replay. The second table says how many times the fetches of one
policy the others need to be as fresh, interpolated between the budgets.

Examples:
  refrain lab sweep --trace examples/scoop
  refrain lab sweep --trace examples/scoop --rates 1x,2x,4x,8x --policy refrain,uniform,nutch --signals none --svg sweep.svg")]
pub(crate) struct SweepArgs {
    /// The trace: a directory, as for refrain lab replay
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: PathBuf,

    /// The budgets: fetches per day, or times the changes that there are
    #[arg(
        long,
        value_name = "R",
        value_delimiter = ',',
        default_value = "0.0625x,0.125x,0.25x,0.5x,1x,2x,4x,8x,16x"
    )]
    pub(crate) rates: Vec<ReplayRate>,

    /// Which policies, separated by commas
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "refrain,clairvoyant,informed,lambdacrawl,importance,nutch,stormcrawler,norconex,uniform"
    )]
    pub(crate) policy: Vec<String>,

    /// The policy that the others are compared with
    #[arg(long, value_name = "NAME", default_value = "refrain")]
    pub(crate) against: String,

    /// Which kinds of signals, separated by commas; or none
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_value = "all")]
    pub(crate) signals: Vec<String>,

    /// From when on, in seconds since 1970 or as a date
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) from: Option<Time>,

    /// Until when
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) to: Option<Time>,

    /// Fetches say when the page was last changed
    #[arg(long)]
    pub(crate) dated: bool,

    /// Draw the curves
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Writes pages.csv, changes.csv and signals.csv, a trace for refrain lab replay and sweep. It starts on a Monday. Rates are per day.
Distributions: a number, uniform(LOW,HIGH), log-uniform(LOW,HIGH), beta(A,B), gamma(SHAPE,RATE), pareto(LEAST,EXPONENT)

Examples:
  refrain lab invent --out world --pages 1000 --days 365
  refrain lab invent --out world --pages 1000 --days 365 --daily 0.9 --weekly 0.9 --drift 90 --delay 'uniform(0,6)'")]
pub(crate) struct InventArgs {
    /// The directory to write
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// How many pages
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) pages: usize,

    /// How many days
    #[arg(long, value_name = "DAYS", default_value_t = 365.0, value_parser = positive)]
    pub(crate) days: f64,

    /// Changes per day
    #[arg(long, value_name = "DISTRIBUTION", default_value = "gamma(0.3,6)")]
    pub(crate) change_rate: Numbers,

    /// How much pages matter
    #[arg(long, value_name = "DISTRIBUTION", default_value = "pareto(1,1.1)")]
    pub(crate) importance: Numbers,

    /// The share of changes that signals announce
    #[arg(long, value_name = "DISTRIBUTION", default_value = "beta(2,1)")]
    pub(crate) recall: Numbers,

    /// False signals per day
    #[arg(long, value_name = "DISTRIBUTION", default_value = "gamma(0.3,15)")]
    pub(crate) false_rate: Numbers,

    /// How late signals come, in hours
    #[arg(long, value_name = "DISTRIBUTION", default_value = "0")]
    pub(crate) delay: Numbers,

    /// On how many hosts: the k-th has a share of about 1/k
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) hosts: u32,

    /// Change rates of a host's pages are multiplied by one number
    #[arg(long, value_name = "DISTRIBUTION", default_value = "1")]
    pub(crate) host_factor: Numbers,

    /// How many days a page lives [default: all of them]
    #[arg(long, value_name = "DISTRIBUTION")]
    pub(crate) life: Option<Numbers>,

    /// How much changes follow the hour, from 0 (not at all) to 1 (none at midnight)
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) daily: f64,

    /// How much changes follow the day of the week, from 0 (not at all) to 1 (none on weekends)
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) weekly: f64,

    /// After about so many days a page changes at another rate [default: never]
    #[arg(long, value_name = "DAYS", value_parser = positive)]
    pub(crate) drift: Option<f64>,

    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Writes a trace (pages.csv, changes.csv) for refrain lab replay and sweep, and rates.csv for refrain optimum and lab simulate. Between
two fetches that differ one change is put at a moment by chance: nobody knows better.
  crawl log: time, page_id, changed [, importance, host], in the order of time
  Bing:      a directory with url_urlid_hostid.txt, host_hostid_isconstrained.txt, urlid_imp.txt, urlid_offset_history.txt and
             urlid_chrate_compl_obs_hist.txt

Examples:
  refrain lab import --crawl-log log.csv.gz --out mine
  refrain lab import --bing dataset --out bing")]
pub(crate) struct ImportArgs {
    /// What a crawler fetched, and what it saw
    #[arg(long, value_name = "FILE", required_unless_present = "bing", conflicts_with = "bing")]
    pub(crate) crawl_log: Option<PathBuf>,

    /// The directory of the Bing freshness dataset
    #[arg(long, value_name = "DIR")]
    pub(crate) bing: Option<PathBuf>,

    /// The directory to write
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// A budget for a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReplayRate {
    /// Fetches per day.
    PerDay(f64),
    /// Fetches per change.
    Times(f64),
    /// Fetches per fetch that was recorded.
    Recorded(f64),
}

impl std::str::FromStr for ReplayRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        type Counted = fn(f64) -> ReplayRate;
        let expected = "expected fetches per day like 200 or 200/day, times the changes like 4x, or times the fetches of a log like 0.5r";
        let text = text.trim();
        let units: [(&str, Counted); 5] = [
            ("/day", Self::PerDay),
            ("/d", Self::PerDay),
            ("x", Self::Times),
            ("r", Self::Recorded),
            ("", Self::PerDay),
        ];
        let found = units.into_iter().find_map(|(end, unit)| Some((text.strip_suffix(end)?, unit)));
        let (number, unit) = found.ok_or(expected)?;
        Ok(unit(positive(number).map_err(|_| expected)?))
    }
}
