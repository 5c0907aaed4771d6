//! The change feed as lines of JSON, each change once, in order.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use refrain_store::{Reader, Seq};

use crate::data::changes::change_line;
use crate::failure::Failure;

/// A file, or standard output, to which changes are written once they are on the disk.
pub(crate) struct Feed {
    reader: Reader,
    out: Box<dyn Write + Send>,
    name: String,
    last: Seq,
}

/// So many changes are read at a time.
const AT_A_TIME: usize = 1000;
/// The last line of a file is found within so many bytes.
const LAST_LINE: u64 = 1 << 16;

impl Feed {
    /// A file is continued after the change of its last line; standard output begins with what changes from now on.
    pub(crate) fn open(to: &Path, data: &Path) -> Result<Self, Failure> {
        let reader = Reader::open(data).map_err(|why| Failure::OnTheWay(why.to_string()))?;
        let name = to.display().to_string();
        if to == Path::new("-") {
            let last = reader.last_seq().map_err(|why| Failure::OnTheWay(why.to_string()))?;
            return Ok(Self { reader, out: Box::new(io::stdout()), name, last });
        }
        let failed = |why| Failure::system(format!("{name}: cannot be written"), why);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(to).map_err(failed)?;
        let last = last_line(&mut file).map_err(failed)?;
        let last = last.ok_or_else(|| {
            Failure::input(format!(
                "{name}: its last line is no change; expected a file that --changes wrote, or none"
            ))
        })?;
        Ok(Self { reader, out: Box::new(file), name, last })
    }

    /// Writes what has changed up to now.
    pub(crate) fn catch_up(&mut self) -> Result<(), Failure> {
        loop {
            let changes = self.reader.changes_since(self.last, AT_A_TIME);
            let changes = changes.map_err(|why| Failure::OnTheWay(why.to_string()))?;
            let Some(last) = changes.last() else { return Ok(()) };
            let mut lines = String::new();
            for change in &changes {
                lines.push_str(&change_line(change));
            }
            let written = self.out.write_all(lines.as_bytes()).and_then(|()| self.out.flush());
            written.map_err(|why| Failure::system(format!("{}: cannot be written", self.name), why))?;
            self.last = last.seq;
        }
    }
}

/// The change of the last line of a file; the very first if there is no line. `None` if the line is something else. What a
/// process left half written when it was killed is cut off.
fn last_line(file: &mut File) -> io::Result<Option<Seq>> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(LAST_LINE);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(LAST_LINE).read_to_end(&mut tail)?;
    let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    file.set_len(from + whole as u64)?;
    let lines = &tail[..whole];
    if lines.is_empty() {
        return Ok((from == 0).then_some(Seq(0)));
    }
    let start = lines[..whole - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line: Option<serde_json::Value> = serde_json::from_slice(&lines[start..]).ok();
    Ok(line.and_then(|line| line.get("seq")?.as_i64()).map(Seq))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_continued_where_they_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("changes.jsonl");
        for (text, expected, left) in [
            ("", Some(Seq(0)), 0),
            ("{\"seq\":7}\n", Some(Seq(7)), 10),
            ("{\"seq\":7}\n{\"seq\":8}\n{\"se", Some(Seq(8)), 20),
            ("{\"se", Some(Seq(0)), 0),
            ("dear diary\n", None, 11),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut file = OpenOptions::new().read(true).append(true).open(&path).unwrap();
            assert_eq!(last_line(&mut file).unwrap(), expected, "{text}");
            assert_eq!(file.metadata().unwrap().len(), left, "{text}");
        }
    }
}
