//! The files of a log: `decisions-000001.jsonl` and so on. The last one is written to; those before it are gzip'ed, and the oldest go.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Line, Wanted};
use crate::failure::Failure;
use crate::tail::{self, Tail};

const PLAIN: &str = ".jsonl";
const CLOSED: &str = ".jsonl.gz";
/// What is being gzip'ed: of no use to anybody until it is whole.
const PART: &str = ".jsonl.gz.part";

/// A folder of files, of which one is written to.
pub(super) struct Files {
    wanted: Wanted,
    number: u64,
    file: File,
    size: u64,
}

/// The files of a log in a folder, oldest first. Of a file that is there both plain and gzip'ed, as when a process was killed between the two, one
/// is taken.
pub(crate) fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(numbered(folder)?.into_iter().map(|(_, path)| path).collect())
}

fn numbered(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("decisions-")).and_then(|rest| {
            rest.strip_suffix(CLOSED).or_else(|| rest.strip_suffix(PLAIN))?.parse::<u64>().ok()
        });
        found.extend(number.map(|number| (number, path)));
    }
    // The gzip'ed one is whole, and comes after the plain one by name.
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.dedup_by_key(|(number, _)| *number);
    found.reverse();
    Ok(found)
}

fn path(folder: &Path, number: u64, ending: &str) -> PathBuf {
    folder.join(format!("decisions-{number:06}{ending}"))
}

fn cannot(path: &Path, why: io::Error) -> Failure {
    Failure::system(format!("{}: the log of decisions cannot be written", path.display()), why)
}

impl Files {
    /// Continues a log, after whatever a process that was killed left behind.
    pub(super) fn open(wanted: &Wanted) -> Result<Self, Failure> {
        let folder = &wanted.folder;
        fs::create_dir_all(folder).map_err(|why| cannot(folder, why))?;
        let known = numbered(folder).map_err(|why| cannot(folder, why))?;
        let last = known.last().map_or(1, |(number, last)| number + u64::from(is_closed(last)));
        for (number, _) in known.iter().filter(|(number, _)| *number < last) {
            close(folder, *number)?;
        }
        let (file, size) = continued(&path(folder, last, PLAIN))?;
        let files = Self { wanted: wanted.clone(), number: last, file, size };
        files.drop_oldest()?;
        Ok(files)
    }

    /// Appends lines. Whether the file is full.
    pub(super) fn append(&mut self, lines: &str) -> Result<bool, Failure> {
        let written = self.file.write_all(lines.as_bytes());
        written.map_err(|why| cannot(&path(&self.wanted.folder, self.number, PLAIN), why))?;
        self.size += lines.len() as u64;
        Ok(self.size >= self.wanted.file_size)
    }

    /// Whether nothing was written to this file yet.
    pub(super) fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Goes on with the next file.
    pub(super) fn next(&mut self) -> Result<(), Failure> {
        let folder = &self.wanted.folder;
        let (file, size) = continued(&path(folder, self.number + 1, PLAIN))?;
        let full = self.number;
        (self.number, self.file, self.size) = (full + 1, file, size);
        close(folder, full)?;
        self.drop_oldest()
    }

    fn drop_oldest(&self) -> Result<(), Failure> {
        let folder = &self.wanted.folder;
        let known = numbered(folder).map_err(|why| cannot(folder, why))?;
        let surplus = known.len().saturating_sub(self.wanted.files.max(1));
        known
            .iter()
            .take(surplus)
            .try_for_each(|(_, path)| fs::remove_file(path).map_err(|why| cannot(path, why)))
    }
}

