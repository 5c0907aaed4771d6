//! A batch as one transaction.

mod announced;
mod bounds;
mod looks;
mod others;
mod pages;
mod past;
mod rows;
mod samples;

use rusqlite::Connection;

use crate::batch::{Batch, Committed};
use crate::error::StoreError;
use crate::query::heads;
use crate::segments::Spot;

pub(crate) use bounds::check;
pub(crate) use others::meta;
pub(crate) use rows::Rows;

/// Writes down all facts of a batch; `spots` is where the records of its looks are, in order.
///
/// The outer error is SQLite's, the inner one that of facts that contradict what is known.
pub(crate) fn apply(
    connection: &Connection,
    batch: &Batch,
    spots: &[Spot],
) -> rusqlite::Result<Result<Committed, StoreError>> {
    let mut done = Committed::default();
    pages::update_hosts(connection, &batch.hosts)?;
    pages::add(connection, &batch.pages, &mut done)?;
    pages::edit(connection, &batch.edits, &mut done)?;
    past::add(connection, &batch.past, &mut done)?;
    if let Err(refused) = looks::add(connection, &batch.looks, spots, &mut done)? {
        return Ok(Err(refused));
    }
    announced::signals(connection, &batch.signals, &mut done)?;
    announced::last(connection, &batch.announced)?;
    announced::voices(connection, &batch.voices)?;
    announced::hubs(connection, batch)?;
    others::leases(connection, batch, &mut done)?;
    others::grants(connection, batch)?;
    others::reads(connection, &batch.reads)?;
    others::delivered(connection, &batch.delivered)?;
    samples::add(connection, &batch.samples)?;
    others::meta(connection, &batch.meta)?;
    pages::remove(connection, &batch.removals, &mut done)?;
    done.heads = heads(connection, &batch.asked)?;
    Ok(Ok(done))
}
