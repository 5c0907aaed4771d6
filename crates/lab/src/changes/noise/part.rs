//! The part of a page that changes, with its noise.

use rand::RngExt;
use rand::seq::SliceRandom;
use refrain_core::time::Time;

use super::{Noise, Page, sentence};

impl Page {
    /// What changes, and what is noise.
    pub(super) fn part(&mut self, version: usize, now: Time, clock: &str) -> String {
        let token = self.token();
        let headline = format!("<h2>Revision {version}</h2>");
        match self.noise {
            Noise::None | Noise::SlowTicker => format!("<p>Revision {version} of this page"),
            Noise::TokenBeside => format!("<p>Revision {version} token {token} of this page"),
            Noise::TokenAfter => format!("<div><span>{version}</span><span>{token}</span></div>"),
            Noise::TokenJoined => format!("<p>build {version}/{token}"),
            Noise::Clock => format!("<p>Counter {version} at {clock}"),
            Noise::Stamp => {
                format!(
                    "<p>This is revision {version}, made on Wed Nov 18 2026 {clock} for readers of the page, number {version}"
                )
            }
            Noise::Views => format!("<p>{} views<p>{version} comments", 1000 + self.looks),
            Noise::Nonces => {
                let names: Vec<String> =
                    (0..12).map(|at| format!("<p>Field {at} of form{}", self.token())).collect();
                format!("{}<p>{version} entries {token}", names.concat())
            }
            Noise::ManyPlaces => {
                let rows: Vec<String> = (0..150)
                    .map(|row| {
                        let value = if row == version % 150 { 1000 + version } else { row };
                        format!("<tr><td>Row {value}<td>{}", self.token())
                    })
                    .collect();
                format!("<table>{}</table>", rows.concat())
            }
            Noise::Quote => {
                let quote = sentence(self.random.random_range(0..40), 4 + self.random.random_range(0..6));
                format!("{headline}<blockquote>{quote}</blockquote><p>{version} readers")
            }
            Noise::Advertisements => format!("{headline}{}<p>{version} readers", self.advertisements()),
            Noise::Shuffled => {
                let mut items: Vec<String> = (0..12).map(|at| sentence(200 + at, 4)).collect();
                items[version % 12] = format!("item {version}");
                items.shuffle(&mut self.random);
                format!("<ul><li>{}</ul>", items.join("<li>"))
            }
            Noise::Sample => {
                let mut items: Vec<u64> = (0..30).collect();
                items.shuffle(&mut self.random);
                let shown: Vec<String> =
                    items[..5].iter().map(|item| format!("<li>{}", sentence(300 + item, 5))).collect();
                format!("<p>{version} readers<ul>{}</ul>{headline}", shown.concat())
            }
            Noise::VariantBlock => {
                let block = if self.random.random() {
                    "Try our new offer today"
                } else {
                    "Welcome back, dear reader"
                };
                format!("{headline}<p>{block}<p>{version} readers")
            }
            Noise::VariantPage => {
                let which = u64::from(self.random.random::<bool>());
                let blocks: Vec<String> =
                    (0..14).map(|at| format!("<p>{}", sentence(400 + 50 * which + at, 8))).collect();
                format!("{}<p>In version {which} there are {version} readers", blocks.concat())
            }
            Noise::LongPage => format!("<p>Revision {version} token {token}"),
            Noise::Sometimes => {
                let shown = if self.random.random_range(0..3) == 0 {
                    format!("<p>session {token}")
                } else {
                    String::new()
                };
                format!("{headline}{shown}<p>{version} readers")
            }
            Noise::Minute => format!("<p>{version} readers at {}", &clock[..5]),
            Noise::Ago => {
                let since = now.since(Time::ZERO).as_secs() as u64 + 61 * u64::from(self.number);
                format!(
                    "<p>{version} readers<p>posted {} minutes ago, edited {} hours ago",
                    3 + since / 60,
                    2 + since / 3600
                )
            }
            _ => self.part_that_varies(version, now, &token),
        }
    }

    /// The same where the noise stands in the text that changes, takes its place, or comes to it.
    fn part_that_varies(&mut self, version: usize, now: Time, token: &str) -> String {
        let text = |first: u64, words| sentence(first + version as u64, words);
        match self.noise {
            Noise::AdvertisementBeside => {
                format!("<h2>Headlines</h2>{}<p>{}", self.advertisements(), text(1000, 6))
            }
            Noise::AdvertisementItem => {
                let item = if version.is_multiple_of(2) { text(1000, 6) } else { String::new() };
                format!("<h2>Headlines</h2><p>{item}{}", self.advertisements())
            }
            Noise::TokenHyphen => format!("<p>build-{version}-{token} of this page"),
            Noise::TokenMarks => format!("<p>Version 1.{version}.{token}<p>of_{}:{version}", self.token()),
            Noise::TokenGlued => format!("<p>Release r{version}x{token} of this page"),
            Noise::VariantText => {
                let which = if self.random.random() { 1000 } else { 5000 };
                format!("<h2>News</h2><p>{}<p>Readers", text(which, 7))
            }
            Noise::VariantWord => {
                let which = 1000 * u64::from(self.random.random::<bool>());
                let sentences: Vec<String> = (2000..2003).map(|at| sentence(at + which, 6)).collect();
                format!(
                    "<h2>News</h2><p>{}<p>{} {version}<p>{}<p>Readers",
                    sentences[0], sentences[1], sentences[2]
                )
            }
            Noise::Ends if now < self.half => format!("<h2>News</h2><p>{token}<p>{version} readers"),
            Noise::Ends => {
                format!("<h2>News</h2><p>{}<p>17 readers", text(1000, 4))
            }
            Noise::Starts if now < self.half => format!("<p>Revision {version} of this page"),
            Noise::Starts | Noise::Fast | Noise::SlowToken => {
                format!("<p>Revision {version} token {token} of this page")
            }
            _ => String::new(),
        }
    }

    /// One to three of a dozen advertisements, each of three blocks.
    fn advertisements(&mut self) -> String {
        let shown = self.random.random_range(1..=3);
        let one = |which: u64| {
            let (name, text) = (sentence(which, 2), sentence(which, 5));
            format!("<div><b>{name}</b><p>{text}<p>only {which} euros</div>")
        };
        (0..shown).map(|_| one(self.random.random_range(100..112))).collect::<Vec<_>>().concat()
    }
}
