//! The SQLite file: how it is opened, and which versions of it are understood.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::error::{Context, StoreError};
use crate::spelling::{self, Respelled};

/// The version of the schema, as `PRAGMA user_version` has it.
const VERSION: i64 = 7;
/// Marks the file as Refrain's (`file` and SQLite itself show it): "Rfrn".
const APPLICATION: i64 = 0x5266_726e;
const SCHEMA: &str = include_str!("schema.sql");
/// The statements that lead from each version to the next one, from the first to the sixth; [`spelling`] leads to the seventh.
const UPGRADES: [&str; 5] = [
    include_str!("upgrade-2.sql"),
    include_str!("upgrade-3.sql"),
    include_str!("upgrade-4.sql"),
    include_str!("upgrade-5.sql"),
    include_str!("upgrade-6.sql"),
];

const MISSING: &str = "there is no such file";
const EMPTY: &str = "it has no tables yet";

/// Statements that are prepared once; there are fewer than this.
const STATEMENTS: usize = 64;
/// Pages of 4 KB in the write-ahead log after which they go to the database: random updates are gathered, and the log
/// stays below some 64 MB.
const CHECKPOINT_AT: i64 = 16_000;
const MOST_LOG_BYTES: i64 = 64 << 20;

/// Opens the database for its only writer. One that is missing or empty is created, if it `may_begin`. Says what became of addresses if an
/// older one was brought up to date.
pub(crate) fn open_to_write(
    path: &Path,
    cache_bytes: u64,
    may_begin: bool,
) -> Result<(Connection, Option<Respelled>), StoreError> {
    let is_empty = std::fs::metadata(path).map_or(true, |file| file.len() == 0);
    // SQLite throws the log of an empty database away.
    if is_empty && !(may_begin && has_no_log(path)) {
        let why = if path.exists() { EMPTY } else { MISSING };
        return Err(StoreError::NotAStore { path: path.to_owned(), why: why.to_owned() });
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).at(path, "open the database")?;
    // Before anything is written: whoever points at another program's file gets it back as it was.
    let found = version(&connection, path)?;
    if found == 0 && !may_begin {
        return Err(StoreError::NotAStore { path: path.to_owned(), why: EMPTY.to_owned() });
    }
    configure(&connection, cache_bytes).at(path, "configure the database")?;
    let mut respelled = None;
    match found {
        0 => create(&mut connection).at(path, "create the tables")?,
        VERSION => {}
        older => respelled = Some(upgrade(&mut connection, older).at(path, "bring the tables up to date")?),
    }
    Ok((connection, respelled))
}

/// Opens the database to read; its writer may be at work meanwhile.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::NotAStore { path: path.to_owned(), why: MISSING.to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, more| {
        let connection = Connection::open_with_flags(name, flags | more).at(path, "open the database")?;
        version(&connection, path).map(|found| (connection, found))
    };
    let (connection, found) = match open(path, OpenFlags::empty()) {
        Err(StoreError::Database { why, .. }) if is_still(path, &why) => {
            open(&unchanging(path), OpenFlags::SQLITE_OPEN_URI)?
        }
        opened => opened?,
    };
    if found == 0 {
        return Err(StoreError::NotAStore { path: path.to_owned(), why: EMPTY.to_owned() });
    }
    if found < VERSION {
        return Err(StoreError::Older { path: path.to_owned(), found, known: VERSION });
    }
    prepare_once(&connection).at(path, "configure the database")?;
    Ok(connection)
}

/// Opens a database to read it, whichever version of the schema it has.
pub(crate) fn open_as_it_is(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).at(path, "open the database")
}

/// Whether the database cannot be opened because SQLite may not put its log beside it, and needs none: nobody writes to a
/// directory that is on a read-only disk, or belongs to somebody else who has closed it.
fn is_still(path: &Path, why: &rusqlite::Error) -> bool {
    let refused = matches!(why.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly));
    refused && !log(path).exists()
}

fn has_no_log(path: &Path) -> bool {
    std::fs::metadata(log(path)).map_or(true, |log| log.len() == 0)
}

/// SQLite's write-ahead log.
fn log(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

/// The path as a URI that tells SQLite not to expect any changes.
fn unchanging(path: &Path) -> PathBuf {
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'?' | b'#' | b'%' => uri.extend(format!("%{byte:02x}").bytes()),
            other => uri.push(*other),
        }
    }
    uri.extend(b"?immutable=1");
    PathBuf::from(String::from_utf8_lossy(&uri).into_owned())
}

fn configure(connection: &Connection, cache_bytes: u64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Each commit waits for the disk.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_AT)?;
    connection.pragma_update(None, "journal_size_limit", MOST_LOG_BYTES)?;
    // What is written here comes from types that cannot be wrong. The checks are for other programs that write: SQLite makes a table of its own for each
    // `IN (…)`, and throws it away, for every row.
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    // Negative: kibibytes rather than pages.
    connection.pragma_update(None, "cache_size", -i64::try_from(cache_bytes / 1024).unwrap_or(i64::MAX))?;
    prepare_once(connection)
}

/// Statements are planned once, not anew for every value that they are asked with.
fn prepare_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

fn upgrade(connection: &mut Connection, from: i64) -> rusqlite::Result<Respelled> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in UPGRADES.iter().skip(usize::try_from(from - 1).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    let respelled = spelling::upgrade(&transaction)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(respelled)
}

/// The version of the schema; 0 if the database is empty.
fn version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let not_ours = |why: &str| StoreError::NotAStore { path: path.to_owned(), why: why.to_owned() };
    let number = |pragma| connection.query_row(pragma, (), |row| row.get::<_, i64>(0));
    let tables = match number("SELECT count(*) FROM sqlite_schema") {
        Err(why) if why.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(not_ours("it is not an SQLite database"));
        }
        tables => tables.at(path, "read the database")?,
    };
    let application = number("PRAGMA application_id").at(path, "read the database")?;
    let found = number("PRAGMA user_version").at(path, "read the database")?;
    match (tables, application, found) {
        (0, 0, 0) => Ok(0),
        (_, APPLICATION, 1..=VERSION) => Ok(found),
        (_, APPLICATION, _) if found > VERSION => {
            Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION })
        }
        _ => Err(not_ours("it is the database of another program")),
    }
}
