//! One record as one gzip member.

use std::io::Write;

use flate2::{Compression, GzBuilder};

/// Compresses the pieces of a record. The same pieces always give the same bytes: no time, no name in the gzip header.
pub(super) fn compress(pieces: &[&[u8]], into: &mut Vec<u8>) {
    let mut gzip = GzBuilder::new().write(into, Compression::default());
    // Writing to memory does not fail.
    for piece in pieces {
        let _ = gzip.write_all(piece);
    }
    let _ = gzip.finish();
}
