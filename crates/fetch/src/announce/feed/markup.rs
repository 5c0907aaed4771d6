//! RSS and Atom: the same few elements, under two dozen names.

use std::borrow::Cow;

use super::element::{Element, is_entry, is_feed};
use super::{Draft, Feed, Limits, kept, period};
use crate::announce::Cut;
use crate::announce::inflow::Inflow;
use crate::announce::xml::{Nesting, Token, Tokens, attribute, local, resolved, split};
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
            Token::Text(text) if self.field.is_some() => self.add(&resolved(text).text),
            Token::Literal(text) if self.field.is_some() => self.add(text),
            Token::Text(_) | Token::Literal(_) => {}
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
                draft.name = attribute(attributes, "rdf:about").and_then(|about| kept(&about));
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
        attribute(attributes, "xml:base").and_then(|base| self.base.join(base.trim()).ok())
    }

    fn child(&mut self, name: &str, attributes: &str, depth: usize) {
        let Some(element) = Element::of(local(name)).filter(|_| self.field.is_none()) else { return };
        if element == Element::Link
            && let Some(href) = attribute(attributes, "href")
        {
            return self.link(&href, attributes);
        }
        let is_only_name =
            attribute(attributes, "isPermaLink").is_some_and(|is| is.trim().eq_ignore_ascii_case("false"));
        let is_borrowed = !split(name).0.is_empty();
        self.text.clear();
        self.field = Some(Field { element, depth, is_only_name, is_borrowed });
    }

    /// Atom's links, which RSS uses as well.
    fn link(&mut self, href: &str, attributes: &str) {
        let relation = attribute(attributes, "rel").unwrap_or(Cow::Borrowed("alternate"));
        let is = |word: &str| relation.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
        let base = self.based(attributes);
        if let Some(Open { draft, .. }) = &mut self.entry {
            if is("alternate") && draft.link.is_none() {
                draft.link = kept(href);
                draft.base = base.or(draft.base.take());
            }
            return;
        }
        let Ok(url) = base.as_ref().unwrap_or(&self.base).join(href.trim()) else { return };
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
            Element::Link => self.feed.home = self.feed.home.take().or(self.base.join(&text).ok()),
            Element::Updated => self.feed.updated = super::When::parse(&text).or(self.feed.updated),
            Element::Published => self.feed.updated = self.feed.updated.or(super::When::parse(&text)),
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
        let place = match field.element {
            Element::OriginalLink => {
                (draft.link, self.original) = (Some(text), true);
                return;
            }
            Element::Link if self.original => return,
            Element::Link => &mut draft.link,
            Element::Id => &mut draft.id,
            Element::Published => &mut draft.published,
            Element::Updated => &mut draft.updated,
            Element::Ttl | Element::Period | Element::Frequency => return,
        };
        if field.is_borrowed && place.is_some() {
            return;
        }
        if field.element == Element::Id && !field.is_only_name {
            draft.name = Some(text.clone());
        }
        *place = Some(text);
    }
}
