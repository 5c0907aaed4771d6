//! `refrain bench`, as it is typed.

use clap::{Args, Subcommand};
use refrain_core::time::Span;

use crate::units;

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
    /// Change detection on made-up pages with noise, whose changes are known: what it finds, and what it reports that is none
    Changes(BenchChangesArgs),
    /// The whole crawler on small webs that announce their changes honestly, falsely or not at all, and on news; beside the lab
    Signals(BenchSignalsArgs),
    /// Plans: never staler than the polite-policy paper's, whatever the age of copies and the unit of importance; how close to the bound, how fast
    Plan(BenchPlanArgs),
    /// The doors of a crawl that runs: pages added, listed and read, work for other fetchers, the change feed
    Serve(BenchServeArgs),
    /// The door for crawlers that speak URLFrontier: new URLs, and URLs that are due, through gRPC
    Urlfrontier(BenchUrlfrontierArgs),
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

#[derive(Debug, Args)]
pub(crate) struct BenchChangesArgs {
    /// Pages of each kind of noise
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) pages: u32,

    /// For how long they are visited, by a clock that does not wait
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = units::some_span)]
    pub(crate) time: Span,

    /// The mean time between two visits of a page
    #[arg(long, value_name = "TIME", default_value = "40s", value_parser = units::some_span)]
    pub(crate) every: Span,

    /// No second looks, as with fetchers that are other programs
    #[arg(long)]
    pub(crate) single: bool,

    /// Other pages, other visits
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchPlanArgs {
    /// Leave out the largest cases
    #[arg(long)]
    pub(crate) quick: bool,

    /// Compare plans on so many random instances of each kind
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,

    /// Print only this comparison, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchServeArgs {
    /// Few pages, and a second for each figure
    #[arg(long)]
    pub(crate) quick: bool,

    /// Only what other fetchers do
    #[arg(long)]
    pub(crate) fetches: bool,

    /// So many clients at the same time
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) clients: u16,
}

#[derive(Debug, Args)]
pub(crate) struct BenchUrlfrontierArgs {
    /// Few URLs
    #[arg(long, conflicts_with = "urls")]
    pub(crate) quick: bool,

    /// How many URLs
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(10_000..=200_000_000))]
    pub(crate) urls: u32,
}

#[derive(Debug, Args)]
pub(crate) struct BenchSignalsArgs {
    /// How long each web is crawled, all at the same time
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub(crate) seconds: u64,

    /// The budget: requests per unit of time, to each web
    #[arg(long, value_name = "R", default_value = "15/s", value_parser = units::rate)]
    pub(crate) rate: Span,

    /// Other small webs
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}
