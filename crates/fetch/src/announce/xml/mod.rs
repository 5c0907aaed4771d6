//! XML as it comes: piece by piece, malformed, hostile. Memory is one tag, work is linear.
//!
//! Nothing is ever expanded, included or fetched: document types are skipped, and of the references only numbers and the names that
//! HTML defines mean something. What is not well-formed is read as far as it makes sense, because half of the feeds would
//! otherwise say nothing: a tag that nobody closed ends with the one around it.

mod attributes;
mod nesting;
mod references;

pub(super) use attributes::attribute;
pub(super) use nesting::Nesting;
pub(super) use references::{Resolved, resolved};

/// No honest tag is longer.
pub(super) const LONGEST_TAG: usize = 64 * 1024;

/// What a document is made of, as far as it matters here. Names are as written, with their prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `<name attributes>`; if it is empty (`<name/>`), no [`Token::End`] follows.
    Start { name: &'a str, attributes: &'a str, empty: bool },
    /// `</name>`
    End { name: &'a str },
    /// A piece of text, references and all. They are never cut in two.
    Text(&'a str),
    /// A piece of text that stands for itself: CDATA.
    Literal(&'a str),
}

/// What is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Content,
    Literal,
    Comment,
    /// A comment inside a document type.
    TypeComment,
    Instruction,
    /// A document type: inside brackets, inside quotes?
    Type {
        brackets: u32,
        quote: Option<u8>,
    },
    /// A tag longer than [`LONGEST_TAG`], to be passed over.
    Monster,
}

/// Cuts text into tokens.
#[derive(Debug)]
pub(super) struct Tokens {
    state: State,
}

/// What became of the front of a window.
enum Step {
    /// So many bytes are done with.
    Taken(usize),
    /// More text must come first.
    Wait,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self { state: State::Content }
    }

    /// Reads a window of text as far as tokens are whole, and gives how many bytes that is: what is left must be at the start of
    /// the next window, which must be longer. It is never more than a tag. At the end of the document, `last`, all is taken.
    pub(super) fn read(&mut self, window: &str, last: bool, each: &mut dyn FnMut(Token<'_>)) -> usize {
        let mut at = 0;
        while at < window.len() {
            match self.step(&window[at..], last, each) {
                Step::Taken(count) => at += count,
                Step::Wait if last => return window.len(),
                Step::Wait => break,
            }
        }
        at
    }

    fn step(&mut self, text: &str, last: bool, each: &mut dyn FnMut(Token<'_>)) -> Step {
        match self.state {
            State::Content => self.content(text, last, each),
            State::Literal => {
                let (inside, step) = until(text, "]]>", last);
                if !inside.is_empty() {
                    each(Token::Literal(inside));
                }
                self.end(step, State::Content)
            }
            State::Comment => self.end(until(text, "-->", last).1, State::Content),
            State::TypeComment => {
                self.end(until(text, "-->", last).1, State::Type { brackets: 1, quote: None })
            }
            State::Instruction => self.end(until(text, "?>", last).1, State::Content),
            State::Monster => self.end(until(text, ">", last).1, State::Content),
            State::Type { brackets, quote } => self.document_type(text, brackets, quote),
        }
    }

    /// Back to where it was, if the end was found.
    fn end(&mut self, (taken, ended): (usize, bool), next: State) -> Step {
        if ended {
            self.state = next;
        }
        if taken == 0 { Step::Wait } else { Step::Taken(taken) }
    }

    fn content(&mut self, text: &str, last: bool, each: &mut dyn FnMut(Token<'_>)) -> Step {
        let Some(at) = memchr::memchr(b'<', text.as_bytes()) else {
            let whole = if last { text.len() } else { before_reference(text) };
            if whole == 0 {
                return Step::Wait;
            }
            each(Token::Text(&text[..whole]));
            return Step::Taken(whole);
        };
        if at > 0 {
            each(Token::Text(&text[..at]));
            return Step::Taken(at);
        }
        match text.as_bytes().get(1) {
            None => Step::Wait,
            Some(b'!') => self.declaration(text, last),
            Some(b'?') => self.enter(2, State::Instruction),
            Some(b'/') => self.tag(text, each),
            Some(first) if first.is_ascii_alphabetic() || *first >= 0x80 || matches!(first, b'_' | b':') => {
                self.tag(text, each)
            }
            // A sign that somebody forgot to escape.
            Some(_) => {
                each(Token::Literal("<"));
                Step::Taken(1)
            }
        }
    }

    fn enter(&mut self, taken: usize, state: State) -> Step {
        self.state = state;
        Step::Taken(taken)
    }

    fn declaration(&mut self, text: &str, last: bool) -> Step {
        const LITERAL: &str = "<![CDATA[";
        if text.starts_with("<!--") {
            self.enter(4, State::Comment)
        } else if text.starts_with(LITERAL) {
            self.enter(LITERAL.len(), State::Literal)
        } else if text.len() < LITERAL.len() && !last {
            Step::Wait
        } else {
            self.enter(2, State::Type { brackets: 0, quote: None })
        }
    }

    fn document_type(&mut self, text: &str, mut brackets: u32, mut quote: Option<u8>) -> Step {
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            match (quote, byte) {
                (Some(open), byte) => quote = quote.filter(|_| open != *byte),
                (None, b'"' | b'\'') => quote = Some(*byte),
                (None, b'[') => brackets = 1,
                (None, b']') => brackets = 0,
                (None, b'>') if brackets == 0 => return self.enter(at + 1, State::Content),
                (None, b'<') if brackets > 0 => {
                    let rest = &bytes[at..];
                    if rest.starts_with(b"<!--") {
                        return self.enter(at + 4, State::TypeComment);
                    }
                    if b"<!--".starts_with(rest) {
                        // Perhaps a comment: its quotes mean nothing, so it must be known.
                        self.state = State::Type { brackets, quote };
                        return if at == 0 { Step::Wait } else { Step::Taken(at) };
                    }
                }
                _ => {}
            }
        }
        self.enter(bytes.len(), State::Type { brackets, quote })
    }

    fn tag(&mut self, text: &str, each: &mut dyn FnMut(Token<'_>)) -> Step {
        let found = end_of_tag(text.as_bytes());
        let Some(end) = found.filter(|end| *end <= LONGEST_TAG) else {
            if text.len() <= LONGEST_TAG {
                return Step::Wait;
            }
            // A quote that nobody closed hides the end. What was searched is given up as a whole: to look for another tag in it
            // could be to search it again for each.
            let border = (0..=LONGEST_TAG).rev().find(|at| text.is_char_boundary(*at));
            return self.enter(border.unwrap_or(text.len()).max(1), State::Monster);
        };
        let inside = &text[1..end];
        if let Some(name) = inside.strip_prefix('/') {
            each(Token::End { name: name.trim_ascii() });
        } else {
            let (inside, empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
            let ends = |byte: u8| byte.is_ascii_whitespace() || byte == b'/';
            let name_end = inside.bytes().position(ends).unwrap_or(inside.len());
            let (name, attributes) = inside.split_at(name_end);
            each(Token::Start { name, attributes, empty });
        }
        Step::Taken(end + 1)
    }
}

/// What is before the marker, how much to take, and was it found? The start of a marker is left for the next window.
fn until<'a>(text: &'a str, marker: &str, last: bool) -> (&'a str, (usize, bool)) {
    if let Some(at) = memchr::memmem::find(text.as_bytes(), marker.as_bytes()) {
        return (&text[..at], (at + marker.len(), true));
    }
    let cut = if last {
        0
    } else {
        (1..marker.len()).rev().find(|len| text.ends_with(&marker[..*len])).unwrap_or(0)
    };
    let kept = text.len() - cut;
    (&text[..kept], (kept, false))
}

/// Where the `>` of a tag is that is in no quotes.
fn end_of_tag(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &bytes[at..])?;
        if bytes[at] == b'>' {
            return Some(at);
        }
        at += memchr::memchr(bytes[at], &bytes[at + 1..])? + 2;
    }
}

/// The text without a reference at its end that may not be whole.
fn before_reference(text: &str) -> usize {
    let tail = text.len().saturating_sub(references::LONGEST);
    // An ampersand is one byte, and so the border of characters.
    match memchr::memrchr(b'&', &text.as_bytes()[tail..]) {
        Some(at) if !text.as_bytes()[tail + at..].contains(&b';') => tail + at,
        _ => text.len(),
    }
}

/// The name without its prefix: namespaces are wrong or missing too often to be asked for.
pub(super) fn local(name: &str) -> &str {
    split(name).1
}

/// The prefix of a name, empty if it has none; and the rest. Names are short: no search is faster than looking.
pub(super) fn split(name: &str) -> (&str, &str) {
    match name.bytes().position(|byte| byte == b':') {
        Some(colon) => (&name[..colon], &name[colon + 1..]),
        None => ("", name),
    }
}

#[cfg(test)]
mod tests;
