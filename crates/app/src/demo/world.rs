//! A small living web: how often pages change, who says so, and what they show. It is made up, so the truth is known.

use std::fmt::Write as _;

use refrain_engine::Seed;
use refrain_fetch::url::PageUrl;

use super::announce::LINK_TO_FEED;
use super::hosts::{self, Holds, Host, Manner, Voice};
use super::news::{self, Article};
use super::words::{sentence, slug};
use crate::synthetic::Synthetic;

/// A page, and all that will ever happen to it.
pub(crate) struct Page {
    /// The number of its host.
    pub(crate) host: usize,
    pub(crate) path: String,
    /// How much it is asked for.
    pub(crate) importance: f64,
    /// Changes per second.
    pub(crate) rate: f64,
    /// When it changes, in seconds.
    pub(crate) changes: Vec<f64>,
    /// When its host says that it changed, in the order of time.
    pub(super) said: Vec<Said>,
    /// robots.txt says no.
    pub(crate) forbidden: bool,
}

/// A host says that a page changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) time: f64,
    pub(super) is_change: bool,
}

/// The share of changes that hosts with a voice announce.
const RECALL: f64 = 0.9;
/// In a feed, the share of entries that are there because of a change.
const PRECISION: f64 = 0.8;

/// The small web.
pub(crate) struct World {
    pub(crate) hosts: Vec<Host>,
    pub(crate) pages: Vec<Page>,
    /// By host, and then in the order in which they appear.
    pub(crate) articles: Vec<Article>,
    pub(super) seed: u64,
}

impl World {
    /// The web of the demo.
    pub(crate) fn new(seed: u64, seconds: f64) -> Self {
        Self::of(hosts::of_demo(), seed, seconds)
    }

    /// A web that lives for so many seconds. The same seed gives the same pages and changes, whoever announces them.
    pub(crate) fn of(hosts: Vec<Host>, seed: u64, seconds: f64) -> Self {
        let mut random = Synthetic::new(seed);
        let mut pages = Vec::new();
        let mut articles = Vec::new();
        for (number, host) in hosts.iter().enumerate() {
            match host.holds {
                Holds::Pages(count, every) => {
                    for page in 0..count {
                        let rate = 1.0 / random.log_uniform(every.0, every.1);
                        // A few pages are asked for most of the time.
                        let importance = random.uniform().max(1e-3).powf(-0.8);
                        let forbidden = host.manner == Manner::Shy && page % 3 == 2;
                        let part = if forbidden { "private/" } else { "" };
                        let changes = moments(&mut random, rate, seconds);
                        let path = format!("/{part}{}", slug(&host.name, page));
                        // By chance of its own: what is said changes nothing.
                        let mut chance = Synthetic::new(seed ^ 0x5a1d << 32 ^ pages.len() as u64);
                        let said = said(host.voice, &changes, rate, seconds, &mut chance);
                        pages.push(Page { host: number, path, importance, rate, changes, said, forbidden });
                    }
                }
                Holds::News { every, profit } => {
                    let mut chance = Synthetic::new(seed ^ 0x4e3 << 32 ^ number as u64);
                    articles.extend(news::articles(number, every, profit, seconds, &mut chance));
                }
            }
        }
        Self { hosts, pages, articles, seed }
    }

    /// Where a crawl begins: pages, and front pages with news.
    pub(crate) fn seeds(&self, port: u16) -> Vec<Seed> {
        let seed = |url: String, importance| {
            let url = PageUrl::parse(&url).ok()?;
            Some(Seed { url, importance: Some(importance), max_age: None })
        };
        let pages = self.pages.iter().filter_map(|page| seed(self.url(page, port), page.importance));
        // A front page matters as much as its articles together.
        let fronts =
            self.hosts.iter().filter_map(|host| seed(address(host, port, "/"), news::asked_for(host)?));
        pages.chain(fronts).collect()
    }

    /// The page with this address, by the number of its host.
    pub(crate) fn find(&self, host: usize, path: &str) -> Option<usize> {
        self.pages.iter().position(|page| page.host == host && page.path == path)
    }

    pub(crate) fn url(&self, page: &Page, port: u16) -> String {
        address(&self.hosts[page.host], port, &page.path)
    }

    /// Changes per second, all pages that may be visited together.
    pub(crate) fn change_rate(&self) -> f64 {
        self.pages.iter().filter(|page| !page.forbidden).map(|page| page.rate).sum()
    }

    /// What a page says at a moment; `visit` is different each time.
    pub(crate) fn body(&self, number: usize, time: f64, visit: u64) -> String {
        let page = &self.pages[number];
        let version = page.version(time);
        let host = &self.hosts[page.host];
        let title = page.path.trim_start_matches('/').replace(['-', '/'], " ");
        let feed = if host.voice == Voice::Feed { LINK_TO_FEED } else { "" };
        let mut html = format!(
            "<!doctype html><html><head><meta charset=utf-8>{feed}<title>{title}</title></head><body>\
             <nav><a href=/>home</a></nav><main><h1>{title}</h1>\n"
        );
        for part in 0..6_u64 {
            // Each change writes one of the paragraphs anew.
            let written = (0..=version).rev().find(|v| v % 6 == part || *v == 0).unwrap_or(0);
            let mut random = Synthetic::new(self.seed ^ (number as u64) << 40 ^ written << 8 ^ part);
            let _ = writeln!(html, "<p>{}</p>", sentence(&mut random, 24));
        }
        if host.manner == Manner::Noisy {
            let _ = writeln!(html, "<p>Made at {time:.3} s, ticket {}.</p>", token(visit));
        }
        html + "</main></body></html>\n"
    }
}

