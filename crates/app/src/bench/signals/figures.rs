//! What came of it, for people and for machines.

use std::io::{self, Write};

use serde::Serialize;

use super::prediction;
use crate::chart::{counted, percent, short};
use crate::demo::finders::News;
use crate::demo::serve::Site;
use crate::demo::truth::freshness;
use crate::failure::Failure;

/// Everything.
#[derive(Serialize)]
pub(super) struct Figures {
    pub(super) seconds: u64,
    /// Requests per second to each web of pages.
    pub(super) rate: f64,
    pub(super) seed: u64,
    pub(super) worlds: Vec<OfPages>,
    pub(super) news: OfNews,
}

/// A web of pages.
#[derive(Serialize)]
pub(super) struct OfPages {
    sitemaps: &'static str,
    pages: usize,
    hosts: usize,
    changes_per_second: f64,
    /// Fetches of pages,
    fetches: usize,
    /// and how often hosts were asked for their sitemaps.
    asked: usize,
    /// Of copies in the last two thirds, weighted by importance.
    freshness: f64,
    lab_listening: Option<f64>,
    lab_deaf: f64,
}

/// A web of news.
#[derive(Serialize)]
pub(super) struct OfNews {
    rate: f64,
    hosts: usize,
    articles: usize,
    fetches: usize,
    finders: Vec<OfFinder>,
}

/// What somebody made of the news: the share of what articles were worth when they were new.
#[derive(Serialize)]
struct OfFinder {
    name: &'static str,
    share: f64,
    /// Articles fetched, where it is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<usize>,
}

impl OfPages {
    pub(super) fn of(sitemaps: &'static str, site: &Site, seconds: f64) -> Result<Self, Failure> {
        let (world, from) = (&site.world, seconds / 3.0);
        let fetches = site.fetches();
        let lab = prediction::of_pages(site, from, seconds)?;
        let has_voice = world.hosts.iter().any(|host| host.voice.kind().is_some());
        Ok(Self {
            sitemaps,
            pages: world.pages.len(),
            hosts: world.hosts.len(),
            changes_per_second: world.change_rate(),
            fetches: fetches.iter().map(Vec::len).sum(),
            asked: (0..world.hosts.len()).map(|host| site.asked_for_announcements(host).len()).sum(),
            freshness: freshness(world, &fetches, from, seconds),
            lab_listening: has_voice.then_some(lab.listening),
            lab_deaf: lab.deaf,
        })
    }
}

impl OfNews {
    pub(super) fn of(site: &Site, rate: f64, seconds: f64) -> Result<Self, Failure> {
        let news = News::new(site, seconds);
        let lab = prediction::of_news(&site.world, news.fetches, seconds)?;
        let one = |finder: &crate::demo::finders::Finder| OfFinder {
            name: finder.name,
            share: finder.share(),
            found: Some(finder.found),
        };
        let mut finders: Vec<OfFinder> = news.finders.iter().map(one).collect();
        finders.push(OfFinder { name: "Refrain in the lab", share: lab, found: None });
        let (articles, fetches) = (news.articles, news.fetches);
        Ok(Self { rate, hosts: site.world.hosts.len(), articles, fetches, finders })
    }
}

impl Figures {
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(first) = self.worlds.first() {
            writeln!(
                out,
                "{} on {} that change {} times a second; {} requests a second for {} s, of which the last two thirds count",
                counted(first.pages, "page"),
                counted(first.hosts, "host"),
                short((10.0 * first.changes_per_second).round() / 10.0),
                short(self.rate),
                self.seconds
            )?;
        }
        writeln!(
            out,
            "  {:<10} {:>8} {:>9} {:>11}   {:>13} {:>9}",
            "sitemaps", "fetches", "asked for", "fresh", "lab, listening", "deaf"
        )?;
        for world in &self.worlds {
            writeln!(
                out,
                "  {:<10} {:>8} {:>9} {:>11}   {:>13} {:>9}",
                world.sitemaps,
                world.fetches,
                world.asked,
                percent(world.freshness),
                world.lab_listening.map_or("—".to_owned(), percent),
                percent(world.lab_deaf)
            )?;
        }
        let news = &self.news;
        writeln!(
            out,
            "\n{} on {}; {} requests a second: the share of what they were worth when they were new, with the same {} fetches",
            counted(news.articles, "article"),
            counted(news.hosts, "host"),
            short(news.rate),
            news.fetches
        )?;
        for finder in &news.finders {
            let found = finder.found.map_or(String::new(), |found| format!("{found} fetched"));
            writeln!(out, "  {:<20} {:>8}  {found:>12}", finder.name, percent(finder.share))?;
        }
        Ok(())
    }
}
