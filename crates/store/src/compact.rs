//! Getting space back: segments that are mostly dead are given up.
//!
//! What is alive in such a segment is appended to the one that is written, byte by byte, as new records are: made durable
//! first, then one transaction says where it is now. So at every moment every version is readable, whatever happens. The
//! old file goes some time after nothing refers to it, for the sake of readers that began before.

use refrain_core::time::{Span, Time};

use crate::error::{Context, StoreError};
use crate::millis;
use crate::place::sync_directory;
use crate::query::{read_at, spot};
use crate::segments::Spot;
use crate::store::Store;

/// When and how to rewrite segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compaction {
    /// A segment is given up if less than this share of it is alive.
    pub least_live: f64,
    /// Bytes that are moved in one step, some more if a record is large.
    pub most_bytes: u64,
    /// How long the file of a segment that was given up stays.
    pub grace: Span,
}

impl Default for Compaction {
    fn default() -> Self {
        Self { least_live: 0.5, most_bytes: 32 << 20, grace: Span::from_whole_secs(600) }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes moved.
    pub moved: u64,
    /// Segments given up.
    pub retired: u64,
    /// Bytes of files removed.
    pub freed: u64,
}

impl Compacted {
    /// Whether there was nothing to do.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// One step of rewriting: moves some records of the deadest segment, or gives it up, and removes files whose grace is
    /// over. Call it again until it did nothing.
    pub fn compact(&mut self, compaction: &Compaction, now: Time) -> Result<Compacted, StoreError> {
        let mut done =
            Compacted { freed: self.remove_retired(now - compaction.grace)?, ..Compacted::default() };
        if let Some(segment) = self.deadest(compaction.least_live)? {
            done.moved = self.move_records(segment, compaction.most_bytes, now)?;
            if done.moved == 0 {
                self.retire(segment, now)?;
                done.retired = 1;
            }
        }
        Ok(done)
    }

    /// The segment with the least alive, if that is little enough; never the one that is written.
    fn deadest(&self, least_live: f64) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT s.id FROM segments s LEFT JOIN versions v ON v.segment = s.id
                   WHERE s.retired IS NULL AND s.id <> ?1 GROUP BY s.id
                   HAVING ifnull(sum(v.length), 0) < ?2 * s.length
                   ORDER BY ifnull(sum(v.length), 0) * 1.0 / s.length LIMIT 1";
        self.reader.one(sql, (self.segments.current(), least_live), |row| row.get(0))
    }

    fn move_records(&mut self, segment: i64, most_bytes: u64, now: Time) -> Result<u64, StoreError> {
        let live = self.live(segment, most_bytes)?;
        let path = self.reader.place.segment(segment);
        let mut records = Vec::with_capacity(live.len());
        for (version, spot) in &live {
            let bytes = read_at(&path, *spot).at(&path, "read the segment")?;
            if bytes.len() as u64 != spot.length {
                let what = format!("ends within the record of version {version} at byte {}", spot.offset);
                return Err(StoreError::Damaged { path, what });
            }
            records.push(bytes);
        }
        if records.is_empty() {
            return Ok(0);
        }
        let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        self.write(&records, now, |connection, spots| {
            let sql = "UPDATE versions SET segment = ?2, \"offset\" = ?3 WHERE id = ?1";
            let mut write = connection.prepare_cached(sql)?;
            for ((version, _), spot) in live.iter().zip(spots) {
                write.execute((version, spot.segment, spot.offset.cast_signed()))?;
            }
            Ok(Ok(()))
        })?;
        Ok(live.iter().map(|(_, spot)| spot.length).sum())
    }

    /// The first versions of a segment, until they have so many bytes.
    fn live(&self, segment: i64, most_bytes: u64) -> Result<Vec<(i64, Spot)>, StoreError> {
        let sql =
            "SELECT segment, \"offset\", length, id FROM versions WHERE segment = ?1 ORDER BY \"offset\"";
        let mut bytes = 0u64;
        let mut live = Vec::new();
        self.reader.each_row(sql, (segment,), |row| {
            let spot = spot(row)?;
            bytes = bytes.saturating_add(spot.length);
            live.push((row.get(3)?, spot));
            Ok(if bytes < most_bytes {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            })
        })?;
        Ok(live)
    }

    fn retire(&mut self, segment: i64, now: Time) -> Result<(), StoreError> {
        self.write(&[], now, |connection, _| {
            let sql = "UPDATE segments SET retired = ?2 WHERE id = ?1";
            connection.execute(sql, (segment, millis::happened(now)))?;
            Ok(Ok(()))
        })
    }

    /// Removes the files of segments that were given up before `until`, then forgets them; gives their bytes.
    fn remove_retired(&mut self, until: Time) -> Result<u64, StoreError> {
        let sql = "SELECT id, length FROM segments WHERE retired <= ?1";
        let until = millis::happened(until);
        let old = self.reader.all(sql, (until,), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
        if old.is_empty() {
            return Ok(0);
        }
        for (id, _) in &old {
            self.segments.remove(*id)?;
        }
        sync_directory(&self.reader.place.segments())?;
        self.write(&[], Time::ZERO, |connection, _| {
            connection.execute("DELETE FROM segments WHERE retired <= ?1", (until,))?;
            Ok(Ok(()))
        })?;
        Ok(old.iter().map(|(_, length)| length.cast_unsigned()).sum())
    }
}
