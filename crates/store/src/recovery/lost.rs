//! Versions of an older database whose record is not where the database says: its file was compacted since, is missing, or was cut short.
//!
//! The versions are noted before the archive is read. A record that is found elsewhere in the archive gives its version the new place; what is
//! left at the end is dropped.

use rusqlite::Connection;

use crate::digest::Digest;
use crate::facts::PageId;
use crate::segments::Spot;
use refrain_core::time::Time;

/// Notes the versions that lie beyond the ends of the files, and takes the files' lengths over.
pub(super) fn note(connection: &Connection, cut_short: &[(i64, Option<u64>)]) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TEMP TABLE lost_versions (id INTEGER PRIMARY KEY)")?;
    for (segment, length) in cut_short {
        let length = length.unwrap_or(0).cast_signed();
        connection.execute(
            "INSERT INTO lost_versions SELECT id FROM versions WHERE segment = ?1 AND \"offset\" + length > ?2",
            (segment, length),
        )?;
        connection.execute("UPDATE segments SET length = ?2 WHERE id = ?1", (segment, length))?;
    }
    Ok(())
}

/// Gives a noted version the place at which its record was found.
pub(super) fn found_again(
    connection: &Connection,
    (page, time, digest): (PageId, Time, Digest),
    spot: Spot,
) -> rusqlite::Result<()> {
    let mut ask = connection.prepare_cached(
        "SELECT id FROM versions JOIN lost_versions USING (id) WHERE page = ?1 AND time = ?2 AND digest = ?3",
    )?;
    let mut rows = ask.query((page.0, crate::millis::happened(time), digest.as_bytes()))?;
    let Some(id) = rows.next()?.map(|row| row.get::<_, i64>(0)).transpose()? else { return Ok(()) };
    connection.execute(
        "UPDATE versions SET segment = ?2, \"offset\" = ?3, length = ?4 WHERE id = ?1",
        (id, spot.segment, spot.offset.cast_signed(), spot.length.cast_signed()),
    )?;
    connection.execute("DELETE FROM lost_versions WHERE id = ?1", (id,))?;
    Ok(())
}

/// Drops the versions that were not found again, and the segments whose files are missing. Returns how many versions each segment lost, if any.
pub(super) fn give_up(
    connection: &Connection,
    cut_short: &[(i64, Option<u64>)],
) -> rusqlite::Result<Vec<(i64, u64)>> {
    let mut count = connection.prepare(
        "SELECT segment, count(*) FROM versions JOIN lost_versions USING (id) GROUP BY segment ORDER BY segment",
    )?;
    let rows = count.query_map((), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
    let lost = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    drop(count);
    // A page whose current body is lost has no copy any more, and is fetched as if it never had one: a 304 would not bring the body back. Revisits of
    // a lost body go with it.
    connection.execute_batch(
        "UPDATE pages SET digest = NULL, etag = NULL, last_modified = NULL, fetched = NULL
             WHERE id IN (SELECT page FROM versions JOIN lost_versions USING (id) WHERE kind = 'response' AND versions.digest = pages.digest)
               AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.page = pages.id AND v.kind = 'response' AND v.digest = pages.digest
                               AND v.id NOT IN (SELECT id FROM lost_versions));
         DELETE FROM versions WHERE id IN (SELECT id FROM lost_versions);
         DROP TABLE lost_versions;",
    )?;
    for (segment, _) in cut_short.iter().filter(|(_, length)| length.is_none()) {
        connection.execute("DELETE FROM segments WHERE id = ?1", (segment,))?;
    }
    Ok(lost)
}
