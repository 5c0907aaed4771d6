//! What a process that was killed left behind: bodies that no transaction refers to.

use rusqlite::Connection;

use crate::error::{Context, StoreError};
use crate::place::{Place, sync_directory};
use crate::segments::{Segments, cut};

/// Brings the files in line with what was committed, and goes on writing where that ends.
pub(crate) fn segments(connection: &Connection, place: &Place, roll_at: u64) -> Result<Segments, StoreError> {
    let path = place.database();
    let (live, retired) = known(connection).at(&path, "read the segments")?;
    let last_id = last_id(connection).at(&path, "read the segments")?;
    let segments = Segments::new(place.clone(), roll_at, live.last().copied(), last_id);
    for (id, length) in &live {
        cut_to(place, *id, *length)?;
    }
    for id in &retired {
        segments.remove(*id)?;
    }
    // Begun by a commit that never was. Files with lower numbers that nobody knows are not ours to remove.
    for id in place.segments_present()?.into_iter().filter(|id| *id > last_id) {
        segments.remove(id)?;
    }
    sync_directory(&place.segments())?;
    connection
        .execute("DELETE FROM segments WHERE retired IS NOT NULL", ())
        .at(&path, "forget old segments")?;
    Ok(segments)
}

fn cut_to(place: &Place, id: i64, length: u64) -> Result<(), StoreError> {
    let path = place.segment(id);
    let found = match std::fs::metadata(&path) {
        Ok(file) => file.len(),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
            let what = format!("is missing; expected {length} bytes");
            return Err(StoreError::Damaged { path, what });
        }
        Err(why) => return Err(StoreError::file(&path, "look at the segment", why)),
    };
    if found < length {
        let what = format!("has only {found} bytes; expected {length}");
        return Err(StoreError::Damaged { path, what });
    }
    cut(place, id, length).at(&path, "cut the segment")
}

type Live = Vec<(i64, u64)>;

fn known(connection: &Connection) -> rusqlite::Result<(Live, Vec<i64>)> {
    let (mut live, mut retired) = (Vec::new(), Vec::new());
    let mut read = connection.prepare("SELECT id, length, retired IS NOT NULL FROM segments ORDER BY id")?;
    let mut rows = read.query(())?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        if row.get(2)? {
            retired.push(id);
        } else {
            live.push((id, row.get::<_, i64>(1)?.cast_unsigned()));
        }
    }
    Ok((live, retired))
}

fn last_id(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'segments'";
    connection.query_row(sql, (), |row| row.get(0))
}
