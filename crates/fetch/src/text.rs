//! The visible text of a page, cut into blocks.
//!
//! A block is what stands between two tags that are more than letters in another face: pages put what moves (counters,
//! dates, prices) into elements of their own, so small blocks tell what changed from what did not.

mod collector;
mod selectors;
mod whole;

pub use selectors::{BadSelector, Selectors};
pub(crate) use whole::Whole;

use crate::html;

/// Beyond so many blocks, the rest of a page is one block.
pub const MOST_BLOCKS: usize = 20_000;

/// Text in blocks, each with single spaces and without markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    text: String,
    ends: Vec<usize>,
}

impl Blocks {
    /// The visible text of an HTML page, as far as `selectors` let it count. The title comes first, unless only parts are
    /// asked for.
    pub fn of_html(html: &str, selectors: &Selectors) -> Self {
        if !selectors.is_empty() {
            return collector::collect(html, selectors);
        }
        let mut whole = Whole::of_page(html.len());
        html::read(html, &mut whole);
        whole.finish()
    }

    /// The lines of a text.
    pub fn of_lines(text: &str) -> Self {
        let mut blocks = Self::default();
        for line in text.lines() {
            blocks.push_words(line);
            blocks.cut();
        }
        blocks
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Is there no text at all?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The blocks, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// The memory that the text takes, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// A block, by its place.
    pub(crate) fn get(&self, place: usize) -> Option<&str> {
        let start = if place == 0 { 0 } else { *self.ends.get(place - 1)? };
        self.text.get(start..*self.ends.get(place)?)
    }

    /// As many blocks, each with the text that is given for it.
    pub(crate) fn rewritten(&self, mut text: impl FnMut(usize, &str) -> String) -> Self {
        let mut rewritten = Self::default();
        for (place, block) in self.iter().enumerate() {
            rewritten.text.push_str(&text(place, block));
            rewritten.ends.push(rewritten.text.len());
        }
        rewritten
    }

    /// Adds text to the block at hand. Spaces between words become one; what adjoins without a space stays together.
    fn push_words(&mut self, text: &str) {
        let start = self.ends.last().copied().unwrap_or(0);
        // Most text has no other spaces than these, and bytes are told apart faster than letters.
        if text.is_ascii() {
            let mut word = 0;
            for (at, _) in text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'\t'..=b'\r' | b' ')) {
                self.text.push_str(&text[word..at]);
                self.push_space(start);
                word = at + 1;
            }
            self.text.push_str(&text[word..]);
            return;
        }
        for (place, word) in text.split(char::is_whitespace).enumerate() {
            if place > 0 {
                self.push_space(start);
            }
            self.text.push_str(word);
        }
    }

    /// A space after a word of the block that starts there.
    fn push_space(&mut self, start: usize) {
        if self.text.len() > start && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    /// Ends the block at hand, if there is anything in it.
    fn cut(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        if self.text.ends_with(' ') && self.text.len() > start {
            self.text.pop();
        }
        if self.text.len() > start {
            if self.ends.len() == MOST_BLOCKS {
                // The last block grows instead.
                self.ends.pop();
            }
            self.ends.push(self.text.len());
        }
    }
}

/// Does it stay within its block? So do letters in another face, and what is not shown.
fn is_within(tag: &str) -> bool {
    // As patterns these are told apart by length first: it is asked for every tag there is.
    matches!(
        tag,
        "a" | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "img"
            | "ins"
            | "kbd"
            | "link"
            | "mark"
            | "meta"
            | "nobr"
            | "q"
            | "rp"
            | "rt"
            | "ruby"
            | "s"
            | "samp"
            | "script"
            | "strike"
            | "strong"
            | "style"
            | "sub"
            | "sup"
            | "tt"
            | "u"
            | "wbr"
    )
}

/// The title's block before the others.
fn titled(title: &Blocks, mut body: Blocks) -> Blocks {
    let shift = title.text.len();
    body.text.insert_str(0, &title.text);
    body.ends.iter_mut().for_each(|end| *end += shift);
    body.ends.splice(0..0, title.ends.iter().copied());
    body
}

#[cfg(test)]
mod tests;
