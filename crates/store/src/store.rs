//! The store as its only writer has it.

use std::path::Path;

use refrain_core::time::Time;
use rusqlite::{Connection, TransactionBehavior};

use crate::batch::{Batch, Committed};
use crate::commit::{self, Refused};
use crate::database;
use crate::error::{Context, StoreError};
use crate::leftovers::{self, Leftovers};
use crate::place::{Lock, Place};
use crate::reader::Reader;
use crate::segments::{Segments, Spot};
use crate::spelling::Respelled;

/// How a store is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A WARC file is closed before it grows beyond this.
    pub segment_bytes: u64,
    /// Memory for pages of the database.
    pub cache_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { segment_bytes: 1_000_000_000, cache_bytes: 64 << 20 }
    }
}

/// A data directory, open to write. There is one at a time, on the whole machine.
#[derive(Debug)]
pub struct Store {
    pub(crate) reader: Reader,
    pub(crate) segments: Segments,
    /// Set when the disk failed at the moment of a commit; nothing is written after that.
    unsure: bool,
    leftovers: Option<Leftovers>,
    respelled: Option<Respelled>,
    /// Taken when the store is closed and the directory is to stay locked.
    lock: Option<Lock>,
}

impl Store {
    /// Opens a data directory, and creates it if there is none. What was written but not committed when the process last
    /// ended is moved aside ([`Store::leftovers`]). An archive that the database does not know is refused.
    pub fn open(directory: &Path, options: Options) -> Result<Self, StoreError> {
        let place = Place::new(directory);
        place.create()?;
        let lock = place.lock()?;
        let may_begin = place.may_begin()?;
        Self::open_at(place, options, lock, may_begin)
    }

    /// Opens the database of a place, and creates it if it `may_begin`.
    pub(crate) fn open_at(
        place: Place,
        options: Options,
        lock: Lock,
        may_begin: bool,
    ) -> Result<Self, StoreError> {
        let (connection, respelled) =
            database::open_to_write(&place.database(), options.cache_bytes, may_begin)
                .map_err(|why| place.with_archive(why))?;
        crate::place::sync_directory(place.root())?;
        let (segments, leftovers) = leftovers::settle(&connection, &place, options.segment_bytes)
            .map_err(|why| place.with_archive(why))?;
        let mut store = Self::with(connection, place, segments, lock);
        (store.leftovers, store.respelled) = (leftovers, respelled);
        Ok(store)
    }

    pub(crate) fn with(connection: Connection, place: Place, segments: Segments, lock: Lock) -> Self {
        let reader = Reader::new(connection, place);
        Self { reader, segments, unsure: false, leftovers: None, respelled: None, lock: Some(lock) }
    }

    /// Closes the store. The directory stays locked for as long as the lock lives.
    pub(crate) fn close(mut self) -> Option<Lock> {
        self.lock.take()
    }

    /// What was moved aside when the directory was opened, if anything was.
    pub fn leftovers(&self) -> Option<&Leftovers> {
        self.leftovers.as_ref()
    }

    /// Returns what became of addresses, if a directory of an older version was brought up to date.
    pub fn respelled(&self) -> Option<Respelled> {
        self.respelled
    }

    /// Everything that can be asked.
    pub fn read(&self) -> &Reader {
        &self.reader
    }

    /// Commits facts: all of them or, if it fails or one of them cannot be, none. When it returns they are on the disk.
    ///
    /// Bodies are written and made durable first, then one transaction makes them, and everything else, true.
    pub fn commit(&mut self, batch: &Batch) -> Result<Committed, StoreError> {
        commit::check(batch)?;
        self.commit_checked(batch, Refused::default(), |mut done| match done.refused.pop() {
            None => Ok(done),
            Some(why) => Err(StoreError::Refused(why)),
        })
    }

    /// The same for the facts that can be: those that cannot are taken out of the batch, and [`Committed::refused`] says which and why. Pages that
    /// are refused stay in the batch, so that the others keep their places.
    pub fn commit_valid(&mut self, batch: &mut Batch) -> Result<Committed, StoreError> {
        let refused = commit::sift(batch);
        self.commit_checked(batch, refused, Ok)
    }

    fn commit_checked(
        &mut self,
        batch: &Batch,
        refused: Refused,
        accept: impl FnOnce(Committed) -> Result<Committed, StoreError>,
    ) -> Result<Committed, StoreError> {
        let records: Vec<&[u8]> =
            batch.looks.iter().filter_map(|look| Some(&look.record.as_ref()?.bytes[..])).collect();
        let time = batch.looks.iter().find(|look| look.record.is_some()).map_or(Time::ZERO, |look| look.time);
        self.write(&records, time, |connection, spots| {
            commit::apply(connection, batch, spots, refused).map(accept)
        })
    }

