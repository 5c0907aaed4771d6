//! What hosts say of their own changes: in sitemaps and feeds, honestly or not.

use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use refrain_core::time::{Span, Time};

use super::hosts::{Manner, Voice};
use super::world::{World, address};

/// In the head of pages whose host has a feed.
pub(super) const LINK_TO_FEED: &str = "<link rel=alternate type=\"application/rss+xml\" href=/feed.xml>";
pub(super) const SITEMAP: &str = "/sitemap.xml";
pub(super) const FEED: &str = "/feed.xml";

/// A feed shows so many changes, the latest first.
const ENTRIES: usize = 10;
/// Before the start nothing is known; an hour is long enough ago.
pub(super) const LONG_AGO: f64 = -3600.0;

/// What a host says of a page: when it changed last, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) page: usize,
    pub(super) date: f64,
}

impl World {
    /// What the sitemap or the feed of a host says of its pages at a moment.
    pub(super) fn listed(&self, host: usize, time: f64) -> Vec<Listed> {
        let voice = self.hosts[host].voice;
        let of_host = self.pages.iter().enumerate().filter(|(_, page)| page.host == host);
        let mut listed: Vec<Listed> = of_host
            .filter_map(|(number, page)| {
                let said = page.said[..page.said.partition_point(|said| said.time <= time)].last();
                let date = match voice {
                    Voice::Silent => return None,
                    Voice::Boast => time,
                    Voice::Sitemap => said.map_or(LONG_AGO, |said| said.time),
                    Voice::Feed => said?.time,
                };
                Some(Listed { page: number, date })
            })
            .collect();
        if voice == Voice::Feed {
            listed.sort_by(|one, other| other.date.total_cmp(&one.date));
            listed.truncate(ENTRIES);
        }
        listed
    }

    pub(super) fn robots(&self, host: usize, port: u16) -> String {
        let host = &self.hosts[host];
        let mut rules = match host.manner {
            Manner::Shy => "User-agent: *\nCrawl-delay: 1\nDisallow: /private/\n",
            _ => "User-agent: *\nAllow: /\n",
        }
        .to_owned();
        if host.voice.kind() == Some("sitemap") {
            let _ = writeln!(rules, "Sitemap: {}", address(host, port, SITEMAP));
        }
        rules
    }

    /// The sitemap of a host at a moment; `start` is when seconds begin to count.
    pub(super) fn sitemap(&self, host: usize, time: f64, start: Time, port: u16) -> String {
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                       <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
            .to_owned();
        for Listed { page, date } in self.listed(host, time) {
            let url = self.url(&self.pages[page], port);
            let _ =
                writeln!(xml, "<url><loc>{url}</loc><lastmod>{}</lastmod></url>", exact_date(start, date));
        }
        xml + "</urlset>\n"
    }

    /// The feed of a host at a moment: its latest changes, or its latest articles.
    pub(super) fn feed(&self, host: usize, time: f64, start: Time, port: u16) -> String {
        let home = &self.hosts[host];
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel>\
             <title>{0}</title><link>{1}</link><description>{0}</description>\n",
            home.name,
            address(home, port, "/"),
        );
        let mut item = |path: &str, date: f64| {
            let (url, title) = (address(home, port, path), path.trim_start_matches('/').replace('-', " "));
            let date = http_date(start, date);
            let _ = writeln!(
                xml,
                "<item><title>{title}</title><link>{url}</link><guid>{url}</guid><pubDate>{date}</pubDate></item>"
            );
        };
        for Listed { page, date } in self.listed(host, time) {
            item(&self.pages[page].path, date);
        }
        for article in self.latest(host, time) {
            item(&self.articles[article].path, self.articles[article].born);
        }
        xml + "</channel></rss>\n"
    }
}

/// So many seconds after (or before) the start.
pub(super) fn moment(start: Time, seconds: f64) -> Time {
    let away = Span::from_secs(seconds.abs());
    if seconds < 0.0 { start - away } else { start + away }
}

/// A date as HTTP and RSS write it, in whole seconds.
pub(super) fn http_date(start: Time, seconds: f64) -> String {
    let unix = u64::try_from(moment(start, seconds).as_nanos()).unwrap_or(0);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_nanos(unix))
}

