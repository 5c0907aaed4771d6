//! `refrain demo`, as it is typed.

use std::path::PathBuf;

use clap::Args;
use refrain_core::time::Span;

use crate::units;

#[derive(Debug, Args)]
#[command(after_help = "\
Nothing leaves this machine: the small web lives on loopback. What was crawled stays, to look around in:
  refrain demo --data demo
  refrain status --data demo/data
  refrain changes --data demo/data | head")]
pub(crate) struct DemoArgs {
    /// How long it goes on
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = units::some_span)]
    pub(crate) duration: Span,

    /// The budget: requests per unit of time
    #[arg(long, value_name = "R", default_value = "14/s", value_parser = units::rate)]
    pub(crate) rate: Span,

    /// Another small web
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// A new folder for what is crawled, and for the page to open [default: one among temporary files]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Where to watch it in a browser [default: 127.0.0.1:7070, or another port if that is taken]
    #[arg(long, value_name = "ADDR")]
    pub(crate) dashboard: Option<String>,

    /// When it is over, go on showing what came of it, until Ctrl-C
    #[arg(long)]
    pub(crate) stay: bool,

    /// Lines, on a terminal as well
    #[arg(long)]
    pub(crate) plain: bool,
}
