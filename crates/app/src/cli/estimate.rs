//! `refrain estimate`, as it is typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::positive;

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

    /// Write the pages and what is believed of them as a table for `optimum`, `plan` and `lab simulate` (gzip'ed if the name ends in .gz; '-' is standard output)
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) csv: Option<PathBuf>,

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
