//! `refrain crawl`, as it is typed.

use std::path::PathBuf;

use clap::Args;
use refrain_core::time::Span;

use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Seeds are addresses, or files with one address per line (plain or gzip'ed, '-' is standard input), each with an importance and a
greatest age if you like: https://example.org/news 10 1h
Started again, without seeds or with more, it goes on where it was.

Examples:
  refrain crawl https://example.org/ --follow same-host --rate 2/s --agent MyCrawler --contact https://example.net/crawler
  refrain crawl seeds.txt --rate 500/h --agent MyCrawler --contact me@example.net --for 10m
  refrain crawl --rate 2/s --agent MyCrawler --contact me@example.net --changes changes.jsonl")]
pub(crate) struct CrawlArgs {
    /// Where to begin: addresses, or files of addresses
    #[arg(value_name = "URL|FILE")]
    pub(crate) seeds: Vec<String>,

    /// The budget: requests per unit of time, all hosts together, whatever they are for
    #[arg(long, value_name = "R", value_parser = units::rate)]
    pub(crate) rate: Span,

    /// The crawler's name, for User-Agent and robots.txt
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Who answers for it: an address that people can read or write to, for User-Agent
    #[arg(long, value_name = "URL|MAIL")]
    pub(crate) contact: Option<String>,

    /// Where everything is kept
    #[arg(long, value_name = "DIR", default_value = "refrain-data")]
    pub(crate) data: PathBuf,

    /// Links become pages, too: same-host, same-site, or a pattern with * for anything
    #[arg(long, value_name = "WHICH")]
    pub(crate) follow: Option<String>,

    /// No more pages than this
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    pub(crate) max_pages: u64,

    /// End after so long
    #[arg(long = "for", value_name = "TIME", value_parser = units::some_span)]
    pub(crate) duration: Option<Span>,

    /// End when every page was looked at once
    #[arg(long, conflicts_with = "duration")]
    pub(crate) once: bool,

    /// The least time between two requests to a host; robots.txt may ask for more
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::span)]
    pub(crate) gap: Span,

    /// The gap is at least so many times what a host takes to answer
    #[arg(long, value_name = "TIMES", default_value_t = 10.0)]
    pub(crate) patience: f32,

    /// Visit loopback and private addresses as well: for intranets and tests
    #[arg(long)]
    pub(crate) allow_private: bool,

    /// A PEM file with certificates of authorities to trust beside the usual ones
    #[arg(long, value_name = "FILE")]
    pub(crate) authorities: Vec<PathBuf>,

    /// Append every change as a line of JSON; '-' is standard output. A file is continued where it ends
    #[arg(long, value_name = "FILE")]
    pub(crate) changes: Option<PathBuf>,

    /// Say nothing but what is wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
