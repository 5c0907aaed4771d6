//! RSS and Atom: the same few elements, under two dozen names.

use std::borrow::Cow;

use super::element::{Element, is_entry, is_feed};
use super::{Draft, Feed, Limits, Written, kept, period};
use crate::announce::Cut;
use crate::announce::inflow::Inflow;
use crate::announce::xml::{Nesting, Resolved, Token, Tokens, attribute, local, resolved, split};
use crate::url::{LONGEST, PageUrl};

pub(super) fn read(body: &[u8], inflow: &mut Inflow, url: &PageUrl, limits: Limits) -> Feed {
    let mut tokens = Tokens::new();
    let mut collector = Collector::new(url, limits);
    let mut take = |text: &str, last: bool| {
        if collector.feed.cut.is_some() {
            return text.len();
        }
        tokens.read(text, last, &mut |token| collector.token(token))
    };
    inflow.push(body, &mut take);
    inflow.finish(&mut take);
    collector.finished()
}

struct Collector {
    feed: Feed,
    limits: Limits,
    nesting: Nesting,
    /// What links of the feed are relative to.
    base: PageUrl,
    /// How deep `<channel>` or `<feed>` is, while it is open.
    feed_depth: Option<usize>,
    entry: Option<Open>,
    field: Option<Field>,
    text: String,
    period: Option<String>,
    frequency: Option<String>,
}

struct Open {
    depth: usize,
    draft: Draft,
    /// `link` is as FeedBurner has it, and beats others.
    original: bool,
}

/// A child that is being read.
struct Field {
    element: Element,
    depth: usize,
    /// A `guid` that says that it is no link.
    is_only_name: bool,
    /// Of another vocabulary: what says the same under its own name goes first.
    is_borrowed: bool,
    /// Its text refers to an entity that is not defined.
    is_unknown: bool,
}

impl Collector {
    fn new(url: &PageUrl, limits: Limits) -> Self {
        Self {
            feed: Feed::default(),
            limits,
            nesting: Nesting::default(),
            base: url.clone(),
            feed_depth: None,
            entry: None,
            field: None,
            text: String::new(),
            period: None,
            frequency: None,
        }
    }

    fn finished(mut self) -> Feed {
        self.leave(0);
        self.feed.updated_every = period::every(self.period.as_deref(), self.frequency.as_deref());
        self.feed
    }

    fn token(&mut self, token: Token<'_>) {
        if self.feed.cut.is_some() {
            return;
        }
        match token {
            Token::Start { name, attributes, empty } => {
                if self.nesting.open(name) {
                    self.start(name, attributes);
                } else {
                    self.feed.cut = Some(Cut::Depth);
                }
                if empty {
                    self.end(name);
                }
            }
            Token::End { name } => self.end(name),
            Token::Text(text) => {
                if let Some(field) = &mut self.field {
                    let Resolved { text, unknown } = resolved(text);
                    field.is_unknown |= unknown;
                    self.add(&text);
                }
            }
            Token::Literal(text) if self.field.is_some() => self.add(text),
            Token::Literal(_) => {}
        }
    }

    fn start(&mut self, name: &str, attributes: &str) {
        let (kind, depth) = (local(name), self.nesting.depth());
        if let Some(entry) = &self.entry {
            let child = entry.depth + 1;
            if is_entry(kind) && depth == child {
                // Nobody closed the entry before.
                self.leave(child - 2);
                if self.nesting.open(name) {
                    self.start(name, attributes);
                }
            } else if depth == child {
                self.child(name, attributes, depth);
            }
        } else if is_entry(kind) {
            if self.feed.has_room(self.limits) {
                let mut draft = Draft { base: self.based(attributes), ..Draft::default() };
                // RSS 1.0 names items by their pages.
                draft.name = attribute(attributes, "rdf:about").as_ref().and_then(written);
                self.entry = Some(Open { depth, draft, original: false });
            }
        } else if self.feed_depth.is_some_and(|feed| depth == feed + 1) {
            self.child(name, attributes, depth);
        } else {
            // The root, `<channel>`, `<feed>`.
            if depth <= 2
                && let Some(base) = self.based(attributes)
            {
                self.base = base;
            }
            if is_feed(kind) && self.feed_depth.is_none() {
                self.feed_depth = Some(depth);
            }
        }
    }

    fn based(&self, attributes: &str) -> Option<PageUrl> {
        let base = attribute(attributes, "xml:base").filter(|base| !base.unknown)?;
        self.base.join(base.text.trim()).ok()
    }

