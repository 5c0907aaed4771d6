//! Bytes in the archive that the database does not know.
//!
//! A killed process leaves some: bodies are written before the transaction that refers to them. They are moved aside when the directory is
//! opened. An older copy of the database leaves the same picture. It is refused: by the mark of what was committed last (`mark`); if an earlier
//! version of Refrain wrote the directory, without a mark, because there are whole records; or because there is more than a batch can hold.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::error::{Context, StoreError};
use crate::mark::Mark;
use crate::place::{Place, segment_name, sync_directory};
use crate::segments::Segments;
use crate::warc::read_record;

/// No batch writes more, and no more is kept aside in all.
const MOST: u64 = 1 << 30;

/// What was moved aside when a data directory was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftovers {
    /// How many bytes.
    pub bytes: u64,
    /// The folder that they are in now.
    pub folder: PathBuf,
}

/// The segments as the database has them.
pub(crate) struct Known {
    /// Number and committed length of those that versions may refer to, in order.
    pub(crate) live: Vec<(i64, u64)>,
    /// The numbers of those that nothing refers to any more.
    retired: Vec<i64>,
    /// The highest number that any segment ever had.
    pub(crate) last_id: i64,
}

/// A part of the archive that the database does not know.
struct Unknown {
    id: i64,
    /// Where it begins in the file.
    from: u64,
    bytes: u64,
}

/// Brings the files in line with what was committed. Gives the segments, to be written on where the committed part ends, and what was moved aside.
pub(crate) fn settle(
    connection: &Connection,
    place: &Place,
    roll_at: u64,
) -> Result<(Segments, Option<Leftovers>), StoreError> {
    let path = place.database();
    let known = Known::read(connection).at(&path, "read the segments")?;
    let lengths = known.lengths_found(place)?;
    let unknown = known.unknown(place, &lengths)?;
    let bytes: u64 = unknown.iter().map(|part| part.bytes).sum();
    let may_be_committed = match Mark::read(place) {
        Some(mark) => known.is_behind(mark),
        None => has_record(place, &unknown)?,
    };
    if bytes > 0 && (may_be_committed || bytes > MOST) {
        let files = unknown.iter().map(|part| part.id).collect();
        return Err(StoreError::OlderDatabase {
            path,
            files: place.named(files),
            root: place.root().to_owned(),
        });
    }
    let leftovers = if bytes > 0 { Some(move_aside(place, &unknown, bytes)?) } else { None };
    let mut segments = Segments::new(place.clone(), roll_at, known.live.last().copied(), known.last_id);
    for id in &known.retired {
        segments.remove(*id)?;
    }
    segments.mark();
    sync_directory(&place.segments())?;
    connection
        .execute("DELETE FROM segments WHERE retired IS NOT NULL", ())
        .at(&path, "forget old segments")?;
    Ok((segments, leftovers))
}

impl Known {
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'segments'";
        let last_id = connection.query_row(sql, (), |row| row.get(0))?;
        let (mut live, mut retired) = (Vec::new(), Vec::new());
        let mut read =
            connection.prepare("SELECT id, length, retired IS NOT NULL FROM segments ORDER BY id")?;
        let mut rows = read.query(())?;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            if row.get(2)? {
                retired.push(id);
            } else {
                live.push((id, row.get::<_, i64>(1)?.cast_unsigned()));
            }
        }
        Ok(Self { live, retired, last_id })
    }

    /// Whether more was committed once than the database knows.
    pub(crate) fn is_behind(&self, mark: Mark) -> bool {
        let own = self.live.iter().find(|(id, _)| *id == mark.segment);
        mark.segment > self.last_id || own.is_some_and(|(_, length)| mark.length > *length)
    }

    /// The lengths of the live files; an error if what was committed is not all there.
    fn lengths_found(&self, place: &Place) -> Result<Vec<u64>, StoreError> {
        let length = |(id, committed): &(i64, u64)| {
            let what = match length_of(place, *id)? {
                Some(found) if found >= *committed => return Ok(found),
                Some(found) => format!("has only {found} bytes; expected {committed}"),
                None => format!("is missing; expected {committed} bytes"),
            };
            Err(StoreError::Lost { path: place.segment(*id), what, root: place.root().to_owned() })
        };
        self.live.iter().map(length).collect()
    }

    /// Live files that are missing or shorter than what was committed, each with the length that it has.
    pub(crate) fn cut_short(&self, place: &Place) -> Result<Vec<(i64, Option<u64>)>, StoreError> {
        let mut cut = Vec::new();
        for (id, committed) in &self.live {
            let found = length_of(place, *id)?;
            if found.unwrap_or(0) < *committed {
                cut.push((*id, found));
            }
        }
        Ok(cut)
    }

    /// Parts of files that the database does not know. A file with a number that was given before, but is not in the database, is not ours.
    fn unknown(&self, place: &Place, lengths: &[u64]) -> Result<Vec<Unknown>, StoreError> {
        let mut unknown = Vec::new();
        for ((id, committed), found) in self.live.iter().zip(lengths) {
            if found > committed {
                unknown.push(Unknown { id: *id, from: *committed, bytes: found - committed });
            }
        }
        for id in place.segments_present()?.into_iter().filter(|id| *id > self.last_id) {
            let path = place.segment(id);
            let bytes = fs::metadata(&path).at(&path, "look at the segment")?.len();
            // An empty file counts as well: it is in the way.
            unknown.push(Unknown { id, from: 0, bytes: bytes.max(1) });
        }
        Ok(unknown)
    }
}

