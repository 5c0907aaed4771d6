//! The database that a recovery begins with, and the change from the old one to the new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::database;
use crate::error::{Context, StoreError};
use crate::leftovers::Known;
use crate::place::{Place, sync_directory};
use crate::store::Options;

/// The database while it is built.
const BUILDING: &str = "refrain.db.recovering";
/// SQLite keeps these beside a database.
const PARTS: [&str; 3] = ["", "-wal", "-shm"];

/// What is gone on from.
pub(super) struct Base {
    pub(super) connection: Connection,
    /// The data directory with the database that is built.
    pub(super) place: Place,
    /// The segments that it knows.
    pub(super) known: Known,
    /// Those of them whose files are missing or shorter than it knows, each with the length of its file.
    pub(super) cut_short: Vec<(i64, Option<u64>)>,
    /// Why it is empty; `None` if it is a copy of the database that was there.
    pub(super) why: Option<String>,
}

/// A copy of the database that is there, if it can be read; otherwise an empty one.
pub(super) fn prepare(place: &Place) -> Result<Base, StoreError> {
    let building = place.with_database(BUILDING);
    let path = building.database();
    discard(&building)?;
    let why = match copied(place, &path) {
        Ok(()) => match open(&building, false) {
            Ok((connection, known)) => {
                let cut_short = known.cut_short(place)?;
                return Ok(Base { connection, place: building, known, cut_short, why: None });
            }
            Err(why) => why.to_string(),
        },
        Err(why) => why,
    };
    discard(&building)?;
    let (connection, known) = open(&building, true)?;
    Ok(Base { connection, place: building, known, cut_short: Vec::new(), why: Some(why) })
}

fn open(building: &Place, may_begin: bool) -> Result<(Connection, Known), StoreError> {
    let path = building.database();
    let (connection, _) = database::open_to_write(&path, Options::default().cache_bytes, may_begin)?;
    let known = Known::read(&connection).at(&path, "read the segments")?;
    Ok((connection, known))
}

/// Copies a database that is sound. The error is a sentence.
fn copied(place: &Place, to: &Path) -> Result<(), String> {
    let from = place.database();
    let connection = match database::open_to_read(&from) {
        // An older one is brought up to date as a copy.
        Err(StoreError::Older { .. }) => database::open_as_it_is(&from),
        opened => opened,
    };
    let connection = connection.map_err(|why| why.to_string())?;
    let damaged = |why: String| format!("{}: is damaged ({why})", from.display());
    let said: String = connection
        .query_row("PRAGMA quick_check(1)", (), |row| row.get(0))
        .map_err(|why| damaged(why.to_string()))?;
    if said != "ok" {
        return Err(damaged(said));
    }
    let to = to.to_str().ok_or_else(|| format!("{}: is not UTF-8", to.display()))?;
    connection.execute("VACUUM INTO ?1", (to,)).map_err(|why| damaged(why.to_string()))?;
    Ok(())
}

/// Removes what an earlier recovery left.
pub(super) fn discard(building: &Place) -> Result<(), StoreError> {
    for part in PARTS {
        let path = beside(&building.database(), part);
        match fs::remove_file(&path) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::file(&path, "remove the file", why));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts the database that was built in the place of the other one, which gets another name: that name, if there was one.
pub(super) fn replace(place: &Place, building: &Place) -> Result<Option<PathBuf>, StoreError> {
    let (own, new) = (place.database(), building.database());
    let names = (1..).map(|count: u32| beside(&own, &format!(".before-recovery-{count}")));
    let aside =
        names.into_iter().find(|path| !path.exists()).unwrap_or_else(|| beside(&own, ".before-recovery"));
    let mut kept = None;
    for part in PARTS {
        let from = beside(&own, part);
        if from.exists() {
            fs::rename(&from, beside(&aside, part)).at(&from, "rename the file")?;
            if part.is_empty() {
                kept = Some(aside.clone());
            }
        }
    }
    fs::rename(&new, &own).at(&new, "rename the file")?;
    sync_directory(place.root())?;
    Ok(kept)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