fn is_closed(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// A file to append to, and how long it is, without what was left half written.
fn continued(path: &Path) -> Result<(File, u64), Failure> {
    let failed = |why| cannot(path, why);
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
    let is_ours = match tail::mend(&mut file).map_err(failed)? {
        Tail::Empty => true,
        Tail::Endless => false,
        Tail::Line(line) => serde_json::from_slice::<Line>(&line).is_ok(),
    };
    if !is_ours {
        return Err(Failure::input(format!(
            "{}: its last line is no decision; expected a file that --decisions wrote, or none",
            path.display()
        )));
    }
    let size = file.metadata().map_err(failed)?.len();
    Ok((file, size))
}

/// Gzips a file. Killed at any moment, there is always a whole one.
fn close(folder: &Path, number: u64) -> Result<(), Failure> {
    let [plain, part, closed] = [PLAIN, PART, CLOSED].map(|ending| path(folder, number, ending));
    let gzip = || {
        if !plain.exists() {
            return Ok(());
        }
        if !closed.exists() {
            let mut from = BufReader::new(File::open(&plain)?);
            let mut gzip = GzEncoder::new(BufWriter::new(File::create(&part)?), Compression::default());
            io::copy(&mut from, &mut gzip)?;
            let mut to = gzip.finish()?;
            to.flush()?;
            to.get_ref().sync_all()?;
            fs::rename(&part, &closed)?;
        }
        fs::remove_file(&plain)
    };
    gzip().map_err(|why| cannot(&plain, why))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn wanted(folder: &Path) -> Wanted {
        Wanted { folder: folder.join("log"), file_size: 100, files: 3 }
    }

    fn names(wanted: &Wanted) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&wanted.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn line(page: usize) -> String {
        format!(r#"{{"is":"signal","time":1.0,"page":{page},"kind":"feed","counts":true}}"#) + "\n"
    }

    #[test]
    fn full_files_are_closed_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = wanted(folder.path());
        let mut files = Files::open(&wanted).unwrap();
        let mut lines = 0;
        for _ in 0..5 {
            assert!(files.is_empty());
            while !files.append(&line(lines)).unwrap() {
                lines += 1;
            }
            lines += 1;
            files.next().unwrap();
        }
        assert_eq!(
            names(&wanted),
            ["decisions-000004.jsonl.gz", "decisions-000005.jsonl.gz", "decisions-000006.jsonl"]
        );
        let listed = listed(&wanted.folder).unwrap();
        let mut text = String::new();
        GzDecoder::new(File::open(&listed[1]).unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, line(lines - 2) + &line(lines - 1));
    }

    #[test]
    fn it_goes_on_after_a_kill_at_any_moment() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = wanted(folder.path());
        let log = &wanted.folder;
        let mut files = Files::open(&wanted).unwrap();
        files.append(&(line(1) + "{\"is\":\"sig")).unwrap();
        drop(files);
        let mut files = Files::open(&wanted).unwrap();
        assert!(files.append(&line(2)).unwrap());
        assert_eq!(fs::read_to_string(path(log, 1, PLAIN)).unwrap(), line(1) + &line(2));
        // The next file was begun, and the one before half gzip'ed.
        fs::write(path(log, 2, PLAIN), "").unwrap();
        fs::write(path(log, 1, PART), "half").unwrap();
        drop(Files::open(&wanted).unwrap());
        assert_eq!(names(&wanted), ["decisions-000001.jsonl.gz", "decisions-000002.jsonl"]);
        // It was gzip'ed, and not removed yet.
        fs::write(path(log, 1, PLAIN), line(1)).unwrap();
        assert_eq!(listed(log).unwrap(), [path(log, 1, CLOSED), path(log, 2, PLAIN)]);
        drop(Files::open(&wanted).unwrap());
        assert_eq!(names(&wanted), ["decisions-000001.jsonl.gz", "decisions-000002.jsonl"]);
        // Only a closed one is left.
        fs::remove_file(path(log, 2, PLAIN)).unwrap();
        drop(Files::open(&wanted).unwrap());
        assert_eq!(names(&wanted), ["decisions-000001.jsonl.gz", "decisions-000002.jsonl"]);
    }

    #[test]
    fn a_diary_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = wanted(folder.path());
        fs::create_dir_all(&wanted.folder).unwrap();
        fs::write(path(&wanted.folder, 1, PLAIN), "dear diary\n").unwrap();
        let said = Files::open(&wanted).map(drop).unwrap_err().to_string();
        assert!(said.contains("decisions-000001.jsonl: its last line is no decision"), "{said}");
        assert_eq!(fs::read_to_string(path(&wanted.folder, 1, PLAIN)).unwrap(), "dear diary\n");
    }
}
