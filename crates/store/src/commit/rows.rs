//! Rows of one table, many with one statement: to begin and end a statement costs as much as a row.

use rusqlite::{CachedStatement, Connection, ToSql};

/// So many rows are written with one statement.
pub(super) const TOGETHER: usize = 16;

/// How to write rows of a table.
pub(crate) struct Rows<'a> {
    one: CachedStatement<'a>,
    many: CachedStatement<'a>,
}

impl<'a> Rows<'a> {
    pub(crate) fn prepare(
        connection: &'a Connection,
        table: &str,
        columns: &[&str],
    ) -> rusqlite::Result<Self> {
        let row = format!("({})", vec!["?"; columns.len()].join(", "));
        let insert = |rows: usize| {
            let (columns, rows) = (columns.join(", "), vec![&row[..]; rows].join(", "));
            connection.prepare_cached(&format!("INSERT INTO {table} ({columns}) VALUES {rows}"))
        };
        Ok(Self { one: insert(1)?, many: insert(TOGETHER)? })
    }

    /// Writes rows, in their order; `bind` gives the values of one, in the order of the columns.
    pub(crate) fn insert<T>(
        &mut self,
        rows: &[T],
        bind: impl Fn(&T, &mut dyn FnMut(&dyn ToSql) -> rusqlite::Result<()>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let (many, rest) = rows.as_chunks::<TOGETHER>();
        let all = many.iter().map(<[T; TOGETHER]>::as_slice).chain(rest.chunks(1));
        for rows in all {
            let statement = if rows.len() == TOGETHER { &mut self.many } else { &mut self.one };
            let mut column = 0;
            for row in rows {
                bind(row, &mut |value| {
                    column += 1;
                    statement.raw_bind_parameter(column, value)
                })?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}
