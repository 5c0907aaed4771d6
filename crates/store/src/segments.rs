//! The WARC files as the writer sees them: append, make durable, and take back what was not committed after all.
//!
//! A file is never written before its committed length, so whoever reads a committed record never sees it change.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use refrain_core::time::Time;

use crate::error::{Context, StoreError};
use crate::mark::{Mark, Marker};
use crate::place::{Place, segment_name, sync_directory};
use crate::warc;

const BUFFER: usize = 1 << 20;

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) segment: i64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// The segments, the last of which is written.
#[derive(Debug)]
pub(crate) struct Segments {
    place: Place,
    /// A segment is closed rather than growing beyond this.
    roll_at: u64,
    /// The segment that is written, as it was committed last.
    committed: Option<Tail>,
    /// What was appended since then.
    pending: Pending,
    marker: Marker,
}

#[derive(Clone, Copy, Debug)]
struct Tail {
    id: i64,
    length: u64,
}

#[derive(Debug, Default)]
struct Pending {
    /// New lengths of segments, oldest first; those after the first are new files, and so is the first if nothing was
    /// committed before.
    lengths: Vec<Tail>,
    /// Whether files may have more in them than was committed.
    torn: bool,
    /// Files that were created.
    created: Vec<i64>,
    /// The highest number that was ever given to a file.
    last_id: i64,
}

impl Segments {
    /// Goes on after `last`, the number and length of the last segment that was committed; `last_id` is the highest number
    /// that any segment ever had.
    pub(crate) fn new(place: Place, roll_at: u64, last: Option<(i64, u64)>, last_id: i64) -> Self {
        let committed = last.map(|(id, length)| Tail { id, length });
        let marker = Marker::new(place.clone());
        Self { place, roll_at, committed, pending: Pending { last_id, ..Pending::default() }, marker }
    }

    /// Goes on after another segment, and writes the mark of it.
    pub(crate) fn mark_as(&mut self, last: Option<(i64, u64)>) {
        self.committed = last.map(|(id, length)| Tail { id, length });
        self.mark();
    }

    /// Writes the mark of what is committed: segment 0 stands for nothing yet.
    pub(crate) fn mark(&mut self) {
        let Tail { id, length } = self.committed.unwrap_or(Tail { id: 0, length: 0 });
        self.marker.write(Mark { segment: id, length });
    }

    /// The segment that is written now, if there is one.
    pub(crate) fn current(&self) -> Option<i64> {
        self.committed.map(|tail| tail.id)
    }

    /// Appends records and makes them durable; [`Segments::keep`] or [`Segments::take_back`] must follow.
    pub(crate) fn append(&mut self, records: &[&[u8]], time: Time) -> Result<Vec<Spot>, StoreError> {
        if self.pending.torn {
            self.take_back()?;
        }
        if records.is_empty() {
            return Ok(Vec::new());
        }
        self.pending.torn = true;
        let mut spots = Vec::with_capacity(records.len());
        let mut open: Option<(Tail, BufWriter<File>)> =
            self.committed.map(|tail| self.reopen(tail)).transpose()?;
        for record in records {
            let length = record.len() as u64;
            let fits =
                open.as_ref().is_some_and(|(tail, _)| tail.length.saturating_add(length) <= self.roll_at);
            if !fits {
                if let Some((tail, file)) = open.take() {
                    self.finish(tail, file)?;
                }
                open = Some(self.create(time)?);
            }
            if let Some((tail, file)) = &mut open {
                file.write_all(record).at(&self.place.segment(tail.id), "write to the segment")?;
                spots.push(Spot { segment: tail.id, offset: tail.length, length });
                tail.length += length;
            }
        }
        if let Some((tail, file)) = open {
            self.finish(tail, file)?;
        }
        Ok(spots)
    }

    /// The lengths that the transaction is to write down: number and length of each segment that grew.
    pub(crate) fn grown(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.pending.lengths.iter().map(|tail| (tail.id, tail.length))
    }

    /// What was appended is committed.
    pub(crate) fn keep(&mut self) {
        if let Some(last) = self.pending.lengths.pop() {
            self.committed = Some(last);
            self.mark();
        }
        self.pending.lengths.clear();
        self.pending.created.clear();
        self.pending.torn = false;
    }

    /// What was appended is not committed: files are cut to what is.
    pub(crate) fn take_back(&mut self) -> Result<(), StoreError> {
        self.pending.lengths.clear();
        if let Some(tail) = self.committed {
            let path = self.place.segment(tail.id);
            cut(&self.place, tail.id, tail.length).at(&path, "cut the segment")?;
        }
        for id in self.pending.created.clone() {
            self.remove(id)?;
        }
        self.pending.created.clear();
        self.pending.torn = false;
        Ok(())
    }

    /// Removes the file of a segment, if it is there.
    pub(crate) fn remove(&self, id: i64) -> Result<(), StoreError> {
        let path = self.place.segment(id);
        match fs::remove_file(&path) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::file(&path, "remove the segment", why))
            }
            _ => Ok(()),
        }
    }

    fn reopen(&self, tail: Tail) -> Result<(Tail, BufWriter<File>), StoreError> {
        let path = self.place.segment(tail.id);
        let mut file = OpenOptions::new().write(true).open(&path).at(&path, "open the segment")?;
        file.seek(SeekFrom::Start(tail.length)).at(&path, "find the end of the segment")?;
        Ok((tail, BufWriter::with_capacity(BUFFER, file)))
    }

    /// A new segment, with its first record; its name is durable before anything refers to it. A file that is there is never overwritten.
    fn create(&mut self, time: Time) -> Result<(Tail, BufWriter<File>), StoreError> {
        let id = self.pending.last_id + 1;
        let path = self.place.segment(id);
        let file = File::create_new(&path).at(&path, "create the segment")?;
        self.pending.last_id = id;
        self.pending.created.push(id);
        sync_directory(&self.place.segments())?;
        let mut file = BufWriter::with_capacity(BUFFER, file);
        let info = warc::warcinfo(&segment_name(id), time);
        file.write_all(&info).at(&path, "write to the segment")?;
        Ok((Tail { id, length: info.len() as u64 }, file))
    }

    fn finish(&mut self, tail: Tail, mut file: BufWriter<File>) -> Result<(), StoreError> {
        let path = self.place.segment(tail.id);
        let done = file.flush().and_then(|()| file.get_ref().sync_data());
        // After a failure there is nothing to gain from writing the rest when the buffer goes.
        let _ = file.into_parts();
        done.at(&path, "write to the segment")?;
        self.pending.lengths.push(tail);
        Ok(())
    }
}

/// Cuts a file to what was committed of it, durably.
fn cut(place: &Place, id: i64, length: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(place.segment(id))?;
    if file.metadata()?.len() > length {
        file.set_len(length)?;
        file.sync_all()?;
    }
    Ok(())
}
