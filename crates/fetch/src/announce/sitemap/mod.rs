//! Sitemaps (sitemaps.org): what pages a site says it has, and when it says they changed.
//!
//! Read as they come, in memory that does not grow with them: [`Reader`] is fed with pieces of a body and hands out entries. XML
//! with right, wrong or no namespaces, and plain lists of URLs; gzip'ed or not.

mod collect;
mod entry;
mod lines;
mod scope;

pub use entry::{Announced, ChangeFrequency, News, Page, Sitemap};
pub use scope::{Scope, is_vouched_for, scope};

use super::find::Body;
use super::find::sniff_text;
use super::inflow::{Cut, Inflow};
use super::xml::Tokens;
use crate::url::PageUrl;
use collect::Collector;
use lines::Lines;

/// How deep indexes of indexes are worth following. The protocol has one level; some sites have two.
pub const DEEPEST_INDEX: usize = 3;

/// How much of a sitemap is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So many entries, bad ones included.
    pub entries: u64,
    /// So many bytes, uncompressed.
    pub bytes: u64,
}

/// What the protocol allows (50,000 entries, 50 MB) and a tenth more, for those who count badly.
impl Default for Limits {
    fn default() -> Self {
        Self { entries: 55_000, bytes: 55 << 20 }
    }
}

/// What a sitemap held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// What the body turned out to be; `None` until enough of it has come.
    pub body: Option<Body>,
    /// Pages handed out.
    pub pages: u64,
    /// Sitemaps handed out.
    pub sitemaps: u64,
    /// Of both, those on other sites.
    pub elsewhere: u64,
    /// Entries that could not be used.
    pub bad: u64,
    /// Dates that could not be read, of entries that could be used.
    pub bad_dates: u64,
    /// The first thing that was wrong, in a line.
    pub first_bad: Option<String>,
    /// Why it was not read to its end, if it was not.
    pub cut: Option<Cut>,
}

/// Reads one sitemap.
#[derive(Debug)]
pub struct Reader {
    inflow: Inflow,
    parser: Parser,
}

#[derive(Debug)]
struct Parser {
    form: Form,
    ledger: Ledger,
}

#[derive(Debug)]
enum Form {
    Unknown,
    Markup(Tokens, Box<Collector>),
    Lines(Lines),
    /// Nothing that can be read here.
    Refused,
}

/// Whose sitemap it is, and what was found.
#[derive(Debug)]
struct Ledger {
    url: PageUrl,
    entries: u64,
    tally: Tally,
}

/// Takes what is found.
type Each<'a> = dyn FnMut(Announced) + 'a;

/// Reads a sitemap that is all there.
pub fn read(
    body: &[u8],
    url: &PageUrl,
    charset: Option<&str>,
    limits: Limits,
    mut each: impl FnMut(Announced),
) -> Tally {
    let mut reader = Reader::new(url, charset, limits);
    reader.push(body, &mut each);
    reader.finish(each)
}

impl Reader {
    /// Reads what is found at `url`. `charset` is the encoding that the head of the answer names, if any.
    pub fn new(url: &PageUrl, charset: Option<&str>, limits: Limits) -> Self {
        let tally = Tally {
            body: None,
            pages: 0,
            sitemaps: 0,
            elsewhere: 0,
            bad: 0,
            bad_dates: 0,
            first_bad: None,
            cut: None,
        };
        let ledger = Ledger { url: url.clone(), entries: limits.entries, tally };
        Self { inflow: Inflow::new(limits.bytes, charset), parser: Parser { form: Form::Unknown, ledger } }
    }

    /// Takes a piece of the body, of any size. False if no more is wanted.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Announced)) -> bool {
        if self.wants_more() {
            let parser = &mut self.parser;
            self.inflow.push(bytes, &mut |text, last| parser.take(text, last, &mut each));
        }
        self.wants_more()
    }

    /// The end of the body.
    pub fn finish(mut self, mut each: impl FnMut(Announced)) -> Tally {
        let parser = &mut self.parser;
        self.inflow.finish(&mut |text, last| parser.take(text, last, &mut each));
        let Parser { form, mut ledger } = self.parser;
        ledger.tally.cut = ledger.tally.cut.or(self.inflow.cut());
        if let Form::Markup(_, mut collector) = form {
            collector.end_of_file(&mut ledger, &mut each);
        }
        ledger.tally
    }

    fn wants_more(&self) -> bool {
        self.inflow.cut().is_none()
            && self.parser.ledger.tally.cut.is_none()
            && !matches!(self.parser.form, Form::Refused)
    }
}

