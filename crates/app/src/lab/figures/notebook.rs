//! What cells measured, on the disk as they finish: a run that was stopped continues where it was.
//!
//! One file for an experiment, a scale and a seed. Its first line says whose numbers these are; numbers of another version are not mixed in. Then a line
//! per cell: its name, how many numbers, and the numbers, such that they are read again exactly. What was cut short by the end of the process, or
//! cannot be read, is measured again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use refrain_lab::figures::Keeper;

use crate::failure::Failure;
use crate::progress::Progress;

/// Whose numbers they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose<'a> {
    /// Of the program that measured.
    pub(super) version: &'a str,
    pub(super) experiment: &'a str,
    pub(super) scale: &'static str,
    pub(super) seed: u64,
}

impl Whose<'_> {
    fn line(&self) -> String {
        let Self { version, experiment, scale, seed } = self;
        format!("refrain {version}, {experiment}, {scale}, seed {seed}\n")
    }

    fn file(&self) -> String {
        format!("{}-{}-{}.cells", self.experiment, self.scale, self.seed)
    }
}

/// A file of cells.
pub(super) struct Notebook {
    before: HashMap<String, Vec<f64>>,
    file: Mutex<Writing>,
    progress: Progress,
}

struct Writing {
    file: File,
    path: PathBuf,
    /// Why it could not be written, if it could not.
    failed: Option<Failure>,
}

impl Notebook {
    /// Opens the file of a folder, and reads what is there, unless it is to be measured again.
    pub(super) fn open(
        folder: &Path,
        whose: &Whose<'_>,
        again: bool,
        progress: Progress,
    ) -> Result<Self, Failure> {
        let path = folder.join(whose.file());
        let failed = |why| Failure::system(format!("{}: cannot be kept", path.display()), why);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::input(format!(
                    "{}: another run is writing it; expected a folder of its own for each (--out)",
                    path.display()
                )));
            }
            Err(TryLockError::Error(why)) => return Err(failed(why)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let kept = if again { None } else { kept(&text, &whose.line()) };
        let (before, length) = kept.unwrap_or_default();
        file.set_len(length as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        if length == 0 {
            file.write_all(whose.line().as_bytes()).map_err(failed)?;
        }
        let file = Mutex::new(Writing { file, path, failed: None });
        Ok(Self { before, file, progress })
    }

    /// How many cells there were.
    pub(super) fn found(&self) -> usize {
        self.before.len()
    }

    /// The end: whether all could be written.
    pub(super) fn close(self) -> Result<(), Failure> {
        let writing = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        writing.failed.map_or(Ok(()), Err)
    }
}

impl Keeper for Notebook {
    fn kept(&self, cell: &str) -> Option<Vec<f64>> {
        self.before.get(cell).cloned()
    }

    fn keep(&self, cell: &str, numbers: &[f64]) {
        self.progress.step();
        if self.before.contains_key(cell) {
            return;
        }
        let mut writing = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // In one piece: what is cut short then is the last line.
        let written = writing.file.write_all(line(cell, numbers).as_bytes());
        if let Err(why) = written {
            // The numbers are there all the same; that they are not kept is said at the end.
            let what = format!("{}: cannot be written", writing.path.display());
            writing.failed.get_or_insert(Failure::system(what, why));
        }
    }

    fn expect(&self, cells: usize) {
        self.progress.grow(cells as u64);
    }
}

fn line(cell: &str, numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    format!("{}\t{}\t{}\n", cell.escape_default(), numbers.len(), numbers.join(" "))
}

/// The cells of a file that begins with this line, and how much of it is whole.
fn kept(text: &[u8], first: &str) -> Option<(HashMap<String, Vec<f64>>, usize)> {
    if !text.starts_with(first.as_bytes()) {
        return None;
    }
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = text[first.len()..whole].split(|byte| *byte == b'\n');
    Some((lines.filter_map(|line| read(std::str::from_utf8(line).ok()?)).collect(), whole))
}

fn read(line: &str) -> Option<(String, Vec<f64>)> {
    let (cell, rest) = line.split_once('\t')?;
    let (count, numbers) = rest.split_once('\t')?;
    let numbers: Result<Vec<f64>, _> = numbers.split_ascii_whitespace().map(str::parse).collect();
    let numbers = numbers.ok().filter(|numbers| Some(numbers.len()) == count.parse().ok())?;
    Some((unescaped(cell)?, numbers))
}

