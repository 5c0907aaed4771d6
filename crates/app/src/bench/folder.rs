//! A folder among temporary files, gone in the end.

use crate::failure::Failure;

pub(super) struct Folder(pub(super) std::path::PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("refrain-bench-{}", std::process::id()));
        std::fs::create_dir(&path)
            .map_err(|why| Failure::system(format!("{}: cannot be made", path.display()), why))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
