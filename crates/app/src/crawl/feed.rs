//! The change feed as lines of JSON, each change of a page once, in order.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use refrain_store::{Reader, Roles, Seq};

use crate::crawl::wanted::SiteRules;
use crate::data::changes::{Lines, WhichChanges};
use crate::failure::Failure;
use crate::tail::{self, Tail};

/// A file, or standard output, to which changes are written once they are on the disk.
pub(crate) struct Feed {
    reader: Reader,
    out: Box<dyn Write + Send>,
    name: String,
    last: Seq,
    which: WhichChanges,
}

/// So many changes are read at a time.
const AT_A_TIME: usize = 1000;

impl Feed {
    /// A file is continued after the change of its last line; standard output begins with what changes from now on.
    pub(crate) fn open(to: &Path, data: &Path, rules: &Arc<SiteRules>) -> Result<Self, Failure> {
        let which = WhichChanges { roles: Roles::default(), diffs: Some(Arc::clone(rules)) };
        let reader = Reader::open(data).map_err(|why| Failure::OnTheWay(why.to_string()))?;
        let name = to.display().to_string();
        if to == Path::new("-") {
            let last = reader.last_seq().map_err(|why| Failure::OnTheWay(why.to_string()))?;
            return Ok(Self { reader, out: Box::new(io::stdout()), name, last, which });
        }
        let failed = |why| Failure::system(format!("{name}: cannot be written"), why);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(to).map_err(failed)?;
        let last = last_change(&mut file).map_err(failed)?;
        let last = last.ok_or_else(|| {
            Failure::input(format!(
                "{name}: its last line is no change; expected a file that --changes wrote, or none"
            ))
        })?;
        Ok(Self { reader, out: Box::new(file), name, last, which })
    }

    /// Writes what has changed up to now.
    pub(crate) fn catch_up(&mut self) -> Result<(), Failure> {
        loop {
            let part = self.which.read(&self.reader, self.last, AT_A_TIME);
            let Lines { lines, end } = part.map_err(|why| Failure::OnTheWay(why.to_string()))?;
            let text: String = lines.iter().map(|line| line.json() + "\n").collect();
            let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
            written.map_err(|why| Failure::system(format!("{}: cannot be written", self.name), why))?;
            self.last = end;
            if lines.is_empty() {
                return Ok(());
            }
        }
    }
}

/// The change of the last line of a file; the very first if there is no line. `None` if the line is something else.
fn last_change(file: &mut File) -> io::Result<Option<Seq>> {
    Ok(match tail::mend(file)? {
        Tail::Empty => Some(Seq(0)),
        Tail::Endless => None,
        Tail::Line(line) => {
            let line: Option<serde_json::Value> = serde_json::from_slice(&line).ok();
            line.and_then(|line| line.get("seq")?.as_i64()).map(Seq)
        }
    })
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
            assert_eq!(last_change(&mut file).unwrap(), expected, "{text}");
            assert_eq!(file.metadata().unwrap().len(), left, "{text}");
        }
    }
}
