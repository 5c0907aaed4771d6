//! Looks: an observation, what is known of the page now, a version if there is a record, a change if there was one.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::announced::Judge;
use super::bounds;
use super::rows::{Rows, TOGETHER};
use crate::batch::Committed;
use crate::digest::Digest;
use crate::facts::{Look, Outcome, PageState, Seq, VersionId};
use crate::millis;
use crate::segments::Spot;
use crate::warc::{Encoded, Kind};

/// A fetch that was made so many milliseconds after the next one was dated by a clock that was wrong.
pub(crate) const MOST_AHEAD: i64 = 86_400_000;

/// The statements that looks need, prepared once for all of them.
struct Statements<'a> {
    connection: &'a Connection,
    before: CachedStatement<'a>,
    url: CachedStatement<'a>,
    observe: Rows<'a>,
    page: CachedStatement<'a>,
    known: CachedStatement<'a>,
    body: CachedStatement<'a>,
    version: CachedStatement<'a>,
    changes: Rows<'a>,
    /// The last change so far.
    last_change: i64,
    /// If signals wait to be judged.
    judge: Option<Judge<'a>>,
}

/// What was known of a page before the look.
struct Before {
    digest: Option<Vec<u8>>,
    looked: Option<i64>,
    /// The look before this one.
    observation: Option<i64>,
    state: PageState,
    failures: u32,
}

/// A look, and what it means beside what was known.
struct Judged<'a> {
    /// Its place among the looks of the batch.
    at: usize,
    look: &'a Look,
    before: Before,
    time: i64,
    /// The change that it saw, by its place in the feed.
    change: Option<i64>,
}

impl Judged<'_> {
    /// The digests before and after, if the look changes what readers of the feed know. A page that is gone is a change only
    /// if it was there.
    fn digests(&self) -> Option<(Option<&[u8]>, Option<Digest>)> {
        let old = self.before.digest.as_deref();
        match self.look.outcome {
            Outcome::First | Outcome::Changed => Some((old, self.look.digest)),
            Outcome::Gone => old.map(|old| (Some(old), None)),
            _ => None,
        }
    }
}

pub(super) fn add(
    connection: &Connection,
    looks: &[Look],
    spots: &[Spot],
    done: &mut Committed,
) -> rusqlite::Result<()> {
    let mut statements = Statements::prepare(connection)?;
    let mut spots = spots.iter().copied();
    let spots: Vec<Option<Spot>> =
        looks.iter().map(|look| look.record.as_ref().and_then(|_| spots.next())).collect();
    done.versions = vec![None; looks.len()];
    let mut group: Vec<Judged<'_>> = Vec::with_capacity(TOGETHER);
    for (at, look) in looks.iter().enumerate() {
        // What comes next at the same page comes after what came before.
        if group.len() == TOGETHER || group.iter().any(|other| other.look.page == look.page) {
            statements.write(&group, &spots, done)?;
            group.clear();
        }
        match statements.before(look)? {
            Some(before) => group.push(statements.judged(at, look, before)),
            None => done.unknown.push(look.page),
        }
    }
    statements.write(&group, &spots, done)
}

fn no_body(look: &Look, url: &str) -> String {
    format!(
        "the look at page {} ({url}) is a revisit of a body that is not there; expected a version with the same digest",
        look.page.0
    )
}

