//! The text of a whole page.

use super::{Blocks, is_within, titled};
use crate::html::{Attributes, Visitor};

/// Gathers the text of a page as it comes.
#[derive(Default)]
pub(crate) struct Whole {
    blocks: Blocks,
    title: Blocks,
    /// Only the first title is the page's; drawings have titles as well.
    has_title: bool,
}

impl Whole {
    /// Of a page of so many bytes.
    pub(crate) fn of_page(bytes: usize) -> Self {
        // Half of most pages is markup.
        let blocks = Blocks { text: String::with_capacity(bytes / 2), ends: Vec::with_capacity(64) };
        Self { blocks, ..Self::default() }
    }

    /// All of it, the title first.
    pub(crate) fn finish(mut self) -> Blocks {
        self.blocks.cut();
        self.title.cut();
        titled(&self.title, self.blocks)
    }
}

impl Visitor for Whole {
    fn opened(&mut self, tag: &str, _: &Attributes) {
        if !is_within(tag) {
            self.blocks.cut();
        }
    }

    fn closed(&mut self, tag: &str) {
        if tag == "title" {
            self.title.cut();
            self.has_title = !self.title.is_empty();
        }
        if !is_within(tag) {
            self.blocks.cut();
        }
    }

    fn text(&mut self, text: &str, is_title: bool) {
        if !is_title {
            self.blocks.push_words(text);
        } else if !self.has_title {
            self.title.push_words(text);
        }
    }
}
