//! The command line as it is typed. What it means is decided where it is used.

mod crawl;
mod data;
mod demo;
mod discover;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use refrain_core::time::{Span, Time};
use refrain_lab::made_up::Numbers;

use crate::units;
pub(crate) use crawl::CrawlArgs;
pub(crate) use data::*;
pub(crate) use demo::DemoArgs;
pub(crate) use discover::{DiscoverArgs, HubRate};

/// A web crawler that knows when to come back to a page, and when to hold back.
#[derive(Debug, Parser)]
#[command(name = "refrain", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keep copies of pages as fresh as a budget allows, politely
    Crawl(CrawlArgs),
    /// A file of settings for `refrain crawl` with every key, its default, and what it is for
    Config,
    #[command(flatten)]
    Data(DataCommand),
    /// What a budget of fetches can buy at best: how often to fetch each page, and how fresh the copies will be
    Optimum(OptimumArgs),
    /// How often a page changes, and how far its signals can be believed, from what fetches saw
    Estimate(EstimateArgs),
    /// A plan for a limited time: which crawler fetches which page when, politely, and how fresh that keeps the copies
    Plan(PlanArgs),
    /// Policies under a virtual clock: what would they make of a budget?
    Lab(LabArgs),
    /// A small living web on this machine, crawled live for a minute, and the truth about it
    Demo(DemoArgs),
    /// Measure this machine: nanoseconds per crawl value, seconds per optimum and plan
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Rates are per one unit of time, whichever you like, as long as it is the same everywhere.
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
    #[arg(long, value_name = "FILE", required_unless_present = "hubs", conflicts_with = "hubs")]
    pub(crate) pages: Option<PathBuf>,

    /// Hubs (front pages, feeds) that show links to short-lived pages
    #[arg(long, value_name = "FILE")]
    pub(crate) hubs: Option<PathBuf>,

    /// The budget: fetches per unit of time
    #[arg(long, value_name = "R", value_parser = positive)]
    pub(crate) rate: Option<f64>,

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

#[derive(Debug, Args)]
#[command(after_help = "\
One line of FILE is the time between two successive fetches of a page, and whether it had changed:
  elapsed, changed (0 or 1) [, signals (how many came in that time)] [, page_id]
Time is in hours unless --unit says otherwise, and rates are per that unit. Files are CSV with a header line,
plain or gzip'ed; '-' is standard input. With --kind interest: age, clicks (all clicks up to that age).

Examples:
  refrain estimate --intervals seen.csv
  refrain estimate --intervals seen.csv --method refrain --json | jq .methods.refrain.rate
  refrain estimate --intervals seen.csv --method lln,sa,sam --fetch-rate 3
  refrain estimate --intervals clicks.csv --kind interest
  refrain estimate --study docs/images --runs 20000")]
pub(crate) struct EstimateArgs {
    /// What fetches saw
    #[arg(long, value_name = "FILE", required_unless_present = "study", conflicts_with = "study")]
    pub(crate) intervals: Option<PathBuf>,

    /// What the file holds
    #[arg(long, value_enum, default_value_t = Kind::Changes)]
    pub(crate) kind: Kind,

    /// Which estimators, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub(crate) method: Vec<MethodName>,

    /// Fetches per unit of time, for naive, lln, sa and sam [default: as many as the file has]
    #[arg(long, value_name = "P", value_parser = positive)]
    pub(crate) fetch_rate: Option<f64>,

    /// The unit of time; only priors that speak of hours need to know
    #[arg(long, value_enum, default_value_t = Unit::Hours)]
    pub(crate) unit: Unit,

    /// What refrain believes beforehand: 'broad' (next to nothing), 'learned' (from all pages of the file), 'grimes', or
    /// SHAPE,RATE of a Gamma distribution [default: broad for one page, learned for several]
    #[arg(long, value_name = "PRIOR")]
    pub(crate) prior: Option<PriorName>,

    /// How fast the steps of sa and sam shrink: (k+1)^-ETA
    #[arg(long, default_value_t = 0.75)]
    pub(crate) eta: f64,

    /// How fast the momentum of sam shrinks
    #[arg(long, default_value_t = 0.6)]
    pub(crate) beta: f64,

    /// The offset of lln: 1, log k or the root of k
    #[arg(long, value_enum, default_value_t = OffsetName::One)]
    pub(crate) offset: OffsetName,

    /// How sure intervals are to be
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub(crate) confidence: f64,

    /// How often the page is to be fetched, for the chance of a very stale copy [default: as often as in the file]
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) every: Option<f64>,

    /// The chance of a very stale copy that is acceptable; how often to fetch for that
    #[arg(long, value_name = "CHANCE", default_value_t = 0.05)]
    pub(crate) risk: f64,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,

    /// Measure every estimator on made-up pages, and write the curves of their errors as pictures into this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) study: Option<PathBuf>,

    /// Made-up pages for each setting of --study
    #[arg(long, default_value_t = 20_000, conflicts_with = "intervals", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: u32,

    /// Where the made-up pages start from
    #[arg(long, default_value_t = 1, conflicts_with = "intervals")]
    pub(crate) seed: u64,
}

/// What a file of `refrain estimate` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Intervals between fetches
    Changes,
    /// Cumulative clicks by age
    Interest,
}

/// The estimators by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    All,
    Naive,
    Lln,
    Sa,
    Sam,
    Mle,
    Mm,
    Regular,
    Grimes,
    Refrain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OffsetName {
    One,
    Log,
    Root,
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    #[value(name = "s")]
    Seconds,
    #[value(name = "m")]
    Minutes,
    #[value(name = "h")]
    Hours,
    #[value(name = "d")]
    Days,
}

