//! Where two texts differ, with a few lines around.

use std::io::{self, Write};
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use similar::{ChangeTag, DiffOp, TextDiff};

use super::paint::Paint;

/// Lines shown before and after what differs.
const AROUND: usize = 3;
/// After so long the shortest difference is not looked for any more: any will do.
const ENOUGH: Duration = Duration::from_secs(5);

/// A place where two texts differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// First line and number of lines, in the old text and in the new one.
    old: (usize, usize),
    new: (usize, usize),
    lines: Vec<Line>,
}

/// A line of either or both.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    mark: char,
    /// Its pieces, and whether each differs.
    parts: Vec<(bool, String)>,
}

/// All places where two texts differ, in order.
pub(super) fn hunks(old: &[String], new: &[String]) -> Vec<Hunk> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let diff = TextDiff::configure().timeout(ENOUGH).diff_slices(&old, &new);
    diff.grouped_ops(AROUND).iter().map(|group| hunk(&diff, group)).collect()
}

fn hunk<'a>(diff: &'a TextDiff<'a, 'a, 'a, str>, group: &[DiffOp]) -> Hunk {
    let lines = group.iter().flat_map(|op| diff.iter_inline_changes(op)).map(|change| Line {
        mark: match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        },
        parts: change.iter_strings_lossy().map(|(differs, text)| (differs, text.into_owned())).collect(),
    });
    let reach = |of: fn(&DiffOp) -> std::ops::Range<usize>| match (group.first(), group.last()) {
        (Some(first), Some(last)) => {
            let (start, end) = (of(first).start, of(last).end);
            // As everybody counts: from 1, but for nothing at all, which comes after a line.
            (if end > start { start + 1 } else { start }, end - start)
        }
        _ => (0, 0),
    };
    Hunk { lines: lines.collect(), old: reach(DiffOp::old_range), new: reach(DiffOp::new_range) }
}

impl Hunk {
    /// Where it begins, in the old text and in the new one.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.old.0, self.new.0)
    }

    /// Its lines: each with its mark, and its pieces, of which some differ.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (char, &[(bool, String)])> {
        self.lines.iter().map(|line| (line.mark, line.parts.as_slice()))
    }

    /// Its lines, each with its mark: ` same`, `-gone`, `+new`.
    pub(crate) fn marked(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| {
            let text: String = line.parts.iter().map(|(_, part)| part.as_str()).collect();
            format!("{}{text}", line.mark)
        })
    }

    pub(super) fn write(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let (old, new) = (self.old, self.new);
        writeln!(out, "{}", paint.place(&format!("@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1)))?;
        self.lines.iter().try_for_each(|line| writeln!(out, "{}", paint.line(line.mark, &line.parts)))
    }
}

impl Serialize for Hunk {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Hunk", 3)?;
        fields.serialize_field("old_line", &self.old.0)?;
        fields.serialize_field("new_line", &self.new.0)?;
        fields.serialize_field("lines", &self.marked().collect::<Vec<_>>())?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let lines = |text: &str| text.split('|').filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let (old, new): (Vec<String>, Vec<String>) = (lines(old), lines(new));
        let mut out = Vec::new();
        for hunk in hunks(&old, &new) {
            hunk.write(&mut out, Paint::new(false)).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn as_everybody_reads_it() {
        assert_eq!(
            shown("a|b|c|d|e|f|g|h", "a|b|c|d|X|f|g|h"),
            "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+X\n f\n g\n h\n"
        );
        assert_eq!(shown("", "a|b"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(shown("a", ""), "@@ -1,1 +0,0 @@\n-a\n");
        assert_eq!(shown("a|b", "a|b"), "");
    }

    #[test]
    fn words_that_differ_are_marked() {
        let (old, new) = (["the price is 10 today".to_owned()], ["the price is 12 today".to_owned()]);
        let found = hunks(&old, &new);
        let differs: Vec<&str> = found[0].lines[1]
            .parts
            .iter()
            .filter(|(differs, _)| *differs)
            .map(|(_, part)| part.as_str())
            .collect();
        assert_eq!(differs, ["12"]);
    }
}
