//! The data directory: what lies where, and who may write.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Context, StoreError};
use crate::mark::Mark;

/// A data directory.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    root: PathBuf,
    /// The name of the database within it.
    database: &'static str,
}

/// The name of the database.
const DATABASE: &str = "refrain.db";

/// Held as long as this process may write; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

/// Said aloud, because closing the file is not enough while a process that another thread is just starting has it as well.
impl Drop for Lock {
    fn drop(&mut self) {
        // If it fails the system lets go of the lock a little later.
        let _ = self.file.unlock();
    }
}

impl Place {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), database: DATABASE }
    }

    /// The same directory, with another file as its database.
    pub(crate) fn with_database(&self, name: &'static str) -> Self {
        Self { root: self.root.clone(), database: name }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join(self.database)
    }

    /// Where bytes of the archive are moved that were never committed.
    pub(crate) fn uncommitted(&self) -> PathBuf {
        self.segments().join("uncommitted")
    }

    /// The file that says what was committed last.
    pub(crate) fn mark(&self) -> PathBuf {
        self.segments().join("committed")
    }

    pub(crate) fn segments(&self) -> PathBuf {
        self.root.join("warc")
    }

    pub(crate) fn segment(&self, id: i64) -> PathBuf {
        self.segments().join(segment_name(id))
    }

    /// Makes the directories that are missing.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        let segments = self.segments();
        fs::create_dir_all(&segments).at(&segments, "create the directory")?;
        sync_directory(&self.root)?;
        // The name of the directory itself, if it has just been made.
        let parent = self.root.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new(".")))
    }

    /// Becomes the one process that writes here.
    pub(crate) fn lock(&self) -> Result<Lock, StoreError> {
        let path = self.root.join("refrain.lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .at(&path, "open the lock file")?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: self.root.clone() }),
            Err(TryLockError::Error(why)) => Err(StoreError::file(&path, "lock the file", why)),
        }
    }

    /// An archive without its database, if that is what an error is about: says so instead, and what to do.
    pub(crate) fn with_archive(&self, error: StoreError) -> StoreError {
        let why = match &error {
            StoreError::NotAStore { why, .. } => why.clone(),
            StoreError::Database { why, .. } if error.is_corrupt() => format!("is damaged ({why})"),
            _ => return error,
        };
        match self.segments_present() {
            Ok(ids) if !ids.is_empty() => {
                let (path, files) = (self.database(), self.named(ids));
                StoreError::NoDatabase { path, why, files, root: self.root.clone() }
            }
            _ => error,
        }
    }

    /// Whether a data directory may begin here: nothing says that there was one.
    pub(crate) fn may_begin(&self) -> Result<bool, StoreError> {
        let had_commits = Mark::read(self).is_some_and(|mark| mark.segment > 0);
        Ok(!had_commits && self.segments_present()?.is_empty())
    }

    /// Segments by their names, for people: the first ones, and how many there are.
    pub(crate) fn named(&self, ids: Vec<i64>) -> String {
        const MOST: usize = 4;
        let folder = self.segments();
        let more = ids.len().saturating_sub(MOST);
        let names: Vec<String> = ids
            .into_iter()
            .take(MOST)
            .map(|id| folder.join(segment_name(id)).display().to_string())
            .collect();
        let names = names.join(", ");
        if more == 0 { names } else { format!("{names} and {more} more") }
    }

    /// The numbers of the segment files that are there, in order. Other files are none of ours.
    pub(crate) fn segments_present(&self) -> Result<Vec<i64>, StoreError> {
        let folder = self.segments();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Not yet created by the writer.
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(why) => return Err(StoreError::file(&folder, "list the directory", why)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.at(&folder, "list the directory")?.file_name();
            ids.extend(name.to_str().and_then(segment_id));
        }
        ids.sort_unstable();
        Ok(ids)
    }
}

/// Makes names durable: a file that was created or removed is so after a power cut as well.
pub(crate) fn sync_directory(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).at(path, "make the directory durable")
}

/// `000001.warc.gz`; longer from a million segments on.
pub(crate) fn segment_name(id: i64) -> String {
    format!("{id:06}.warc.gz")
}

fn segment_id(name: &str) -> Option<i64> {
    let digits = name.strip_suffix(".warc.gz")?;
    let id = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    // Only names that we would give ourselves: not `7.warc.gz`.
    (id > 0 && segment_name(id) == name).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_segments() {
        assert_eq!(segment_id("000001.warc.gz"), Some(1));
        assert_eq!(segment_id("12345678.warc.gz"), Some(12345678));
        for name in
            ["1.warc.gz", "000000.warc.gz", "-00001.warc.gz", "000001.warc", "x000001.warc.gz", ".warc.gz"]
        {
            assert_eq!(segment_id(name), None, "{name}");
        }
    }
}
