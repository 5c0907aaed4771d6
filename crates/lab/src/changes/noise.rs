//! Pages whose changes are known, with noise beside them.

use std::fmt;

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::time::{Span, Time};

/// What is other at each look, or often, and means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Nothing.
    None,
    /// A random token, in the sentence that changes.
    TokenBeside,
    /// A random token, in the block after the one that changes.
    TokenAfter,
    /// A random token, joined to what changes by a slash.
    TokenJoined,
    /// The time to the second, in the sentence that changes.
    Clock,
    /// Date and time, in the middle of a long sentence.
    Stamp,
    /// How often the page was asked for.
    Views,
    /// Tokens and generated names in a dozen places.
    Nonces,
    /// A random token in each of 150 rows.
    ManyPlaces,
    /// A sentence out of forty.
    Quote,
    /// One to three advertisements out of a dozen, each of three blocks.
    Advertisements,
    /// A list of twelve in any order; one of them changes.
    Shuffled,
    /// Five of thirty links.
    Sample,
    /// One of two versions of a block.
    VariantBlock,
    /// One of two versions of most of the page.
    VariantPage,
    /// A token on a page of 700 blocks.
    LongPage,
    /// A token that is only there at one look in three.
    Sometimes,
    /// The time to the minute.
    Minute,
    /// How long ago something was.
    Ago,
}

impl Noise {
    /// All kinds.
    pub const ALL: [Self; 19] = [
        Self::None,
        Self::TokenBeside,
        Self::TokenAfter,
        Self::TokenJoined,
        Self::Clock,
        Self::Stamp,
        Self::Views,
        Self::Nonces,
        Self::ManyPlaces,
        Self::Quote,
        Self::Advertisements,
        Self::Shuffled,
        Self::Sample,
        Self::VariantBlock,
        Self::VariantPage,
        Self::LongPage,
        Self::Sometimes,
        Self::Minute,
        Self::Ago,
    ];
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::TokenBeside => "token in the sentence",
            Self::TokenAfter => "token in the next block",
            Self::TokenJoined => "token joined by a slash",
            Self::Clock => "time to the second",
            Self::Stamp => "date and time",
            Self::Views => "counter of views",
            Self::Nonces => "tokens in 12 places",
            Self::ManyPlaces => "tokens in 150 places",
            Self::Quote => "quote, one of 40",
            Self::Advertisements => "advertisements, 1 to 3",
            Self::Shuffled => "shuffled list",
            Self::Sample => "5 of 30 links",
            Self::VariantBlock => "2 versions of a block",
            Self::VariantPage => "2 versions of the page",
            Self::LongPage => "token, 700 blocks",
            Self::Sometimes => "token, now and then",
            Self::Minute => "time to the minute",
            Self::Ago => "minutes ago",
        })
    }
}

/// A page that changes at known moments.
pub(super) struct Page {
    noise: Noise,
    number: u32,
    changes: Vec<Time>,
    /// What each look draws from.
    random: ChaCha8Rng,
    looks: u32,
}

const WORDS: [&str; 24] = [
    "river", "stone", "market", "the", "of", "winter", "a", "council", "bridge", "new", "harbour", "and",
    "light", "garden", "in", "report", "school", "to", "city", "music", "for", "road", "field", "morning",
];

/// A sentence that is the same for the same number.
fn sentence(number: u64, words: usize) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let words: Vec<&str> = (0..words).filter_map(|_| WORDS.choose(&mut random).copied()).collect();
    words.join(" ")
}

impl Page {
    pub(super) fn new(noise: Noise, number: u32, time: Span, random: &mut ChaCha8Rng) -> Self {
        // Every two to six minutes or so.
        let mean = random.random_range(120.0..360.0);
        let mut changes = Vec::new();
        let mut at = Time::ZERO;
        loop {
            let share: f64 = random.random();
            at = at + Span::from_secs(mean * -(1.0 - share).ln());
            if at.since(Time::ZERO) >= time {
                break;
            }
            changes.push(at);
        }
        Self { noise, number, changes, random: ChaCha8Rng::seed_from_u64(random.random()), looks: 0 }
    }

    pub(super) fn changes(&self) -> &[Time] {
        &self.changes
    }

    fn token(&mut self) -> String {
        format!("{:012x}", self.random.random::<u64>() >> 16)
    }

    /// The page at a moment.
    pub(super) fn html(&mut self, now: Time) -> String {
        self.looks += 1;
        let version = 17 + self.changes.partition_point(|change| *change <= now);
        let seconds = now.since(Time::ZERO).as_secs() as u64;
        // Each in a time zone of its own.
        let shown = seconds + 900 * u64::from(self.number);
        let clock = format!("{:02}:{:02}:{:02}", shown / 3600 % 24, shown / 60 % 60, shown % 60);
        let part = self.part(version, seconds, &clock);
        let seed = u64::from(self.number) << 8;
        let paragraphs = |from: u64, to: u64| -> String {
            let all: Vec<String> =
                (from..to).map(|at| format!("<p>{}</p>\n", sentence(seed + at, 9))).collect();
            all.concat()
        };
        let blocks = if self.noise == Noise::LongPage { 340 } else { 6 };
        format!(
            "<!doctype html><html><head><title>Page {}</title></head><body><nav><ul><li>Home<li>News<li>About</ul></nav>\n\
             <h1>{}</h1>\n{}{part}{}<footer>Imprint</footer></body></html>",
            self.number,
            sentence(seed + 99, 5),
            paragraphs(0, blocks),
            paragraphs(blocks, 2 * blocks)
        )
    }

    /// What changes, and what is noise.
    fn part(&mut self, version: usize, seconds: u64, clock: &str) -> String {
        let token = self.token();
        let headline = format!("<h2>Revision {version}</h2>");
        match self.noise {
            Noise::None => format!("<p>Revision {version} of this page"),
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
            Noise::Advertisements => {
                let shown = self.random.random_range(1..=3);
                let all: Vec<String> = (0..shown)
                    .map(|_| {
                        let which = self.random.random_range(100..112);
                        format!(
                            "<div><b>{}</b><p>{}<p>only {which} euros</div>",
                            sentence(which, 2),
                            sentence(which, 5)
                        )
                    })
                    .collect();
                format!("{headline}{}<p>{version} readers", all.concat())
            }
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
                let since = seconds + 61 * u64::from(self.number);
                format!(
                    "<p>{version} readers<p>posted {} minutes ago, edited {} hours ago",
                    3 + since / 60,
                    2 + since / 3600
                )
            }
        }
    }
}
