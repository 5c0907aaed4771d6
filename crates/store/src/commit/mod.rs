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
use crate::query::heads;
use crate::segments::Spot;

pub(crate) use bounds::{Refused, check, sift};
pub(crate) use looks::MOST_AHEAD;
pub(crate) use others::meta;
pub(crate) use pages::remove;
pub(crate) use rows::Rows;

/// Writes down all facts of a batch; `spots` is where the records of its looks are, in order. `refused`: those that were left out before.
///
/// Pages are forgotten before new ones are added: an address that is forgotten and added again in one batch is a new page.
pub(crate) fn apply(
    connection: &Connection,
    batch: &Batch,
    spots: &[Spot],
    refused: Refused,
) -> rusqlite::Result<Committed> {
    let mut done = Committed { refused: refused.reasons, ..Committed::default() };
    pages::update_hosts(connection, &batch.hosts)?;
    pages::remove(connection, &batch.removals, &mut done)?;
    pages::add(connection, &batch.pages, &refused.pages, &mut done)?;
    pages::edit(connection, &batch.edits, &mut done)?;
    past::add(connection, &batch.past, &mut done)?;
    looks::add(connection, &batch.looks, spots, &mut done)?;
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
    done.heads = heads(connection, &batch.asked)?;
    Ok(done)
}
