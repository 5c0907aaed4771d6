//! The WARC files: are they there, is each record what its version says?

use std::io;
use std::ops::ControlFlow;

use super::report::{Progress, Report};
use crate::digest::Digest;
use crate::error::{Context, StoreError};
use crate::leftovers::Known;
use crate::mark::Mark;
use crate::place::segment_name;
use crate::query::{read_at, spot};
use crate::reader::Reader;
use crate::segments::Spot;
use crate::warc::{Record, read_record};

const EVERY: u64 = 1000;

/// Files have at least what was committed; other files are told of. `mark`: what was committed last, as it was before the database was read.
pub(super) fn segments(reader: &Reader, report: &mut Report, mark: Option<Mark>) -> Result<(), StoreError> {
    let path = reader.place.database();
    let known = Known::read(&reader.connection).at(&path, "read the segments")?;
    if let Some(mark) = mark.filter(|mark| known.is_behind(*mark)) {
        report.damage(format!(
            "{}: {} bytes were committed, and the database does not know them: it is older than the archive",
            segment_name(mark.segment),
            mark.length
        ));
    }
    let rows = reader.all("SELECT id, length, retired IS NULL FROM segments ORDER BY id", (), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?.cast_unsigned(), row.get::<_, bool>(2)?))
    })?;
    for (id, length, live) in &rows {
        if *live {
            report.checked.segments += 1;
            segment(reader, report, *id, *length)?;
        }
    }
    let last = rows.last().map_or(0, |(id, ..)| *id);
    for id in reader.place.segments_present()? {
        let name = segment_name(id);
        if rows.iter().any(|(own, ..)| *own == id) {
            continue;
        }
        report.note(if id > last {
            format!(
                "{name}: written by a commit that is not finished, or was cut short; if no crawl is running, the next start moves it to {}",
                reader.place.uncommitted().display()
            )
        } else {
            format!("{name}: no version refers to this file; it is not Refrain's, or can be removed")
        });
    }
    Ok(())
}

fn segment(reader: &Reader, report: &mut Report, id: i64, length: u64) -> Result<(), StoreError> {
    let (name, path) = (segment_name(id), reader.place.segment(id));
    match std::fs::metadata(&path) {
        Ok(file) if file.len() < length => {
            report.damage(format!("{name}: has only {} bytes; expected {length}", file.len()));
        }
        Ok(file) if file.len() > length => {
            let tail = file.len() - length;
            report.note(format!(
                "{name}: has {tail} bytes that are not committed (yet); if no crawl is running, the next start moves them to {}",
                reader.place.uncommitted().display()
            ));
        }
        Ok(_) => {}
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            if still_there(reader, id)? {
                report.damage(format!("{name}: is missing; expected {length} bytes"));
            }
        }
        Err(why) => report.damage(format!("{name}: cannot be read ({why})")),
    }
    Ok(())
}

/// Whether a segment that cannot be found is expected to be there now, not only when the check began.
fn still_there(reader: &Reader, id: i64) -> Result<bool, StoreError> {
    let now = Reader::open(reader.place.root())?;
    let found = now.one("SELECT 1 FROM segments WHERE id = ?1 AND retired IS NULL", (id,), |_| Ok(()))?;
    Ok(found.is_some())
}

/// What a version says of its record.
struct Expected {
    id: i64,
    spot: Spot,
    digest: Digest,
    url: String,
    is_revisit: bool,
    committed: u64,
}

/// Every record can be read and is what its version says.
pub(super) fn versions(
    reader: &Reader,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) -> Result<(), StoreError> {
    let of =
        reader.one("SELECT count(*) FROM versions", (), |row| row.get::<_, i64>(0))?.map(i64::cast_unsigned);
    let sql = "SELECT v.segment, v.\"offset\", v.length, v.id, v.digest, ifnull(v.url, p.url), v.kind = 'revisit', s.length,
                      b.digest, b.page = v.page AND b.kind = 'response'
               FROM versions v JOIN pages p ON p.id = v.page JOIN segments s ON s.id = v.segment
               LEFT JOIN versions b ON b.id = v.body
               ORDER BY v.segment, v.\"offset\"";
    let mut end = (0, 0);
    let mut failed = None;
    reader.each_row(sql, (), |row| {
        let expected = Expected {
            spot: spot(row)?,
            id: row.get(3)?,
            digest: row.get(4)?,
            url: row.get(5)?,
            is_revisit: row.get(6)?,
            committed: row.get::<_, i64>(7)?.cast_unsigned(),
        };
        let body: (Option<Digest>, Option<bool>) = (row.get(8)?, row.get(9)?);
        if expected.is_revisit && body != (Some(expected.digest), Some(true)) {
            report.damage(format!("version {} is a revisit of something else than its body", expected.id));
        }
        if end.0 == expected.spot.segment && expected.spot.offset < end.1 {
            report.damage(format!("version {} shares bytes with the one before it", expected.id));
        }
        end = (expected.spot.segment, expected.spot.offset.saturating_add(expected.spot.length));
        match check(reader, &expected) {
            Ok(None) => {}
            Ok(Some(what)) => report.damage(format!(
                "{}: the record of version {} ({}) at byte {} {what}",
                segment_name(expected.spot.segment),
                expected.id,
                expected.url,
                expected.spot.offset
            )),
            Err(why) => {
                failed = Some(why);
                return Ok(ControlFlow::Break(()));
            }
        }
        report.checked.versions += 1;
        report.checked.bytes += expected.spot.length;
        if report.checked.versions.is_multiple_of(EVERY) {
            progress(Progress { what: "versions", done: report.checked.versions, of });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    failed.map_or(Ok(()), Err)
}

/// What is wrong with a record, if something is.
fn check(reader: &Reader, expected: &Expected) -> Result<Option<String>, StoreError> {
    if expected.spot.offset.saturating_add(expected.spot.length) > expected.committed {
        return Ok(Some("lies beyond what was committed".to_owned()));
    }
    let bytes = match read_at(&reader.place.segment(expected.spot.segment), expected.spot) {
        Ok(bytes) => bytes,
        Err(why) if why.kind() == io::ErrorKind::NotFound && !still_there(reader, expected.spot.segment)? => {
            return Ok(None);
        }
        Err(why) => return Ok(Some(format!("cannot be read ({why})"))),
    };
    if bytes.len() as u64 != expected.spot.length {
        return Ok(Some("is cut short".to_owned()));
    }
    let mut rest = &bytes[..];
    let record = match read_record(&mut rest) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(Some("is empty".to_owned())),
        Err(why) => return Ok(Some(why.to_string())),
    };
    let wrong = mismatch(&record, expected);
    if wrong.is_some() || rest.is_empty() {
        return Ok(wrong);
    }
    // Then the request follows, and nothing else.
    match read_record(&mut rest) {
        Ok(Some(request)) if request.kind() == "request" && rest.is_empty() => Ok(None),
        _ => Ok(Some("is followed by something else than its request".to_owned())),
    }
}

fn mismatch(record: &Record, expected: &Expected) -> Option<String> {
    let kind = if expected.is_revisit { "revisit" } else { "response" };
    if record.kind() != kind {
        return Some(format!("is a {:?}; expected a {kind}", record.kind()));
    }
    if record.url() != Some(&expected.url) {
        return Some(format!("is about {:?}", record.url().unwrap_or_default()));
    }
    if record.payload_digest() != Some(expected.digest) {
        return Some("names another digest".to_owned());
    }
    if !expected.is_revisit && Digest::of(&record.body) != expected.digest {
        return Some("has a body that does not match its digest".to_owned());
    }
    None
}
