//! A trace as files.

use std::io::{self, Write};
use std::path::Path;

use refrain_core::time::Time;
use refrain_lab::trace::{Announcement, Trace, TracePage};

use crate::failure::Failure;
use crate::input::csv_field;
use crate::output::to_file;

/// A trace, and what its pages and groups are called.
pub(super) struct Written<'a> {
    pub(super) trace: &'a Trace,
    pub(super) page: &'a dyn Fn(u32) -> String,
    pub(super) group: &'a dyn Fn(u32) -> String,
}

impl Written<'_> {
    /// Writes `pages.csv`, `changes.csv` and, if there are any, `signals.csv`.
    pub(super) fn write_to(&self, folder: &Path) -> Result<(), Failure> {
        std::fs::create_dir_all(folder)
            .map_err(|why| Failure::system(format!("{}: cannot be made", folder.display()), why))?;
        to_file(&folder.join("pages.csv"), |out| self.write_pages(out))?;
        to_file(&folder.join("changes.csv"), |out| self.write_changes(out))?;
        if self.trace.announcements.is_empty() {
            return Ok(());
        }
        to_file(&folder.join("signals.csv"), |out| self.write_signals(out))
    }

    fn name(&self, page: &TracePage) -> String {
        csv_field(&(self.page)(page.number)).into_owned()
    }

    fn write_pages(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "page_id,host_group,importance,first_seen,last_seen,signals_from")?;
        for page in &self.trace.pages {
            let heard = page.heard_from.map_or_else(String::new, |from| seconds(from).to_string());
            let group = (self.group)(page.group);
            let (first, last) = (seconds(page.first), seconds(page.last));
            let (name, group) = (self.name(page), csv_field(&group));
            writeln!(out, "{name},{group},{},{first},{last},{heard}", page.importance)?;
        }
        Ok(())
    }

    fn write_changes(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "page_id,timestamp_seconds")?;
        for page in &self.trace.pages {
            let name = self.name(page);
            page.changes.iter().try_for_each(|change| writeln!(out, "{name},{}", seconds(*change)))?;
        }
        Ok(())
    }

    fn write_signals(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "page_id,timestamp_seconds,kind,is_change")?;
        for Announcement { time, page, kind, is_change } in &self.trace.announcements {
            let name = self.name(&self.trace.pages[*page as usize]);
            let kind = csv_field(&self.trace.kinds[*kind as usize]);
            writeln!(out, "{name},{},{kind},{}", seconds(*time), u8::from(*is_change))?;
        }
        Ok(())
    }
}

fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs()
}
