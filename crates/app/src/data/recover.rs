//! `refrain recover`: the database of a data directory, rebuilt from the archive.

use refrain_engine::{Settings, recover};
use refrain_store::Recovered;

use crate::chart::{counted, grouped};
use crate::cli::RecoverArgs;
use crate::crawl::config::Config;
use crate::crawl::wanted::all_rules;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::progress::Progress;

fn count(number: u64, what: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), what)
}

pub(crate) fn run(args: &RecoverArgs) -> Result<(), Failure> {
    let data = args.directory.as_ref().unwrap_or(&args.place.data);
    // Without a crawler's name in a file: what counts as a change is all that is needed of the settings.
    let rules = all_rules(&Config::find(args.config.as_deref())?)?;
    let settings = Settings { rules, ..Settings::default() };
    let progress = Progress::spinner("reading the archive");
    let done = recover(data, &settings, |_| {})?;
    drop(progress);
    let Some((recovered, kept)) = done else {
        return to_stdout(|out| {
            writeln!(
                out,
                "{}: the database knows all that is in the archive; nothing was changed",
                data.display()
            )
        });
    };
    to_stdout(|out| {
        if let Some(why) = &recovered.anew {
            writeln!(out, "The database was made anew from the archive: {why}")?;
        } else {
            writeln!(out, "The database was gone on from; what the archive has beyond it was added")?;
        }
        let Recovered { pages, observations, versions, .. } = &recovered;
        writeln!(
            out,
            "{} new, {} and {} recovered",
            count(*pages, "page"),
            count(*observations, "look"),
            count(*versions, "version")
        )?;
        for (what, number) in &recovered.passed_over {
            writeln!(out, "{} not used: each {what}", count(*number, "record"))?;
        }
        for gap in &recovered.gaps {
            writeln!(out, "{gap}")?;
        }
        if recovered.more_gaps > 0 {
            writeln!(out, "and {} more such gaps", grouped(recovered.more_gaps as usize))?;
        }
        if recovered.anew.is_some() {
            writeln!(
                out,
                "Not in the archive, and lost: pages without a copy, looks without a record (failures, pages that were gone), importance, greatest ages, what was paused, \
                 titles of pages that were not read as HTML, what is known of signals, hubs and hosts, cursors of readers, queues"
            )?;
        }
        match &kept {
            Some(kept) => writeln!(out, "The database that was there is {} now", kept.display()),
            None => Ok(()),
        }
    })?;
    if recovered.gaps.is_empty() {
        return Ok(());
    }
    Err(Failure::OnTheWay(format!(
        "{}: parts of the archive could not be read; see above, all else was recovered",
        data.display()
    )))
}
