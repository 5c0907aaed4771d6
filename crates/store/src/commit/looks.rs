//! Looks: an observation, what is known of the page now, a version if there is a record, a change if there was one.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::announced::Judge;
use super::bounds;
use crate::batch::Committed;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{Look, Outcome, Seq, VersionId};
use crate::millis;
use crate::segments::Spot;
use crate::warc::{Encoded, Kind};

/// The statements that looks need, prepared once for all of them.
struct Statements<'a> {
    before: CachedStatement<'a>,
    observe: CachedStatement<'a>,
    page: CachedStatement<'a>,
    known: CachedStatement<'a>,
    body: CachedStatement<'a>,
    version: CachedStatement<'a>,
    change: CachedStatement<'a>,
    judge: Judge<'a>,
}

/// What was known of a page before the look.
struct Before {
    url: String,
    digest: Option<Vec<u8>>,
    looked: Option<i64>,
}

pub(super) fn add(
    connection: &Connection,
    looks: &[Look],
    spots: &[Spot],
    done: &mut Committed,
) -> rusqlite::Result<Result<(), StoreError>> {
    let mut statements = Statements::prepare(connection)?;
    let mut spots = spots.iter();
    for look in looks {
        let record = look.record.as_ref().and_then(|record| Some((record, *spots.next()?)));
        let Some(before) = statements.before(look)? else {
            done.unknown.push(look.page);
            done.versions.push(None);
            continue;
        };
        // A clock that ran backwards does not turn the order of looks round.
        let time = millis::happened(look.time).max(before.looked.unwrap_or(i64::MIN));
        let change = change(look, &before);
        let observation = statements.observe(look, time)?;
        statements.update_page(look, time, change.is_some())?;
        if look.outcome.is_fresh() && look.outcome != Outcome::First {
            statements.judge.judge(look.page.0, look.outcome == Outcome::Changed, time)?;
        }
        if let Some((old, new)) = change {
            let row = params![look.page.0, time, old, new.map(|digest| *digest.as_bytes()), observation];
            done.last_change = Some(Seq(statements.change.insert(row)?));
        }
        match record
            .map(|(record, spot)| statements.version(look, record, spot, &before, time))
            .transpose()?
        {
            Some(None) => return Ok(Err(no_body(look, &before))),
            version => done.versions.push(version.flatten()),
        }
    }
    Ok(Ok(()))
}

fn no_body(look: &Look, before: &Before) -> StoreError {
    StoreError::Refused(format!(
        "the look at page {} ({}) is a revisit of a body that is not there; expected a version with the same digest",
        look.page.0, before.url
    ))
}

/// The digests before and after, if the look changes what readers of the feed know. A page that is gone is a change only
/// if it was there.
fn change<'a>(look: &Look, before: &'a Before) -> Option<(Option<&'a [u8]>, Option<Digest>)> {
    let old = before.digest.as_deref();
    match look.outcome {
        Outcome::First | Outcome::Changed => Some((old, look.digest)),
        Outcome::Gone => old.map(|old| (Some(old), None)),
        _ => None,
    }
}

