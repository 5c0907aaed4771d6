//! What looks into a data directory, or fills one, as it is typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use refrain_core::time::{Span, Time};

use super::moment;
use crate::data::changes::RoleChoice;
use crate::units;

/// What looks into a data directory, or fills one.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// First copies and changes of pages, as JSON lines
    Changes(ChangesArgs),
    /// What changed between two versions of a page, line by line
    Diff(DiffArgs),
    /// Why a page is fetched, or not: what is known of it, and when its turn comes
    Explain(ExplainArgs),
    /// The pages: which copies are most likely stale, which pages fail, which are gone
    Pages(PagesArgs),
    /// How far what sites announce can be believed, and where they show what is new
    Signals(DataArgs),
    /// Pages, looks, beliefs and bodies, for other programs
    Export(ExportArgs),
    /// Pages, and what another crawler saw of them
    Import(ImportDataArgs),
    /// The queues of crawlers that speak URLFrontier, as lines of JSON, and back
    Frontier(FrontierArgs),
    /// What a data directory holds
    Status(DataArgs),
    /// Read a whole data directory, and say what is not as it should be
    Check(DataArgs),
    /// Rebuild the database from the archive files, if it is lost, empty, damaged or older than they are
    Recover(RecoverArgs),
}

/// A moment, to the nanosecond if it is written so.
fn instant(text: &str) -> Result<Time, String> {
    let exact =
        text.parse::<jiff::Timestamp>().ok().and_then(|moment| i64::try_from(moment.as_nanosecond()).ok());
    exact.map_or_else(|| moment(text), |nanos| Ok(Time::from_nanos(nanos)))
}

