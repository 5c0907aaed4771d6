//! A folder among temporary files, gone in the end.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::failure::Failure;
use crate::stopwatch::Stopwatch;

pub(super) struct Folder(pub(super) std::path::PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("refrain-bench-{}", std::process::id()));
        std::fs::create_dir(&path)
            .map_err(|why| Failure::system(format!("{}: cannot be made", path.display()), why))?;
        Ok(Self(path))
    }

    /// How long the disk takes for a write like those of a busy store: nobody who waits for it can be faster.
    pub(super) fn disk(&self, times: usize) -> Result<Vec<Duration>, Failure> {
        let path = self.0.join("disk");
        let written = written(&path, times);
        // It goes with the folder at the latest.
        let _ = std::fs::remove_file(&path);
        written.map_err(|why| Failure::system(format!("{}: cannot be written", path.display()), why))
    }
}

fn written(path: &Path, times: usize) -> io::Result<Vec<Duration>> {
    let mut file = File::create(path)?;
    let bytes = vec![b'x'; 256 << 10];
    let each = (0..times).map(|_| {
        let watch = Stopwatch::start();
        file.write_all(&bytes)?;
        file.sync_data()?;
        Ok(watch.elapsed())
    });
    each.collect()
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
