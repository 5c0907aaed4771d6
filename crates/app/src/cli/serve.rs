//! `refrain serve`, as it is typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::CrawlArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
It crawls as `refrain crawl` does, with the same options and settings, and listens for other programs: pages may be added, looked up and
changed, changes followed, signals sent, and other fetchers given work. /openapi.json says how; docs/serve.md is the guide.
On loopback everybody may do everything until there is a token; other addresses need one (`refrain token create`).

Examples:
  refrain serve --rate 2/s --agent MyCrawler --contact me@example.net
  refrain serve --no-fetch --rate 500/s --listen 0.0.0.0:7070 --tls-cert cert.pem --tls-key key.pem
  refrain serve --no-fetch --rate 50/s --urlfrontier 127.0.0.1:7071    # for StormCrawler and others: docs/urlfrontier.md")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) crawl: CrawlArgs,

    /// Where to listen [default: 127.0.0.1:7070]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,

    /// Where to listen for crawlers that speak URLFrontier, over gRPC: 127.0.0.1:7071 is what they expect
    #[arg(long, value_name = "ADDR")]
    pub(crate) urlfrontier: Option<String>,

    /// Only schedule: others fetch, and bring what they saw. Without --rate the budget is 10/s
    #[arg(long)]
    pub(crate) no_fetch: bool,

    /// A certificate, or a chain of them, as PEM: for https
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Its key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// How it is reached from outside, if something stands before it
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,

    /// How the log is written, to standard error
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,

    /// How much is logged: error, warn, info, debug or trace; or by part, like info,refrain::serve=debug
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: String,
}

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    Text,
    /// Lines of JSON
    Json,
}
