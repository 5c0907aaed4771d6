//! `refrain estimate`: what fetches teach, for people and scripts.

mod changes;
mod interest;
mod machine;
mod settings;
mod signals;
mod study;
mod table;

use std::path::Path;

use crate::cli::{EstimateArgs, Kind};
use crate::failure::Failure;

pub(crate) fn run(args: &EstimateArgs) -> Result<(), Failure> {
    if let Some(folder) = &args.study {
        return study::run(folder, args.runs, args.seed);
    }
    let path: &Path = args
        .intervals
        .as_deref()
        .ok_or_else(|| Failure::input("expected --intervals FILE or --study FOLDER"))?;
    match args.kind {
        Kind::Changes => changes::run(args, path),
        Kind::Interest => interest::run(args, path),
    }
}
