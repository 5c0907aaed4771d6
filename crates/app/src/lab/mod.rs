//! `refrain lab`: policies under a virtual clock.

mod simulate;

use crate::cli::{LabArgs, LabCommand};
use crate::failure::Failure;

pub(crate) fn run(args: &LabArgs) -> Result<(), Failure> {
    match &args.command {
        LabCommand::Simulate(args) => simulate::run(args),
    }
}
