//! Where results go: standard output or a file, gzip'ed if its name says so.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::failure::Failure;

/// Creates a file (or takes standard output, for `-`), lets `write` fill it, and sees it safely to the end.
pub(crate) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        return to_stdout(write);
    }
    let name = path.display().to_string();
    let failed = |why| Failure::system(format!("{name}: cannot be written"), why);
    let file = BufWriter::with_capacity(1 << 18, File::create(path).map_err(failed)?);
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut gzip = GzEncoder::new(file, Compression::default());
        write(&mut gzip).and_then(|()| gzip.finish()?.flush()).map_err(failed)
    } else {
        let mut file = file;
        write(&mut file).and_then(|()| file.flush()).map_err(failed)
    }
}

/// Lets `write` fill standard output.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(|why| Failure::system("standard output cannot be written", why))
}
