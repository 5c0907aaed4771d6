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
