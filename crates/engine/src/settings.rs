//! How a crawl goes about it.

use refrain_core::time::Span;
use refrain_fetch::change::Rules;
use refrain_fetch::client;
use refrain_fetch::url::PageUrl;
use refrain_store::Retention;

use crate::follow::Follow;

/// How a crawl goes about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Requests per second, all hosts together, whatever they are for.
    pub rate: f64,
    /// The least time between two requests to a host: from the answer to one to the start of the next, or between their starts if
    /// there may be several at the same time.
    pub gap: Span,
    /// The gap is at least this many times what a host takes to answer.
    pub patience: f32,
    /// The most requests to a host at the same time.
    pub per_host: u16,
    /// The most fetches under way at the same time.
    pub parallel: usize,
    /// The crawler's name in robots.txt.
    pub agent: String,
    /// How pages are asked for.
    pub client: client::Settings,
    /// What counts as a change, by the beginnings of addresses; the longest that fits decides.
    pub rules: Vec<(String, Rules)>,
    /// Which links become pages.
    pub follow: Option<Follow>,
    /// Whether sitemaps and feeds are read.
    pub listen: bool,
    /// What is news, by the beginnings of addresses; the longest that fits decides.
    pub news: Vec<(String, News)>,
    /// No more pages than this are known.
    pub most_pages: u64,
    /// How long a robots.txt is believed.
    pub robots_for: Span,
    /// How many redirects are followed.
    pub redirects: usize,
    /// Whether an unchanged page leaves a record in the archive.
    pub revisits: bool,
    /// Which copies are kept; all, if nothing is said.
    pub retention: Option<Retention>,
    /// When the crawl is over.
    pub until: Until,
    /// Whether it fetches pages by itself, or only says what others should fetch.
    pub fetches: bool,
    /// What was seen is on the disk after so long, and changes are told of.
    pub commit_within: Span,
    /// What of the budget was not spent for so long may be spent at once: for fetchers that ask for many pages at a time.
    pub burst: Span,
    /// A read that is so old counts 1/e in what pages matter.
    pub reads_memory: Span,
}

/// Pages that matter for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct News {
    /// How much a page matters when it appears.
    pub importance: f64,
    /// After this, it matters half as much.
    pub half_life: Span,
}

impl News {
    /// The share of its importance that a page loses per second.
    pub(crate) fn decay(&self) -> f64 {
        std::f64::consts::LN_2 / self.half_life.as_secs().max(1e-3)
    }
}

/// When a crawl is over, if nobody stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never.
    Stopped,
    /// After so long.
    After(Span),
    /// When every page was looked at once.
    Once,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rate: 1.0,
            gap: Span::from_whole_secs(1),
            patience: 10.0,
            per_host: 1,
            parallel: 256,
            agent: "Refrain".to_owned(),
            client: client::Settings::default(),
            rules: Vec::new(),
            follow: None,
            listen: true,
            news: Vec::new(),
            most_pages: 100_000_000,
            robots_for: Span::from_whole_secs(86_400),
            redirects: 5,
            revisits: true,
            retention: None,
            until: Until::Stopped,
            fetches: true,
            commit_within: Span::from_millis(250),
            burst: Span::ZERO,
            reads_memory: Span::from_whole_secs(30 * 86_400),
        }
    }
}

impl Settings {
    /// What counts as a change of a page.
    pub(crate) fn rules_for(&self, url: &PageUrl) -> Rules {
        longest(&self.rules, url).cloned().unwrap_or_default()
    }

    /// For how long a new page matters, if that is not for ever.
    pub(crate) fn news_at(&self, url: &PageUrl) -> Option<&News> {
        longest(&self.news, url)
    }
}

/// What is said of the longest beginning of an address.
fn longest<'a, T>(said: &'a [(String, T)], url: &PageUrl) -> Option<&'a T> {
    let fits = said.iter().filter(|(start, _)| url.as_str().starts_with(start.as_str()));
    fits.max_by_key(|(start, _)| start.len()).map(|(_, what)| what)
}

/// A host as the store names it: scheme, name and port, the port only if it is not the usual one.
pub fn host_name(url: &PageUrl) -> String {
    url.origin().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_name() {
        let name = |url: &str| host_name(&PageUrl::parse(url).unwrap());
        assert_eq!(name("http://Example.org:80/a"), "http://example.org");
        assert_eq!(name("https://example.org:8443/"), "https://example.org:8443");
        assert_eq!(name("https://[::1]:8443/a:b"), "https://[::1]:8443");
        assert_eq!(name("https://[0:0::1:8443]:443"), "https://[::1:8443]", "another one");
    }

    #[test]
    fn the_longest_beginning_decides() {
        let rules = |digits| Rules { ignore_digits: digits, ..Rules::default() };
        let starts = [("http://a/", true), ("http://a/b/", false), ("http://c/", true)];
        let rules = starts.map(|(start, digits)| (start.to_owned(), rules(digits))).to_vec();
        let settings = Settings { rules, ..Settings::default() };
        let ignores = |url: &str| settings.rules_for(&PageUrl::parse(url).unwrap()).ignore_digits;
        assert!(ignores("http://a/x") && !ignores("http://a/b/x") && !ignores("http://d/"));
    }
}
