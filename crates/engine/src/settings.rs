//! How a crawl goes about it.

use refrain_core::time::Span;
use refrain_fetch::change::Rules;
use refrain_fetch::client;
use refrain_fetch::url::PageUrl;
use refrain_store::{Retention, Schedule};

use crate::follow::Follow;
use crate::neighbours::Politeness;

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
    /// Which hosts share a gap.
    pub politeness: Politeness,
    /// So many names of a registrable domain are visited that only links show, if their addresses are not known or the same.
    pub most_names: u64,
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
    /// Who decides when to come back, in crawls of others.
    pub schedules: Schedules,
}

/// Who decides when to come back, by the names of crawls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedules {
    /// Where no pattern fits.
    pub default: Schedule,
    /// Patterns, in which `*` is anything; the first that fits decides.
    pub patterns: Vec<(String, Schedule)>,
}

impl Default for Schedules {
    fn default() -> Self {
        Self { default: Schedule::Client, patterns: Vec::new() }
    }
}

impl Schedules {
    /// Who decides in a crawl of this name.
    pub fn of(&self, crawl: &str) -> Schedule {
        let said = self.patterns.iter().find(|(pattern, _)| fits(pattern, crawl));
        said.map_or(self.default, |(_, schedule)| *schedule)
    }
}

/// Whether a name is one of a pattern in which `*` is any text, and everything else is itself.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let (between, last) = rest.rsplit_once('*').map_or((None, rest), |(between, last)| (Some(between), last));
    // The earliest place of each part leaves most room for those after it.
    for part in between.into_iter().flat_map(|between| between.split('*')) {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
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
            politeness: Politeness::Auto,
            most_names: 50,
            robots_for: Span::from_whole_secs(86_400),
            redirects: 5,
            revisits: true,
            retention: None,
            until: Until::Stopped,
            fetches: true,
            commit_within: Span::from_millis(250),
            burst: Span::ZERO,
            reads_memory: Span::from_whole_secs(30 * 86_400),
            schedules: Schedules::default(),
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
    fn a_star_is_anything_and_all_else_is_itself() {
        for (pattern, yes, no) in [
            ("news", &["news"][..], &["new", "newss", "old-news", ""][..]),
            ("news-*", &["news-", "news-1", "news-*"], &["news", "old-news-1", "News-1"]),
            ("*", &["", "a", "\0"], &[]),
            ("", &[""], &["a"]),
            ("*news", &["news", "old-news"], &["news-1"]),
            ("a*b*c", &["abc", "axbxc", "abbcc"], &["acb", "ab", "abcd", "xabc"]),
            ("aa*aa", &["aaaa", "aaxaa"], &["aaa", "aa"]),
            ("a*ab*b", &["aabb", "axabxb"], &["aab", "abb", "ab"]),
            ("*.*", &["a.b", "."], &["ab"]),
            ("**", &["", "x"], &[]),
            ("[a]?", &["[a]?"], &["a", "ab"]),
            ("ключ*", &["ключи"], &["клю"]),
        ] {
            for name in yes {
                assert!(fits(pattern, name), "{pattern} {name}");
            }
            for name in no {
                assert!(!fits(pattern, name), "{pattern} {name}");
            }
        }
    }

    #[test]
    fn the_first_pattern_that_fits_decides() {
        let patterns =
            [("news-old*", Schedule::Client), ("news-*", Schedule::Server), ("n*", Schedule::Client)];
        let patterns = patterns.map(|(pattern, schedule)| (pattern.to_owned(), schedule)).to_vec();
        let schedules = Schedules { default: Schedule::Server, patterns };
        for (crawl, schedule) in [
            ("news-1", Schedule::Server),
            ("news-old-1", Schedule::Client),
            ("nothing", Schedule::Client),
            ("DEFAULT", Schedule::Server),
        ] {
            assert_eq!(schedules.of(crawl), schedule, "{crawl}");
        }
        assert_eq!(Schedules::default().of("any"), Schedule::Client);
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
