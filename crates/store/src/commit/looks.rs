//! Looks: an observation, what is known of the page now, a version if there is a record, a change if there was one.

use rusqlite::{CachedStatement, Connection, OptionalExtension, ToSql, params};

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
    connection: &'a Connection,
    before: CachedStatement<'a>,
    url: CachedStatement<'a>,
    observe: CachedStatement<'a>,
    observe_together: CachedStatement<'a>,
    page: CachedStatement<'a>,
    known: CachedStatement<'a>,
    body: CachedStatement<'a>,
    version: CachedStatement<'a>,
    change: CachedStatement<'a>,
    judge: Judge<'a>,
}

/// So many looks at different pages are written with one statement.
const TOGETHER: usize = 16;

/// What was known of a page before the look.
struct Before {
    digest: Option<Vec<u8>>,
    looked: Option<i64>,
}

/// A look, and what it means beside what was known.
struct Judged<'a> {
    /// Its place among the looks of the batch.
    at: usize,
    look: &'a Look,
    before: Before,
    time: i64,
}

impl<'a> Judged<'a> {
    fn new(at: usize, look: &'a Look, before: Before) -> Self {
        // A clock that ran backwards does not turn the order of looks round.
        let time = millis::happened(look.time).max(before.looked.unwrap_or(i64::MIN));
        Self { at, look, before, time }
    }
}

pub(super) fn add(
    connection: &Connection,
    looks: &[Look],
    spots: &[Spot],
    done: &mut Committed,
) -> rusqlite::Result<Result<(), StoreError>> {
    let mut statements = Statements::prepare(connection)?;
    let mut spots = spots.iter().copied();
    let spots: Vec<Option<Spot>> =
        looks.iter().map(|look| look.record.as_ref().and_then(|_| spots.next())).collect();
    done.versions = vec![None; looks.len()];
    let mut group: Vec<Judged<'_>> = Vec::with_capacity(TOGETHER);
    for (at, look) in looks.iter().enumerate() {
        // What comes next at the same page comes after what came before.
        if group.len() == TOGETHER || group.iter().any(|other| other.look.page == look.page) {
            if let Err(refused) = statements.write(&group, &spots, done)? {
                return Ok(Err(refused));
            }
            group.clear();
        }
        match statements.before(look)? {
            Some(before) => group.push(Judged::new(at, look, before)),
            None => done.unknown.push(look.page),
        }
    }
    statements.write(&group, &spots, done)
}

fn no_body(look: &Look, url: &str) -> StoreError {
    StoreError::Refused(format!(
        "the look at page {} ({url}) is a revisit of a body that is not there; expected a version with the same digest",
        look.page.0
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
            connection,
            before: connection.prepare_cached("SELECT digest, looked FROM pages WHERE id = ?1")?,
            url: connection.prepare_cached("SELECT url FROM pages WHERE id = ?1")?,
            observe: connection.prepare_cached(&observe(1))?,
            observe_together: connection.prepare_cached(&observe(TOGETHER))?,
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
        let read = |row: &rusqlite::Row<'_>| Ok(Before { digest: row.get(0)?, looked: row.get(1)? });
        self.before.query_row((look.page.0,), read).optional()
    }

    /// Writes looks at different pages, and all that follows from them.
    fn write(
        &mut self,
        group: &[Judged<'_>],
        spots: &[Option<Spot>],
        done: &mut Committed,
    ) -> rusqlite::Result<Result<(), StoreError>> {
        let first = self.observe(group)?;
        for (observation, Judged { at, look, before, time }) in (first..).zip(group) {
            let change = change(look, before);
            self.update_page(look, *time, change.is_some())?;
            if look.outcome.is_fresh() && look.outcome != Outcome::First {
                self.judge.judge(look.page.0, look.outcome == Outcome::Changed, *time)?;
            }
            if let Some((old, new)) = change {
                let row = params![look.page.0, time, old, new.map(|digest| *digest.as_bytes()), observation];
                done.last_change = Some(Seq(self.change.insert(row)?));
            }
            let Some((record, spot)) = look.record.as_ref().zip(spots[*at]) else { continue };
            let url: String = self.url.query_row((look.page.0,), |row| row.get(0))?;
            match self.version(look, record, spot, &url, *time)? {
                Some(version) => done.versions[*at] = Some(version),
                None => return Ok(Err(no_body(look, &url))),
            }
        }
        Ok(Ok(()))
    }

    /// Writes down looks. The number of the first; the others follow, as nobody else writes.
    fn observe(&mut self, group: &[Judged<'_>]) -> rusqlite::Result<i64> {
        if group.len() == TOGETHER {
            observe_all(&mut self.observe_together, group)?;
            return Ok(self.connection.last_insert_rowid() - (TOGETHER as i64 - 1));
        }
        let mut first = None;
        for one in group.chunks(1) {
            observe_all(&mut self.observe, one)?;
            first.get_or_insert(self.connection.last_insert_rowid());
        }
        Ok(first.unwrap_or(0))
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
        page_url: &str,
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
        let url = Some(record.url.as_str()).filter(|url| *url != page_url);
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

/// A statement that writes down so many looks.
fn observe(looks: usize) -> String {
    let columns = "page, time, elapsed, outcome, counted, status, bytes, duration, digest";
    format!(
        "INSERT INTO observations ({columns}) VALUES {}",
        vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?)"; looks].join(", ")
    )
}

/// Writes down as many looks as the statement takes.
fn observe_all(statement: &mut CachedStatement<'_>, group: &[Judged<'_>]) -> rusqlite::Result<()> {
    let mut column = 1;
    for Judged { look, time, .. } in group {
        let row: [&dyn ToSql; 9] = [
            &look.page.0,
            time,
            &look.elapsed.map(millis::took),
            &look.outcome.as_str(),
            &look.counted,
            &look.status,
            &look.bytes.cast_signed(),
            &millis::took(look.duration),
            &look.digest.as_ref().map(Digest::as_bytes),
        ];
        for value in row {
            statement.raw_bind_parameter(column, value)?;
            column += 1;
        }
    }
    statement.raw_execute().map(drop)
}