/// A date as sitemaps write it, with all its digits.
fn exact_date(start: Time, seconds: f64) -> String {
    let unix = i128::from(moment(start, seconds).as_nanos());
    Timestamp::from_nanosecond(unix).map_or_else(|_| String::new(), |moment| moment.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use refrain_fetch::announce::find::of_robots;
    use refrain_fetch::announce::{feed, sitemap};
    use refrain_fetch::robots::Robots;
    use refrain_fetch::url::PageUrl;

    use super::*;
    use crate::demo::hosts::Host;

    const START: Time = Time::from_nanos(1_800_000_000_000_000_000);
    const PORT: u16 = 8080;

    fn small(voice: Voice) -> World {
        World::of(vec![Host::of_pages("a", Manner::Plain, voice, 15, (5.0, 50.0))], 2, 300.0)
    }

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.localhost:{PORT}{path}")).expect("a URL")
    }

    /// What a crawler reads in the sitemap: addresses and dates.
    fn read(world: &World, time: f64) -> HashMap<String, Time> {
        let body = world.sitemap(0, time, START, PORT);
        let mut dates = HashMap::new();
        let tally =
            sitemap::read(body.as_bytes(), &url(SITEMAP), None, sitemap::Limits::default(), |found| {
                if let sitemap::Announced::Page(page) = found {
                    dates.insert(page.url.to_string(), page.last_modified.expect("a date").earliest());
                }
            });
        assert_eq!((tally.pages, tally.bad + tally.bad_dates), (15, 0), "{tally}");
        dates
    }

    #[test]
    fn robots_name_the_sitemap() {
        for (voice, named) in [(Voice::Silent, 0), (Voice::Sitemap, 1), (Voice::Boast, 1), (Voice::Feed, 0)] {
            let robots = Robots::parse(small(voice).robots(0, PORT).as_bytes(), "Refrain");
            let places = of_robots(&robots, &url("/"));
            assert_eq!(places.len(), named, "{voice:?}");
            assert!(places.iter().all(|place| place.url == url(SITEMAP)));
        }
    }

    #[test]
    fn honest_dates_move_with_changes() {
        let world = small(Voice::Sitemap);
        let mut announced = 0;
        for page in &world.pages {
            let of = |time| read(&world, time)[&world.url(page, PORT)];
            for change in page.changes.iter().take(5).copied() {
                let (before, after) = (of(change - 1e-6), of(change + 1e-6));
                let is_said = page.said.iter().any(|said| said.time == change);
                assert_eq!(after > before, is_said);
                if is_said {
                    assert_eq!(after, moment(START, change));
                    announced += 1;
                }
            }
        }
        assert!(announced > 40, "{announced}");
        // A page that has not changed yet is old.
        assert!(read(&world, 0.0).values().all(|date| *date == START - Span::from_whole_secs(3600)));
    }

    #[test]
    fn who_boasts_says_now() {
        let world = small(Voice::Boast);
        for time in [0.0, 1.5, 77.25] {
            assert!(read(&world, time).values().all(|date| *date == moment(START, time)));
        }
    }

    #[test]
    fn a_feed_has_the_latest_changes() {
        let world = small(Voice::Feed);
        let body = world.feed(0, 200.0, START, PORT);
        let feed = feed::read(body.as_bytes(), &url(FEED), None, feed::Limits::default()).expect("a feed");
        assert_eq!((feed.entries.len(), feed.bad, feed.bad_dates), (ENTRIES, 0, 0));
        for (entry, listed) in feed.entries.iter().zip(world.listed(0, 200.0)) {
            assert_eq!(entry.url.to_string(), world.url(&world.pages[listed.page], PORT));
            let (date, exactly) = (entry.changed().expect("a date"), moment(START, listed.date));
            assert!(date.earliest() <= exactly && exactly <= date.latest());
        }
    }

    #[test]
    fn a_feed_has_the_latest_articles() {
        let world = World::of(vec![Host::of_news("sport", 2.0, 10.0)], 2, 300.0);
        let body = world.feed(0, 100.0, START, PORT);
        let feed = feed::read(body.as_bytes(), &url(FEED), None, feed::Limits::default()).expect("a feed");
        let latest = world.latest(0, 100.0);
        assert!(feed.entries.len() == latest.len() && latest.len() > 10);
        for (entry, article) in feed.entries.iter().zip(latest) {
            assert_eq!(entry.url.path_and_query(), world.articles[article].path);
        }
    }
}
