//! `refrain optimum`: the best a budget can buy, for people and scripts.

mod hubs;
mod machine;
mod pages;
mod problem;
mod summary;
mod sweep;

use std::path::Path;

use crate::cli::OptimumArgs;
use crate::failure::Failure;

pub(crate) fn run(args: &OptimumArgs) -> Result<(), Failure> {
    if args.json && args.csv.as_deref() == Some(Path::new("-")) {
        return Err(Failure::input("--json and --csv - both go to standard output; expected one of them"));
    }
    match &args.hubs {
        Some(path) => hubs::run(args, path),
        None => pages::run(args),
    }
}
