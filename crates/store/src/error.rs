//! What can go wrong: one sentence each.

use std::io;
use std::path::{Path, PathBuf};

/// Why the store did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process writes this directory.
    #[error("{}: another process is crawling into this directory; stop it first, or only read", path.display())]
    Locked {
        /// The data directory.
        path: PathBuf,
    },
    /// A later version of Refrain wrote it.
    #[error("{}: written by a newer Refrain (schema {found}, this one knows {known}); use the newer one", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version known here.
        known: i64,
    },
    /// An earlier version of Refrain wrote it, and nobody has brought it up to date.
    #[error("{}: written by an older Refrain (schema {found}, this one has {known}); a crawl brings it up to date", path.display())]
    Older {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The version here.
        known: i64,
    },
    /// There is something else at this place, or nothing.
    #[error("{}: {why}; expected a data directory of Refrain", path.display())]
    NotAStore {
        /// What was opened.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// There are archive files, and no database that says what is in them.
    #[error(
        "{}: {why}, but there are archive files ({files}); put the database back, or rebuild it from the files with `refrain recover {}`",
        path.display(), root.display()
    )]
    NoDatabase {
        /// The database.
        path: PathBuf,
        /// What is there instead.
        why: String,
        /// The archive files.
        files: String,
        /// The data directory.
        root: PathBuf,
    },
    /// The archive has more than the database knows: it is an older copy.
    #[error(
        "{}: is older than the archive and does not know all that is in {files}; put the newer database back, or add what the files hold with `refrain recover {}`",
        path.display(), root.display()
    )]
    OlderDatabase {
        /// The database.
        path: PathBuf,
        /// The archive files that have more in them than it knows.
        files: String,
        /// The data directory.
        root: PathBuf,
    },
    /// No room. Nothing of the batch was kept; the same batch may be committed again once there is room.
    #[error("{}: the disk is full{}; make room and go on, nothing that was committed is lost", path.display(), free_room(*free))]
    DiskFull {
        /// What could not be written.
        path: PathBuf,
        /// Bytes that are left, where the system tells.
        free: Option<u64>,
    },
    /// Facts that cannot be; nothing of the batch was kept.
    #[error("{0}")]
    Refused(String),
    /// What is on the disk is not what was committed.
    #[error("{}: {what}; `refrain check` tells what else is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// An archive file is missing, or shorter than what was committed of it.
    #[error(
        "{}: {what}; put the file back, or give up what is lost with `refrain recover {}`; `refrain check` tells what else is damaged",
        path.display(), root.display()
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// The data directory.
        root: PathBuf,
    },
    /// The disk failed while a batch was being committed: only opening the store anew tells whether it was.
    #[error("{}: writing failed half-way earlier on; open the store anew before writing on", path.display())]
    Unsure {
        /// The database.
        path: PathBuf,
    },
    /// The system refused to do something with a file.
    #[error("{}: cannot {what} ({why})", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was attempted.
        what: &'static str,
        /// What the system said.
        why: io::Error,
    },
    /// SQLite refused to do something.
    #[error("{}: cannot {what} ({why})", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What was attempted.
        what: &'static str,
        /// What SQLite said.
        why: rusqlite::Error,
    },
}

impl StoreError {
    /// A failed operation on a file; a full disk has a name of its own.
    pub(crate) fn file(path: &Path, what: &'static str, why: io::Error) -> Self {
        match why.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::full(path)
            }
            _ => Self::File { path: path.to_owned(), what, why },
        }
    }

    /// A failed operation on the database; a full disk has a name of its own.
    pub(crate) fn database(path: &Path, what: &'static str, why: rusqlite::Error) -> Self {
        match why.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::full(path),
            _ => Self::Database { path: path.to_owned(), what, why },
        }
    }

    fn full(path: &Path) -> Self {
        let folder = path.parent().unwrap_or(path);
        let free = rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        Self::DiskFull { path: path.to_owned(), free }
    }

    /// Whether the file is no database, or a damaged one.
    pub(crate) fn is_corrupt(&self) -> bool {
        let Self::Database { why, .. } = self else { return false };
        matches!(
            why.sqlite_error_code(),
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
        )
    }

    /// Whether trying again may help once there is room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::DiskFull { .. })
    }
}

fn free_room(free: Option<u64>) -> String {
    free.map(|bytes| format!(" ({bytes} bytes are free, or the quota is used up)")).unwrap_or_default()
}

/// Names the file and the attempt where an error is passed on.
pub(crate) trait Context<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, StoreError>;
}

impl<T> Context<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|why| StoreError::file(path, what, why))
    }
}

impl<T> Context<T> for rusqlite::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|why| StoreError::database(path, what, why))
    }
}
