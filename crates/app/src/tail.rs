//! The end of a file of lines that somebody appends to, and that is continued after a crash.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The last line of a file is found within so many bytes.
const LAST_LINE: u64 = 1 << 16;

/// How a file of lines ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// There is no line.
    Empty,
    /// This is the last one, with its end.
    Line(Vec<u8>),
    /// So long a line is none of ours.
    Endless,
}

/// Cuts off what a process left half written when it was killed; says what is the last line then.
pub(crate) fn mend(file: &mut File) -> io::Result<Tail> {
    let length = file.seek(SeekFrom::End(0))?;
    let from = length.saturating_sub(LAST_LINE);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(LAST_LINE).read_to_end(&mut tail)?;
    let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole == 0 && from > 0 {
        return Ok(Tail::Endless);
    }
    file.set_len(from + whole as u64)?;
    tail.truncate(whole);
    if whole == 0 {
        return Ok(Tail::Empty);
    }
    let start = tail[..whole - 1].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    tail.drain(..start);
    Ok(Tail::Line(tail))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn what_is_half_written_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let line = |text: &str| Tail::Line(text.as_bytes().to_vec());
        let long = "x".repeat(LAST_LINE as usize + 1);
        for (text, expected, left) in [
            ("", Tail::Empty, 0),
            ("one\n", line("one\n"), 4),
            ("one\ntwo\nthr", line("two\n"), 8),
            ("o", Tail::Empty, 0),
            (long.as_str(), Tail::Endless, long.len()),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut file = OpenOptions::new().read(true).append(true).open(&path).unwrap();
            assert_eq!(mend(&mut file).unwrap(), expected);
            assert_eq!(file.metadata().unwrap().len(), left as u64);
        }
    }
}
