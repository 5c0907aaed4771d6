//! Which elements are open, where not all that open do close.

use xxhash_rust::xxh3::xxh3_64;

/// What is nested deeper is an attack.
pub(in crate::announce) const DEEPEST: usize = 100;

/// The open elements, by the hashes of their names.
#[derive(Debug, Default)]
pub(in crate::announce) struct Nesting {
    open: Vec<u64>,
}

impl Nesting {
    /// How many elements are open.
    pub(in crate::announce) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Opens an element; false if that is too deep.
    pub(in crate::announce) fn open(&mut self, name: &str) -> bool {
        let fits = self.open.len() < DEEPEST;
        if fits {
            self.open.push(xxh3_64(name.as_bytes()));
        }
        fits
    }

    /// Closes the innermost element with this name and all within. An end that has no start is ignored.
    pub(in crate::announce) fn close(&mut self, name: &str) {
        let hash = xxh3_64(name.as_bytes());
        if let Some(at) = self.open.iter().rposition(|open| *open == hash) {
            self.open.truncate(at);
        }
    }

    /// Closes all that is deeper than this.
    pub(in crate::announce) fn cut(&mut self, depth: usize) {
        self.open.truncate(depth);
    }
}
