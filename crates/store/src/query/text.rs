//! Columns as the types they stand for.

use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Type, ValueRef};

use refrain_core::time::{Span, Time};

use crate::digest::Digest;
use crate::facts::{Outcome, PageState, Role};
use crate::millis;

impl FromSql for PageState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for Role {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for Outcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_bytes(value.as_blob()?).ok_or(FromSqlError::InvalidType)
    }
}

/// A moment, if there is one.
pub(super) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Time>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(millis::time))
}

/// A moment that there must be.
pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Time> {
    row.get(column).map(millis::time)
}

/// A length of time, if there is one.
pub(super) fn span(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Span>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(millis::span))
}

/// Text without a copy of it.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a str> {
    let wrong =
        |why: FromSqlError| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(why));
    row.get_ref(column)?.as_str().map_err(wrong)
}

/// Bytes without a copy of them; none where there are none.
pub(super) fn bytes<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Option<&'a [u8]>> {
    let wrong =
        |why: FromSqlError| rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, Box::new(why));
    row.get_ref(column)?.as_blob_or_null().map_err(wrong)
}