/// The inverse of `escape_default`.
fn unescaped(text: &str) -> Option<String> {
    let mut found = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            found.push(character);
            continue;
        }
        found.push(match rest.next()? {
            't' => '\t',
            'r' => '\r',
            'n' => '\n',
            'u' => {
                let code: String = rest.by_ref().skip(1).take_while(|digit| *digit != '}').collect();
                char::from_u32(u32::from_str_radix(&code, 16).ok()?)?
            }
            other => other,
        });
    }
    Some(found)
}

/// Makes a folder, and says so if it cannot.
pub(super) fn folder(path: &Path) -> Result<(), Failure> {
    let made: io::Result<()> = std::fs::create_dir_all(path);
    made.map_err(|why| Failure::system(format!("{}: cannot be made", path.display()), why))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOSE: Whose<'static> = Whose { version: "1.2.3", experiment: "polite-3", scale: "quick", seed: 7 };

    fn open(folder: &Path, whose: &Whose<'_>, again: bool) -> Notebook {
        Notebook::open(folder, whose, again, Progress::growing(String::new())).unwrap()
    }

    fn path(folder: &Path) -> PathBuf {
        folder.join("polite-3-quick-7.cells")
    }

    #[test]
    fn what_was_measured_is_there_again_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let odd = [0.1 + 0.2, -0.0, 5e-324, f64::MAX, f64::INFINITY, f64::NAN, 1.0 / 3.0];
        let name = "θ = 1,\tone\nline \\ \u{1f41e}";
        let first = open(folder.path(), &WHOSE, false);
        first.keep(name, &odd);
        first.keep("empty", &[]);
        first.close().unwrap();
        let second = open(folder.path(), &WHOSE, false);
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&second.kept(name).unwrap()), bits(&odd));
        assert_eq!((second.kept("empty"), second.kept("other"), second.found()), (Some(vec![]), None, 2));
        // What is known is not written twice.
        let size = || std::fs::metadata(path(folder.path())).unwrap().len();
        let before = size();
        second.keep("empty", &[]);
        assert_eq!(size(), before);
        second.keep("more", &[1.0]);
        assert!(size() > before);
    }

    #[test]
    fn a_line_cut_short_is_measured_again_and_what_follows_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path(), &WHOSE, false);
        first.keep("a", &[1.5, 2.5]);
        first.keep("b", &[3.25, 4.125]);
        first.close().unwrap();
        let whole = std::fs::read(path(folder.path())).unwrap();
        for cut in WHOSE.line().len()..whole.len() {
            std::fs::write(path(folder.path()), &whole[..cut]).unwrap();
            let resumed = open(folder.path(), &WHOSE, false);
            assert!([None, Some(vec![1.5, 2.5])].contains(&resumed.kept("a")), "{cut}");
            assert_eq!(resumed.kept("b"), None, "{cut}");
            resumed.keep("b", &[3.25, 4.125]);
            resumed.close().unwrap();
            assert_eq!(open(folder.path(), &WHOSE, false).kept("b"), Some(vec![3.25, 4.125]), "{cut}");
        }
    }

    #[test]
    fn lines_that_make_no_sense_are_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let bad = b"a\t2\t1 2\nb\t2\t1\nc\tx\t1\nd\t1\tone\n\0\0\0\n\xff\t1\t1\ne\\u{zz}\t1\t1\n\nf\t1\t8\n";
        std::fs::write(path(folder.path()), [WHOSE.line().as_bytes(), bad].concat()).unwrap();
        let resumed = open(folder.path(), &WHOSE, false);
        assert_eq!((resumed.kept("a"), resumed.kept("f")), (Some(vec![1.0, 2.0]), Some(vec![8.0])));
        assert_eq!(resumed.found(), 2);
    }

    #[test]
    fn numbers_of_another_version_or_to_be_measured_again_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let kept = |whose: &Whose<'_>, again| {
            let notebook = open(folder.path(), whose, again);
            let found = notebook.kept("a");
            notebook.keep("a", &[1.0]);
            notebook.close().unwrap();
            found
        };
        assert_eq!(kept(&WHOSE, false), None);
        assert_eq!(kept(&WHOSE, false), Some(vec![1.0]));
        assert_eq!(kept(&Whose { version: "1.2.4", ..WHOSE }, false), None);
        assert_eq!(kept(&WHOSE, false), None, "and back");
        assert_eq!(kept(&WHOSE, true), None);
        assert_eq!(kept(&Whose { seed: 8, ..WHOSE }, false), None);
        assert_eq!(kept(&WHOSE, false), Some(vec![1.0]), "another seed is another file");
    }

    #[test]
    fn two_runs_do_not_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let _first = open(folder.path(), &WHOSE, false);
        let second = Notebook::open(folder.path(), &WHOSE, false, Progress::growing(String::new()));
        assert!(second.err().unwrap().to_string().contains("another run is writing it"));
    }
}
