//! The records of an archive in a table of their own, until all are read: files are not in the order of time, because records move.

use rusqlite::{Connection, Row, params};

use crate::address::Address;
use crate::digest::Digest;
use crate::millis;
use crate::segments::Spot;
use crate::warc::{Kind, Record};
use refrain_core::time::Time;

/// What is known of a record.
pub(super) struct Found {
    pub(super) page: String,
    pub(super) host: String,
    pub(super) url: String,
    pub(super) time: Time,
    pub(super) kind: Kind,
    /// Whether the server said itself that the page is the same.
    pub(super) not_modified: bool,
    pub(super) status: Option<u16>,
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    pub(super) spot: Spot,
    /// Whether it is the latest with a body of its page.
    pub(super) is_latest: bool,
}

const TABLE: &str = "
    CREATE TEMP TABLE records (
        page TEXT NOT NULL, host TEXT NOT NULL, url TEXT NOT NULL, time INTEGER NOT NULL, kind INTEGER NOT NULL,
        not_modified INTEGER NOT NULL, status INTEGER, digest BLOB NOT NULL, bytes INTEGER NOT NULL,
        etag TEXT, last_modified TEXT, segment INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL
    ) STRICT";
/// In the order of time; of copies of the same record the one that was written last comes first.
const ORDERED: &str = "
    CREATE TEMP TABLE latest (page TEXT PRIMARY KEY, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO latest SELECT page, max(time) FROM records WHERE kind = 0 GROUP BY page;
    CREATE TEMP TABLE ordered (id INTEGER PRIMARY KEY, record INTEGER NOT NULL) STRICT;
    INSERT INTO ordered (record)
        SELECT rowid FROM records ORDER BY time, page, digest, segment DESC, start DESC";

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLE)
}

/// All records are there.
pub(super) fn order(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(ORDERED)
}

pub(super) fn drop_all(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("DROP TABLE records; DROP TABLE ordered; DROP TABLE latest")
}

pub(super) fn add(connection: &Connection, found: &Found) -> rusqlite::Result<()> {
    let sql = "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    connection.prepare_cached(sql)?.execute(params![
        found.page,
        found.host,
        found.url,
        millis::happened(found.time),
        found.kind == Kind::Revisit,
        found.not_modified,
        found.status,
        found.digest.as_bytes(),
        found.bytes.cast_signed(),
        found.etag,
        found.last_modified,
        found.spot.segment,
        found.spot.offset.cast_signed(),
        found.spot.length.cast_signed()
    ])?;
    Ok(())
}

/// The next records in the order of time, after so many.
pub(super) fn after(connection: &Connection, done: i64, most: usize) -> rusqlite::Result<Vec<Found>> {
    let sql =
        "SELECT r.page, r.host, r.url, r.time, r.kind, r.not_modified, r.status, r.digest, r.bytes, r.etag,
                      r.last_modified, r.segment, r.start, r.length, r.kind = 0 AND r.time = l.time
               FROM ordered o JOIN records r ON r.rowid = o.record LEFT JOIN latest l ON l.page = r.page
               WHERE o.id > ?1 ORDER BY o.id LIMIT ?2";
    let mut read = connection.prepare_cached(sql)?;
    let rows = read.query_map((done, most as i64), found)?;
    rows.collect()
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let is_revisit: bool = row.get(4)?;
    Ok(Found {
        page: row.get(0)?,
        host: row.get(1)?,
        url: row.get(2)?,
        time: millis::time(row.get(3)?),
        kind: if is_revisit { Kind::Revisit } else { Kind::Response },
        not_modified: row.get(5)?,
        status: row.get(6)?,
        digest: row.get(7)?,
        bytes: row.get::<_, i64>(8)?.cast_unsigned(),
        etag: row.get(9)?,
        last_modified: row.get(10)?,
        spot: Spot {
            segment: row.get(11)?,
            offset: row.get::<_, i64>(12)?.cast_unsigned(),
            length: row.get::<_, i64>(13)?.cast_unsigned(),
        },
        is_latest: row.get(14)?,
    })
}

/// What a record says, if it is one of a page; `Err` says what it is instead, for people.
pub(super) fn understood(
    record: &Record,
    spot: Spot,
    place_of: impl FnOnce(&str) -> Option<(Address, String)>,
) -> Result<Found, &'static str> {
    let kind = match record.kind() {
        "response" => Kind::Response,
        "revisit" => Kind::Revisit,
        _ => return Err("is neither a response nor a revisit"),
    };
    let url = record.url().map(|url| url.trim_matches(['<', '>'])).ok_or("has no address")?;
    let (page, host) = record
        .page()
        .map(|url| url.trim_matches(['<', '>']))
        .and_then(place_of)
        .ok_or("has an address that is not crawled")?;
    let time = record.time().ok_or("has no date")?;
    let status = record.status();
    let digest = match kind {
        Kind::Response => {
            if !status.is_some_and(|status| (200..300).contains(&status)) {
                return Err("is no answer with a copy");
            }
            let digest = Digest::of(&record.body);
            if record.payload_digest().is_some_and(|claimed| claimed != digest) {
                return Err("has a body that does not match its digest");
            }
            digest
        }
        Kind::Revisit => {
            record.payload_digest().ok_or("has no SHA-256 digest of the body that it refers to")?
        }
    };
    let header = |name: &str| {
        record.headers().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let profile = record.field("WARC-Profile").unwrap_or_default();
    Ok(Found {
        page: page.as_str().to_owned(),
        host,
        url: url.to_owned(),
        time,
        kind,
        not_modified: profile.ends_with("server-not-modified"),
        status,
        digest,
        bytes: record.body.len() as u64,
        etag: header("etag"),
        last_modified: header("last-modified"),
        spot,
        is_latest: false,
    })
}