impl Page {
    /// How often it has changed up to a moment.
    pub(crate) fn version(&self, time: f64) -> u64 {
        self.changes.partition_point(|change| *change <= time) as u64
    }

    /// The last change up to a moment, in seconds.
    pub(crate) fn changed(&self, time: f64) -> Option<f64> {
        self.changes.iter().copied().take_while(|change| *change <= time).last()
    }

    /// The next change after a moment.
    pub(crate) fn next_change(&self, time: f64) -> f64 {
        self.changes.get(self.version(time) as usize).copied().unwrap_or(f64::INFINITY)
    }
}

pub(super) fn address(host: &Host, port: u16, path: &str) -> String {
    format!("http://{}.localhost:{port}{path}", host.name)
}

/// What differs at every visit.
pub(super) fn token(visit: u64) -> String {
    format!("{:08x}", visit.wrapping_mul(0x9e37_79b9))
}

/// Moments of a Poisson process.
pub(super) fn moments(random: &mut Synthetic, rate: f64, until: f64) -> Vec<f64> {
    let mut moments = Vec::new();
    let mut time = 0.0;
    loop {
        time -= (1.0 - random.uniform()).ln() / rate;
        if time >= until {
            return moments;
        }
        moments.push(time);
    }
}

/// What a host says of a page that changes at these moments.
fn said(voice: Voice, changes: &[f64], rate: f64, until: f64, random: &mut Synthetic) -> Vec<Said> {
    // Who boasts does not look at pages first.
    if matches!(voice, Voice::Silent | Voice::Boast) {
        return Vec::new();
    }
    let announced = changes.iter().filter(|_| random.uniform() < RECALL);
    let mut said: Vec<Said> = announced.map(|time| Said { time: *time, is_change: true }).collect();
    if voice == Voice::Feed {
        let false_rate = RECALL * rate * (1.0 - PRECISION) / PRECISION;
        let wrong = moments(random, false_rate, until);
        said.extend(wrong.into_iter().map(|time| Said { time, is_change: false }));
        said.sort_by(|one, other| one.time.total_cmp(&other.time));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_shows_and_nothing_else_does() {
        let world = World::new(7, 100.0);
        for (number, page) in world.pages.iter().enumerate().filter(|(_, page)| !page.changes.is_empty()) {
            let first = page.changes[0];
            let noisy = world.hosts[page.host].manner == Manner::Noisy;
            let (before, after) = (world.body(number, 0.5 * first, 1), world.body(number, first, 1));
            let again = world.body(number, 0.6 * first, 2);
            assert_ne!(before, after);
            assert_eq!(before == again, !noisy);
        }
    }

    #[test]
    fn pages_change_as_often_as_they_should() {
        let world = World::new(3, 10_000.0);
        for page in &world.pages {
            let expected = page.rate * 10_000.0;
            assert!((page.changes.len() as f64 - expected).abs() < 6.0 * expected.sqrt() + 6.0);
            assert!(page.changes.is_sorted());
        }
    }

    /// Who comes later changes nothing for those who are there: the figures of before can be compared.
    #[test]
    fn newcomers_change_nobody() {
        let (world, few) = (World::new(1, 90.0), World::of(hosts::of_demo()[..8].to_vec(), 1, 90.0));
        assert_eq!(few.pages.len(), 214);
        assert_eq!((10.0 * few.change_rate()).round(), 114.0);
        for (page, before) in world.pages.iter().zip(&few.pages) {
            assert_eq!((&page.path, page.importance), (&before.path, before.importance));
            assert_eq!(page.changes, before.changes);
        }
    }

    /// The same seed, the same web; and what hosts say of pages changes nothing about them.
    #[test]
    fn the_seed_decides() {
        let world =
            |voice| World::of(vec![Host::of_pages("a", Manner::Plain, voice, 9, (5.0, 50.0))], 4, 200.0);
        let [silent, sitemap, again] = [Voice::Silent, Voice::Sitemap, Voice::Sitemap].map(world);
        for ((silent, sitemap), again) in silent.pages.iter().zip(&sitemap.pages).zip(&again.pages) {
            assert_eq!(silent.changes, sitemap.changes);
            assert_eq!(sitemap.said, again.said);
            assert!(silent.said.is_empty());
        }
        let bodies =
            |world: &World| -> Vec<String> { (0..9).map(|page| world.body(page, 50.0, 1)).collect() };
        assert_eq!(bodies(&silent), bodies(&sitemap));
    }

    #[test]
    fn voices_are_as_good_as_they_should_be() {
        for (voice, precision) in [(Voice::Sitemap, 1.0), (Voice::Feed, PRECISION)] {
            let host = Host::of_pages("a", Manner::Plain, voice, 20, (5.0, 50.0));
            let world = World::of(vec![host], 6, 2000.0);
            let count = |of: fn(&Page) -> usize| world.pages.iter().map(of).sum::<usize>() as f64;
            let (all, right) = (
                count(|page| page.said.len()),
                count(|page| page.said.iter().filter(|said| said.is_change).count()),
            );
            assert!((right / all - precision).abs() < 0.03, "{voice:?} {}", right / all);
            let recall = right / count(|page| page.changes.len());
            assert!((recall - RECALL).abs() < 0.03, "{voice:?} {recall}");
        }
    }
}
