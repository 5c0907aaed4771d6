//! The visible text of a page, cut into blocks.
//!
//! A block is what stands between two tags that are more than letters in another face: pages put what moves (counters,
//! dates, prices) into elements of their own, so small blocks tell what changed from what did not.

mod collector;
mod selectors;

pub use selectors::{BadSelector, Selectors};

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
        collector::collect(html, selectors)
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

    /// Adds text to the block at hand. Spaces between words become one; what adjoins without a space stays together.
    fn push_words(&mut self, text: &str) {
        let start = self.ends.last().copied().unwrap_or(0);
        for (place, word) in text.split(char::is_whitespace).enumerate() {
            if place > 0 && self.text.len() > start && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
            self.text.push_str(word);
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

#[cfg(test)]
mod tests;