impl<'a> Statements<'a> {
    fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            before: connection.prepare_cached("SELECT url, digest, looked FROM pages WHERE id = ?1")?,
            observe: connection.prepare_cached(
                "INSERT INTO observations (page, time, elapsed, outcome, counted, status, bytes, duration, digest)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            page: connection.prepare_cached(
                "UPDATE pages SET looked = ?2, status = ?3, state = ?4,
                     failures = CASE WHEN ?5 THEN failures + 1 ELSE 0 END,
                     fetched = CASE WHEN ?6 THEN ?2 ELSE fetched END,
                     changed = CASE WHEN ?7 THEN ?2 ELSE changed END,
                     digest = CASE WHEN ?7 THEN ?8 ELSE digest END,
                     history = ifnull(?9, history)
                 WHERE id = ?1",
            )?,
            known: connection.prepare_cached(
                "UPDATE pages SET looked = ?2, status = ?3, state = ?4,
                     failures = CASE WHEN ?5 THEN failures + 1 ELSE 0 END,
                     fetched = CASE WHEN ?6 THEN ?2 ELSE fetched END,
                     changed = CASE WHEN ?7 THEN ?2 ELSE changed END,
                     digest = CASE WHEN ?7 THEN ?8 ELSE digest END,
                     history = ifnull(?9, history),
                     etag = ?10, last_modified = ?11, redirect = ?12, title = ?13, kept = ifnull(?14, kept),
                     hint = ifnull(?15, hint)
                 WHERE id = ?1",
            )?,
            body: connection.prepare_cached(
                "SELECT ifnull(body, id) FROM versions WHERE page = ?1 AND digest = ?2 ORDER BY time DESC, id DESC LIMIT 1",
            )?,
            version: connection.prepare_cached(
                "INSERT INTO versions (page, time, kind, digest, url, segment, \"offset\", length, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            change: connection.prepare_cached(
                "INSERT INTO changes (page, time, old, new, observation) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            judge: Judge::prepare(connection)?,
        })
    }

    fn before(&mut self, look: &Look) -> rusqlite::Result<Option<Before>> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Before { url: row.get(0)?, digest: row.get(1)?, looked: row.get(2)? })
        };
        self.before.query_row((look.page.0,), read).optional()
    }

    fn observe(&mut self, look: &Look, time: i64) -> rusqlite::Result<i64> {
        self.observe.insert(params![
            look.page.0,
            time,
            look.elapsed.map(millis::took),
            look.outcome.as_str(),
            look.counted,
            look.status,
            look.bytes.cast_signed(),
            millis::took(look.duration),
            look.digest.as_ref().map(Digest::as_bytes),
        ])
    }

    fn update_page(&mut self, look: &Look, time: i64, changed: bool) -> rusqlite::Result<()> {
        // A page that is gone has no body, even if it was gone before.
        let digest = look.digest.as_ref().filter(|_| look.outcome != Outcome::Gone).map(Digest::as_bytes);
        let (failed, fresh) = (look.outcome.is_failure(), look.outcome.is_fresh());
        let (page, state) = (look.page.0, look.state.as_str());
        match &look.known {
            None => self.page.execute(params![
                page,
                time,
                look.status,
                state,
                failed,
                fresh,
                changed,
                digest,
                look.history
            ])?,
            Some(known) => self.known.execute(params![
                page,
                time,
                look.status,
                state,
                failed,
                fresh,
                changed,
                digest,
                look.history,
                bounds::validator(known.etag.as_ref()),
                bounds::validator(known.last_modified.as_ref()),
                bounds::target(known.redirect.as_ref()),
                bounds::title(known.title.as_ref()),
                known.kept,
                known.hint,
            ])?,
        };
        Ok(())
    }

    /// Adds a version; `None` if it is a revisit of a body that is not there.
    fn version(
        &mut self,
        look: &Look,
        record: &Encoded,
        spot: Spot,
        before: &Before,
        time: i64,
    ) -> rusqlite::Result<Option<VersionId>> {
        let digest = record.digest.as_bytes();
        let (kind, body) = match record.kind {
            Kind::Response => ("response", None),
            Kind::Revisit => {
                let body: Option<i64> =
                    self.body.query_row((look.page.0, digest), |row| row.get(0)).optional()?;
                if body.is_none() {
                    return Ok(None);
                }
                ("revisit", body)
            }
        };
        let url = Some(record.url.as_str()).filter(|url| *url != before.url);
        let row = params![
            look.page.0,
            time,
            kind,
            digest,
            url,
            spot.segment,
            spot.offset.cast_signed(),
            spot.length.cast_signed(),
            body
        ];
        Ok(Some(VersionId(self.version.insert(row)?)))
    }
}
