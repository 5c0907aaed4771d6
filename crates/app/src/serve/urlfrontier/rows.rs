//! Rows of URLs, read a few at a time: as many as make up a chunk of a decent size, whatever their metadata weigh.

use refrain_store::ItemRow;

use crate::serve::problem::Answer;
use crate::serve::readers::Readers;

/// So many are read right where the request is.
const FEW: usize = 32;
/// At most so many are read at once.
const MOST: usize = 1024;
/// A chunk is meant to have about so many bytes.
const BYTES: usize = 128 << 10;

/// URLs that are to be read, in their order.
pub(super) struct Rows {
    readers: Readers,
    ids: Vec<u32>,
    read: usize,
    next: usize,
}

impl Rows {
    pub(super) fn new(readers: Readers, ids: Vec<u32>) -> Self {
        Self { readers, ids, read: 0, next: FEW }
    }

    pub(super) fn is_over(&self) -> bool {
        self.read >= self.ids.len()
    }

    /// The next ones that are still there, maybe none of them. Also how many were to be read.
    pub(super) async fn more(&mut self) -> Answer<Vec<ItemRow>> {
        let end = (self.read + self.next).min(self.ids.len());
        let ids = &self.ids[self.read..end];
        self.read = end;
        let rows = if ids.len() <= FEW {
            self.readers.look(|reader| reader.items(ids.iter().copied()))?
        } else {
            let ids = ids.to_vec();
            self.readers.scan(move |reader| reader.items(ids)).await?
        };
        let bytes: usize = rows.iter().map(|row| row.url.len() + row.metadata.len() + 64).sum();
        let fit = rows.len() * BYTES / bytes.max(1);
        self.next = fit.clamp(1, 8 * self.next).clamp(FEW.min(fit.max(1)), MOST);
        Ok(rows)
    }
}
