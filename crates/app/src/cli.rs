//! The command line as it is typed. What it means is decided where it is used.

mod bench;
mod crawl;
mod data;
mod demo;
mod discover;
mod estimate;
mod figures;
mod lab;
mod optimum;
mod plan;
mod serve;
mod token;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use refrain_core::time::Time;

pub(crate) use bench::*;
pub(crate) use crawl::CrawlArgs;
pub(crate) use data::*;
pub(crate) use demo::DemoArgs;
pub(crate) use discover::{DiscoverArgs, HubRate};
pub(crate) use estimate::*;
pub(crate) use figures::*;
pub(crate) use lab::*;
pub(crate) use optimum::OptimumArgs;
pub(crate) use plan::*;
pub(crate) use serve::{LogFormat, ServeArgs};
pub(crate) use token::{CreateArgs, ListArgs, RevokeArgs, TokenArgs, TokenCommand};

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
    /// Crawl, and let other programs take part: an HTTP API over pages, changes, signals and fetches
    Serve(ServeArgs),
    /// Who may use the API of `refrain serve`, and for what
    Token(TokenArgs),
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
