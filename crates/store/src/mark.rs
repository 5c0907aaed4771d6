//! The mark of what was committed last: the last segment and its length, in a small file beside the segments.
//!
//! The database says the same. If it says less, it is an older copy that somebody put back, and must not decide what to cut off. The mark is written
//! after each commit and not waited for: it may be behind the database, never ahead of it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use crate::place::Place;

/// A segment, and how much of it was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) segment: i64,
    pub(crate) length: u64,
}

impl Mark {
    /// The mark as it was written last; `None` if there is none, or none that can be read.
    pub(crate) fn read(place: &Place) -> Option<Self> {
        let text = std::fs::read_to_string(place.mark()).ok()?;
        let mut words = text.split_ascii_whitespace();
        let (segment, length) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        words.next().is_none().then_some(Self { segment, length })
    }

    /// Always as many bytes, so that one mark replaces another in one write.
    fn to_line(self) -> String {
        format!("{:020} {:020}\n", self.segment, self.length)
    }
}

/// Writes marks. Without the file everything works but the warning that the database is too old, so failures are not reported.
#[derive(Debug)]
pub(crate) struct Marker {
    place: Place,
    file: Option<File>,
}

impl Marker {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, file: None }
    }

    pub(crate) fn write(&mut self, mark: Mark) {
        if self.file.is_none() {
            let open = OpenOptions::new().create(true).truncate(false).write(true).open(self.place.mark());
            self.file = open.ok();
        }
        if let Some(file) = &self.file
            && file.write_all_at(mark.to_line().as_bytes(), 0).is_err()
        {
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(folder.path());
        place.create().unwrap();
        assert_eq!(Mark::read(&place), None);
        let mut marker = Marker::new(place.clone());
        for mark in [Mark { segment: 999, length: 123_456_789 }, Mark { segment: 1000, length: 7 }] {
            marker.write(mark);
            assert_eq!(Mark::read(&place), Some(mark));
        }
        std::fs::write(place.mark(), "torn").unwrap();
        assert_eq!(Mark::read(&place), None);
    }
}
