//! `refrain changes`: what changed, as lines of JSON.

mod excerpt;
mod line;

use std::sync::Arc;

use refrain_store::{Reader, Seq};

use crate::cli::{ChangesArgs, Since};
use crate::crawl::config::Config;
use crate::crawl::wanted::SiteRules;
use crate::failure::Failure;
use crate::output::to_stdout;
pub(crate) use line::{Changed, Lines, RoleChoice, WhichChanges};

/// So many changes are read at a time.
const AT_A_TIME: usize = 1000;

pub(crate) fn run(args: &ChangesArgs) -> Result<(), Failure> {
    let rules = SiteRules::of(&Config::find(args.config.as_deref())?)?;
    let which = WhichChanges {
        roles: RoleChoice::roles(&args.role),
        diffs: (!args.no_diff).then(|| Arc::new(rules)),
    };
    let reader = Reader::open(&args.place.data)?;
    let mut last = match args.since {
        Since::Change(number) => Seq(number),
        Since::Moment(time) => reader.seq_before(time)?,
    };
    let mut left = args.limit;
    while left > 0 {
        let Lines { lines, end } = which.read(&reader, last, left.min(AT_A_TIME))?;
        if lines.is_empty() {
            break;
        }
        (last, left) = (end, left - lines.len());
        to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{}", line.json())))?;
    }
    Ok(())
}
