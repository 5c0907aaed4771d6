//! What one visit saw.

use super::words::{self, Words};
use super::{By, Rules};
use crate::charset;
use crate::client::ContentType;
use crate::html;
use crate::links::{self, Found, Links};
use crate::text::{Blocks, Whole};
use crate::url::PageUrl;

/// What one visit saw of a page, ready to be compared; held only as long as that takes.
#[derive(Clone, Debug)]
pub struct Look {
    pub(super) digest: [u8; 16],
    /// `None` for what is not text.
    pub(super) blocks: Option<Blocks>,
    pub(super) hashes: Vec<u32>,
    pub(super) mark: u32,
    /// Sketches are what is compared.
    pub(super) sketch: bool,
    /// Digits count.
    pub(super) digits: bool,
}

/// How a body is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Lines,
    Binary,
}

impl Look {
    /// Looks at a body without its content coding. HTML is looked at as its readers do, other text line by line, and
    /// everything else as bytes.
    pub fn new(body: &[u8], content_type: Option<&ContentType>, rules: &Rules) -> Self {
        let label = content_type.and_then(|kind| kind.charset.as_deref());
        let blocks = match kind(body, content_type) {
            Kind::Binary => None,
            Kind::Html => Some(Blocks::of_html(&charset::decoded(body, label), &rules.selectors)),
            Kind::Lines => Some(Blocks::of_lines(&charset::decoded(body, label))),
        };
        Self::of_blocks(body, blocks, rules)
    }

    /// The same, and where an HTML page at `url` leads; `agent` is our product token, for requests that name us.
    pub fn with_links(
        body: &[u8],
        content_type: Option<&ContentType>,
        rules: &Rules,
        (url, agent): (&PageUrl, &str),
    ) -> (Self, Option<Links>) {
        if kind(body, content_type) != Kind::Html {
            return (Self::new(body, content_type, rules), None);
        }
        let label = content_type.and_then(|kind| kind.charset.as_deref());
        let (html, encoding) = charset::decoded_from(body, label);
        let mut found = Found::new(agent);
        let blocks = if rules.selectors.is_empty() {
            let mut whole = Whole::of_page(html.len());
            html::read(&html, (&mut whole, &mut found));
            whole.finish()
        } else {
            html::read(&html, &mut found);
            Blocks::of_html(&html, &rules.selectors)
        };
        (Self::of_blocks(body, Some(blocks), rules), Some(links::resolved(found, url, encoding)))
    }

    fn of_blocks(body: &[u8], blocks: Option<Blocks>, rules: &Rules) -> Self {
        let sketch = matches!(rules.by, By::Simhash { .. });
        let digits = !rules.ignore_digits;
        let hashes = blocks.as_ref().map(|blocks| hashes(blocks, digits)).unwrap_or_default();
        let whole = blake3::hash(body);
        let mut digest = [0; 16];
        digest.copy_from_slice(&whole.as_bytes()[..16]);
        Self { digest, blocks, hashes, mark: rules.mark(), sketch, digits }
    }

    /// The same with another text in some of its blocks, of which the digest says nothing; `None` for what is not text.
    pub(super) fn rewritten(&self, text: impl FnMut(usize, &str) -> String) -> Option<Self> {
        let blocks = self.blocks.as_ref()?.rewritten(text);
        let hashes = hashes(&blocks, self.digits);
        Some(Self { blocks: Some(blocks), hashes, ..self.clone() })
    }

    /// The text it saw, block by block; `None` for what is not text.
    pub fn text(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    /// The memory that it takes, in bytes.
    pub(super) fn size(&self) -> usize {
        self.blocks.as_ref().map_or(0, Blocks::size) + self.hashes.capacity() * size_of::<u32>()
    }

    /// The words of a block.
    pub(super) fn words(&self, block: usize) -> Words<'_> {
        let text = self.blocks.as_ref().and_then(|blocks| blocks.get(block));
        Words::new(text.unwrap_or_default(), self.digits)
    }

    /// How many blocks of text it saw.
    pub fn blocks(&self) -> usize {
        self.hashes.len()
    }

    /// The first half of the body's BLAKE3 digest.
    pub fn digest(&self) -> [u8; 16] {
        self.digest
    }
}

fn hashes(blocks: &Blocks, digits: bool) -> Vec<u32> {
    blocks.iter().map(|block| words::hash(block, digits)).collect()
}

fn kind(body: &[u8], content_type: Option<&ContentType>) -> Kind {
    match content_type {
        Some(kind) if kind.is_html() => Kind::Html,
        Some(kind) if kind.is_text() => Kind::Lines,
        Some(_) => Kind::Binary,
        None => {
            let start = body[..body.len().min(512)].to_ascii_lowercase();
            let is_html = [&b"<!doctype html"[..], b"<html", b"<head", b"<body"]
                .iter()
                .any(|tag| memchr::memmem::find(&start, tag).is_some());
            if is_html {
                Kind::Html
            } else if !start.contains(&0) && std::str::from_utf8(body).is_ok() {
                Kind::Lines
            } else {
                Kind::Binary
            }
        }
    }
}