impl Unit {
    pub(crate) fn seconds(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Minutes => 60.0,
            Self::Hours => 3600.0,
            Self::Days => 86_400.0,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Seconds => "second",
            Self::Minutes => "minute",
            Self::Hours => "hour",
            Self::Days => "day",
        }
    }
}

/// What to believe beforehand, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PriorName {
    Broad,
    Learned,
    Grimes,
    Gamma { shape: f64, rate: f64 },
}

impl std::str::FromStr for PriorName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "broad" => return Ok(Self::Broad),
            "learned" => return Ok(Self::Learned),
            "grimes" => return Ok(Self::Grimes),
            _ => {}
        }
        let numbers = text.split_once(',').and_then(|(a, b)| Some((positive(a).ok()?, positive(b).ok()?)));
        let (shape, rate) = numbers.ok_or(
            "expected broad, learned, grimes, or two numbers greater than 0 (SHAPE,RATE)".to_owned(),
        )?;
        Ok(Self::Gamma { shape, rate })
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Files are CSV with a header line, columns in any order, plain or gzip'ed; '-' is standard input.
  pages: page_id, host, change_rate (per --unit), importance [, age (in --unit, or 'never')]
  gaps:  host, gap (like 15s)
Times are a number and a unit: 500ms, 15s, 5m, 24h, 7d.

Examples:
  refrain plan --pages pages.csv --horizon 24h --budget 8640000 --crawlers 10 --crawler-rate 10/s
  refrain plan --pages pages.csv --horizon 8h --budget 20000 --politeness 30s --out schedule.csv
  refrain plan --pages pages.csv --horizon 8h --budget 20000 --method psp --json | jq .staleness")]
pub(crate) struct PlanArgs {
    /// Pages, the hosts they are on, how often they change and how much they matter
    #[arg(long, value_name = "FILE")]
    pub(crate) pages: PathBuf,

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

    /// The unit of time of rates and ages
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
#[command(after_help = "\
A policy sees what a crawler sees and must learn the rest. A trace is a directory of CSV files, plain or gzip'ed (.csv.gz):
  pages.csv:   page_id, importance, first_seen, last_seen [, source, host_group, signals_from]
  changes.csv: page_id, timestamp_seconds
  signals.csv: page_id, timestamp_seconds [, kind, is_change]      (may be missing)
  outages.csv: source, start, end                                  (may be missing)
Policies: as for simulate, and informed (knows the true mean rates) and clairvoyant (knows the future)

Examples:
  refrain lab replay --trace examples/scoop
  refrain lab replay --trace examples/scoop --rate 10/day --policy refrain,importance --signals none
  refrain lab replay --trace examples/scoop --rate 4x --policy refrain --log fetches.csv")]
pub(crate) struct ReplayArgs {
    /// The trace: a directory with pages.csv, changes.csv and, if there are any, signals.csv and outages.csv
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: PathBuf,

    /// The budget: fetches per day, or times the changes that there are (4x)
    #[arg(long, value_name = "R", default_value = "1x")]
    pub(crate) rate: ReplayRate,

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
    pub(crate) log: Option<PathBuf>,

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
}

impl std::str::FromStr for ReplayRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected fetches per day like 200 or 200/day, or times the changes like 4x";
        let text = text.trim();
        let per_day = ["/day", "/d"].into_iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
        let (number, times) = per_day.strip_suffix('x').map_or((per_day, false), |number| (number, true));
        let number = positive(number).map_err(|_| expected)?;
        Ok(if times { Self::Times(number) } else { Self::PerDay(number) })
    }
}

/// Seconds since 1970, or a date.
fn moment(text: &str) -> Result<Time, String> {
    let expected = "expected seconds since 1970, or a date like 2021-03-14 or 2021-03-14T15:00:00Z";
    let seconds = text.trim().parse::<f64>().ok();
    let seconds = seconds.or_else(|| {
        let date: Result<jiff::Timestamp, _> = text.parse();
        let day: Result<jiff::civil::Date, _> = text.parse();
        let midnight = || Some(day.ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp());
        Some(date.ok().or_else(midnight)?.as_second() as f64)
    });
    seconds.and_then(refrain_lab::trace::unix).ok_or_else(|| expected.to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: Option<BenchWhat>,

    /// Leave out the largest cases
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    /// The whole crawler on loopback, beside its HTTP client alone; how it starts with a million pages
    Crawl(BenchCrawlArgs),
    /// The web that is crawled, for the other process
    #[command(hide = true)]
    Web,
}

#[derive(Debug, Args)]
pub(crate) struct BenchCrawlArgs {
    /// Leave out the largest cases
    #[arg(long)]
    pub(crate) quick: bool,

    /// Then crawl on for so long, and show what memory that takes
    #[arg(long, value_name = "TIME", value_parser = units::some_span)]
    pub(crate) soak: Option<Span>,
}

fn fetches(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "expected a whole number of fetches, not negative".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a finite number greater than 0".to_owned()),
    }
}

/// Help and version as they are; a mistake as one sentence, exit code 2.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    let shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if shown || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nobody is left to tell if this fails.
        let _ = error.print();
        return if shown { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let text = error.render().to_string();
    // Up to the usage lines; what is wrong may take several lines, a tip comes after them.
    let said: Vec<&str> =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:")).collect();
    let sentence = said.join(" ");
    let sentence = sentence.trim().trim_start_matches("error: ");
    let sentence = sentence.trim_end_matches("For more information, try '--help'.").trim_end();
    eprintln!("refrain: {}", sentence.replace("  ", " ").replace(" tip: ", "; "));
    ExitCode::from(2)
}
