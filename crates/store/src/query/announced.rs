//! What sites announced, how far that can be believed, and who shows what is new.

use std::ops::ControlFlow;

use refrain_core::time::Time;
use rusqlite::Row;

use super::text;
use crate::error::StoreError;
use crate::facts::{HostId, HubFacts, PageId, Role, Signal, Voice};
use crate::millis;
use crate::reader::Reader;

/// A hub, by its address.
#[derive(Clone, Debug, PartialEq)]
pub struct HubRow {
    /// What is known of it.
    pub hub: HubFacts,
    /// Its address.
    pub url: String,
    /// What it is there for.
    pub role: Role,
    /// The last visit that came to something.
    pub fetched: Option<Time>,
}

const SIGNAL: &str = "page, kind, time, said, worth, came_true";

impl Reader {
    /// Signals from a moment on, in the order in which they came, for as long as `each` wants more.
    pub fn signals(
        &self,
        from: Time,
        mut each: impl FnMut(Signal) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {SIGNAL} FROM signals WHERE time >= ?1 ORDER BY id");
        self.each_row(&sql, (millis::happened(from),), |row| Ok(each(signal(row)?)))
    }

    /// The last signals of a page, the latest first, at most `limit`.
    pub fn signals_of(&self, page: PageId, limit: usize) -> Result<Vec<Signal>, StoreError> {
        let sql =
            format!("SELECT {SIGNAL} FROM signals WHERE page = ?1 ORDER BY time DESC, id DESC LIMIT ?2");
        self.all(&sql, (page.0, number(limit)), signal)
    }

    /// Signals of which it is not known yet whether they came true: page, kind, and when each came, in this order.
    pub fn open_signals(
        &self,
        mut each: impl FnMut(PageId, &str, Time) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = "SELECT page, kind, time FROM signals WHERE came_true IS NULL ORDER BY page, time, id";
        self.each_row(sql, (), |row| Ok(each(PageId(row.get(0)?), text::text(row, 1)?, text::time(row, 2)?)))
    }

    /// When each kind of announcement last said that a page changed, for as long as `each` wants more.
    pub fn announced(
        &self,
        mut each: impl FnMut(PageId, &str, Time) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.each_row("SELECT page, kind, said FROM announced", (), |row| {
            Ok(each(PageId(row.get(0)?), text::text(row, 1)?, text::time(row, 2)?))
        })
    }

    /// How far announcements can be believed, host by host.
    pub fn voices(&self) -> Result<Vec<Voice>, StoreError> {
        self.all(&format!("{VOICE} ORDER BY h.name, v.kind"), (), voice)
    }

    /// The same of one host.
    pub fn voices_of(&self, host: HostId) -> Result<Vec<Voice>, StoreError> {
        self.all(&format!("{VOICE} WHERE v.host = ?1 ORDER BY v.kind"), (host.0,), voice)
    }

    /// Some of them, those first of which most is known, after so many others.
    pub fn some_voices(
        &self,
        which: &WhichVoices,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<Voice>, StoreError> {
        // Names and all the rest are read of those that are wanted, not of all.
        let sql = format!(
            "WITH wanted AS (SELECT host, kind FROM voices {WHICH} ORDER BY intervals DESC, host, kind LIMIT ?3 OFFSET ?4)
             {VOICE} JOIN wanted w ON w.host = v.host AND w.kind = v.kind ORDER BY v.intervals DESC, v.host, v.kind"
        );
        self.all(&sql, (&which.host, &which.kind, number(limit), number(skip)), voice)
    }

    /// How many there are of them.
    pub fn count_voices(&self, which: &WhichVoices) -> Result<usize, StoreError> {
        let sql = format!("SELECT count(*) FROM voices {WHICH}");
        self.count(&sql, (&which.host, &which.kind))
    }

    /// All kinds of announcements, by name.
    pub fn voice_kinds(&self) -> Result<Vec<String>, StoreError> {
        self.all("SELECT DISTINCT kind FROM voices ORDER BY kind", (), |row| row.get(0))
    }

    /// All hubs, those that show most first.
    pub fn hubs(&self) -> Result<Vec<HubRow>, StoreError> {
        self.some_hubs(0, usize::MAX)
    }

    /// Some of them, after so many others.
    pub fn some_hubs(&self, skip: usize, limit: usize) -> Result<Vec<HubRow>, StoreError> {
        let sql = "WITH wanted AS (SELECT page FROM hubs ORDER BY rate * profit DESC, page LIMIT ?1 OFFSET ?2)
             SELECT b.page, b.visits, b.news, b.rate, b.profit, b.decay, b.learned, p.url, p.role, p.fetched
             FROM wanted w JOIN hubs b ON b.page = w.page JOIN pages p ON p.id = b.page ORDER BY b.rate * b.profit DESC, b.page";
        self.all(sql, (number(limit), number(skip)), |row| {
            let hub = HubFacts {
                page: PageId(row.get(0)?),
                visits: row.get::<_, i64>(1)?.cast_unsigned(),
                news: row.get::<_, i64>(2)?.cast_unsigned(),
                rate: row.get(3)?,
                profit: row.get(4)?,
                decay: row.get(5)?,
                learned: row.get(6)?,
            };
            Ok(HubRow { hub, url: row.get(7)?, role: row.get(8)?, fetched: text::moment(row, 9)? })
        })
    }

    /// How many hubs there are.
    pub fn count_hubs(&self) -> Result<usize, StoreError> {
        self.count("SELECT count(*) FROM hubs", ())
    }

    fn count(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        let found = self.one(sql, params, |row| row.get::<_, i64>(0))?;
        Ok(found.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))
    }
}

/// Which announcements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhichVoices {
    /// A part of the name of the host, in small letters; empty: of any.
    pub host: String,
    /// The kind; empty: any.
    pub kind: String,
}

const VOICE: &str = "SELECT h.name, v.kind, v.intervals, v.precision, v.recall, v.heard, v.learned
                     FROM voices v JOIN hosts h ON h.id = v.host";
const WHICH: &str =
    "WHERE (?2 = '' OR kind = ?2) AND (?1 = '' OR host IN (SELECT id FROM hosts WHERE instr(name, ?1) > 0))";

fn voice(row: &Row<'_>) -> rusqlite::Result<Voice> {
    Ok(Voice {
        host: row.get(0)?,
        kind: row.get(1)?,
        intervals: row.get(2)?,
        precision: row.get(3)?,
        recall: row.get(4)?,
        heard: row.get(5)?,
        learned: row.get(6)?,
    })
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn signal(row: &Row<'_>) -> rusqlite::Result<Signal> {
    Ok(Signal {
        page: PageId(row.get(0)?),
        kind: row.get(1)?,
        time: text::time(row, 2)?,
        said: text::moment(row, 3)?,
        worth: row.get(4)?,
        came_true: row.get(5)?,
    })
}
