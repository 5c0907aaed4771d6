//! `refrain changes`: what changed, as lines of JSON.

use refrain_store::{Change, Digest, Reader, Seq};
use serde::Serialize;

use super::written;
use crate::cli::{ChangesArgs, Since};
use crate::failure::Failure;
use crate::output::to_stdout;

/// So many changes are read at a time.
const AT_A_TIME: usize = 1000;

pub(crate) fn run(args: &ChangesArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let mut last = match args.since {
        Since::Change(number) => Seq(number),
        Since::Moment(time) => reader.seq_before(time)?,
    };
    let mut left = args.limit;
    while left > 0 {
        let changes = reader.changes_since(last, left.min(AT_A_TIME))?;
        let Some(end) = changes.last() else { break };
        (last, left) = (end.seq, left - changes.len());
        to_stdout(|out| changes.iter().try_for_each(|change| out.write_all(change_line(change).as_bytes())))?;
    }
    Ok(())
}

/// A change as its readers see it.
#[derive(Serialize)]
struct ChangeLine<'a> {
    seq: i64,
    time: String,
    url: &'a str,
    old: Option<String>,
    new: Option<String>,
}

/// A change as a line of JSON.
pub(crate) fn change_line(change: &Change) -> String {
    let digest = |digest: &Option<Digest>| digest.as_ref().map(ToString::to_string);
    let line = ChangeLine {
        seq: change.seq.0,
        time: written(change.time),
        url: &change.url,
        old: digest(&change.old),
        new: digest(&change.new),
    };
    // Numbers and texts always become JSON.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}
