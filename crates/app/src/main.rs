//! `refrain`: the doors to the crawler, to what it keeps, to what a budget of fetches can buy, and to the lab.

mod bench;
mod chart;
mod cli;
mod crawl;
mod data;
mod demo;
mod estimate;
mod failure;
mod input;
mod lab;
mod optimum;
mod output;
mod plan;
mod progress;
mod serve;
mod stopwatch;
mod synthetic;
mod units;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) => return cli::report(&error),
    };
    let result = match command {
        Command::Crawl(args) => crawl::run(&args),
        Command::Config => crawl::print_config(),
        Command::Data(command) => data::run(&command),
        Command::Optimum(args) => optimum::run(&args),
        Command::Estimate(args) => estimate::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Lab(args) => lab::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Bench(args) => bench::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