    fn child(&mut self, name: &str, attributes: &str, depth: usize) {
        let Some(element) = Element::of(local(name)).filter(|_| self.field.is_none()) else { return };
        if element == Element::Link
            && let Some(href) = attribute(attributes, "href")
        {
            return self.link(&href, attributes);
        }
        // The text of a link to something else names no page.
        if element == Element::Link && !has_relation(attributes, "alternate") {
            return;
        }
        let is_only_name = attribute(attributes, "isPermaLink")
            .is_some_and(|is| is.text.trim().eq_ignore_ascii_case("false"));
        let is_borrowed = !split(name).0.is_empty();
        self.text.clear();
        self.field = Some(Field { element, depth, is_only_name, is_borrowed, is_unknown: false });
    }

    /// Atom's links, which RSS uses as well.
    fn link(&mut self, href: &Resolved<'_>, attributes: &str) {
        let is = |word: &str| has_relation(attributes, word);
        let base = self.based(attributes);
        if let Some(Open { draft, .. }) = &mut self.entry {
            if is("alternate") && draft.link.is_none() {
                draft.link = written(href);
                draft.base = base.or(draft.base.take());
            }
            return;
        }
        if href.unknown {
            return;
        }
        let Ok(url) = base.as_ref().unwrap_or(&self.base).join(href.text.trim()) else { return };
        let feed = &mut self.feed;
        if is("hub") {
            feed.hub(url);
        } else if is("self") {
            feed.itself.get_or_insert(url);
        } else if is("next") || is("prev-archive") {
            feed.next.get_or_insert(url);
        } else if is("alternate") {
            feed.home.get_or_insert(url);
        }
    }

    fn add(&mut self, text: &str) {
        // What is longer than a URL is cut off, and then is none.
        if self.text.len() <= LONGEST {
            self.text.push_str(text);
        }
    }

    fn end(&mut self, name: &str) {
        self.nesting.close(name);
        self.leave(self.nesting.depth());
    }

    /// Ends all that is deeper than `depth`.
    fn leave(&mut self, depth: usize) {
        self.nesting.cut(depth);
        if let Some(field) = self.field.take_if(|field| depth < field.depth)
            && let Some(text) = kept(&std::mem::take(&mut self.text))
        {
            match &mut self.entry {
                Some(open) => open.set(&field, text),
                None => self.set(&field, text),
            }
        }
        if let Some(open) = self.entry.take_if(|open| depth < open.depth) {
            self.feed.take(open.draft, &self.base);
        }
        self.feed_depth.take_if(|feed| depth < *feed);
    }

    /// What the feed says of itself.
    fn set(&mut self, field: &Field, text: String) {
        match field.element {
            Element::Link if field.is_unknown => {}
            Element::Link => self.feed.home = self.feed.home.take().or(self.base.join(&text).ok()),
            Element::Updated => self.feed.updated = super::When::parse(&text).or(self.feed.updated),
            Element::Published | Element::Dated => {
                self.feed.updated = self.feed.updated.or(super::When::parse(&text));
            }
            Element::Ttl => self.feed.keep_for = period::ttl(&text),
            Element::Period => self.period = Some(text),
            Element::Frequency => self.frequency = Some(text),
            Element::Id | Element::OriginalLink => {}
        }
    }
}

impl Open {
    fn set(&mut self, field: &Field, text: String) {
        let draft = &mut self.draft;
        let is_free = |is_set: bool| !(field.is_borrowed && is_set);
        match field.element {
            Element::OriginalLink => {
                (draft.link, self.original) = (Some(field.written(text)), true);
            }
            Element::Link if !self.original && is_free(draft.link.is_some()) => {
                draft.link = Some(field.written(text));
            }
            Element::Id if is_free(draft.id.is_some()) => {
                if !field.is_only_name {
                    draft.name = Some(field.written(text.clone()));
                }
                draft.id = Some(text);
            }
            Element::Published if is_free(draft.published.is_some()) => draft.published = Some(text),
            Element::Dated => draft.dated = Some(text),
            Element::Updated if is_free(draft.updated.is_some()) => draft.updated = Some(text),
            _ => {}
        }
    }
}

impl Field {
    fn written(&self, text: String) -> Written {
        Written { text, is_unknown: self.is_unknown }
    }
}

/// Returns whether a link is of this kind; without a word of its own it is an alternate.
fn has_relation(attributes: &str, word: &str) -> bool {
    let relation = attribute(attributes, "rel").map_or(Cow::Borrowed("alternate"), |relation| relation.text);
    relation.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word))
}

/// An address in an attribute.
fn written(value: &Resolved<'_>) -> Option<Written> {
    kept(&value.text).map(|text| Written { text, is_unknown: value.unknown })
}
