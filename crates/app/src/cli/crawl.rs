//! `refrain crawl`, as it is typed.

use std::path::PathBuf;

use clap::Args;
use refrain_core::time::Span;

use crate::crawl::config::Politeness;
use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Seeds are addresses, or files with one address per line (plain or gzip'ed, '-' is standard input), each with an importance and a
greatest age if you like: https://example.org/news 10 1h
Started again, without seeds or with more, it goes on where it was.

Examples:
  refrain crawl https://example.org/ --follow same-host --rate 2/s --agent MyCrawler --contact https://example.net/crawler
  refrain crawl seeds.txt --rate 500/h --agent MyCrawler --contact me@example.net --for 10m
  refrain crawl --rate 2/s --agent MyCrawler --contact me@example.net --changes changes.jsonl
  refrain crawl --rate 2/s --agent MyCrawler --contact me@example.net --dashboard      and open http://127.0.0.1:7070/
  refrain config > refrain.toml        and then, with that file: refrain crawl")]
pub(crate) struct CrawlArgs {
    /// Where to begin: addresses, or files of addresses
    #[arg(value_name = "URL|FILE")]
    pub(crate) seeds: Vec<String>,

    /// The budget: requests per unit of time, all hosts together, whatever they are for
    #[arg(long, value_name = "R", value_parser = units::rate)]
    pub(crate) rate: Option<Span>,

    /// A file of settings, as `refrain config` prints it [default: refrain.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The crawler's name, for User-Agent and robots.txt
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Who answers for it: an address that people can read or write to, for User-Agent
    #[arg(long, value_name = "URL|MAIL")]
    pub(crate) contact: Option<String>,

    /// Where everything is kept [default: refrain-data]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Links become pages, too: same-host, same-site, or a pattern with * for anything
    #[arg(long, value_name = "WHICH")]
    pub(crate) follow: Option<String>,

    /// Neither look for sitemaps and feeds nor listen to what they announce
    #[arg(long)]
    pub(crate) no_listen: bool,

    /// No more pages than this, sitemaps and feeds included [default: 100000000]
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<u64>,

    /// End after so long
    #[arg(long = "for", value_name = "TIME", value_parser = units::some_span)]
    pub(crate) duration: Option<Span>,

    /// End when every page was looked at once
    #[arg(long, conflicts_with = "duration")]
    pub(crate) once: bool,

    /// The least time between two requests to a host; robots.txt may ask for more [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = units::span)]
    pub(crate) gap: Option<Span>,

    /// Which hosts share a gap [default: auto]
    #[arg(long, value_name = "WHICH")]
    pub(crate) politeness: Option<Politeness>,

    /// The gap is at least so many times what a host takes to answer [default: 10]
    #[arg(long, value_name = "TIMES")]
    pub(crate) patience: Option<f32>,

    /// Visit loopback and private addresses as well: for intranets and tests
    #[arg(long)]
    pub(crate) allow_private: bool,

    /// A PEM file with certificates of authorities to trust beside the usual ones
    #[arg(long, value_name = "FILE")]
    pub(crate) authorities: Vec<PathBuf>,

    /// Append every first copy and every change of a page as a line of JSON; '-' is standard output. A file is continued where it ends
    #[arg(long, value_name = "FILE")]
    pub(crate) changes: Option<PathBuf>,

    /// Log every decision in files in this folder, for `refrain lab replay --log`
    #[arg(long, value_name = "DIR")]
    pub(crate) decisions: Option<PathBuf>,

    /// Show it all in a browser as well [default address: 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:7070")]
    pub(crate) dashboard: Option<String>,

    /// A line for each visit, on a terminal as well
    #[arg(long)]
    pub(crate) plain: bool,

    /// Say nothing but what is wrong
    #[arg(long, short, conflicts_with = "plain")]
    pub(crate) quiet: bool,
}
