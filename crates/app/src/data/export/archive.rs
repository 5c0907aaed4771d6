//! Bodies, as a WARC file of their own: records as they are, byte for byte.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

use refrain_engine::Clock;
use refrain_store::warc::{Kind, warcinfo};
use refrain_store::{PageId, Version, VersionId};

use super::{Export, unwritten};
use crate::chart::counted;
use crate::failure::Failure;
use crate::output::to_stdout;

pub(super) fn write(export: &Export<'_>, file: &Path, all: bool) -> Result<(), Failure> {
    if file == Path::new("-") {
        let mut result = Ok(());
        to_stdout(|out| {
            result = fill(export, out, "standard-output.warc.gz", all).map(|_| ());
            Ok(())
        })?;
        return result;
    }
    let shown = file.display();
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.ends_with(".warc.gz") {
        return Err(Failure::input(format!(
            "--warc {shown}: records are compressed one by one; expected a name that ends in .warc.gz"
        )));
    }
    let create = OpenOptions::new().write(true).create_new(true).open(file);
    let create = create.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => {
            Failure::input(format!("--warc {shown}: there is such a file already; expected another name"))
        }
        _ => Failure::system(format!("{shown}: cannot be written"), why),
    })?;
    let mut out = BufWriter::with_capacity(1 << 18, create);
    let records = fill(export, &mut out, name, all)?;
    out.flush().map_err(|why| Failure::system(format!("{shown}: cannot be written"), why))?;
    to_stdout(|out| writeln!(out, "{} in {shown}", counted(records, "record")))
}

/// How many records were written.
fn fill(export: &Export<'_>, out: &mut dyn Write, name: &str, all: bool) -> Result<usize, Failure> {
    out.write_all(&warcinfo(name, Clock::start().now())).map_err(unwritten)?;
    let mut records = 0;
    export.chosen.each(export.reader, |row| {
        for id in versions(export, row.id, all)? {
            // What was dropped a moment ago is not there any more.
            if let Some((_, bytes)) = export.reader.compressed_record(id)? {
                out.write_all(&bytes).map_err(unwritten)?;
                records += 1;
            }
        }
        Ok(())
    })?;
    Ok(records)
}

/// The versions of a page that are asked for, the oldest first. The body that a revisit refers to comes along, and before it.
fn versions(export: &Export<'_>, page: PageId, all: bool) -> Result<Vec<VersionId>, Failure> {
    let mut found = export.reader.versions_of(page)?;
    found.retain(|version| (export.since..export.until).contains(&version.time));
    Ok(if all { with_bodies(&found) } else { found.first().map(|latest| latest.body).into_iter().collect() })
}

fn with_bodies(latest_first: &[Version]) -> Vec<VersionId> {
    let mut there = HashSet::new();
    let mut order = Vec::new();
    for version in latest_first.iter().rev() {
        if version.kind == Kind::Revisit && there.insert(version.body) {
            order.push(version.body);
        }
        if there.insert(version.id) {
            order.push(version.id);
        }
    }
    order
}