impl Parser {
    fn take(&mut self, text: &str, last: bool, each: &mut Each<'_>) -> usize {
        if self.ledger.tally.cut.is_some() {
            return text.len();
        }
        if matches!(self.form, Form::Unknown) {
            let body = sniff_text(text);
            self.ledger.tally.body = Some(body);
            self.form = match body {
                Body::Sitemap | Body::SitemapIndex => Form::Markup(Tokens::new(), Box::default()),
                Body::TextList => Form::Lines(Lines::default()),
                other => {
                    self.ledger.refuse(other);
                    Form::Refused
                }
            };
        }
        match &mut self.form {
            Form::Markup(tokens, collector) => {
                tokens.read(text, last, &mut |token| collector.token(token, &mut self.ledger, each))
            }
            Form::Lines(lines) => lines.read(text, last, &mut self.ledger, each),
            Form::Unknown | Form::Refused => text.len(),
        }
    }
}

impl Ledger {
    fn refuse(&mut self, body: Body) {
        let what =
            if body == Body::Other { "neither XML of a known kind nor a list of URLs" } else { body.name() };
        self.tally.first_bad = Some(format!("it is {what}; expected a sitemap"));
    }

    /// May another entry be taken?
    fn has_room(&mut self) -> bool {
        let seen = self.tally.pages + self.tally.sitemaps + self.tally.bad;
        if seen >= self.entries {
            self.tally.cut = Some(Cut::Entries);
        }
        seen < self.entries
    }

    /// The number of the entry at hand, for people.
    fn number(&self) -> u64 {
        self.tally.pages + self.tally.sitemaps + self.tally.bad + 1
    }

    fn bad(&mut self, why: impl std::fmt::Display) {
        self.first(&why);
        self.tally.bad += 1;
    }

    fn bad_date(&mut self, text: &str) {
        let shown: String = text.chars().take(40).collect();
        self.first(&format_args!("'{}' is no date that can be read", shown.escape_debug()));
        self.tally.bad_dates += 1;
    }

    fn first(&mut self, why: &dyn std::fmt::Display) {
        if self.tally.first_bad.is_none() {
            self.tally.first_bad = Some(format!("entry {}: {why}", self.number()));
        }
    }

    /// The place that an entry names, and how it stands to the sitemap. The protocol wants whole URLs; paths are completed, but not
    /// every word is one.
    fn place(&self, loc: &str) -> Result<(PageUrl, Scope), String> {
        let url = if loc.starts_with('/') { self.url.join(loc) } else { PageUrl::parse(loc) };
        let url = url.map_err(|why| why.to_string())?;
        let scope = scope(&self.url, &url);
        Ok((url, scope))
    }

    fn hand_out(&mut self, found: Announced, each: &mut Each<'_>) {
        let (count, scope) = match &found {
            Announced::Page(page) => (&mut self.tally.pages, page.scope),
            Announced::Sitemap(sitemap) => (&mut self.tally.sitemaps, sitemap.scope),
        };
        *count += 1;
        self.tally.elsewhere += u64::from(scope == Scope::Elsewhere);
        each(found);
    }
}

/// One line for a log: `120 pages; 2 bad entries (entry 7: …); not read to its end: it is larger than allowed`.
impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} pages", self.pages)?;
        if self.sitemaps > 0 {
            write!(f, ", {} sitemaps", self.sitemaps)?;
        }
        if self.bad + self.bad_dates > 0 {
            write!(f, "; {} bad entries, {} bad dates", self.bad, self.bad_dates)?;
        }
        if let Some(why) = &self.first_bad {
            write!(f, " ({why})")?;
        }
        if let Some(cut) = self.cut {
            write!(f, "; not read to its end: {cut}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
