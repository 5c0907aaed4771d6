//! The store as everybody who asks has it.

use std::path::Path;

use rusqlite::{Connection, Params, Row};

use crate::database;
use crate::error::{Context, StoreError};
use crate::place::Place;

/// A data directory, open to read. Any number of processes may have one while another writes; each answer is of one moment.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) place: Place,
}

impl Reader {
    /// Opens a data directory that is there.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let place = Place::new(directory);
        let connection = database::open_to_read(&place.database()).map_err(|why| place.with_archive(why))?;
        Ok(Self::new(connection, place))
    }

    pub(crate) fn new(connection: Connection, place: Place) -> Self {
        Self { connection, place }
    }

    /// Several questions about one and the same moment; quicker than one after the other.
    pub fn at_one_moment<T>(
        &self,
        ask: impl FnOnce(&Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let moment = self.named(self.connection.unchecked_transaction())?;
        let answer = ask(self)?;
        self.named(moment.finish())?;
        Ok(answer)
    }

    /// Whatever a statement gives, row by row, while `each` says so.
    pub(crate) fn each_row(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<std::ops::ControlFlow<()>>,
    ) -> Result<(), StoreError> {
        let scan = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                if each(row)?.is_break() {
                    break;
                }
            }
            Ok(())
        };
        self.named(scan())
    }

    /// All rows that a statement gives.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let rows = statement.query_map(params, read)?;
            rows.collect()
        });
        self.named(rows)
    }

    /// The row that a statement gives, if it gives one.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        use rusqlite::OptionalExtension;
        let row = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, read).optional());
        self.named(row)
    }

    fn named<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.at(&self.place.database(), "read the database")
    }
}