    /// Appends records, then does `work` in one transaction that also writes down how long segments are now.
    pub(crate) fn write<T>(
        &mut self,
        records: &[&[u8]],
        time: Time,
        work: impl FnOnce(&Connection, &[Spot]) -> rusqlite::Result<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.unsure {
            return Err(StoreError::Unsure { path: self.reader.place.database() });
        }
        let done = match self.segments.append(records, time) {
            Ok(spots) => self.transact(&spots, work),
            Err(why) => Err(why),
        };
        match done {
            Ok(done) => {
                self.segments.keep();
                Ok(done)
            }
            Err(why) => {
                // Unless it is known that the transaction was not committed, the bodies it may refer to stay. If they
                // cannot be cut off now, then before the next ones are written, or when the store is opened.
                if !self.unsure {
                    let _ = self.segments.take_back();
                }
                Err(why)
            }
        }
    }

    fn transact<T>(
        &mut self,
        spots: &[Spot],
        work: impl FnOnce(&Connection, &[Spot]) -> rusqlite::Result<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let path = self.reader.place.database();
        let transaction = self
            .reader
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .at(&path, "begin a transaction")?;
        for (id, length) in self.segments.grown() {
            let sql = "INSERT INTO segments (id, length) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET length = ?2";
            let mut write = transaction.prepare_cached(sql).at(&path, "write to the database")?;
            write.execute((id, length.cast_signed())).at(&path, "write to the database")?;
        }
        let done = work(&transaction, spots).at(&path, "write to the database")??;
        if let Err(why) = transaction.commit() {
            // SQLite writes what makes a transaction valid last: with a full disk it was not written. Of any other failure,
            // that of making it durable above all, nobody knows how much reached the disk.
            let error = StoreError::database(&path, "commit", why);
            self.unsure = !error.is_full();
            return Err(error);
        }
        Ok(done)
    }
}

impl Drop for Store {
    /// SQLite's log is emptied into the database, so that one file has it all. SQLite does so itself when the last connection is closed,
    /// but not if that is somebody who only reads. What cannot be done now is done when the store is opened again.
    fn drop(&mut self) {
        if !self.unsure {
            let _ = self.reader.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
        }
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::time::Time;

    use super::*;
    use crate::{Address, NewPage, Origin};

    fn pages(from: usize) -> Batch {
        let page = |number| NewPage {
            url: Address::new(format!("http://a/{number}/{}", "x".repeat(500))).unwrap(),
            host: "http://a".to_owned(),
            importance: 1.0,
            max_age: None,
            added: Time::ZERO,
            found: "seed",
            origin: Origin::default(),
        };
        Batch { pages: (from..from + 100).map(page).collect(), ..Batch::default() }
    }

    #[test]
    fn a_database_that_may_not_grow_refuses_the_batch_and_takes_it_later() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(directory.path(), Options::default()).unwrap();
        store.commit(&pages(0)).unwrap();
        let grow_to = |store: &Store, pages: i64| {
            // This pragma answers with the limit.
            let set = format!("PRAGMA max_page_count = {pages}");
            store.reader.connection.query_row(&set, (), |row| row.get::<_, i64>(0)).unwrap();
        };
        grow_to(&store, 1);
        let why = store.commit(&pages(100)).unwrap_err();
        assert!(why.is_full(), "{why}");
        assert!(why.to_string().contains("refrain.db: the disk is full"), "{why}");
        assert_eq!(store.read().status().unwrap().pages[0].1, 100);
        grow_to(&store, 1_000_000);
        assert!(store.commit(&pages(100)).unwrap().pages.iter().all(|added| added.unwrap().new));
        assert_eq!(store.read().status().unwrap().pages[0].1, 200);
    }

    #[test]
    fn the_database_has_it_all_whoever_still_reads() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let reader = Reader::open(folder.path()).unwrap();
        store.commit(&pages(0)).unwrap();
        let log = folder.path().join("refrain.db-wal");
        assert!(log.metadata().unwrap().len() > 0);
        drop(store);
        assert_eq!(log.metadata().map_or(0, |log| log.len()), 0);
        drop(reader);
        // Without its log.
        let _ = std::fs::remove_file(log);
        let reader = Reader::open(folder.path()).unwrap();
        let mut found = 0;
        reader
            .pages(|_| {
                found += 1;
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(found, pages(0).pages.len());
    }
}
