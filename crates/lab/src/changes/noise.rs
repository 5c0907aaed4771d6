//! Pages whose changes are known, with noise beside them.

mod part;

use std::fmt;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::time::{Span, Time};
use refrain_fetch::change::SECOND_LOOK;

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
    /// A random token, joined by hyphens to what changes.
    TokenHyphen,
    /// A random token, joined to what changes by a dot, and another one by an underscore and a colon.
    TokenMarks,
    /// A random token that follows what changes without any mark.
    TokenGlued,
    /// One of two versions of a block; the text of both changes.
    VariantText,
    /// One of two versions of a block of three paragraphs; a word in both changes.
    VariantWord,
    /// One to three advertisements, directly followed by the block that changes.
    AdvertisementBeside,
    /// One to three advertisements, and beside them a block that is there at every other version.
    AdvertisementItem,
    /// A random token that becomes text, which changes, after half of the time.
    Ends,
    /// Text that changes and, after half of the time, is followed by a random token.
    Starts,
    /// A random token beside what changes every 30 seconds or so, also between two looks of a pair.
    Fast,
    /// A random token on a host with a long crawl delay.
    SlowToken,
    /// What changes every 20 seconds, on a host with a long crawl delay.
    SlowTicker,
}

impl Noise {
    /// All kinds.
    pub const ALL: [Self; 31] = [
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
        Self::TokenHyphen,
        Self::TokenMarks,
        Self::TokenGlued,
        Self::VariantText,
        Self::VariantWord,
        Self::AdvertisementBeside,
        Self::AdvertisementItem,
        Self::Ends,
        Self::Starts,
        Self::Fast,
        Self::SlowToken,
        Self::SlowTicker,
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
            Self::TokenHyphen => "token joined by hyphens",
            Self::TokenMarks => "tokens joined by marks",
            Self::TokenGlued => "token joined directly",
            Self::VariantText => "2 versions that change",
            Self::VariantWord => "a word of 2 versions",
            Self::AdvertisementBeside => "advertisement, then text",
            Self::AdvertisementItem => "item by advertisements",
            Self::Ends => "token that ends",
            Self::Starts => "token that starts",
            Self::Fast => "token, frequent changes",
            Self::SlowToken => "token, slow pairs",
            Self::SlowTicker => "no token, slow pairs",
        })
    }
}

/// A page that changes at known moments.
pub(super) struct Page {
    noise: Noise,
    number: u32,
    changes: Vec<Time>,
    /// The time at which noise that ends does, and noise that starts.
    half: Time,
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
        let mean = match noise {
            Noise::Fast => random.random_range(20.0..40.0),
            Noise::SlowTicker => random.random_range(15.0..25.0),
            // Every two to six minutes or so.
            _ => random.random_range(120.0..360.0),
        };
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
        let half = Time::ZERO + Span::from_secs(time.as_secs() / 2.0);
        Self { noise, number, changes, half, random: ChaCha8Rng::seed_from_u64(random.random()), looks: 0 }
    }

    /// The time between two looks of a pair: two seconds and what the host's queue and its crawl delay add.
    pub(super) fn pair_span(&self, random: &mut ChaCha8Rng) -> Span {
        let share: f64 = random.random();
        let queue = -(1.0 - share).ln();
        let delay = match self.noise {
            Noise::SlowToken | Noise::SlowTicker => random.random_range(15.0..50.0),
            _ => SECOND_LOOK.as_secs(),
        };
        Span::from_secs(delay + queue)
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
        let part = self.part(version, now, &clock);
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
}