impl<'a> Statements<'a> {
    fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            before: connection
                .prepare_cached("SELECT digest, looked, observation, state, failures FROM pages WHERE id = ?1")?,
            url: connection.prepare_cached("SELECT url FROM pages WHERE id = ?1")?,
            observe: Rows::prepare(connection, "observations", &OBSERVATION)?,
            page: connection.prepare_cached(
                "UPDATE pages SET looked = ?2, status = ?3, state = ?4,
                     failures = ?5,
                     fetched = CASE WHEN ?6 THEN ?2 ELSE fetched END,
                     changed = CASE WHEN ?7 THEN ?2 ELSE changed END,
                     digest = CASE WHEN ?7 THEN ?8 ELSE digest END,
                     history = ifnull(?9, history), observation = ?10, bodies = bodies + ?11
                 WHERE id = ?1",
            )?,
            known: connection.prepare_cached(
                "UPDATE pages SET looked = ?2, status = ?3, state = ?4,
                     failures = ?5,
                     fetched = CASE WHEN ?6 THEN ?2 ELSE fetched END,
                     changed = CASE WHEN ?7 THEN ?2 ELSE changed END,
                     digest = CASE WHEN ?7 THEN ?8 ELSE digest END,
                     history = ifnull(?9, history), observation = ?10, bodies = bodies + ?11,
                     etag = ?12, last_modified = ?13, redirect = ?14, title = ?15, kept = ifnull(?16, kept),
                     hint = ifnull(?17, hint)
                 WHERE id = ?1",
            )?,
            body: connection.prepare_cached(
                "SELECT ifnull(body, id) FROM versions WHERE page = ?1 AND digest = ?2 ORDER BY time DESC, id DESC LIMIT 1",
            )?,
            version: connection.prepare_cached(
                "INSERT INTO versions (page, time, kind, digest, url, segment, \"offset\", length, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            changes: Rows::prepare(connection, "changes", &CHANGE)?,
            last_change: last_change(connection)?,
            judge: if Judge::has_work(connection)? { Some(Judge::prepare(connection)?) } else { None },
        })
    }

    fn before(&mut self, look: &Look) -> rusqlite::Result<Option<Before>> {
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Before {
                digest: row.get(0)?,
                looked: row.get(1)?,
                observation: row.get(2)?,
                state: row.get(3)?,
                failures: row.get(4)?,
            })
        };
        self.before.query_row((look.page.0,), read).optional()
    }

    /// What a look means, and its place in the feed if it saw a change.
    fn judged<'l>(&mut self, at: usize, look: &'l Look, before: Before) -> Judged<'l> {
        // A clock that ran backwards does not turn the order of looks round, unless it had been ahead by so much that it was wrong before.
        let time = millis::happened(look.time);
        let looked = before.looked.filter(|looked| looked.saturating_sub(time) <= MOST_AHEAD);
        let time = time.max(looked.unwrap_or(i64::MIN));
        let mut judged = Judged { at, look, before, time, change: None };
        if judged.digests().is_some() {
            self.last_change += 1;
            judged.change = Some(self.last_change);
        }
        judged
    }

    /// Writes looks at different pages, and all that follows from them. A revisit of a body that is not there becomes no version.
    fn write(
        &mut self,
        group: &[Judged<'_>],
        spots: &[Option<Spot>],
        done: &mut Committed,
    ) -> rusqlite::Result<()> {
        let first = self.observe(group)?;
        self.tell_changes(first, group)?;
        for (observation, judged) in (first..).zip(group) {
            let Judged { at, look, time, .. } = judged;
            self.update_page(judged, observation)?;
            if look.outcome.is_fresh()
                && let Some(judge) = &mut self.judge
            {
                let (page, asked) = (look.page.0, millis::happened(look.asked));
                match look.outcome {
                    Outcome::First => judge.forget(page, asked)?,
                    outcome => judge.judge(page, outcome == Outcome::Changed, asked)?,
                }
            }
            done.last_change = judged.change.map(Seq).or(done.last_change);
            let Some((record, spot)) = look.record.as_ref().zip(spots[*at]) else { continue };
            let url: String = self.url.query_row((look.page.0,), |row| row.get(0))?;
            match self.version(look, record, spot, &url, *time)? {
                Some(version) => done.versions[*at] = Some(version),
                None => done.refused.push(no_body(look, &url)),
            }
        }
        Ok(())
    }

    /// Writes down looks. The number of the first; the others follow, as nobody else writes.
    fn observe(&mut self, group: &[Judged<'_>]) -> rusqlite::Result<i64> {
        self.observe.insert(group, |Judged { look, before, time, change, .. }, bind| {
            bind(&look.page.0)?;
            bind(time)?;
            bind(&look.elapsed.map(millis::took))?;
            bind(&look.outcome.as_str())?;
            bind(&look.counted)?;
            bind(&look.status)?;
            bind(&look.bytes.cast_signed())?;
            bind(&millis::took(look.duration))?;
            bind(&look.digest.as_ref().map(Digest::as_bytes))?;
            bind(&before.observation)?;
            bind(change)
        })?;
        Ok(self.connection.last_insert_rowid() + 1 - group.len() as i64)
    }

    /// Puts the changes that looks saw into the feed; `first` is the number of the first look.
    fn tell_changes(&mut self, first: i64, group: &[Judged<'_>]) -> rusqlite::Result<()> {
        let changes: Vec<(i64, &Judged<'_>)> =
            (first..).zip(group).filter(|(_, judged)| judged.change.is_some()).collect();
        self.changes.insert(&changes, |(observation, judged), bind| {
            let (old, new) = judged.digests().unwrap_or_default();
            bind(&judged.change)?;
            bind(&judged.look.page.0)?;
            bind(&judged.time)?;
            bind(&old)?;
            bind(&new.as_ref().map(Digest::as_bytes))?;
            bind(observation)
        })
    }

    fn update_page(&mut self, judged: &Judged<'_>, observation: i64) -> rusqlite::Result<()> {
        let Judged { look, time, before, .. } = judged;
        // A page that is gone has no body, even if it was gone before.
        let digest = look.digest.as_ref().filter(|_| look.outcome != Outcome::Gone).map(Digest::as_bytes);
        let changed = judged.change.is_some();
        let new_bodies = i64::from(changed && digest.is_some());
        let failures = look.outcome.failures_after(before.state, before.failures);
        let fresh = look.outcome.is_fresh();
        let (page, state) = (look.page.0, look.state.as_str());
        match &look.known {
            None => self.page.execute(params![
                page,
                time,
                look.status,
                state,
                failures,
                fresh,
                changed,
                digest,
                look.history,
                observation,
                new_bodies
            ])?,
            Some(known) => self.known.execute(params![
                page,
                time,
                look.status,
                state,
                failures,
                fresh,
                changed,
                digest,
                look.history,
                observation,
                new_bodies,
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

const OBSERVATION: [&str; 11] = [
    "page", "time", "elapsed", "outcome", "counted", "status", "bytes", "duration", "digest", "before",
    "change",
];
const CHANGE: [&str; 6] = ["seq", "page", "time", "old", "new", "observation"];

/// The highest place in the feed that was ever given.
fn last_change(connection: &Connection) -> rusqlite::Result<i64> {
    let mut last = connection.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")?;
    Ok(last.query_row((), |row| row.get(0)).optional()?.unwrap_or(0))
}
