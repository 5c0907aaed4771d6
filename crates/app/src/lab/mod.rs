//! `refrain lab`: policies under a virtual clock.

mod discover;
mod figures;
mod import;
mod invent;
pub(crate) mod replay;
mod simulate;
mod sweep;
mod written;

use refrain_lab::Policy;

use crate::cli::{LabArgs, LabCommand};
use crate::failure::Failure;

pub(crate) fn run(args: &LabArgs) -> Result<(), Failure> {
    match &args.command {
        LabCommand::Simulate(args) => simulate::run(args),
        LabCommand::Replay(args) => replay::run(args),
        LabCommand::Sweep(args) => sweep::run(args),
        LabCommand::Invent(args) => invent::run(args),
        LabCommand::Import(args) => import::run(args),
        LabCommand::Discover(args) => discover::run(args),
        LabCommand::List(args) => figures::list(args),
        LabCommand::Run(args) => figures::run(args),
        LabCommand::Report(args) => figures::report(args),
    }
}

/// Policies by name, or all that can be had here.
fn policies(names: &[String], here: impl Fn(&Policy) -> bool) -> Result<Vec<Policy>, Failure> {
    let mut policies = Vec::new();
    for name in names {
        if name == "all" {
            policies.extend(Policy::all().filter(&here));
        } else {
            policies.push(name.parse::<Policy>().map_err(|why| Failure::input(format!("--policy: {why}")))?);
        }
    }
    Ok(policies)
}
