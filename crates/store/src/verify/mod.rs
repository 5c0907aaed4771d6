//! Is everything there, and is it what was committed? Reads all of it, changes nothing, and works while a crawl is running.

mod facts;
mod queues;
mod records;
mod report;

use std::path::Path;

use crate::error::{Context, StoreError};
use crate::mark::Mark;
use crate::place::Place;
use crate::reader::Reader;

pub use report::{Checked, Finding, Progress, Report, Weight};

/// Reads a whole data directory and says what is not as it should be; `progress` hears how far it has come.
pub fn verify(directory: &Path, mut progress: impl FnMut(Progress)) -> Result<Report, StoreError> {
    // Before the database is read: a crawl may commit more in between.
    let mark = Mark::read(&Place::new(directory));
    let reader = Reader::open(directory)?;
    // All of it as of one moment, however long it takes.
    let path = reader.place.database();
    reader.connection.execute_batch("BEGIN").at(&path, "read the database")?;
    let mut report = Report::default();
    facts::database(&reader, &mut report, &mut progress)?;
    facts::observations(&reader, &mut report, &mut progress)?;
    facts::changes(&reader, &mut report, &mut progress)?;
    facts::pages(&reader, &mut report, &mut progress)?;
    queues::queues(&reader, &mut report, &mut progress)?;
    records::segments(&reader, &mut report, mark)?;
    records::versions(&reader, &mut report, &mut progress)?;
    Ok(report)
}
