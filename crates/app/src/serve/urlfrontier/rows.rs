//! Rows of URLs, read some at a time: as many as make up a chunk of a decent size, whatever their metadata weigh.

use refrain_store::ItemRow;

use crate::serve::problem::Answer;
use crate::serve::readers::Readers;

/// So many are read right where the request is.
const FEW: usize = 32;
/// At most so many are read at once: those of many queues, since URLs of one may be far from each other on the disk, and near to others.
const MOST: usize = 8 << 10;
/// A chunk is meant to have at most about so many bytes, and ends with the URL with which it has.
const BYTES: usize = 1 << 20;
/// What a URL weighs beside its texts.
const EACH: usize = 64;

/// URLs that are to be read, in their order.
pub(super) struct Rows {
    readers: Readers,
    ids: Vec<u32>,
    /// Places of those that were too much for the chunk before.
    left: Vec<usize>,
    /// Those up to here were read, or are left.
    read: usize,
    next: usize,
}

impl Rows {
    pub(super) fn new(readers: Readers, ids: Vec<u32>) -> Self {
        Self { readers, ids, left: Vec::new(), read: 0, next: FEW }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.is_empty() && self.read >= self.ids.len()
    }

    /// The next ones that are still there, maybe none of them, each with its place among all.
    pub(super) async fn more(&mut self) -> Answer<Vec<(usize, ItemRow)>> {
        let mut places = std::mem::take(&mut self.left);
        let end = (self.read + self.next.saturating_sub(places.len())).min(self.ids.len());
        places.extend(self.read..end);
        self.read = end;
        let ids: Vec<u32> = places.iter().map(|place| self.ids[*place]).collect();
        let beside = if ids.len() <= FEW {
            self.readers.look(|reader| reader.items_beside(&ids, BYTES))?
        } else {
            self.readers.scan(move |reader| reader.items_beside(&ids, BYTES)).await?
        };
        self.left = beside.left.into_iter().map(|left| places[left]).collect();
        let rows: Vec<_> = beside.found.into_iter().map(|(found, row)| (places[found], row)).collect();
        let bytes: usize = rows.iter().map(|(_, row)| row.url.len() + row.metadata.len() + EACH).sum();
        let fit = rows.len() * BYTES / bytes.max(1);
        self.next = fit.min(8 * self.next).clamp(1, MOST);
        Ok(rows)
    }
}