/// The length of a segment's file; `None` if there is no such file.
fn length_of(place: &Place, id: i64) -> Result<Option<u64>, StoreError> {
    let path = place.segment(id);
    match fs::metadata(&path) {
        Ok(file) => Ok(Some(file.len())),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(StoreError::file(&path, "look at the segment", why)),
    }
}

/// Whether one of the parts begins with a whole record.
fn has_record(place: &Place, unknown: &[Unknown]) -> Result<bool, StoreError> {
    for part in unknown {
        let path = place.segment(part.id);
        let mut file = File::open(&path).at(&path, "open the segment")?;
        file.seek(SeekFrom::Start(part.from)).at(&path, "read the segment")?;
        if matches!(read_record(&mut BufReader::new(file)), Ok(Some(_))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves parts of files into a folder of their own, durably, before they are cut off.
fn move_aside(place: &Place, unknown: &[Unknown], bytes: u64) -> Result<Leftovers, StoreError> {
    let folder = place.uncommitted();
    fs::create_dir_all(&folder).at(&folder, "create the directory")?;
    make_room(&folder, bytes)?;
    for part in unknown {
        let from = place.segment(part.id);
        let to = free_name(&folder, part);
        if part.from == 0 {
            fs::rename(&from, &to).at(&from, "move the segment")?;
        } else {
            copy_tail(&from, part.from, &to).at(&to, "write the file")?;
            sync_directory(&folder)?;
            let file = OpenOptions::new().write(true).open(&from).at(&from, "open the segment")?;
            file.set_len(part.from).and_then(|()| file.sync_all()).at(&from, "cut the segment")?;
        }
    }
    sync_directory(&folder)?;
    sync_directory(&place.segments())?;
    Ok(Leftovers { bytes, folder })
}

fn copy_tail(from: &Path, offset: u64, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    source.seek(SeekFrom::Start(offset))?;
    let mut target = File::create_new(to)?;
    io::copy(&mut source.take(MOST), &mut target)?;
    target.sync_all()
}

/// `000007-from-123456.warc.gz`; with a number before the ending if there is such a file from an earlier time.
fn free_name(folder: &Path, part: &Unknown) -> PathBuf {
    let name = segment_name(part.id);
    let stem = name.strip_suffix(".warc.gz").unwrap_or(&name);
    let names = (0..).map(|count: u32| match count {
        0 => folder.join(format!("{stem}-from-{}.warc.gz", part.from)),
        _ => folder.join(format!("{stem}-from-{}-{count}.warc.gz", part.from)),
    });
    names.into_iter().find(|path| !path.exists()).unwrap_or_else(|| folder.join(name))
}

/// Removes the oldest files until there is room for so many bytes more: the folder does not grow without bound. Only bytes that are known not to
/// have been committed come here.
fn make_room(folder: &Path, bytes: u64) -> Result<(), StoreError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).at(folder, "list the directory")? {
        let entry = entry.at(folder, "list the directory")?;
        let about = entry.metadata().at(folder, "list the directory")?;
        let modified = about.modified().at(folder, "list the directory")?;
        files.push((modified, entry.path(), about.len()));
    }
    files.sort();
    let mut total: u64 = files.iter().map(|(.., length)| length).sum();
    for (_, path, length) in files {
        if total.saturating_add(bytes) <= MOST {
            break;
        }
        fs::remove_file(&path).at(&path, "remove the file")?;
        total -= length;
    }
    Ok(())
}
