//! A small living web: who lives in it, how often pages change, and what they say. It is made up, so the truth is known.

use std::fmt::Write as _;

use refrain_engine::Seed;
use refrain_fetch::url::PageUrl;

use crate::synthetic::Synthetic;

/// What is special about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Nothing.
    Plain,
    /// Its pages say when they were changed last.
    Dated,
    /// Every page has a clock and a token that differ at every visit.
    Noisy,
    /// It takes its time to answer.
    Slow,
    /// It asks to be left alone now and then.
    Busy,
    /// Its robots.txt asks for a second between visits, and forbids a part.
    Shy,
}

/// A host of the small web.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    pub(crate) manner: Manner,
    pages: u32,
    /// Pages change between every so many seconds and every so many.
    every: (f64, f64),
}

/// Between news that change every few seconds and archives that change every few hours.
pub(crate) const HOSTS: [Host; 8] = [
    Host { name: "news", manner: Manner::Plain, pages: 40, every: (2.0, 30.0) },
    Host { name: "market", manner: Manner::Noisy, pages: 30, every: (4.0, 120.0) },
    Host { name: "wiki", manner: Manner::Plain, pages: 40, every: (15.0, 3600.0) },
    Host { name: "blog", manner: Manner::Dated, pages: 30, every: (60.0, 14_400.0) },
    Host { name: "docs", manner: Manner::Dated, pages: 40, every: (600.0, 36_000.0) },
    Host { name: "slow", manner: Manner::Slow, pages: 10, every: (10.0, 3600.0) },
    Host { name: "busy", manner: Manner::Busy, pages: 12, every: (10.0, 3600.0) },
    Host { name: "shy", manner: Manner::Shy, pages: 12, every: (10.0, 3600.0) },
];

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
    /// robots.txt says no.
    pub(crate) forbidden: bool,
}

/// The small web.
pub(crate) struct World {
    pub(crate) pages: Vec<Page>,
    seed: u64,
}

impl World {
    /// A web that lives for so many seconds.
    pub(crate) fn new(seed: u64, seconds: f64) -> Self {
        let mut random = Synthetic::new(seed);
        let mut pages = Vec::new();
        for (number, host) in HOSTS.iter().enumerate() {
            for page in 0..host.pages {
                let rate = 1.0 / random.log_uniform(host.every.0, host.every.1);
                // A few pages are asked for most of the time.
                let importance = random.uniform().max(1e-3).powf(-0.8);
                let forbidden = host.manner == Manner::Shy && page % 3 == 2;
                let part = if forbidden { "private/" } else { "" };
                let changes = moments(&mut random, rate, seconds);
                let path = format!("/{part}{}", slug(host.name, page));
                pages.push(Page { host: number, path, importance, rate, changes, forbidden });
            }
        }
        Self { pages, seed }
    }

    /// The pages as seeds of a crawl.
    pub(crate) fn seeds(&self, port: u16) -> Vec<Seed> {
        let seed = |page: &Page| {
            let url = PageUrl::parse(&page.url(port)).ok()?;
            Some(Seed { url, importance: Some(page.importance), max_age: None })
        };
        self.pages.iter().filter_map(seed).collect()
    }

    /// The page with this address, by the name of its host.
    pub(crate) fn find(&self, host: &str, path: &str) -> Option<usize> {
        self.pages.iter().position(|page| HOSTS[page.host].name == host && page.path == path)
    }

    /// Changes per second, all pages that may be visited together.
    pub(crate) fn change_rate(&self) -> f64 {
        self.pages.iter().filter(|page| !page.forbidden).map(|page| page.rate).sum()
    }

    /// What a page says at a moment; `visit` is different each time.
    pub(crate) fn body(&self, number: usize, time: f64, visit: u64) -> String {
        let page = &self.pages[number];
        let version = page.version(time);
        let host = &HOSTS[page.host];
        let title = page.path.trim_start_matches('/').replace(['-', '/'], " ");
        let mut html = format!(
            "<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head><body>\
             <nav><a href=/>home</a></nav><main><h1>{title}</h1>\n"
        );
        for part in 0..6_u64 {
            // Each change writes one of the paragraphs anew.
            let written = (0..=version).rev().find(|v| v % 6 == part || *v == 0).unwrap_or(0);
            let mut random = Synthetic::new(self.seed ^ (number as u64) << 40 ^ written << 8 ^ part);
            let _ = writeln!(html, "<p>{}</p>", sentence(&mut random));
        }
        if host.manner == Manner::Noisy {
            let _ =
                writeln!(html, "<p>Made at {time:.3} s, ticket {:08x}.</p>", visit.wrapping_mul(0x9e37_79b9));
        }
        html + "</main></body></html>\n"
    }
}

impl Page {
    /// How often it has changed up to a moment.
    pub(crate) fn version(&self, time: f64) -> u64 {
        self.changes.partition_point(|change| *change <= time) as u64
    }

    pub(crate) fn url(&self, port: u16) -> String {
        format!("http://{}.localhost:{port}{}", HOSTS[self.host].name, self.path)
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

/// Moments of a Poisson process.
fn moments(random: &mut Synthetic, rate: f64, until: f64) -> Vec<f64> {
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

fn slug(host: &str, page: u32) -> String {
    const WORDS: [&str; 12] = [
        "harbour", "orchard", "meridian", "lantern", "granite", "willow", "compass", "ember", "harvest",
        "quarry", "signal", "tide",
    ];
    let word = |number: u32| WORDS[number as usize % WORDS.len()];
    format!("{}-{}-{host}-{}", word(page), word(page / 12 + 5), page + 1)
}

fn sentence(random: &mut Synthetic) -> String {
    const WORDS: [&str; 32] = [
        "the", "ferry", "left", "before", "noon", "with", "seven", "letters", "about", "rain", "and",
        "prices", "of", "copper", "while", "bakers", "argued", "over", "salt", "nobody", "expected", "an",
        "answer", "from", "old", "clocks", "that", "children", "painted", "blue", "last", "spring",
    ];
    let words: Vec<&str> = (0..24).map(|_| WORDS[(random.uniform() * 32.0) as usize % 32]).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_shows_and_nothing_else_does() {
        let world = World::new(7, 100.0);
        for (number, page) in world.pages.iter().enumerate().filter(|(_, page)| !page.changes.is_empty()) {
            let first = page.changes[0];
            let noisy = HOSTS[page.host].manner == Manner::Noisy;
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
}
