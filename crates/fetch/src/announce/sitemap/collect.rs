//! From the tokens of a sitemap to its entries.

use xxhash_rust::xxh3::xxh3_64;

use super::entry::{self, Announced, ChangeFrequency, News, Page, Sitemap};
use super::{Each, Ledger};
use crate::announce::inflow::Cut;
use crate::announce::trimmed;
use crate::announce::when::When;
use crate::announce::xml::{Nesting, Token, resolved, split};
use crate::url::{LONGEST, PageUrl};

use super::Scope;

const LONGEST_TITLE: usize = 1000;

/// Collects an entry, a child of it at a time.
#[derive(Debug, Default)]
pub(super) struct Collector {
    nesting: Nesting,
    entry: Option<Entry>,
    /// The child that is being read, and how deep it is.
    field: Option<(Field, usize)>,
    /// Its text.
    text: Text,
}

/// The text of an element.
#[derive(Debug, Default)]
struct Text {
    text: String,
    /// It is longer than any that means something.
    too_long: bool,
    /// It refers to what only a document type could tell.
    unknown: bool,
}

impl Text {
    fn add(&mut self, text: &str, unknown: bool) {
        self.unknown |= unknown;
        if self.text.len() + text.len() <= 2 * LONGEST {
            self.text.push_str(text);
        } else {
            self.too_long = true;
        }
    }

    /// Returns the place that it names; `None` if it is empty.
    fn place(&self, ledger: &Ledger) -> Option<Result<(PageUrl, Scope), String>> {
        match trimmed(&self.text) {
            _ if self.too_long => Some(Err("its URL is longer than any".to_owned())),
            _ if self.unknown => Some(Err("its URL refers to an entity that is not defined".to_owned())),
            "" => None,
            text => Some(ledger.place(text)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Loc,
    LastModified,
    ChangeFrequency,
    Priority,
    Published,
    Title,
}

/// An entry as far as it was read.
#[derive(Debug)]
struct Entry {
    is_page: bool,
    depth: usize,
    prefix: u64,
    place: Option<Result<(PageUrl, Scope), String>>,
    /// Text that stands in no child: some leave `<loc>` out.
    own: Text,
    last_modified: Option<When>,
    bad_date: Option<String>,
    change_frequency: Option<ChangeFrequency>,
    priority: Option<f64>,
    news: Option<News>,
    /// The `news` element is open.
    in_news: bool,
}

impl Collector {
    pub(super) fn token(&mut self, token: Token<'_>, ledger: &mut Ledger, each: &mut Each<'_>) {
        if ledger.tally.cut.is_some() {
            return;
        }
        match token {
            Token::Start { name, empty, .. } => {
                self.start(name, ledger, each);
                if empty {
                    self.end(name, ledger, each);
                }
            }
            Token::End { name } => self.end(name, ledger, each),
            Token::Text(text) => {
                if let Some(open) = self.open_text() {
                    let resolved = resolved(text);
                    open.add(&resolved.text, resolved.unknown);
                }
            }
            Token::Literal(text) => {
                if let Some(open) = self.open_text() {
                    open.add(text, false);
                }
            }
        }
    }

    /// The text that is being read, if any is.
    fn open_text(&mut self) -> Option<&mut Text> {
        match &mut self.entry {
            _ if self.field.is_some() => Some(&mut self.text),
            Some(entry) if self.nesting.depth() == entry.depth => Some(&mut entry.own),
            _ => None,
        }
    }

    /// The file ended. An entry whose URL was read to its end is one, whatever else was to follow; another is one that cannot be read.
    pub(super) fn end_of_file(&mut self, ledger: &mut Ledger, each: &mut Each<'_>) {
        match self.entry.take() {
            Some(entry) if matches!(entry.place, Some(Ok(_))) => entry.hand_out(ledger, each),
            Some(_) if ledger.tally.cut.is_none() => ledger.bad("the file ends within it"),
            _ => {}
        }
    }

    fn start(&mut self, name: &str, ledger: &mut Ledger, each: &mut Each<'_>) {
        if !self.nesting.open(name) {
            ledger.tally.cut = Some(Cut::Depth);
            return;
        }
        let ((prefix, kind), depth) = (split(name), self.nesting.depth());
        let is_page = kind.eq_ignore_ascii_case("url");
        let begins = is_page || kind.eq_ignore_ascii_case("sitemap");
        let Some(entry) = &mut self.entry else {
            if begins && ledger.has_room() {
                self.entry = Some(Entry::new(is_page, depth, xxh3_64(prefix.as_bytes())));
            }
            return;
        };
        let is_child = depth == entry.depth + 1;
        // `image:loc` is no page: what counts has the prefix of the entry, or none.
        let is_own = prefix.is_empty() || xxh3_64(prefix.as_bytes()) == entry.prefix;
        if is_child && is_own && begins {
            // Nobody closed the entry before.
            let outside = entry.depth - 1;
            self.leave(outside, ledger, each);
            self.start(name, ledger, each);
        } else if is_child && is_own && self.field.is_none() {
            let field = Field::of_entry(kind);
            self.field = field.map(|field| (field, depth));
            // A second URL is a second entry: what stood between the two is missing.
            if field == Some(Field::Loc)
                && let Some(first) = self.entry.take_if(|entry| entry.place.is_some())
            {
                let second = Entry::new(first.is_page, first.depth, first.prefix);
                first.hand_out(ledger, each);
                self.entry = ledger.has_room().then_some(second);
            }
        } else if is_child && kind.eq_ignore_ascii_case("news") {
            entry.in_news = true;
        } else if depth == entry.depth + 2 && entry.in_news && self.field.is_none() {
            self.field = Field::of_news(kind).map(|field| (field, depth));
        }
    }

    fn end(&mut self, name: &str, ledger: &mut Ledger, each: &mut Each<'_>) {
        self.nesting.close(name);
        self.leave(self.nesting.depth(), ledger, each);
    }

    /// Ends all that is deeper than `depth`.
    fn leave(&mut self, depth: usize, ledger: &mut Ledger, each: &mut Each<'_>) {
        self.nesting.cut(depth);
        if let Some((field, at)) = self.field
            && depth < at
        {
            self.take_field(field, ledger);
        }
        match &mut self.entry {
            Some(entry) if depth < entry.depth => {
                if let Some(entry) = self.entry.take() {
                    entry.hand_out(ledger, each);
                }
            }
            Some(entry) if depth == entry.depth => entry.in_news = false,
            _ => {}
        }
    }

    fn take_field(&mut self, field: Field, ledger: &Ledger) {
        let text = std::mem::take(&mut self.text);
        if let Some(entry) = &mut self.entry {
            entry.set(field, &text, ledger);
        }
        self.field = None;
    }
}

impl Field {
    fn of_entry(name: &str) -> Option<Self> {
        const FIELDS: [(&str, Field); 4] = [
            ("loc", Field::Loc),
            ("lastmod", Field::LastModified),
            ("changefreq", Field::ChangeFrequency),
            ("priority", Field::Priority),
        ];
        FIELDS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, field)| field)
    }

    fn of_news(name: &str) -> Option<Self> {
        match name {
            "publication_date" => Some(Self::Published),
            "title" => Some(Self::Title),
            _ => None,
        }
    }
}

impl Entry {
    fn new(is_page: bool, depth: usize, prefix: u64) -> Self {
        Self {
            is_page,
            depth,
            prefix,
            place: None,
            own: Text::default(),
            last_modified: None,
            bad_date: None,
            change_frequency: None,
            priority: None,
            news: None,
            in_news: false,
        }
    }