/// Where the data are.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Where everything is kept
    #[arg(long = "data", value_name = "DIR", default_value = "refrain-data")]
    pub(crate) data: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// The data directory, in place of --data
    #[arg(value_name = "DIR", conflicts_with = "data")]
    pub(crate) directory: Option<PathBuf>,

    /// What counts as a change, as in refrain.toml (read from here unless another file is named)
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FrontierArgs {
    #[command(subcommand)]
    pub(crate) command: FrontierCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FrontierCommand {
    /// All URLs in queues, one a line: crawl, key, url, when it came, when it is due (0: never again), metadata
    Dump(DumpArgs),
    /// Put such lines into a data directory that nobody uses meanwhile; URLs that are there get the dates and metadata of the file
    Load(LoadArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Only those of this crawl
    #[arg(long, value_name = "ID")]
    pub(crate) crawl: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// A file that `refrain frontier dump` wrote
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each line has a number (seq), a kind (first: the first copy; changed; gone; back), the page with its role and title, how much of its text changed, and what
was removed and added. Only lines of the kind `changed` count as changes.

Examples:
  refrain changes --since 2026-11-15
  refrain changes --since 42 --limit 100
  refrain changes --role all --no-diff | jq -r 'select(.kind == \"changed\").url'")]
pub(crate) struct ChangesArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// After this change, by number, or from this moment on (a date)
    #[arg(long, value_name = "SEQ|TIME", value_parser = since, default_value = "0")]
    pub(crate) since: Since,

    /// No more than so many
    #[arg(long, value_name = "N", default_value_t = usize::MAX, hide_default_value = true)]
    pub(crate) limit: usize,

    /// Of what; several with commas between them [default: page]
    #[arg(long, value_name = "ROLE", value_enum, value_delimiter = ',')]
    pub(crate) role: Vec<RoleChoice>,

    /// Leave out what was removed and added: no body is read, which is much faster
    #[arg(long)]
    pub(crate) no_diff: bool,

    /// A file of settings: what counts as text, by its rules for sites [default: refrain.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// After this change.
    Change(i64),
    /// At this moment.
    Moment(Time),
}

fn since(text: &str) -> Result<Since, String> {
    match text.parse::<i64>() {
        Ok(number) if number >= 0 => Ok(Since::Change(number)),
        _ => instant(text).map(Since::Moment).map_err(|_| {
            "expected the number of a change, or a date like 2026-11-15 or 2026-11-15T12:00:00Z".to_owned()
        }),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
A version is named by its number (--list shows them), or by a moment: the version that was there then.

Examples:
  refrain diff https://example.org/news
  refrain diff https://example.org/news --from 2026-11-01
  refrain diff https://example.org/news --list
  refrain diff https://example.org/news --from 12 --to 40 --raw")]
pub(crate) struct DiffArgs {
    /// The page
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// A file of settings: what counts as a change, by its rules for sites [default: refrain.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The version to start from [default: the one before]
    #[arg(long, value_name = "VERSION|TIME", value_parser = which)]
    pub(crate) from: Option<Which>,

    /// The version to end with [default: the latest]
    #[arg(long, value_name = "VERSION|TIME", value_parser = which)]
    pub(crate) to: Option<Which>,

    /// The body as it came, markup and all, rather than its text
    #[arg(long, alias = "html")]
    pub(crate) raw: bool,

    /// The versions that are kept, instead
    #[arg(long, conflicts_with_all = ["from", "to", "raw"])]
    pub(crate) list: bool,

    /// JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// A version of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// By its number.
    Version(i64),
    /// The one that was there at this moment.
    Moment(Time),
}

fn which(text: &str) -> Result<Which, String> {
    match text.parse::<i64>() {
        Ok(number) if number >= 0 => Ok(Which::Version(number)),
        _ => instant(text).map(Which::Moment).map_err(|_| {
            "expected the number of a version, or a date like 2026-11-15 or 2026-11-15T12:00:00Z".to_owned()
        }),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The page
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) place: Place,

    /// JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refrain pages --stale
  refrain pages --failing --host example.org
  refrain pages --sort changed --limit 20
  refrain pages --stale --limit 1000 --json | jq -r .url")]
pub(crate) struct PagesArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Those with a copy; first the one where a change we do not know of matters most: its probability times the importance
    #[arg(long, conflicts_with_all = ["failing", "gone"])]
    pub(crate) stale: bool,

    /// Those that could not be fetched the last time, most failures first
    #[arg(long, conflicts_with = "gone")]
    pub(crate) failing: bool,

    /// Those that are no longer there
    #[arg(long)]
    pub(crate) gone: bool,

    /// Those of a host: example.org, or with scheme and port
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,

    /// In which order [default: as it suits the choice]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) sort: Option<PageOrder>,

    /// No more than so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,

    /// A line of JSON for each
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// CSV
    #[arg(long)]
    pub(crate) csv: bool,
}

/// The order of a list of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageOrder {
    /// As they were added
    Added,
    /// Most likely stale, times importance, first
    Stale,
    /// Oldest copies first; pages without one before all
    Age,
    /// What changed last first
    Changed,
    /// What changes most often first
    Rate,
    /// What matters most first
    Importance,
    /// Most failures in a row first
    Failures,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refrain export --beliefs --out pages.csv && refrain optimum --pages pages.csv --rate 5000
  refrain export --crawl-log --out log.csv.gz && refrain lab import --crawl-log log.csv.gz --out trace
  refrain export --observations --since 2026-11-01 --out looks.jsonl.gz
  refrain export --warc news.warc.gz --prefix https://example.org/news/ --all")]
#[command(group = ArgGroup::new("what").required(true))]
pub(crate) struct ExportArgs {
    /// A line of JSON for each page
    #[arg(long, group = "what")]
    pub(crate) pages: bool,

    /// A line of JSON for each look at a page
    #[arg(long, group = "what")]
    pub(crate) observations: bool,

    /// What is believed of the pages that are crawled, as CSV: `page_id`, `change_rate` (per day), importance, host. For refrain optimum, lab simulate
    #[arg(long, group = "what")]
    pub(crate) beliefs: bool,

    /// What was fetched when, and had it changed, as CSV: time, `page_id`, changed, importance, host. For refrain lab import
    #[arg(long, group = "what")]
    pub(crate) crawl_log: bool,

    /// A WARC file of its own with the latest version of each page, or all (--all)
    #[arg(long, group = "what", value_name = "FILE", conflicts_with = "out")]
    pub(crate) warc: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Only pages of this host: example.org, or with scheme and port
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,

    /// Only pages whose address begins so
    #[arg(long, value_name = "URL")]
    pub(crate) prefix: Option<String>,

    /// Only what was seen from this moment on
    #[arg(long, value_name = "TIME", value_parser = instant, conflicts_with_all = ["pages", "beliefs"])]
    pub(crate) since: Option<Time>,

    /// Only what was seen before this moment
    #[arg(long, value_name = "TIME", value_parser = instant, conflicts_with_all = ["pages", "beliefs"])]
    pub(crate) until: Option<Time>,

    /// Every version, not only the latest
    #[arg(long)]
    pub(crate) all: bool,

    /// Where to: a file, gzip'ed if its name ends in .gz; '-' is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportDataArgs {
    #[command(subcommand)]
    pub(crate) what: ImportWhat,
}

/// What is imported.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportWhat {
    /// Pages to crawl: addresses, each with an importance and a greatest age if you like; as refrain crawl takes them
    Seeds(ImportSeedsArgs),
    /// What another crawler saw: learning does not start at zero
    History(ImportHistoryArgs),
    /// What people ask for: access logs. Pages matter as much as they are asked for
    Requests(ImportRequestsArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A line is a request, in the common or the combined log format (a virtual host may stand before it), or 'time,url'. Successful GETs count, but for those of
crawlers. All pages of the hosts that were asked get a new importance; give all the files that are to count, in any order.

Examples:
  refrain import requests access.log access.log.*.gz --site https://example.org
  refrain import requests requests.csv --per-day")]
pub(crate) struct ImportRequestsArgs {
    /// Access logs, plain or gzip'ed; '-' is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Where the paths in the logs are, if they do not say so
    #[arg(long, value_name = "URL")]
    pub(crate) site: Option<String>,

    /// A request that is so old counts a third (1/e) of one from now
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = units::some_span)]
    pub(crate) memory: Span,

    /// Importance in requests per day. Otherwise the pages are weighed against each other, and matter as much as before all together
    #[arg(long)]
    pub(crate) per_day: bool,

    /// Crawlers count as well
    #[arg(long)]
    pub(crate) bots: bool,

    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct ImportSeedsArgs {
    /// Addresses, or files with one per line, plain or gzip'ed; '-' is standard input
    #[arg(value_name = "URL|FILE", required = true)]
    pub(crate) seeds: Vec<String>,

    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
#[command(after_help = "\
FILE is CSV with a header line, plain or gzip'ed; '-' is standard input. A line is a visit to a page, in any order:
  url, time (2026-11-15T12:00:00Z, or seconds since 1970), changed (1 or 0: had it changed since the visit before?)
Visits that are there already are left as they are: the same file twice is the same as once.

Example:
  refrain import history visits.csv.gz")]
pub(crate) struct ImportHistoryArgs {
    /// What it saw
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: Place,
}
