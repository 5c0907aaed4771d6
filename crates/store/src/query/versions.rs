//! Versions and their bodies.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use refrain_core::time::Time;
use rusqlite::Row;

use super::text;
use crate::digest::Digest;
use crate::error::{Context, StoreError};
use crate::facts::{PageId, VersionId};
use crate::millis;
use crate::reader::Reader;
use crate::segments::Spot;
use crate::warc::{Kind, Record, read_record};

/// While a segment is rewritten a record moves at most once; more often than this it is missing.
const ATTEMPTS: usize = 5;

/// What a page was at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub id: VersionId,
    /// The page.
    pub page: PageId,
    /// When it was seen.
    pub time: Time,
    /// Whether its record has the body.
    pub kind: Kind,
    /// The digest of the body.
    pub digest: Digest,
    /// Who answered.
    pub url: String,
    /// The version that has the body: itself, unless it is a revisit.
    pub body: VersionId,
}

const VERSION: &str =
    "v.id, v.page, v.time, v.body IS NOT NULL, v.digest, ifnull(v.url, p.url), ifnull(v.body, v.id)
                       FROM versions v JOIN pages p ON p.id = v.page";

impl Reader {
    /// The versions of a page that are kept, the latest first.
    pub fn versions_of(&self, page: PageId) -> Result<Vec<Version>, StoreError> {
        let sql = format!("SELECT {VERSION} WHERE v.page = ?1 ORDER BY v.time DESC, v.id DESC");
        self.all(&sql, (page.0,), version)
    }

    /// One version.
    pub fn version(&self, id: VersionId) -> Result<Option<Version>, StoreError> {
        self.one(&format!("SELECT {VERSION} WHERE v.id = ?1"), (id.0,), version)
    }

    /// The version of a page that was the latest at a moment, of those that are kept.
    pub fn version_at(&self, page: PageId, time: Time) -> Result<Option<Version>, StoreError> {
        let sql = format!(
            "SELECT {VERSION} WHERE v.page = ?1 AND v.time <= ?2 ORDER BY v.time DESC, v.id DESC LIMIT 1"
        );
        self.one(&sql, (page.0, millis::happened(time)), version)
    }

    /// The latest version of a page with this body: what a revisit may refer to.
    pub fn version_with(&self, page: PageId, digest: &Digest) -> Result<Option<Version>, StoreError> {
        let sql = format!(
            "SELECT {VERSION} WHERE v.page = ?1 AND v.digest = ?2 ORDER BY v.time DESC, v.id DESC LIMIT 1"
        );
        match self.one(&sql, (page.0, digest.as_bytes()), version)? {
            // Revisits refer to what has the body, not to each other.
            Some(found) if found.body != found.id => self.version(found.body),
            found => Ok(found),
        }
    }

    /// Every version that is kept, in the order of their numbers, for as long as `each` wants more.
    pub fn versions(&self, mut each: impl FnMut(Version) -> ControlFlow<()>) -> Result<(), StoreError> {
        self.each_row(&format!("SELECT {VERSION} ORDER BY v.id"), (), |row| Ok(each(version(row)?)))
    }

    /// The answer with the body of a version; of a revisit, the answer that had it. `None` if there is no such version.
    pub fn answer(&self, id: VersionId) -> Result<Option<Record>, StoreError> {
        let body = "SELECT ifnull(body, id) FROM versions WHERE id = ?1";
        let Some(body) = self.one(body, (id.0,), |row| row.get(0))? else { return Ok(None) };
        self.record(VersionId(body))
    }

    /// The record of a version itself, which for a revisit has no body. `None` if there is no such version.
    pub fn record(&self, id: VersionId) -> Result<Option<Record>, StoreError> {
        Ok(self.compressed_record(id)?.map(|(record, _)| record))
    }

    /// The same, with its bytes as they are on the disk: gzip members, the request after the answer if it was kept.
    pub fn compressed_record(&self, id: VersionId) -> Result<Option<(Record, Vec<u8>)>, StoreError> {
        let sql = "SELECT segment, \"offset\", length FROM versions WHERE id = ?1";
        for attempt in 1..=ATTEMPTS {
            let Some(spot) = self.one(sql, (id.0,), spot)? else { return Ok(None) };
            let path = self.place.segment(spot.segment);
            match read_at(&path, spot) {
                Ok(bytes) => {
                    let what = |why| format!("the record of version {} at byte {} {why}", id.0, spot.offset);
                    let damaged = |why| StoreError::Damaged { path: path.clone(), what: what(why) };
                    let record =
                        read_record(&mut Cursor::new(&bytes)).map_err(|why| damaged(why.to_string()))?;
                    let record = record.ok_or_else(|| damaged("is missing".to_owned()))?;
                    return Ok(Some((record, bytes)));
                }
                // The segment was rewritten between the two: the record is elsewhere now.
                Err(why) if why.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {}
                Err(why) => return Err(why).at(&path, "read the segment"),
            }
        }
        Ok(None)
    }
}

/// The bytes of a record. They are taken as they come rather than allocated in advance: a damaged row may claim any length.
pub(crate) fn read_at(path: &std::path::Path, spot: Spot) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(spot.offset))?;
    let mut bytes = Vec::new();
    file.take(spot.length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn spot(row: &Row<'_>) -> rusqlite::Result<Spot> {
    Ok(Spot {
        segment: row.get(0)?,
        offset: row.get::<_, i64>(1)?.cast_unsigned(),
        length: row.get::<_, i64>(2)?.cast_unsigned(),
    })
}

fn version(row: &Row<'_>) -> rusqlite::Result<Version> {
    let is_revisit: bool = row.get(3)?;
    Ok(Version {
        id: VersionId(row.get(0)?),
        page: PageId(row.get(1)?),
        time: text::time(row, 2)?,
        kind: if is_revisit { Kind::Revisit } else { Kind::Response },
        digest: row.get(4)?,
        url: row.get(5)?,
        body: VersionId(row.get(6)?),
    })
}