    fn set(&mut self, field: Field, text: &Text, ledger: &Ledger) {
        if field == Field::Loc {
            self.place = text.place(ledger);
            return;
        }
        let (text, too_long) = (trimmed(&text.text), text.too_long);
        if too_long || text.is_empty() {
            return;
        }
        match field {
            Field::Loc => {}
            Field::LastModified => self.last_modified = self.date(text),
            Field::ChangeFrequency => self.change_frequency = ChangeFrequency::parse(text),
            Field::Priority => self.priority = entry::priority(text),
            Field::Published => {
                let published = self.date(text);
                self.news.get_or_insert_default().published = published;
            }
            Field::Title => {
                let title = text.chars().take(LONGEST_TITLE).collect();
                self.news.get_or_insert_default().title = Some(title);
            }
        }
    }

    fn date(&mut self, text: &str) -> Option<When> {
        let when = When::parse(text);
        if when.is_none() {
            self.bad_date = Some(text.to_owned());
        }
        when
    }

    fn hand_out(self, ledger: &mut Ledger, each: &mut Each<'_>) {
        let (url, scope) = match self.place.or_else(|| self.own.place(ledger)) {
            Some(Ok(place)) => place,
            Some(Err(why)) => return ledger.bad(why),
            None => return ledger.bad("it names no URL"),
        };
        if let Some(text) = self.bad_date {
            ledger.bad_date(&text);
        }
        let last_modified = self.last_modified;
        let found = if self.is_page {
            let Self { change_frequency, priority, news, .. } = self;
            Announced::Page(Page { url, scope, last_modified, change_frequency, priority, news })
        } else {
            Announced::Sitemap(Sitemap { url, scope, last_modified })
        };
        ledger.hand_out(found, each);
    }
}
